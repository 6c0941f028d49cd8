"""An exact sampler from some of the draws: whether these are draws of the posterior."""

import math
import time
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.special import stdtr

from sgmc import registry
from sgmc.arguments.seeds import entropy
from sgmc.arguments.types import Floats
from sgmc.core.random.rng import seed_sequence
from sgmc.core.system.phases import watched
from sgmc.diagnostics.chains import moments
from sgmc.errors import ArgumentError, NotSupported
from sgmc.fit import make_plan, sample
from sgmc.fit.parts import Starts
from sgmc.subsampling.block import CircularBlock

REJECTED_BELOW = 0.01  # p-value, corrected, below which draws are not those of the posterior
SUBSAMPLED = "mhss"
CHEAPER = 0.5  # share of the rows that its steps may touch at most, as its bounds promise
LEAST_MOVED = 0.2  # share of steps accepted below which the exact sampler hardly moves
OPEN_ERROR = 0.1  # posterior sds: larger errors of the means leave the question open
FEWEST = 50  # starts


@dataclass(frozen=True)
class Places(Starts):
    """Chains begin at draws themselves: what is printed of one does not tell all of it, such as
    coefficients of smooths.
    """

    x: Floats

    def begin(self, problem, settings, k):
        return self.x[k].copy()


@dataclass(frozen=True)
class Arbitration:
    """What an exact sampler says of draws; see `Results.arbiter`.

    Attributes
    ----------
    table : DataFrame
    p_value : float
        Of all tests, corrected for their number.
    agrees : bool or None
    sampler : str
    draws, steps : int
    acceptance, data_passes, seconds : float
    """

    table: pd.DataFrame
    p_value: float
    agrees: bool | None
    sampler: str
    draws: int
    steps: int
    acceptance: float
    data_passes: float
    seconds: float

    def __str__(self):
        worst = self.table.mean_difference.abs().idxmax()
        row = self.table.loc[worst]
        cost = (
            f"{self.sampler} moved {self.draws} draws by {self.steps} steps each "
            f"({self.acceptance:.0%} accepted): {self.data_passes:.3g} data passes, "
            f"{self.seconds:.2g} s."
        )
        far = (
            f"Largest difference of means: {row.mean_difference:+.2g} sd "
            f"(Monte Carlo error {row.mcse_mean_difference:.2g}) of {worst}"
        )
        said = {
            True: "The draws agree with the exact sampler",
            False: "The draws do not agree with the exact sampler",
            None: "It cannot be told whether the draws agree with the exact sampler",
        }[self.agrees]
        todo = {
            True: "",
            False: " Use the exact sampler for the fit, or a smaller step_size.",
            None: " Give more draws or steps, or fit with the exact sampler.",
        }[self.agrees]
        return f"{said} (p = {self.p_value:.2g}). {far}.{todo} {cost}"


def arbiter(fit, names, draws, steps, seed, ess):
    """Compare draws with an exact sampler; `ess` is the least effective size of a parameter."""
    refuse(fit)
    begun, problem = time.perf_counter(), fit.problem
    many = min(draws, int(ess), fit.x.shape[0] * fit.x.shape[1])
    if many < FEWEST:
        raise ArgumentError(
            f"arbiter needs {FEWEST} independent draws at least, and the worst parameter has "
            f"{ess:.0f} effective ones; take more draws in the fit",
            because="limit",
        )
    starts = spread(fit.x, many)
    spec = referee(problem)
    own = replace(
        fit.settings,
        sampler=spec,
        gradient=None,
        scheme=CircularBlock,
        step_size=None,
        batch_size=None,
        adaptive=False,
        thin=1,
        warmup=0,
        init=None,
        chains=len(starts),
        time_limit=None,
        max_data_passes=None,
        accuracy=None,
        progress=None,
        checkpoint=None,
        client=None,
        draws=steps,
        seed=entropy(seed_sequence(seed, "diagnostics")),
    )
    with watched(None, "sgmc arbiter"):
        gradient = spec.estimator or "simple"
        begun_there = replace(problem, starts=Places(starts))
        choice = fit.plan.choice(
            problem=begun_there, settings=own, spec=spec, gradient=gradient, reason=""
        )
        other = sample(make_plan(choice), time.perf_counter())
    return comparison(fit, names, starts, other, time.perf_counter() - begun)


