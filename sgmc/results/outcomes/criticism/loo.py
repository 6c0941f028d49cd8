"""Leave-one-out predictive accuracy by Pareto-smoothed importance sampling,
of all rows or of a sample of them.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sgmc.arguments.data.limited import columns_of
from sgmc.arguments.numbers import whole
from sgmc.arguments.seeds import entropy
from sgmc.arguments.types import Floats, Frame, Ints, Seed
from sgmc.diagnostics.chains import convergence
from sgmc.elsewhere import of_part
from sgmc.errors import ArgumentError, InfluenceWarning, warn
from sgmc.results.outcomes.criticism.row_samples import Expected, Sample, drawn, estimated, expected
from sgmc.results.outcomes.data.offers import LAW, need, need_posterior
from sgmc.results.outcomes.data.rows import Rows, evenly, fitted_rows
from sgmc.results.outcomes.predicted.residuals import in_order

if TYPE_CHECKING:
    from sgmc.results.results import Results


ALL_ROWS = 5000  # a millisecond each; beyond, a sample of rows
SAMPLED_ROWS = 1000
ROUNDED_DENSITY = 1e-10  # of log densities that are the same at all draws, as without trials
FEWEST_WEIGHED, MAX_WEIGHED = 100, 4000  # of importance sampling; beyond, draws are thinned evenly
LOO_BLOCK = 256  # rows at a time
MOST_ERROR = 1.0  # of elpd: differences between models of about four can be told
WHOLE_DRAWS = 200  # of a chain, at most


@dataclass(frozen=True, repr=False)
class Loo:
    """Expected log predictive density of new data, estimated by leaving out one row at a time.

    Attributes
    ----------
    elpd : float
        Sum over all rows.
    se : float
        Standard error over data sets of n rows, ``sqrt(n * var(elpd_i))``.  The variance has
        divisor n, as in the estimator for a sample of rows (Magnusson et al. 2020); with n - 1
        (ArviZ from 1.3, R) `se` is larger by the factor ``sqrt(n / (n - 1))``.
    subsampling_se : float
        Error of `elpd` that comes of using a sample of the rows; 0 for all rows.
    p : float
        Effective number of parameters: log predictive density of the rows left in, less `elpd`.
    mcse : float
        Monte Carlo standard error of `elpd`, from the draws that there are; NaN where other fits
        took the place of weights.
    p_se, p_subsampling_se : float
        The same two errors of `p`.
    rows : array (m,)
        Numbers of the rows used.
    n, draws : int
        Rows in all; draws used.
    elpd_i, pareto_k : array (m,)
        By row: log predictive density, and the shape of the importance weights' tail, which should
        be below `good_k`.
    good_k : float
    measure : {"densities", "probabilities"}
        Of which `elpd_i` are logs: of continuous outcomes, or of discrete ones.
    unit : {"rows", "groups"}
        What was left out one at a time; where it is groups, read groups for rows above.
    by : str
        "loo", or "k-fold" where folds were left out.
    """

    elpd: float
    se: float
    subsampling_se: float
    mcse: float
    p: float
    p_se: float
    p_subsampling_se: float
    n: int
    draws: int
    good_k: float
    sample: Sample
    elpd_i: np.ndarray
    pareto_k: np.ndarray
    approximate: np.ndarray
    frequency: np.ndarray | None
    outcomes: np.ndarray
    measure: str
    unit: str = "rows"
    by: str = "loo"

    @property
    def rows(self) -> Ints:
        """Numbers of the rows used, (m,)."""
        return self.sample.rows

    @property
    def simulation(self) -> str:
        """The Monte Carlo error in words."""
        return "" if math.isnan(self.mcse) else f", Monte Carlo error {self.mcse:.2g}"

    def __getattr__(self, name):
        of_part(self, name)

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        some = (
            f", {len(self.rows)} of {self.n} {self.unit} (sampling errors: "
            f"{self.subsampling_se:.2g} and {self.p_subsampling_se:.2g})"
            if self.subsampling_se
            else ""
        )
        influence = (
            f"; Pareto k above {self.good_k:.2f}: {(self.pareto_k > self.good_k).sum()} of "
            f"{len(self.rows)} {self.unit}"
            if self.by == "loo"
            else ""
        )
        return (
            f"elpd_{self.by} {self.elpd:.2f} (se {self.se:.2f}{self.simulation}), "
            f"p_{self.by} {self.p:.2f}{some}"
            f"{influence}"
        )


@dataclass(frozen=True)
class LeaveOneOutTask:
    """What `loo` begins with: the rows of a fit and what leaving each out is expected to give.

    Attributes
    ----------
    results : Results
    table : Rows
    expected : Expected or None
    frequency : array (n,) or None
    outcomes : array (k, n)
        With the trials, or how times are censored, where there are some.
    measure, unit, by : str
        See `Loo`.
    """

    results: object
    table: Rows
    expected: Expected | None
    frequency: np.ndarray | None
    outcomes: np.ndarray
    measure: str
    unit: str
    by: str = "loo"

    @property
    def n(self) -> int:
        """Rows in all."""
        return self.table.n


def loo(
    results: "Results",
    rows: int | str | None = None,
    seed: Seed = None,
    group: bool | str = False,
) -> Loo:
    """Estimate the expected log predictive density; see `Results.loo`."""
    count, kept = whole("rows", rows, 2, none=True), {}
    if seed is None and results._fit is not None:  # the same each time: computed once
        kept = results._fit.computed
    key = f"loo {group} {(ALL_ROWS, SAMPLED_ROWS) if count is None else count}"
    if key not in kept:
        task = begun(results, group)
        seed = results.seed if seed is None else entropy(seed)
        sample = drawn(task.expected.size, wanted(task.n, count), seed)
        kept[key] = estimate(task, sample), task.table.spacing
    found, spacing = kept[key]
    warn_of_influence(found, spacing)
    return found


def begun(results: "Results", group: bool | str = False) -> LeaveOneOutTask:
    """The task of results; `group` is that of `MixedResults.loo`."""
    need(results, "loo", LAW)
    need_posterior(results, "leaving rows out")
    table = results.left_out(group) if hasattr(results, "left_out") else fitted_rows(results, "loo")
    if table.m < FEWEST_WEIGHED:
        raise ArgumentError(
            f"loo needs at least {FEWEST_WEIGHED} draws for the tails of importance weights, there "
            f"are {table.m}"
        )
    return task_of(results, table, expected(table), "groups" if group else "rows")


def task_of(
    results: "Results", table: Rows, expected: Expected | None = None, unit: str = "rows"
) -> LeaveOneOutTask:
    """The task of the units of a table; None is expected where all of them are fitted without."""
    frequency = None if table.frequency is None else in_order(table, table.frequency)
    outcomes = np.stack(
        [
            in_order(table, column)
            for column in (*columns_of(table.y), table.trials)
            if column is not None
        ]
    )
    measure = measure_of(results.model.family)
    return LeaveOneOutTask(results, table, expected, frequency, outcomes, measure, unit)


def measure_of(family: Any) -> str:
    """What the outcomes of a family have: see `Loo`."""
    discrete = family.counts or family.outcome in ("binary", "category", "ordered")
    return "probabilities" if discrete else "densities"


def wanted(n: int, count: int | None = None) -> int:
    """How many of n rows to leave out, where `count` were asked for."""
    return (n if n <= ALL_ROWS else SAMPLED_ROWS) if count is None else min(count, n)


def loo_of_sample(task: LeaveOneOutTask, sample: Sample) -> Loo:
    """`Loo` of a task, by the rows of a sample."""
    found = estimate(task, sample)
    warn_of_influence(found, task.table.spacing)
    return found


def estimate(task: LeaveOneOutTask, sample: Sample) -> Loo:
    """`Loo` of a task, by the rows of a sample, without its warnings."""
    table, w = task.table, weights_of(task)
    at = table.where(sample.rows)
    part = table.among(at).with_draws(evenly(table.m, MAX_WEIGHED))
    r_eff = efficiency(task.results, table)
    elpd_i, lpd_i, k, moved = leave_one_out(part, r_eff, w[sample.rows] / sample.probability)
    elpd, sampling, se = estimated(elpd_i, task.expected.elpd, w, sample)
    p, p_sampling, p_se = estimated(lpd_i - elpd_i, task.expected.p, w, sample)
    return Loo(
        elpd=elpd,
        se=se,
        subsampling_se=sampling,
        mcse=math.sqrt(moved @ moved / r_eff),
        p=p,
        p_se=p_se,
        p_subsampling_se=p_sampling,
        n=task.n,
        draws=part.m,
        good_k=good_k(part.m),
        sample=sample,
        elpd_i=elpd_i,
        pareto_k=k,
        approximate=task.expected.elpd,
        frequency=task.frequency,
        outcomes=task.outcomes,
        measure=task.measure,
        unit=task.unit,
    )


def warn_of_influence(out: Loo, spacing: int) -> None:
    """Warn of rows whose weights are unsure, or of few whole draws, `spacing` steps apart."""
    k = out.pareto_k
    if (k > out.good_k).any():
        advice = (
            "give reloo(loo, data) for fits without them"
            if out.unit == "rows"
            else "give kfold(data, groups=<their labels>) for fits without them"
        )
        warn(
            InfluenceWarning(
                f"{(k > out.good_k).sum()} of {len(k)} {out.unit} have a Pareto k above "
                f"{out.good_k:.2f}, up to {k.max():.2f}: their share of elpd_loo is unsure.",
                f"Look at them ({out.unit.removesuffix('s')} {out.rows[np.argmax(k)]} first), "
                f"{advice}, or take a model with heavier tails.",
            )
        )
    elif spacing > 1 and out.mcse > MOST_ERROR:
        warn(
            InfluenceWarning(
                f"elpd_loo has a Monte Carlo error of {out.mcse:.2g}: of each chain some "
                f"{WHOLE_DRAWS} whole draws are kept, {out.draws} in all.",
                "Fit with more chains, chains=, or give kfold(data).",
            )
        )


def leave_one_out(
    rows: Rows, r_eff: float, counts: Floats | None = None
) -> tuple[Floats, Floats, Floats, Floats]:
    """log p(y_i | y_-i), log p(y_i | y) and Pareto k of each row; and what each draw adds to the
    error of the sum of the first, in which row i counts `counts[i]` times.

    Draws' weights are part of the importance weights.  With these, w_is, log p(y_i | y_-i) is the
    log of the ratio R_i of sum_s w_is p_is to sum_s w_is, and draw s moves it by w_is (p_is / R_i -
    1) / sum_s w_is up to terms of second order.
    """
    elpd, lpd, k = np.empty(rows.n), np.empty(rows.n), np.empty(rows.n)
    prior, moved = log_weights_of(rows), np.zeros(rows.m)
    counts = np.ones(rows.n) if counts is None else counts
    for here, part in few_at_a_time(rows):
        density, seen, smoothed, k[here] = without(part, prior, r_eff)
        total = np.logaddexp.reduce(smoothed, axis=1)
        elpd[here] = np.logaddexp.reduce(smoothed + density, axis=1) - total
        lpd[here] = np.logaddexp.reduce(seen + prior, axis=1) - math.log(rows.m)
        share = np.exp(smoothed - total[:, None])
        # with the row: a product that is at most one, where its factors may overflow
        again = np.exp(smoothed + density - (total + elpd[here])[:, None])
        moved += counts[here] @ (again - share)
    return elpd, lpd, k, moved


def few_at_a_time(rows: Rows) -> Iterator[tuple[Ints, Rows]]:
    """Pairs (places, the rows there) of at most LOO_BLOCK rows."""
    order = rows.near()
    for a in range(0, rows.n, LOO_BLOCK):
        here = order[a : a + LOO_BLOCK]
        yield here, rows.among(here)


def log_weights_of(rows: Rows) -> Floats:
    """Logs of the draws' own weights, of mean one."""
    if rows.weights is None:
        return np.zeros(rows.m)
    return np.log(np.maximum(rows.weights / rows.weights.mean(), 1e-300))


