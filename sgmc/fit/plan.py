"""The plan of a fit: what draws from which posterior, step and batch size, thinning and warmup,
derived where they are not given, and the reasons.

Steps and batches that are not given keep the error of the variance within a tolerance
(`sgmc.fit.tolerance`).
"""

import math
from dataclasses import dataclass, fields, replace

import numpy as np

from sgmc.coordinates.approximations.laplace import MAX_CURVATURE_DIM
from sgmc.coordinates.transforms.fisher import enough_rows
from sgmc.core.contract import Schedule
from sgmc.core.expansion import row_noise
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.core.recorders import steps_to_space
from sgmc.core.schedules import Constant
from sgmc.core.spec import SamplerSpec
from sgmc.core.system.blas import one_blas_thread
from sgmc.core.system.deadline import OutOfTime
from sgmc.errors import ArgumentError
from sgmc.fit import paths, tolerance
from sgmc.fit.noise import SINGLE_ROWS, Pilot, noise_in_x, noise_of
from sgmc.fit.problem import Problem
from sgmc.fit.settings import Settings, check_with_sampler
from sgmc.fit.tolerance import Noise
from sgmc.samplers.bases.metric_source import MetricSource, in_units_of
from sgmc.subsampling.uniform import FullBatch

LONGEST_BENT = 0.25  # Langevin time of a step beside effects: with 1, chains of `lmsgld` diverged
GRADIENT = "taylor"  # the estimator with the least noise, where the model has a score path
KEPT_TIME = 4  # Langevin time between kept draws: their correlation is exp(-2) and less
MAX_STEPS = 10**7  # of warmup, or between kept draws
MAX_SPACED_STEPS = 10**8  # of a chain whose draws are kept by distance, warmup not included
SLOWEST = 100.0  # condition number up to which badly scaled coordinates are waited for
WARMUP_TIME = 20  # Langevin time units of warmup: ten relaxation times of a whitened Gaussian
DISPERSED_WARMUP = 2  # times as long as warmup is from draws of the Laplace approximation
# steps in which an exact sampler adapts; twice as many where it learns a metric
METROPOLIS_WARMUP = 500
# steps in which several walkers adapt at least: they share what they learn, and each forgets its
# start
LOCKSTEP_WARMUP = 20
ROTATIONS_WARMUP = 100  # steps in which a chain that forgets its start in each adapts
INDEPENDENT_WARMUP = 100  # steps in which a chain with independent proposals forgets its start
PATHS_WARMUP = 100  # autocorrelation times of warmup of a path, as its sampler expects them
LEAST_EVENTS = 1000  # of that warmup
FIRST_LOOK = 16  # steps after which alpha is computed anew for the first time


