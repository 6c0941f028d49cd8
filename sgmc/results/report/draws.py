"""What draws show of themselves: too few, chains that disagree, tails that no moments sum up."""

import math
from dataclasses import dataclass

import numpy as np

from sgmc.arguments.declared.keywords import DRAWS_BY_DEFAULT
from sgmc.diagnostics.chains.convergence import ess
from sgmc.diagnostics.chains.moments import Quantiles
from sgmc.diagnostics.chains.tails import index_error, largest_index
from sgmc.diagnostics.chains.visits import BATCHES, equal_visits
from sgmc.errors import SHORTFALL_UNTOLD, ConvergenceWarning, LowESSWarning, TailWarning
from sgmc.fit.stopping import MOST_GROWN, TIME_MARGIN, WINDOW

SD_TOLERANCE = 0.05  # relative error of a posterior sd that the package promises by default
MEAN_TOLERANCE = 0.1  # error of a posterior mean, in posterior sds
RHAT = 1.03
# p-value of chains that visit places equally often, below which they do not: of 1,000 parameters
# one gives a false alarm in a thousand fits, or, where chains forget in 20 draws, in a few
VISITS = 1e-6
# tail index from which draws tell an sd slowly: the error of an sd has an sd itself below 1/4, and
# one that batches tell reliably where still higher moments exist
SLOW = 0.2
# effective draws of a chain by itself from which it has forgotten where it began: chains that
# disagree are in places of their own, which more draws do not mend
FORGOTTEN = 100
APART = (
    "Each chain stays in a place of its own, which more draws do not mend: look at the trace of "
    "that parameter, and constrain it or describe each place by itself."
)
# of users' densities, where a funnel shows, its parameters are named instead
TOO_MANY = (
    "As many draws as would do take over ten minutes, or too much memory: give narrower priors, or "
    "fewer parameters, that depend less on each other."
)
ENOUGH_TO_MOVE = 100  # draws a chain of which none but those of a chain that stood still are alike
FEW = f"Take draws={DRAWS_BY_DEFAULT}."


@dataclass(frozen=True)
class Length:
    """How long chains are, and what a number of draws that is advised has to allow for.

    Attributes
    ----------
    draws : int
        Of each chain.
    total : int
    ess : float
        The least effective size, of a mean or of an sd.
    wanted : float
        Times as many draws that a warning asks for, so that one number is advised; 0 without one.
    tail : float
        The largest tail index, surely.
    besides : str
        What else the call has to do for that number to count.
    instead : str
        What to do where the number is larger than any that a fit by itself goes on to; empty where
        there is nothing else.
    open : bool
        Whether the number could be left open.
    affordable : float
        The largest number that is advised.
    """

    draws: int
    total: int
    ess: float
    wanted: float = 0.0
    tail: float = 0.0
    besides: str = ""
    instead: str = ""
    open: bool = False
    affordable: float = math.inf

    @property
    def margin(self):
        """How many times larger what is needed may be than it is estimated: TIME_MARGIN standard
        errors, of an autocorrelation time by so many draws (see `stopping.largest_time`) and of
        the square of an error by batches, both now and when the draws are there.
        """
        time = 2 * (2 * WINDOW / self.ess + 1 / self.total)
        batches = 2 / (self.total / self.draws * BATCHES)
        return 1 + TIME_MARGIN * math.sqrt(time + batches)

    @property
    def medians(self):
        """Advice where tails are long."""
        return (
            "Read medians and intervals (quantiles), or give priors with lighter tails: the tail "
            f"index may be {self.tail:.2g}, with which no number of draws is sure to tell an sd."
        )

    def take(self, times, agree=True):
        """Advice to take so many times as many draws, or as many as a warning asks for; chains that
        do not `agree` tell nothing of tails.
        """
        if agree and self.tail >= SLOW:
            return self.medians
        needed = self.draws * max(times, self.wanted) * self.margin
        if not math.isfinite(needed):  # errors, or effective draws, that are no numbers
            return "Take more draws."
        number = max(math.ceil(needed / 100) * 100, DRAWS_BY_DEFAULT)
        if number > self.affordable:
            if " sampler=" in self.besides:  # by which fewer draws may do
                return f"Try{self.besides.removeprefix(' with')}."
            return f"{self.instead}." if self.instead else TOO_MANY
        if self.instead and number > MOST_GROWN * DRAWS_BY_DEFAULT:
            return f"{self.instead}; as it is, it may take draws={number}."
        if self.open and self.draws < DRAWS_BY_DEFAULT:  # so few tell little of how many would do
            return f"Use draws='auto'; it may take draws={number}."
        return f"Take draws={number}{self.besides}."


