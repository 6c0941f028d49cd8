"""Step size, batch size, thinning and warmup: derived where not given, and the reasons.

Steps and batches that are not given keep the error of the variance within a tolerance
(`sgmc.fit.tolerance`).
"""

import math
from dataclasses import dataclass, replace

from sgmc.core.contract import Schedule
from sgmc.core.schedules import Constant
from sgmc.core.spec import SamplerSpec
from sgmc.errors import ArgumentError
from sgmc.fit import tolerance
from sgmc.fit.refusals import refuse

GRADIENT = "taylor"  # the estimator with the least noise, where the model has a score path
AUTO = "lmsgld"  # what "auto" takes where minibatches do; a problem names the exact sampler
AUTO_DEPARTURE = 0.6  # departure from a Gaussian beyond which "auto" wants an exact sampler
# sd of the log of an auxiliary parameter beyond which its skewness matters, and the same holds
SKEWED = 0.35
KEPT_TIME = 4  # Langevin time between kept draws: their correlation is exp(-2) and less
MAX_STEPS = 10**7  # of warmup, or between kept draws
SLOWEST = 100.0  # condition number up to which badly scaled coordinates are waited for
WARMUP_TIME = 20  # Langevin time units of warmup: ten relaxation times of a whitened Gaussian
# steps in which an exact sampler adapts; twice as many where it learns a metric
METROPOLIS_WARMUP = 500
# steps in which several walkers adapt at least: they share what they learn, and each forgets its
# start
LOCKSTEP_WARMUP = 20
ROTATIONS_WARMUP = 100  # steps in which a chain that forgets its start in each adapts
INDEPENDENT_WARMUP = 100  # steps in which a chain with independent proposals forgets its start


@dataclass(frozen=True)
class Plan:
    """Everything a chain is built from.

    Attributes
    ----------
    spec : SamplerSpec
    gradient : str
    schedule : Schedule
        In the sampler's own units (h, or sigma).
    langevin_time : float
        h of the first step in whitened coordinates.
    batch, thin, warmup : int
    step_origin, reason : str
        How the step came, and why this sampler.
    spacing : float
        Time between draws of samplers in continuous time, where warmup does not tell; `thin` is
        then a guess of its events.
    spaced : bool
        Whether draws are kept by the time between them (`sgmc.fit.spacing`), and not by `thin`.
    single : bool
        Whether chains have products of many points in float32.
    """

    spec: SamplerSpec
    gradient: str
    schedule: Schedule
    langevin_time: float
    batch: int
    thin: int
    warmup: int
    step_origin: str
    reason: str
    spacing: float = 0.0
    spaced: bool = False
    single: bool = False

    @property
    def thinning(self):
        """How many steps are between draws, or what decides that."""
        return "distance" if self.spaced else self.thin

    @property
    def max_precision(self):
        """Langevin time in whitened coordinates over that in the sampler's own."""
        return self.langevin_time / self.spec.langevin_time(self.schedule(0))

    def time(self, t):
        """Langevin time of step t, in whitened coordinates."""
        return self.spec.langevin_time(self.schedule(t)) * self.max_precision

    @property
    def weighted(self):
        """Whether draws are weighed by their step sizes."""
        return not isinstance(self.schedule, Constant)


def automatic(stochastic, exact, gradient, noise, departure, n, batch=None, unit="row"):
    """Sampler, gradient and reason for ``sampler="auto"``, by counted row touches and by shape;
    `unit` is what a row is to the user.

    A unit of Langevin time costs (rows a step)/h with minibatches; an exact sampler, whose steps
    are as long but partly rejected, makes up for about N/2 (measured on logistic posteriors).  Far
    from a Gaussian, steps without accept-reject are biased whatever the minibatch.
    """
    if departure > AUTO_DEPARTURE:
        why = f"Exact sampler chosen: the posterior is {departure:.2g} sd from a Gaussian"
        return exact, gradient, why
    h, m = tolerance.derive(stochastic, noise, n, batch)
    cost, whole = noise.rows(m) / h, n / 2
    counts = f"({cost:,.0f} and about {whole:,.0f} {unit}s per unit of Langevin time)"
    if cost > whole:
        return exact, gradient, f"Exact sampler chosen: batches would need more {unit}s {counts}"
    fewer = f"about {float(f'{whole / cost:.2g}'):,g} times fewer {unit}s per step than exact MCMC"
    return stochastic, gradient, f"Mini-batch sampler chosen: {fewer} {counts}"