@dataclass(frozen=True)
class CostEstimate:
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
    spec: SamplerSpec
    thin: int | None
    seconds: float
    error: float | None = None
    warmup: int | None = None


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What draws from a posterior, before its steps are planned.

    Attributes
    ----------
    problem : Problem
        In the coordinates of the sampler.
    settings : Settings
    gradient : str
        Name of the estimator.
    spec : SamplerSpec or None
        None: open.
    reason : str
        Why this sampler; empty where the user chose.
    pilot : Pilot or None
    counted : CostEstimate or None
        What the sampler was chosen for, where counted work decided.
    """

    problem: Problem
    settings: Settings
    gradient: str
    spec: SamplerSpec | None = None
    reason: str = ""
    pilot: Pilot | None = None
    counted: CostEstimate | None = None

    @property
    def size(self) -> tuple[int, int]:
        """Rows and coordinates."""
        return self.problem.model.n, self.problem.dim

    def choice(self, **other: object) -> "Choice":
        """The same choice with others in its place, for a plan of its own."""
        return Choice(**{one.name: getattr(self, one.name) for one in fields(Choice)} | other)

    def with_steps(self, **steps: object) -> "Plan":
        """The plan of this choice with such steps, and a specification or gradient of its own."""
        return Plan(**{**vars(self), **steps})


@dataclass(frozen=True, kw_only=True)
class Plan(Choice):
    """Everything a chain is built from: a choice with its steps.

    Attributes
    ----------
    schedule : Schedule
        In the sampler's own units (h, or sigma).
    langevin_time : float
        h of the first step in whitened coordinates.
    batch, thin, warmup : int
    step_origin : str
        How the step came.
    spacing : float
        Time between draws of samplers in continuous time, where warmup does not tell; `thin` is
        then a guess of its events.
    spaced : bool
        Whether draws are kept by the time between them (see `spaced`), and not by `thin`.
    single : bool
        Whether chains have products of many points in float32.
    """

    schedule: Schedule
    langevin_time: float
    batch: int
    thin: int
    warmup: int
    step_origin: str
    spacing: float = 0.0
    spaced: bool = False
    single: bool = False

    @property
    def thinning(self):
        """How many steps are between draws, or what decides that."""
        return "distance" if self.spaced else self.thin

    @property
    def adapts(self):
        """Whether chains may change their step in warmup: only one that the user left open."""
        return self.step_origin != "given"

    @property
    def max_precision(self):
        """Langevin time in whitened coordinates over that in the sampler's own."""
        return self.langevin_time / self.spec.langevin_time(self.schedule(0))

    def time(self, t):
        """Langevin time of step t, in whitened coordinates."""
        return self.spec.langevin_time(self.schedule(t)) * self.max_precision

    @property
    def time_power(self):
        """The power of a step that its Langevin time grows with: 1 for Langevin dynamics, 2 for
        increments.
        """
        h = self.schedule(0)
        return math.log2(self.spec.langevin_time(2 * h) / self.spec.langevin_time(h))

    @property
    def weighted(self):
        """Whether draws are weighed by their step sizes."""
        return not isinstance(self.schedule, Constant)

    def steps(self, draws: int) -> int:
        """Steps of a chain after warmup, until it has so many draws."""
        if not self.spaced:
            return self.thin * math.ceil(draws / self.spec.walkers)
        found = steps_to_space(self.schedule, self.warmup, draws, self.time_power, MAX_SPACED_STEPS)
        if found < 0:
            raise ArgumentError(
                f"thin='distance': {draws} draws need more than {MAX_SPACED_STEPS:.0e} steps of "
                "this step_size; take fewer draws, or steps that decrease more slowly"
            )
        return found


def make_plan(choice: Choice) -> Plan:
    """The plan of a sampler with a gradient, by what the pilot saw."""
    settings = choice.settings
    if settings.spaced and not choice.spec.continuous:  # in continuous time draws are spaced anyway
        by_steps = make_plan(replace(choice, settings=replace(settings, thin=None)))
        return spaced(replace(by_steps, settings=settings))
    found = plan_from_laplace(choice)
    if not settings.dispersed or settings.warmup is not None:
        return found
    # chains that start far out have farther to go
    return replace(found, warmup=min(DISPERSED_WARMUP * found.warmup, MAX_STEPS))


def plan_from_laplace(choice):
    """The plan of chains that start at draws of the Laplace approximation."""
    settings, spec, usual = choice.settings, choice.spec, choice.problem.defaults
    if not choice.problem.coordinates.scaled and step_is_open(spec, settings):
        # no Gaussian tells a step, but the model may know one
        found = usual.step_plan and usual.step_plan(choice)
        if found is not None:
            return found
    # steps without bias need no noise to be weighed against
    unbiased = spec.exact or not spec.uses_gradient
    noise = None if unbiased else noise_of(choice)
    if spec.continuous:
        return plan_of_paths(choice, noise)
    found = plan_of_steps(choice, noise)
    open_, counted = settings.sampler is None, choice.counted
    thin, warmup = found.thin, found.warmup
    if spec.direct:  # every step is a draw
        pass
    elif counted is not None and counted.thin is not None:  # chosen for its cost with these steps
        thin, warmup = counted.thin, counted.warmup or warmup
    elif usual.unsurveyed and open_:  # no pilot tells how chains mix, but the problem does
        thin, warmup = usual.thinning(settings), usual.warmup or warmup
    elif spec.exact and open_:  # a draw is worth so many steps at least, as the problem knows
        thin = max(thin, usual.thinning(settings))
    single = counted is not None and counted.error is not None
    warmup = found.warmup if settings.warmup is not None else warmup
    return replace(found, thin=settings.thin or thin, warmup=warmup, single=single)


