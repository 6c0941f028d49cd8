"""Which sampler and estimator a fit takes, and their plan."""

from dataclasses import dataclass, replace

import numpy as np

from sgmc import registry
from sgmc.arguments.arrays import shaped
from sgmc.core.blas import one_blas_thread
from sgmc.core.rng import Rng, seed_sequence
from sgmc.errors import ArgumentError, NotSupported
from sgmc.fit import paths, tolerance, unbounded_paths, work
from sgmc.fit import plan as planning
from sgmc.fit.noise import noise_of
from sgmc.fit.pilot import (
    PAIRS,
    PILOT_ROWS,
    SHAPE_PAIRS,
    SINGLE_ROWS,
    draws_of_laplace,
    pilot,
    pilot_rows,
)
from sgmc.fit.rows import shared_rows
from sgmc.fit.spacing import spaced
from sgmc.subsampling.uniform import Everything

FEW_PAIRS, FEW_ROWS = 2, 2000  # of a look at the noise, when other samplers may be cheaper
FEW_TELL = 0.7  # of the cost that they tell, which the whole pilot rarely finds to be less
DISPERSED_WARMUP = 2  # times as long as warmup is from draws of the Laplace approximation


def planned(problem, settings, spec, gradient, seen, reason=""):
    """The plan of a sampler with a gradient, by what the pilot saw; with a longer warmup where
    chains start far out.
    """
    if settings.spaced and not spec.continuous:
        by_steps = replace(settings, thin=None)
        return spaced(planned(problem, by_steps, spec, gradient, seen, reason))
    found = planned_at_home(problem, settings, spec, gradient, seen, reason)
    if not settings.dispersed or settings.warmup is not None:
        return found
    return replace(found, warmup=min(DISPERSED_WARMUP * found.warmup, planning.MAX_STEPS))


def planned_at_home(problem, settings, spec, gradient, seen, reason):
    """The plan of chains that start at draws of the Laplace approximation."""
    if not problem.coordinates.scaled and planning.step_is_open(spec, settings):
        found = problem.step_plan(spec, gradient, settings)
        if found is not None:
            return found
    if spec.continuous and spec.exact:
        return paths.plan(spec, gradient, settings, problem)
    unbiased = spec.exact or not spec.uses_gradient
    known = None if unbiased else noise_of(problem, gradient, settings, seen)
    if spec.continuous:
        return unbounded_paths.plan(spec, gradient, settings, known, problem)
    found = planning.plan(
        spec, gradient, reason, settings, known, (problem.model.n, problem.dim), problem.coordinates
    )
    if not problem.surveyed and settings.sampler is None:
        warmup = found.warmup if settings.warmup is not None else problem.warmup or found.warmup
        return replace(found, thin=settings.thin or problem.thinning(settings), warmup=warmup)
    if seen is None or seen.thin is None:
        if spec.exact and settings.sampler is None and settings.thin is None:
            return replace(found, thin=max(found.thin, problem.thinning(settings)))
        return found
    warmup = found.warmup if settings.warmup is not None else seen.warmup or found.warmup
    return replace(found, thin=settings.thin or seen.thin, warmup=warmup, single=seen.single)


def enough_rows(problem, size):
    """Rows of the pilot: fewer where each is made of many numbers."""
    most = PILOT_ROWS if problem.model.width else SINGLE_ROWS
    return max(1, int(most * min(1.0, size[0] * size[1] / problem.cells)))


