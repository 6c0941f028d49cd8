"""What a fit returns where `time_limit` is up before its chains have draws, and how much of that
time the checks of the draws need.
"""

import time
from dataclasses import dataclass

import numpy as np

from sgmc import registry
from sgmc.core import deadline
from sgmc.core.rng import Rng, seed_sequence
from sgmc.core.schedules import Constant
from sgmc.fit.fitted import Fit
from sgmc.fit.noise import GradientNoise
from sgmc.fit.plan import Plan
from sgmc.fit.problem import SEARCH
from sgmc.fit.run.chains import TIME_LIMIT, Run
from sgmc.fit.run.facts import NONE, ChainFacts

PILOT = "the analysis of the gradient noise"
WARMUP = "warmup"
LAPLACE = "draws of the Gaussian approximation at the mode (Laplace)"
# which are no approximation of the posterior: no mean and no sd is known
PLACES = "draws around the last place of that search, which is no mode"
POSITIONS = "the positions of the chains in it"
LAPLACE_WORK, FEWEST_LAPLACE = 5e8, 25  # d^2 of a draw, in all; and draws a chain, at least
# parameters, evenly, whose effective sizes and R-hats are computed: they cost a millisecond each
MAX_DIAGNOSED = 1000
CHECKED_PER_SECOND = 150  # of these, of DRAWS_CHECKED draws in all
DRAWS_CHECKED, LEAST_RESERVE = 4000, 0.1
LARGEST_RESERVE = 1 / 3  # of the time that is left


@dataclass(frozen=True)
class StandIn:
    """What the draws are where there was no time for the sampler's.

    Attributes
    ----------
    during : str
        What the limit ended.
    draws : str
    """

    during: str
    draws: str

    @property
    def unknown(self):
        """Whether means and sds of these draws are none of the posterior."""
        return self.draws != LAPLACE

    def __str__(self):
        return f"time_limit ended {self.during}; these are {self.draws}"


def checks_take(parameters, draws):
    """Seconds that the checks of so many draws of so many parameters take, about."""
    share = max(draws / DRAWS_CHECKED, 0.25)
    return LEAST_RESERVE + min(parameters, MAX_DIAGNOSED) * share / CHECKED_PER_SECOND


def reserve_of(problem, settings):
    """Seconds of the time of the call that chains leave to the checks of their draws."""
    left = deadline.current().left()
    if left == np.inf:
        return 0.0
    kept = len(problem.columns) if problem.partial else problem.dim
    wanted = checks_take(kept, settings.chains * settings.draws)
    return min(wanted, LARGEST_RESERVE * max(left, 0.0))


def laplace_draws(problem, settings, begun, during):
    """A `Fit` whose draws are of the Gaussian approximation at the mode, or where the search for it
    has not ended, around the place that it has reached.

    Parameters
    ----------
    problem : Problem
        With coordinates of known scale.
    settings : Settings
    begun : float
    during : str
        What the limit ended.
    """
    d, where = problem.dim, problem.coordinates
    most = max(FEWEST_LAPLACE, int(min(LAPLACE_WORK / d**2, DRAWS_CHECKED) / settings.chains))
    draws, spec = min(settings.draws, most), registry.room("samplers")["laplace"]()
    x = []
    for k in range(settings.chains):
        z = Rng(seed_sequence(settings.seed, "chain", k)).normals(draws * d).reshape(draws, d)
        chain = z if where.whitened else np.array([where.from_white(one) for one in z])
        x.append(problem.recorded(chain))
    reason = f"Stand-in draws taken: time_limit ended {during}"
    plan = Plan(spec, problem.least_noise, Constant(1.0), 1.0, problem.model.n, 1, 0, "", reason)
    none = ChainFacts(draws, 0.0, *[NONE] * 6)
    return Fit(
        problem,
        plan,
        None,
        np.array(x),
        None,
        None,
        Run(["ok"] * settings.chains, TIME_LIMIT),
        [none] * settings.chains,
        GradientNoise(0.0, 0.0, np.zeros(d)),
        time.perf_counter() - begun,
        settings,
        [],
        [],
        [],
        stand_in=StandIn(during, PLACES if SEARCH in problem.stopped else LAPLACE),
    )