# ---- steps ---------------------------------------------------------------------------------------


def plan_of_steps(choice: Choice, noise: Noise | None) -> Plan:
    """Fill in what the user left open of a sampler that takes steps; its noise is not asked for
    where steps have no bias.

    Raises
    ------
    ArgumentError
        Where batch_size exceeds the rows.
    """
    settings, where, (n, d) = choice.settings, choice.problem.coordinates, choice.size
    spec = choice.spec.fitted_to(where.whitened, d).at_step(settings.step_size)
    choice = replace(choice, spec=spec)
    check_with_sampler(spec, settings, choice.problem, n)
    if spec.exact or not spec.uses_gradient:
        return unbiased_plan(choice)
    if not where.scaled:
        return unscaled_plan(choice)
    noise = noise._replace(always=noise.always + spec.rows_besides(n, d))
    # a sampler with units of its own sees no scale of x
    max_precision, min_precision = (
        (1.0, 1.0) if spec.own_units else (where.max_precision, where.min_precision)
    )
    if spec.implied_time(1.0) is not None:  # its step is what the noise of a batch makes it
        h, batch = settled(spec, settings, noise, n)
        schedule, origin = Constant(spec.from_langevin(h / max_precision)), "by the noise"
    elif settings.step_size is None:  # step and batch trade off: the cheapest pair of both
        h, batch = tolerance.derive(spec, noise, n, n if spec.all_rows else settings.batch_size)
        if choice.problem.defaults.unsurveyed:  # maps bend there, where long steps go astray
            h = min(h, LONGEST_BENT)
        schedule, origin = Constant(spec.from_langevin(h / max_precision)), "derived"
    else:  # the step is settled, and a batch is left to choose that adds little to it
        schedule, origin = as_schedule(settings.step_size), "given"
        h = spec.langevin_time(schedule(0)) * max_precision
        batch = (
            n
            if spec.all_rows
            else settings.batch_size or tolerance.batch_for_step(spec, noise, h, n)
        )
    begun = choice.with_steps(
        schedule=schedule, langevin_time=h, batch=batch, thin=1, warmup=0, step_origin=origin
    )
    slowness = min(max_precision / min_precision, SLOWEST)
    return paced(begun, slowness, noise.of(batch, n) * noise.anisotropy)


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


def paced(plan, slowness, widest):
    """A plan with its warmup and thinning, which take `slowness` times as long as in whitened
    coordinates; `widest` is the largest variance of the gradient's noise in any direction, for the
    threshold.
    """
    settings, warmup, h = plan.settings, plan.settings.warmup, plan.langevin_time
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


def steps_for(time, h):
    """Steps of Langevin time h that make up `time`; at most MAX_STEPS."""
    return max(1, math.ceil(min(time / max(h, 1e-300), MAX_STEPS)))


def unbiased_plan(choice):
    """The plan of a sampler whose step has no bias: it is searched for in warmup.

    ``auto`` thins to a time unit of 4.
    """
    spec, settings, (n, d) = choice.spec, choice.settings, choice.size
    where = choice.problem.coordinates
    guess = spec.first_step(d)
    schedule = Constant(spec.from_langevin(guess / where.max_precision))
    adapts = spec.exact and not (spec.independent or spec.direct or spec.conditional)
    origin = "adapted" if adapts else "none"
    if settings.step_size is not None:
        schedule, origin = as_schedule(settings.step_size), "given"
    warmup = settings.warmup
    if warmup is None:
        warmup = unbiased_warmup(spec, where.whitened)
    # whoever names an exact sampler gets each of its steps; a trajectory that turns needs no more
    chained = spec.exact and not spec.direct
    thins = chained and not spec.turning and settings.sampler is None
    thin = steps_for(KEPT_TIME, guess) if thins else 1
    return choice.with_steps(
        gradient=spec.estimator or "simple",
        schedule=schedule,
        langevin_time=guess,
        batch=n,
        thin=settings.thin or thin,
        warmup=warmup,
        step_origin=origin,
    )