def decide(problem, settings, size):
    """Sampler, gradient, reason and pilot."""
    whole = settings.sampler is not None and not settings.sampler.minibatches
    if whole and settings.gradient:
        raise ArgumentError(
            f"gradient={settings.gradient!r} does not apply to {settings.sampler.name}: it uses "
            "all rows"
        )
    name = settings.gradient or getattr(settings.sampler, "estimator", "") or problem.least_noise
    if not problem.coordinates.scaled:
        return unscaled(settings.sampler, name, problem.exact_sampler)
    if not problem.surveyed:
        return exact_alone(settings, name, problem)
    rng = Rng(seed_sequence(settings.seed, "pilot", 1))
    rests_on_shape = settings.sampler is not None and not settings.sampler.uses_gradient
    z = draws_of_laplace(settings.seed, size[1], SHAPE_PAIRS if rests_on_shape else PAIRS)
    counted = work.products(problem, settings) if choosable(problem, settings) else None
    other = rival(problem, settings, name, rng, z, counted) if counted else None
    # then the pilot looks for no noise
    whole = whole or other is not None and counted.seconds < other.margin * other.seconds
    shared = None if whole else shared_rows(problem, settings, name)
    with one_blas_thread():
        grouped = shared is not None and shared.groups is not None
        rows = pilot_rows(
            size[0],
            settings.seed,
            not problem.shuffled,
            grouped,
            enough_rows(problem, size),
        )
        noisy = not whole and (settings.sampler is None or settings.sampler.noisy)
        at_once = whole and counted is not None  # no control values are wanted then
        seen = pilot(
            problem.gradient("simple" if at_once else name, Everything(size[0]), rng),
            problem.coordinates,
            z,
            noisy,
            shared,
            rows,
            at_once,
        )
    lost = not np.isfinite(seen.covariance).all()
    if lost:
        refuse_minibatches(settings)
        seen = replace(seen, noise=np.zeros((1, size[1])), covariance=np.zeros((1, *size[1:] * 2)))
    if settings.sampler is not None:
        return settings.sampler, name, "", seen
    if whole:
        why = work.reason(counted, [(other.name, other.seconds)])
        return counted.spec, name, why, counted.noted(seen)
    if settings.robust:
        return (
            registry.room("samplers")[planning.AUTO](),
            name,
            "Mini-batch sampler chosen: no exact sampler has the sandwich covariance",
            seen,
        )
    if len(problem.priors.shrunk):
        return (
            registry.room("samplers")[problem.exact_sampler](),
            name,
            "Exact sampler chosen: a horseshoe prior has a pole at zero",
            seen,
        )
    stochastic, exact = (
        registry.room("samplers")[s]() for s in (planning.AUTO, problem.exact_sampler)
    )
    if lost:
        why = "Exact sampler chosen: the gradient is not finite some sds from the mode"
        return exact, name, why, seen
    if problem.coordinates.heavy:
        why = "Exact sampler chosen: the data do not bound the tails of a t prior"
        return exact, name, why, seen
    spread = problem.coordinates.spread_of_logs
    if spread > planning.SKEWED:  # a tail that draws of a Gaussian at the mode do not see
        return (
            exact,
            name,
            f"Exact sampler chosen: the log of an auxiliary parameter has an sd of {spread:.2g}, "
            "and is skewed",
            seen,
        )
    if problem.searched.found > 1:
        return (
            exact,
            name,
            f"Exact sampler chosen: the posterior has {problem.searched.found} modes",
            seen,
        )
    noise = noise_of(problem, name, settings, seen)
    if counted is not None and seen.departure <= planning.AUTO_DEPARTURE:
        h, rows = tolerance.derive(stochastic, noise, size[0])
        batches = work.Choice(
            "mini-batches",
            stochastic,
            None,
            work.minibatches(problem, settings, h, noise.rows(rows)),
        )
        first, second = sorted((batches, counted), key=lambda choice: choice.seconds)
        why = work.reason(first, [(second.name, second.seconds)])
        return first.spec, name, why, first.noted(seen)
    args = stochastic, exact, name, noise, seen.departure, size[0], settings.batch_size
    return *planning.automatic(*args, problem.unit), seen


def exact_alone(settings, gradient, problem):
    """Sampler, gradient, reason and no pilot, where exact samplers alone run."""
    sampler = settings.sampler
    batches = settings.batch_size is not None or settings.adaptive
    strata = settings.subsample == "stratified"
    asked = ("gradient", settings.gradient), ("batch_size", batches), ("subsample", strata)
    for name, given in asked:
        if given:
            raise ArgumentError(
                f"{name} does not apply to {problem.dim} parameters with {problem.exact_alone}: "
                "exact samplers use all rows; leave it"
            )
    if sampler is None:
        return (
            problem.default_sampler(),
            gradient,
            "Exact sampler chosen: it updates all parameters at once",
            None,
        )
    if not sampler.exact or sampler.continuous or sampler.independent:
        raise NotSupported(
            f"{sampler.name} does not apply to {problem.dim} parameters with "
            f"{problem.exact_alone}: their gradient noise is not measured; use sampler='hmc' or "
            "'mala'"
        )
    return sampler, gradient, "", None