def refuse(fit):
    """NotSupported where the posterior is not the law of the draws, or no chain can begin there."""
    spec, settings = fit.plan.spec, fit.settings
    for holds, because, why in (
        (
            fit.weights is not None,
            "limit",
            "draws are weighted by decreasing step sizes; use a constant one",
        ),
        (
            settings.robust,
            "mathematics",
            "draws have the sandwich's covariance, or a working likelihood's (quantreg), and not "
            "the posterior's",
        ),
        (settings.prior_only, "mathematics", "draws of the prior alone used no rows"),
        (
            spec.sticky,
            "mathematics",
            f"{spec.name} has a spike-and-slab prior, which no other sampler has",
        ),
        (
            bool(spec.distortion),
            "mathematics",
            f"draws of {spec.name} are not meant to be the posterior's",
        ),
        (fit.problem.partial, "limit", "only some of the parameters are kept"),
        (
            fit.problem.rows.grouped,
            "limit",
            "models with group terms have no exact sampler that begins at draws",
        ),
    ):
        if holds:
            raise NotSupported(f"arbiter does not apply: {why}", because=because)


def spread(x, many):
    """So many of the draws (chain, draw, dim), evenly over the chains."""
    each = math.ceil(many / len(x))
    at = np.linspace(0, x.shape[1] - 1, each).round().astype(int)
    return x[:, at].reshape(-1, x.shape[2])


def referee(problem):
    """The exact sampler with the fewest rows a step, by the bounds at a typical distance."""
    exact = problem.defaults.exact()
    if not problem.coordinates.whitened:
        return exact
    spec = registry.room("samplers")[SUBSAMPLED]()
    try:
        bounds = problem.remainders(spec.remainder)
    except NotSupported:
        return exact
    rows = 2 * bounds.total * 2 / 3 * bounds.dim**1.5 * math.exp(bounds.reach * bounds.dim**0.5)
    return spec if rows < CHEAPER * problem.model.n else exact


def comparison(fit, names, starts, other, seconds):
    """The tests and the comparison, from the paths of the exact sampler."""
    # as they are printed: sds that are sampled with a sign without it, free numbers as shares
    whole, paths = (fit.problem.kept(x)[0] for x in (fit.x, other.x))
    before = fit.problem.kept(starts[:, None])[0][:, 0]
    middle, sd = moments.mean(whole), moments.sd(whole)
    moved = (paths[:, -1] - middle) / sd, (before - middle) / sd
    p = {
        "p_mean": p_value(moved[0] - moved[1]),
        "p_square": p_value(moved[0] ** 2 - moved[1] ** 2),
    }
    if signed(fit.problem.coordinates):  # draws have one sign, and paths go on to the other
        root = np.linalg.pinv(np.corrcoef(((whole - middle) / sd).reshape(-1, len(names)).T))
        ends = [np.einsum("ij,jk,ik->i", one, np.atleast_2d(root), one) for one in moved]
    else:
        ends = [(one**2).sum(axis=1) for one in (other.x[:, -1], starts)]
    every = np.concatenate([*p.values(), p_value((ends[0] - ends[1])[:, None])])
    smallest = float(min(1.0, every.min() * len(every)))
    table = compared(whole, paths[:, paths.shape[1] // 2 :], names, len(starts))
    for name, values in p.items():
        table[name] = values
    accepted = float(np.mean((np.diff(other.x, axis=1) != 0).any(axis=2)))
    open_ = accepted < LEAST_MOVED or (table.mcse_mean_difference > OPEN_ERROR).any()
    return Arbitration(
        table,
        smallest,
        False if smallest < REJECTED_BELOW else None if open_ else True,
        other.plan.spec.name,
        len(starts),
        other.x.shape[1],
        accepted,
        float(sum(one.data_passes for one in other.chains)),
        seconds,
    )


def signed(coordinates):
    """Whether sds are sampled with signs that are not printed."""
    report = getattr(coordinates, "report", None)
    return report is not None and report.signs is not None


def p_value(change):
    """Two-sided, that a mean over the first axis is zero; 1 where nothing changes."""
    n, error = len(change), change.std(axis=0, ddof=1) / math.sqrt(len(change))
    ratio = np.divide(change.mean(axis=0), error, where=error > 0, out=np.zeros(change.shape[1]))
    return 2 * stdtr(n - 1, -np.abs(ratio))


def compared(whole, paths, names, starts):
    """Differences of means and ratios of sds, all draws beside the exact paths (start, step, d);
    errors by the variation between starts.
    """
    from sgmc.diagnostics import mcse

    centre, sd = moments.mean(paths), moments.sd(paths)
    own = [mcse(whole, method) / sd for method in ("mean", "sd")]
    middle = paths.mean(axis=1).std(axis=0, ddof=1) / math.sqrt(starts) / sd
    square = ((paths - centre) ** 2).mean(axis=1).std(axis=0, ddof=1) / math.sqrt(starts)
    return pd.DataFrame(
        {
            "mean_difference": (moments.mean(whole) - centre) / sd,
            "mcse_mean_difference": np.hypot(own[0], middle),
            "sd_ratio": moments.sd(whole) / sd,
            "mcse_sd_ratio": np.hypot(own[1], square / (2 * sd**2)),
        },
        index=list(names),
    )