def unbiased_warmup(spec, whitened):
    """Steps of warmup of a sampler whose step has no bias."""
    if not spec.exact or spec.direct:  # draws are independent: nothing is forgotten or learned
        return 0
    if spec.independent:
        return INDEPENDENT_WARMUP
    if not whitened:  # it learns a metric, too
        return 2 * METROPOLIS_WARMUP
    if getattr(spec, "rotations", False):
        return ROTATIONS_WARMUP
    return max(METROPOLIS_WARMUP // spec.walkers, LOCKSTEP_WARMUP)


def unscaled_plan(choice):
    """The plan where no scale of the posterior is known: the step is given, a hundredth of the rows
    make a batch, every step is kept, and warmup is as long as what is kept; with
    ``warmup="threshold"`` it is found later, along the chains.
    """
    spec, settings, n = choice.spec, choice.settings, choice.problem.model.n
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
    usual = {None: thin * settings.draws, "threshold": 0}
    return choice.with_steps(
        schedule=schedule,
        langevin_time=spec.langevin_time(schedule(0)),
        batch=n if spec.all_rows else settings.batch_size or tolerance.batch_by_share(n),
        thin=thin,
        warmup=usual.get(settings.warmup, settings.warmup),
        step_origin="given",
    )


def as_schedule(step):
    """A schedule from a number or schedule."""
    return step if isinstance(step, Schedule) else Constant(step)


def step_is_open(spec, settings):
    """Whether a step must be derived before the run: none is given, and no warmup finds it."""
    adapts = spec.exact and settings.warmup != 0
    return settings.step_size is None and spec.uses_gradient and not spec.continuous and not adapts


# ---- paths ---------------------------------------------------------------------------------------


def plan_of_paths(choice: Choice, noise: Noise | None) -> Plan:
    """The plan of a sampler in continuous time: by its bounds, or where its events need none, by
    the noise of its gradients.

    Warmup is PATHS_WARMUP autocorrelation times of the slowest direction, by what the sampler
    expects of these and of its events in a unit of time.
    """
    spec, settings, (n, d) = choice.spec, choice.settings, choice.size
    where = choice.problem.coordinates
    check_with_sampler(spec, settings, choice.problem, n)
    paths.check_with_paths(choice)
    # the unit of time, in which the narrowest direction is passed through, and the time of the
    # widest that is waited for
    unit = 1 / math.sqrt(where.max_precision)
    slow = unit * math.sqrt(min(where.max_precision / where.min_precision, SLOWEST))
    step, held, origin, gradient = unit, unit, "none", choice.gradient
    if spec.exact:  # thinned below bounds: any batch leaves draws without bias
        terms = paths.bounds_of(choice)
        batch = (settings.batch_size or min(spec.batch, n)) if spec.minibatches else n
        gradient = gradient if spec.minibatches else "simple"
    else:  # noise takes the place of bounds, and a batch is weighed against it
        if settings.warmup == "threshold":
            raise ArgumentError(
                f"warmup='threshold' does not apply to {spec.name}: it injects no noise to "
                "compare that of its gradients with; give a number of steps"
            )
        step, batch, origin = paths.sizes(choice, noise, unit)
        terms = paths.EventTerms(d, noise.of(batch, n), step)
        spec = spec.derived(terms, unit / slow)
        held = unit if math.isnan(step) else step * unit
    spacing = spec.memory(terms, slow)
    apart = steps_for(spacing * spec.events(terms, unit), 1.0)
    warmup = settings.warmup
    if warmup is None:
        warmup = max(min(PATHS_WARMUP * apart, MAX_STEPS), LEAST_EVENTS)
    return choice.with_steps(
        spec=spec,
        gradient=gradient,
        schedule=Constant(held),
        langevin_time=step,
        batch=batch,
        thin=apart,
        warmup=warmup,
        step_origin=origin,
        spacing=spacing,
    )


# ---- draws kept by the time between them ---------------------------------------------------------

# The mixing distance of Welling & Teh (2011, section 5.3.1).


def spaced(plan):
    """The plan, with draws kept by distance.

    Raises
    ------
    ArgumentError
        For a constant step, between whose draws the number of steps is the same.
    """
    if not plan.weighted:
        raise ArgumentError(
            "thin='distance' is for steps that decrease; with a constant step_size give the number "
            "of steps between draws"
        )
    return replace(plan, thin=1, spaced=True)


# ---- the sampling threshold ----------------------------------------------------------------------


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


def plan_to_threshold(plan, chains):
    """The plan, for steps that do not grow, with warmup until alpha is at most NOISE_SHARE at the
    places of the chains: new ones, which are used up.

    The chains are followed, and alpha is computed at steps whose numbers double.  The plan's own
    chains make the same steps again.

    Raises
    ------
    ArgumentError
        Where the noise is not to be had, or alpha is above NOISE_SHARE whatever the warmup.
    """
    reason = alpha_refusal(plan)
    if reason:
        raise ArgumentError(f"warmup='threshold' {reason}; give a number of steps")
    step = 0
    while True:
        sound = [chain for chain in chains if chain.status == 0]
        if not sound:  # the run itself reports where its chains diverge
            return replace(plan, warmup=step)
        with one_blas_thread():
            widest = max(widest_noise_at(plan, np.array(c.x)) for c in sound)
        if plan.spec.noise_ratio(plan.time(step), widest) <= tolerance.NOISE_SHARE:
            return replace(plan, warmup=step)
        ahead = min(max(threshold_step(plan, widest), step + 1), 2 * step + FIRST_LOOK)
        for chain in sound:
            chain.run(ahead - step, False)
        step = ahead


def alpha_at_draws(fit):
    """alpha at the first kept draws, the largest of the chains'; NaN where it is not known, or the
    time is up.
    """
    if fit.problem.partial or alpha_refusal(fit.plan):
        return float("nan")
    try:
        with one_blas_thread():
            widest = max(widest_noise_at(fit.plan, x) for x in fit.x[:, 0])
    except OutOfTime:  # the draws are there all the same
        return float("nan")
    return fit.plan.spec.noise_ratio(fit.first_time, widest)


def alpha_refusal(plan):
    """Why the noise is not to be had; empty where it is."""
    problem, settings = plan.problem, plan.settings
    if plan.spec.own_preconditioner:
        return f"does not apply to {plan.spec.name}, whose steps follow the gradients it met"
    if problem.dim > MAX_CURVATURE_DIM:
        return (
            f"needs the covariance of the rows' gradients, which is computed for at most "
            f"{MAX_CURVATURE_DIM} numbers, and this model has {problem.dim}"
        )
    where = problem.coordinates.map
    if not (where is None or where.diagonal or hasattr(where, "jacobian")):
        return "does not apply to these coordinates of probabilities"
    if settings.scheme.needs:
        return f"does not apply to subsample={settings.subsample!r} here"
    return ""


def widest_noise_at(plan, x):
    """The largest variance of the gradient's noise in any direction at x, in units of the
    sampler's metric: lambda_max(M^(1/2) V M^(1/2)) (Welling & Teh 2011, eq. 10 and 20).
    """
    problem, settings, (n, d) = plan.problem, plan.settings, plan.size
    most = min(n, SINGLE_ROWS if problem.foreign else enough_rows(d))
    gradient = problem.gradient(
        plan.gradient, FullBatch(n), Rng(seed_sequence(settings.seed, "pilot", 1))
    )
    natural = problem.coordinates.natural(x)
    covariance = row_noise(gradient, natural, np.arange(most) * n // most)[1]
    covariance = gradient.staleness * noise_in_x(problem.coordinates, x, covariance)
    if plan.spec.own_units:
        covariance = in_units_of(MetricSource().made(gradient, np.array(x)), x, covariance)
    finite = np.isfinite(covariance).all()
    one_row = float(np.linalg.eigvalsh(covariance)[-1]) if finite else np.inf
    law = (lambda m: one_row / m) if settings.scheme.replaces else None
    return Noise(one_row, 0, law=law).of(plan.batch, n)