@dataclass(frozen=True)
class Rival:
    """What mini-batches would take, before their noise is known: with what name, and a `margin`
    within which it may be less.
    """

    name: str
    seconds: float
    margin: float


def rival(problem, settings, name, rng, z, counted):
    """The most that is known of the cost of mini-batches: the least that it may be, or, where that
    does not decide, what the noise of few rows tells.
    """
    least = work.minibatches(problem, settings)
    bound, n = Rival("mini-batches at least", least, 1.0), problem.model.n
    if counted.seconds < least or not problem.shuffled:
        return bound
    with one_blas_thread():
        gradient = problem.gradient(name, Everything(n), rng)
        few = pilot(gradient, problem.coordinates, z[:FEW_PAIRS], rows=min(n, FEW_ROWS))
    if not np.isfinite(few.covariance).all():
        return bound
    noise = noise_of(problem, name, settings, few)
    h, rows = tolerance.derive(registry.room("samplers")[planning.AUTO](), noise, n)
    about = work.minibatches(problem, settings, h, noise.rows(rows))
    found = Rival("mini-batches", about, FEW_TELL)
    return max(bound, found, key=lambda one: one.margin * one.seconds)


def choosable(problem, settings):
    """Whether counted work may choose the sampler: where it is left open, and nothing but the work
    speaks for one.
    """
    return (
        settings.sampler is None
        and not settings.robust
        and not len(problem.priors.shrunk)
        and not problem.coordinates.heavy
        and problem.coordinates.spread_of_logs <= planning.SKEWED
        and problem.searched.found <= 1
    )


def refuse_minibatches(settings):
    """ArgumentError where mini-batches are asked for, and would lead to gradients that are not
    finite.
    """
    if settings.sampler is None and not settings.robust:
        return
    asked = (
        f"cov_type={settings.cov_type!r}"
        if settings.robust
        else f"sampler={settings.sampler.name!r}"
    )
    raise ArgumentError(
        f"{asked}: the gradient is not finite at some draws of the Gaussian approximation at the "
        "mode, and mini-batches would lead there. Constrain parameters or rescale data so that it "
        "is, or use sampler='mala'"
    )


def unscaled(sampler, gradient, exact):
    """Sampler, gradient, reason and no pilot, where the posterior's scale is not known beforehand;
    `exact` is what "auto" takes.
    """
    if sampler is None:
        reason = "Sampler chosen because its step adapts: the posterior's scale is not known before"
        return registry.room("samplers")[exact](), gradient, reason, None
    if sampler.continuous:
        raise NotSupported(
            f"{sampler.name} needs the posterior's scale for its warmup, which is not known "
            "beforehand here; use sampler='mala'"
        )
    if not sampler.uses_gradient or sampler.independent:
        raise NotSupported(
            f"{sampler.name} draws from the Gaussian approximation at the mode, of which there is "
            "none here; use sampler='mala'"
        )
    if sampler.estimator and gradient != sampler.estimator:
        raise ArgumentError(
            f"gradient={gradient!r} does not apply to {sampler.name}: it takes "
            f"{sampler.estimator!r} alone"
        )
    return sampler, gradient, "", None


def check_init(settings, priors):
    """Refuse a start that has not one number a parameter,
    or none that is positive where the parameter is.
    """
    init, chains, d = settings.init, settings.chains, len(priors.names)
    if not settings.start_given:
        return
    first = d - priors.auxiliary
    last = f", {', '.join(priors.names[first:])} last" if priors.auxiliary else ""
    shaped("init", init, (d,), (chains, d), advice=f"give one number for each parameter{last}")
    if priors.report is not None:
        priors.report.check_start(init)
        return
    for name, values in zip(priors.names[first:], init.T[first:]):
        if np.min(values) <= 0:
            raise ArgumentError(f"init: {name!r} is {np.min(values):g}; it must be positive")