@dataclass(frozen=True)
class Seen:
    """Draws of some parameters and what is known of them.

    Attributes
    ----------
    names : list of str, (p,)
    draws : array (chain, draw, p)
    weights : array (draw,) or None
    ess, ess_sd, rhat : array (p,)
    tails : array (p,)
        Tail indices.
    quantiles : Quantiles
    """

    names: list
    draws: np.ndarray
    weights: np.ndarray | None
    ess: np.ndarray
    ess_sd: np.ndarray
    rhat: np.ndarray
    tails: np.ndarray
    quantiles: Quantiles

    def surely(self, errors=1.0):
        """The least that tail indices are, array (p,), but for so many errors of each."""
        total = self.draws.shape[0] * self.draws.shape[1]
        return self.tails - errors * index_error(self.tails, total)

    @property
    def moved(self):
        """Those without slopes that stayed at zero under a spike."""
        return self.some((self.draws != 0).any(axis=(0, 1)))

    def some(self, kept):
        """Those of some of the parameters, array of bool (p,)."""
        if kept.all():
            return self
        arrays = (getattr(self, name)[kept] for name in ("ess", "ess_sd", "rhat", "tails"))
        names = [name for name, one in zip(self.names, kept) if one]
        return Seen(names, self.draws[..., kept], self.weights, *arrays, self.quantiles.of(kept))


def of_draws(seen, chained=True):
    """Warnings, in a list; those with a `shortfall` and no advice are given a number of draws by
    `going_on.agreeing`.

    Parameters
    ----------
    seen : Seen
    chained : bool
        Whether draws are of chains, which may disagree.
    """
    seen = seen.moved
    if not seen.names:
        return []
    if not np.isfinite(seen.ess).all():
        constant = [name for name, one in zip(seen.names, seen.ess) if not np.isfinite(one)]
        if seen.draws.shape[1] >= ENOUGH_TO_MOVE:
            more = f" and {len(constant) - 1} more" if len(constant) > 1 else ""
            return [
                LowESSWarning(
                    f"draws of {constant[0]}{more} are constant or not finite: chains stood still, "
                    "or ran off.",
                    "Give narrower priors, fewer parameters, or sampler='auto' without step_size.",
                )
            ]
        return [
            LowESSWarning(
                f"{seen.draws.shape[1]} draws a chain do not suffice for diagnostics of "
                f"{len(constant)} parameters.",
                FEW,
            )
        ]
    apart = disagreement(seen) if chained else []
    return [*too_few(seen), *apart, *heavy(seen)]


def too_few(seen):
    """Too few effective draws for the promised accuracy of the worst of d parameters.

    The largest of d standard normal errors is about sqrt(2 log 2d); an sd from n draws is known to
    1 / sqrt(2 n).
    """
    ess, ess_sd, d = seen.ess.min(), seen.ess_sd.min(), len(seen.names)
    worst = math.sqrt(2 * math.log(2 * d))
    mean_error, sd_error = worst / math.sqrt(ess), worst / math.sqrt(2 * ess_sd)
    if mean_error <= MEAN_TOLERANCE and sd_error <= SD_TOLERANCE:
        return []
    factor = max((mean_error / MEAN_TOLERANCE) ** 2, (sd_error / SD_TOLERANCE) ** 2)
    return [
        LowESSWarning(
            f"min ESS {ess:.0f} (sd: {ess_sd:.0f}): the worst of {d} means may be off by "
            f"{mean_error:.2g} sd, the worst sd by {100 * sd_error:.0f} %.",
            shortfall=factor,
        )
    ]