def plan(spec, gradient, reason, settings, noise, size, coordinates):
    """Fill in what the user left open.

    Parameters
    ----------
    spec : SamplerSpec
    gradient, reason : str
    settings : Settings
    noise : Noise or None
        Of that gradient; not asked for where steps have no bias.
    size : (int, int)
        Rows and parameters.
    coordinates : Coordinates
        Its max_precision turns a whitened step into one in x.

    Raises
    ------
    ArgumentError
        Where batch_size exceeds the rows.
    """
    n, d = size
    spec = spec.fitted_to(coordinates.whitened, d).at_step(settings.step_size)
    refuse(spec, settings, n)
    if spec.exact or not spec.uses_gradient:
        return unbiased_plan(spec, reason, settings, n, d, coordinates)
    if not coordinates.scaled:
        return unscaled_plan(spec, gradient, reason, settings, n)
    noise = noise._replace(always=noise.always + spec.rows_besides(n, d))
    max_precision, min_precision = (
        (1.0, 1.0) if spec.own_units else (coordinates.max_precision, coordinates.min_precision)
    )
    if spec.implied_time(1.0) is not None:
        h, batch = settled(spec, settings, noise, n)
        schedule, origin = Constant(spec.from_langevin(h / max_precision)), "by the noise"
    elif settings.step_size is None:
        h, batch = tolerance.derive(spec, noise, n, n if spec.all_rows else settings.batch_size)
        schedule, origin = Constant(spec.from_langevin(h / max_precision)), "derived"
    else:
        schedule, origin = as_schedule(settings.step_size), "given"
        h = spec.langevin_time(schedule(0)) * max_precision
        batch = (
            n
            if spec.all_rows
            else settings.batch_size or tolerance.batch_for_step(spec, noise, h, n)
        )
    begun = Plan(spec, gradient, schedule, h, batch, 1, 0, origin, reason)
    return paced(
        begun,
        settings,
        min(max_precision / min_precision, SLOWEST),
        noise.of(batch, n) * noise.anisotropy,
    )


def settled(spec, settings, noise, n):
    """(h, batch) where the noise of the batch settles the step; by default of a hundredth of the
    rows.
    """
    batch = settings.batch_size or tolerance.batch_by_share(n)
    if noise.of(batch, n) == 0:
        raise ArgumentError(
            f"{spec!r} has no step where gradients have no noise: take a batch_size below the {n} "
            "rows and gradient='simple', or leave adaptive=False"
        )
    return spec.implied_time(noise.of(batch, n)), batch


def paced(plan, settings, slowness, widest):
    """A plan with its warmup and thinning, which take `slowness` times as long as in whitened
    coordinates.

    Parameters
    ----------
    plan : Plan
    settings : Settings
    slowness : float
    widest : float
        Largest variance of the gradient's noise in any direction, for the threshold.
    """
    warmup, h = settings.warmup, plan.langevin_time
    if warmup in (None, "threshold"):
        warmup = steps_for(WARMUP_TIME * slowness, h)
    if settings.warmup == "threshold":
        warmup = max(warmup, threshold_step(plan, widest))
        h = plan.time(warmup)
    if settings.adaptive and warmup == 0:
        raise ArgumentError(
            "batch_size='adaptive' learns the size in warmup; warmup=0 leaves no time for it"
        )
    return replace(plan, warmup=warmup, thin=settings.thin or steps_for(KEPT_TIME * slowness, h))


