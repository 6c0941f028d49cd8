"""The work of samplers on wide tables, counted in flops and bytes before anything is sampled.

`auto` compares three: mini-batches, whose control variates cost d^2 a step; `imh`; and `hmc` with
many walkers a chain.  The last two compute densities by products of matrices, and how they mix is
told by the variance of the log weights of a few proposals.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from sgmc import registry
from sgmc.core.blas import one_blas_thread
from sgmc.core.engine import full_many
from sgmc.fit import plan as planning
from sgmc.fit import tolerance
from sgmc.fit.pilot import PAIRS, PILOT_ROWS, draws_of_laplace

WIDE = 64  # parameters from which products of matrices are thought of
WALKERS = 32  # of each chain of hmc: more gain little, and each needs its warmup
WALKERS_WORTH = 0.7  # of their draws, in independent ones
PROPOSALS = 64  # whose weights are looked at: their variance is then known to a sixth
SINGLE_ENOUGH = 1e-3  # nats: acceptance rates are right to as much
IMH_WARMUP = 24  # draws' worth of steps: chains start at draws of a Gaussian that is near
MOST_VARIANCE = 16.0  # of log weights up to which it tells how many rotations a path takes

# seconds on one core of about 3 GHz: only their ratios matter
FLOP = 2.2e-11  # in products of matrices that fit the cache
NUMBER = 2.5e-10  # of the table, where a row serves one point: read twice, multiplied and added
CURVATURE = 5e-10  # of the Hessian that control variates are multiplied by
PILOT_NOISE = 3e-11  # of a row's part of the noise's covariance
ROW = 1e-9  # of a model's `nanoseconds`: a row's terms at one point
SMALL_STEP = 5e-7  # of mini-batches, besides their rows


@dataclass(frozen=True)
class Choice:
    """A sampler with what it would cost.

    Attributes
    ----------
    name : str
        As users are told of it.
    spec : SamplerSpec
    thin : int or None
        Steps between draws; None: the plan's own.
    seconds : float
    error : float or None
        What products in float32 move differences of log densities by; None: they are in float64.
    warmup : int or None
        Steps; None: the plan's own.
    """

    name: str
    spec: object
    thin: int | None
    seconds: float
    error: float | None = None
    warmup: int | None = None

    def noted(self, seen):
        """A pilot that knows with what this sampler was counted."""
        single = self.error is not None
        return replace(seen, thin=self.thin, warmup=self.warmup, single=single)


def products(problem, settings):
    """The cheaper of `imh` and walkers of `hmc`, with its cost; None where products of matrices
    do not apply, or log weights vary so much that nothing is known of how these mix.

    Both are in the coordinates of the nearest Gaussian.  With variance v of the log weights of
    skewed proposals the worst parameter's draw of `imh` is worth about 0.9 exp(-7 v) independent
    ones, as chains stay at places of large weight: draws are thinned until each is worth more than
    a half.  Energies of `hmc` change by about 1.1 sqrt(v) / k^2 over a path of k rotations, and
    draws are worth as much where this is below a half: measured for 64 to 1,000 parameters.
    """
    n, d = problem.model.n, problem.dim
    if d < WIDE or not problem.many or not problem.coordinates.whitened or not left_open(settings):
        return None
    near = problem.nearest
    v, error = variance_of_weights(near, settings)
    if not v < MOST_VARIANCE:
        return None
    error = error if error < SINGLE_ENOUGH else None
    flop = FLOP if error is None else FLOP / 2
    samplers = registry.room("samplers")
    chains, draws = settings.chains, settings.draws
    thin = max(1, math.ceil(0.6 * math.exp(min(7 * v, 100.0))))
    steps = IMH_WARMUP * thin + draws * (settings.thin or thin)
    map, row = near.coordinates.map, ROW * problem.model.nanoseconds
    mapped = 0.0 if map is None else 2.0 * d * d * FLOP  # a point
    # points reflected in a centre have products that are told by each other
    flops = (2 if map is None or map.affine else 4) * d
    seconds = chains * steps * (n * (2 * row + flops * flop) + 2 * mapped)
    imh = Choice("imh", samplers["imh"](), thin, seconds, error, IMH_WARMUP * thin)
    steps = planning.LOCKSTEP_WARMUP + math.ceil(draws / WALKERS) * (settings.thin or 1)
    rotations = math.ceil(1.5 * v**0.25)
    hmc = Choice(
        f"hmc with {WALKERS} walkers",
        samplers["hmc"](walkers=WALKERS),
        1,
        chains * steps * rotations * WALKERS * (n * (row + 4 * d * flop) + 2 * mapped),
        error,
    )
    worth = min(0.9, 0.9 * thin * math.exp(-min(7 * v, 100.0)))
    return imh if imh.seconds / worth < hmc.seconds / WALKERS_WORTH else hmc


def left_open(settings):
    """Whether no argument is given that is for mini-batches."""
    given = (settings.gradient, settings.batch_size, settings.step_size)
    return all(one is None for one in given) and not settings.adaptive


def variance_of_weights(problem, settings):
    """Variance of the log weights of skewed proposals, NaN where one is not finite; and the largest
    error of differences of log densities by products in float32, infinite where there are none.
    """
    z = draws_of_laplace(settings.seed, problem.dim, PROPOSALS)
    both = np.concatenate([z, -z])
    with one_blas_thread(), np.errstate(invalid="ignore", over="ignore"):
        value = full_many(problem.all_rows(), both, slopes=False)[0]
        here, there = np.split(value, 2)
        variance = float(np.var(np.logaddexp(here, there) + 0.5 * (z**2).sum(axis=1)))
        if problem.single is None or not variance < MOST_VARIANCE:
            return variance, np.inf
        single = full_many(problem.computed(True).all_rows(), both, slopes=False)[0]
        return variance, float(np.ptp(single - value))


def minibatches(problem, settings, h=1.0, rows=tolerance.SMALLEST_BATCH):
    """Seconds of mini-batches with steps of Langevin time h and so many rows each, with the pilot
    that derives both: at the defaults, the least that it may be.
    """
    n, d = problem.model.n, problem.dim
    pilot = 2 * PAIRS * min(n, PILOT_ROWS) * d * d * PILOT_NOISE
    steps = settings.chains * (planning.WARMUP_TIME + planning.KEPT_TIME * settings.draws) / h
    row = ROW * problem.model.nanoseconds + d * NUMBER
    return pilot + steps * (SMALL_STEP + rows * row + d * d * CURVATURE)


def reason(chosen, others):
    """Why a sampler was chosen, for the summary."""
    rest = ", ".join(f"{name} about {seconds:.2g} s" for name, seconds in others)
    found = "Sampler chosen by estimated time, from counted flops and bytes: "
    found += f"{chosen.name} about {chosen.seconds:.2g} s, {rest}"
    if chosen.error is None:
        return found
    return f"{found}; products in float32 move log densities by {chosen.error:.1g} at most"
