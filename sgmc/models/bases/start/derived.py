"""Step sizes where coordinates have no scale: the model's own, or a Gaussian's at one mode."""

from dataclasses import replace

from sgmc.coordinates.approximations.laplace import (
    MAX_CURVATURE_DIM,
    exact_gradient,
    laplace_approximation,
)
from sgmc.coordinates.whitened.free import free_coordinates
from sgmc.core.system.blas import one_blas_thread
from sgmc.core.system.deadline import OutOfTime
from sgmc.errors import NotSupported
from sgmc.fit import choose_sampler, make_plan
from sgmc.fit.plan import plan_of_steps


def own_plan(choice, own):
    """The plan of (step, minibatch, thinning) that a model derives from its data; None for None."""
    if own is None:
        return None
    (step, batch, thin), settings = own, choice.settings
    given = replace(settings, step_size=step, batch_size=batch, thin=settings.thin or thin)
    found = plan_of_steps(replace(choice, settings=given, reason=""), None)
    return replace(found, step_origin="derived", settings=settings)


def local_plan(choice):
    """The plan by the curvature and the gradient noise at the mode next to the start; None where no
    mode is found, or there are too many parameters.

    Chains run in the same coordinates all the same, and begin where the model has them begin: the
    Gaussian approximation of one mode among several tells a step size, and no more.
    """
    problem, spec, settings = choice.problem, choice.spec, choice.settings
    where = problem.coordinates
    if problem.model.refreshes or len(where.centre) > MAX_CURVATURE_DIM:
        return None
    exact = exact_gradient(problem.model, problem.prior, where.constraints)
    try:
        with one_blas_thread():
            found, _ = laplace_approximation(exact, where.centre)
    except NotSupported:  # a model without a density or an exact gradient
        return None
    if not found.whole:
        raise OutOfTime
    if found.precision is None:
        return None
    scaled = free_coordinates(where.constraints, found, None, where.logged)
    known = replace(problem, coordinates=scaled)
    asked = replace(settings, sampler=spec, gradient=settings.gradient or "simple")
    if not spec.minibatches:
        asked = replace(asked, gradient=None)
    found = make_plan(choose_sampler(known, asked))
    return replace(found, problem=problem, settings=settings, pilot=choice.pilot)