def threshold_step(plan, widest):
    """The first step at which alpha is at most tolerance.NOISE_SHARE, for steps that do not grow.

    Raises
    ------
    ArgumentError
        Where that is at none of MAX_STEPS steps.
    """

    def ratio(t):
        return plan.spec.noise_ratio(plan.time(t), widest)

    low, high = -1, 0
    while ratio(high) > tolerance.NOISE_SHARE:
        low, high = high, 2 * high + 1
        if high > MAX_STEPS:
            raise ArgumentError(
                "warmup='threshold': alpha, the gradient's noise over the noise injected, is "
                f"{ratio(low):.2g} even at step {low}, over {tolerance.NOISE_SHARE}; take a "
                "smaller or decreasing step_size, or a larger batch_size"
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if ratio(middle) > tolerance.NOISE_SHARE else (low, middle)
    return high


def steps_for(time, h):
    """Steps of Langevin time h that make up `time`; at most MAX_STEPS."""
    return max(1, math.ceil(min(time / max(h, 1e-300), MAX_STEPS)))


def unbiased_plan(spec, reason, settings, n, d, coordinates):
    """The plan of a sampler whose step has no bias: it is searched for in warmup.

    ``auto`` thins to a time unit of 4.
    """
    guess = spec.first_step(d)
    schedule = Constant(spec.from_langevin(guess / coordinates.max_precision))
    origin = "adapted" if spec.exact and not spec.independent else "none"
    if settings.step_size is not None:
        schedule, origin = as_schedule(settings.step_size), "given"
    warmup = settings.warmup
    if warmup is None:
        warmup = unbiased_warmup(spec, coordinates.whitened)
    thins = spec.exact and not spec.turning and settings.sampler is None
    thin = steps_for(KEPT_TIME, guess) if thins else 1
    gradient = spec.estimator or "simple"
    return Plan(spec, gradient, schedule, guess, n, settings.thin or thin, warmup, origin, reason)


def unbiased_warmup(spec, whitened):
    """Steps of warmup of a sampler whose step has no bias."""
    if not spec.exact:
        return 0
    if spec.independent:
        return INDEPENDENT_WARMUP
    if not whitened:
        return 2 * METROPOLIS_WARMUP
    if getattr(spec, "rotations", False):
        return ROTATIONS_WARMUP
    return max(METROPOLIS_WARMUP // spec.walkers, LOCKSTEP_WARMUP)


def unscaled_plan(spec, gradient, reason, settings, n):
    """The plan where no scale of the posterior is known: the step is given, a hundredth of the rows
    make a batch, every step is kept, and warmup is as long as what is kept; with
    ``warmup="threshold"`` it is found later, along the chains.
    """
    if spec.implied_time(1.0) is not None:
        raise ArgumentError(
            f"{spec!r} needs a Gaussian approximation of the posterior, of which there is none "
            "here; give a step_size and adaptive=True"
        )
    if settings.step_size is None:
        raise ArgumentError(
            f"step_size: {spec.name} has no default here, where no Gaussian approximation of the "
            "posterior tells its scale; give a number, in the coordinates of the parameters, or "
            "use an exact sampler such as 'mala'"
        )
    if settings.adaptive:
        raise ArgumentError(
            "batch_size='adaptive' needs a Gaussian approximation of the posterior, of which there "
            "is none here; give a number"
        )
    schedule, thin = as_schedule(settings.step_size), settings.thin or 1
    batch = n if spec.all_rows else settings.batch_size or tolerance.batch_by_share(n)
    usual = {None: thin * settings.draws, "threshold": 0}
    warmup = usual.get(settings.warmup, settings.warmup)
    return Plan(
        spec,
        gradient,
        schedule,
        spec.langevin_time(schedule(0)),
        batch,
        thin,
        warmup,
        "given",
        reason,
    )


def step_is_open(spec, settings):
    """Whether a step must be derived before the run: none is given, and no warmup finds it."""
    adapts = spec.exact and settings.warmup != 0
    return settings.step_size is None and spec.uses_gradient and not spec.continuous and not adapts


def as_schedule(step):
    """A schedule from a number or schedule."""
    return step if isinstance(step, Schedule) else Constant(step)