def disagreement(seen):
    """Chains that differ in means or spreads (R-hat), or in how often they visit a place."""
    rhat = np.nanmax(seen.rhat) if np.isfinite(seen.rhat).any() else 1.0
    if rhat > RHAT:
        worst = int(np.nanargmax(seen.rhat))
        # its excess is a variance of means, which falls as draws grow; where it stays, as of chains
        # in modes of their own, more draws are soon asked for than any limit has
        times = (rhat - 1) / (RHAT - 1)
        said = f"{rhat:.3f}" if rhat < 1000 else "above 1,000"  # of chains that stood still
        return [
            ConvergenceWarning(
                f"max R-hat {said} > {RHAT}, of {seen.names[worst]!r}: the chains disagree.",
                APART if mixed(seen.draws[..., worst]) else "",
                times,
            )
        ]
    p = equal_visits(seen.draws, seen.weights, seen.quantiles)
    if not np.isfinite(p).any() or np.nanmin(p) >= VISITS:
        return []
    return [
        ConvergenceWarning(
            f"chains visit some values of {seen.names[int(np.nanargmin(p))]!r} more often than "
            f"others do (p = {np.nanmin(p):.1g} if they were alike).",
            shortfall=SHORTFALL_UNTOLD,
        )
    ]


def mixed(draws):
    """Whether each chain of a parameter (chain, draw) has forgotten where it began, by itself."""
    return min(ess(one[None, :, None], method="mean")[0] for one in draws) >= FORGOTTEN


def heavy(seen):
    """Tails from which draws do not tell a mean or an sd."""
    no_mean, no_sd = untold(seen.tails, seen.ess)
    if not no_sd.any():
        return []
    what = "mean" if no_mean.any() else "sd"
    of = np.flatnonzero(no_mean if no_mean.any() else no_sd)
    worst = of[np.argsort(-seen.tails[of])]
    shown = ", ".join(seen.names[k] for k in worst[:4]) + (", ..." if len(worst) > 4 else "")
    exists = 1 if what == "mean" else 0.5
    index = f"tail index {seen.tails[worst[0]]:.2g}"
    # more draws tell an index better: of one that may be smaller than it seems
    if not np.any(untold(seen.surely(TIME_MARGIN), seen.ess)):
        return [
            TailWarning(
                f"the draws do not determine the {what} of {shown} ({index}, which so few "
                f"effective draws do not tell from {exists:g}, from where on there is none).",
                shortfall=SHORTFALL_UNTOLD,
            )
        ]
    return [
        TailWarning(
            f"the draws do not determine the {what} of {shown} ({index}; from {exists:g} on there "
            "is none).",
            "Read medians and intervals (quantiles), or give priors with lighter tails; see "
            "tail_index().",
        )
    ]


def hidden(seen, known, diverged):
    """Of which parameters no mean, and no sd, is printed, two arrays of bool (p,): where the
    posterior is known to have none, and where draws do not tell it.  Draws of chains that disagree
    or diverged tell nothing of the posterior's tails: there other warnings speak.

    Parameters
    ----------
    seen : Seen
    known : float
        Tail index of all parameters by model and prior, 0 if nothing is known.
    diverged : bool
    """
    reliable = ~(seen.rhat > RHAT) & (not diverged)
    return tuple(
        (reliable & unclear) | (known >= limit)
        for unclear, limit in zip(untold(seen.tails, seen.ess), (1, 0.5))
    )


def untold(tails, ess):
    """Of which parameters draws tell no mean, and of which no sd, two arrays of bool (p,)."""
    most = largest_index(ess)
    return tails >= most, 2 * tails >= most