def without(part: Rows, log_weights: Floats, r_eff: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Of some rows, (row, draw): log densities, those of draws that have seen the row, and the log
    weights of draws without it; and Pareto k, (row,).
    """
    found = [(part.log_density(at, eta), part.seen(at, eta)) for at, eta in part.blocks()]
    density, seen = (np.concatenate(one) for one in zip(*found))
    varying = np.ptp(density, axis=1) > ROUNDED_DENSITY
    if part.frequency is not None:  # of rows that count zero times there is nothing to leave out
        varying &= part.frequency > 0
    # of rows that say nothing
    smoothed, tail = np.broadcast_to(log_weights, density.shape).copy(), np.zeros(len(varying))
    if varying.any():
        with np.errstate(divide="ignore", invalid="ignore"):
            smoothed[varying], tail[varying] = pareto_smoothed(
                density[varying] - log_weights, r_eff
            )
    stuck = ~np.isfinite(smoothed).all(axis=1)  # a fourth of the tail is one repeated draw
    smoothed[stuck], tail[stuck] = log_weights - density[stuck], np.inf
    return density, seen, smoothed, tail


def pareto_smoothed(log_ratios: Floats, r_eff: float) -> tuple[Floats, Floats]:
    """Log weights (row, draw) and Pareto k of each row; NaN where a tail is one repeated draw."""
    from arviz_stats.base import array_stats

    try:
        return array_stats.psislw(log_ratios, r_eff=r_eff)
    except ValueError:  # of chains that stood still
        if len(log_ratios) == 1:
            return np.full(log_ratios.shape, np.nan), np.full(1, np.inf)
    alone = [pareto_smoothed(one[None], r_eff) for one in log_ratios]
    return np.concatenate([one[0] for one in alone]), np.concatenate([one[1] for one in alone])


def efficiency(results: "Results", rows: Rows) -> float:
    """Effective over actual draws, of the parameters' means, for the length of the importance
    weights' tail; of rows at some of the draws, evenly spaced.
    """
    size = convergence.ess(results.draws, method="mean", weights=results.weights)
    if not np.isfinite(size).any():
        return 1.0
    share = float(np.nanmean(size) / results.draws[..., 0].size)
    return share if rows.spacing == 1 else min(1.0, share * rows.spacing)


def good_k(m: int) -> float:
    """Largest Pareto k at which m draws suffice (Vehtari, Simpson, Gelman, Yao & Gabry 2024)."""
    return min(1 - 1 / math.log10(m), 0.7)


def compare(*results: Any, **named: Any) -> Frame:
    """Compare models of the same outcomes by leave-one-out predictive accuracy, the best first.

    Parameters
    ----------
    *results, **named : Results or Loo, or one dict or list of them
        ``compare(small, large)``, ``compare(small=..., large=...)``, or a dict or a list of
        them, as ArviZ takes it.

    Returns
    -------
    DataFrame
        ``elpd``, ``se`` and ``p`` of each; ``elpd_diff``, how much worse than the first (models
        less than about four apart are hard to tell), and ``diff_se``, the standard error of that
        difference over data sets; ``subsampling_se``, its error that comes of a sample of rows;
        ``bad_k``, the share of rows with a Pareto k that is too large.  `sgmc.plot_compare` draws
        it.

    Of many rows all models are judged by one sample, drawn for all of them together, or by that of
    the first `Loo` given.

    Raises
    ------
    ArgumentError
        If the models are not of the same outcomes in the same order, are `Loo` of different rows,
        or have probabilities of discrete outcomes and densities of continuous ones; if rows have
        weights, and one was judged by `loo`, which leaves out one copy of a row, the other by
        `kfold`, which leaves out all.
    """
    as_one = len(results) == 1 and isinstance(results[0], Mapping | list | tuple)
    models = numbered_models(results[0] if as_one else results)
    judgements = judged_alike({**models, **named}, "compare")
    best = max(judgements, key=lambda name: judgements[name].elpd)
    rows = [
        {
            "elpd": one.elpd,
            "se": one.se,
            "p": one.p,
            **against(one, judgements[best]),
            "bad_k": float((one.pareto_k > one.good_k).mean()),
        }
        for one in judgements.values()
    ]
    return pd.DataFrame(rows, index=list(judgements)).sort_values("elpd", ascending=False)


def numbered_models(results: Any) -> dict[str, Any]:
    """Models by name: those of a dict, and numbers for models without one."""
    if isinstance(results, Mapping):
        return dict(results)
    return {f"model{i}": one for i, one in enumerate(results)}


def judged_alike(found: dict[str, Any], what: str) -> dict[str, Loo]:
    """`Loo` of several models by the same rows: a dict by name.

    Parameters
    ----------
    found : dict of Results or Loo
    what : str
        What the user called, for messages.
    """
    if len(found) < 2:
        raise ArgumentError(f"{what} needs at least two results")
    seed = next((one.seed for one in found.values() if hasattr(one, "loo")), None)
    for name, one in found.items():
        if not isinstance(one, Loo) and not hasattr(one, "loo"):
            if hasattr(one, "draws") and hasattr(one, "model"):
                raise ArgumentError(
                    f"{what}: {name} is a fit of {one.model.title}, of which only sums of log "
                    "densities over rows are known: regressions alone have loo()"
                )
            raise ArgumentError(
                f"{what}: {name} is {type(one).__name__}; it must be results of a fit, or what "
                "their loo() gave"
            )
    tasks = {name: one if isinstance(one, Loo) else begun(one) for name, one in found.items()}
    first = next(iter(tasks))
    for name, one in tasks.items():
        check_same(one, tasks[first], name, first, what)
    sample = shared_sample(tasks.values(), seed)
    return {
        name: one if isinstance(one, Loo) else loo_of_sample(one, sample)
        for name, one in tasks.items()
    }


def check_same(one: Any, other: Any, name: str, best: str, what: str) -> None:
    """Refuse to compare models of different data."""
    if one.unit != other.unit:
        raise ArgumentError(
            f"{what}: {name} leaves out {one.unit} and {best} {other.unit}; judge both by the same"
        )
    if one.n != other.n or not np.array_equal(one.outcomes, other.outcomes):
        raise ArgumentError(
            f"{what}: {name} and {best} are not of the same outcomes in the same order"
            f"{apart(one.outcomes, other.outcomes)}"
        )
    if one.measure != other.measure:
        raise ArgumentError(
            f"{what}: {name} has {one.measure} of its outcomes and {best} has {other.measure}, "
            "which have no common scale: compare models of counts or labels with each other, and "
            "models of continuous outcomes with each other"
        )
    if not np.array_equal(weights_of(one), weights_of(other)):
        raise ArgumentError(f"{what}: {name} and {best} have different weights")
    if (one.by == "loo") != (other.by == "loo") and (weights_of(one) != 1).any():
        raise ArgumentError(
            f"{what}: {name} is by {one.by} and {best} by {other.by}, and rows have weights: loo "
            "leaves out one copy of a row, kfold all of its copies; judge both by the same"
        )
    if isinstance(one, Loo) and isinstance(other, Loo) and not np.array_equal(one.rows, other.rows):
        raise ArgumentError(
            f"{what}: {name} and {best} were judged by different rows; give the results "
            "themselves, and it draws one sample for all"
        )


def apart(one: Floats, other: Floats) -> str:
    """How outcomes (k, n) of two models differ, and what to do: the end of a message."""
    (_, n), (_, m) = one.shape, other.shape
    if n != m:
        return f" ({n} and {m} rows); fit both to the same rows, e.g. after dropna()"
    if one.shape == other.shape and np.array_equal(
        one[:, np.lexsort(one)], other[:, np.lexsort(other)]
    ):
        return ": the rows are in another order; fit both to the same table"
    return (
        f": the outcomes themselves differ ({n} rows each); fit both to the same outcome and the "
        "same rows (densities of log(y) are not those of y)"
    )


def shared_sample(tasks: Any, seed: Seed) -> Sample:
    """The rows by which all models are compared: of the first `Loo` among them, or a sample in
    proportion to what each row counts in all models together.
    """
    given = next((one.sample for one in tasks if isinstance(one, Loo)), None)
    if given is not None:
        return given
    size = sum(one.expected.size for one in tasks)
    return drawn(size, wanted(len(size)), seed)


def against(one: Loo, best: Loo) -> dict[str, float]:
    """How far one model is from the best."""
    if one is best:
        return {"elpd_diff": 0.0, "diff_se": 0.0, "subsampling_se": 0.0}
    found = estimated(
        best.elpd_i - one.elpd_i, best.approximate - one.approximate, weights_of(one), one.sample
    )
    return {"elpd_diff": found[0], "diff_se": found[2], "subsampling_se": found[1]}


def weights_of(one: Any) -> Floats:
    """Frequency weights of the rows, ones where there are none."""
    return np.ones(one.n) if one.frequency is None else one.frequency
