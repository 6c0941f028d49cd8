"""The sampling threshold where the posterior has no Gaussian approximation: gradient noise at the
places of the chains, in the sampler's own metric.
"""

from dataclasses import replace

import numpy as np

from sgmc.coordinates.fisher import enough_rows
from sgmc.coordinates.peak import MAX_CURVATURE_DIM
from sgmc.core.blas import one_blas_thread
from sgmc.core.expansion import row_noise
from sgmc.core.rng import Rng, seed_sequence
from sgmc.errors import ArgumentError
from sgmc.fit.batch_noise import Noise
from sgmc.fit.pilot import SINGLE_ROWS, noise_in_x
from sgmc.fit.plan import threshold_step
from sgmc.fit.rows import scheme
from sgmc.fit.tolerance import NOISE_SHARE
from sgmc.samplers.bases.metric_source import MetricSource, in_units_of
from sgmc.subsampling.uniform import Everything

FIRST_LOOK = 16  # steps after which alpha is computed anew for the first time


def reached(problem, plan, settings, chains):
    """The plan with warmup until alpha is at most NOISE_SHARE at the places of the chains.

    The chains are followed, and alpha is computed at steps whose numbers double.  The plan's own
    chains make the same steps again.

    Parameters
    ----------
    problem : Problem
    plan : Plan
        For steps that do not grow.
    settings : Settings
    chains : list of Chain
        New ones, which are used up.

    Raises
    ------
    ArgumentError
        Where the noise is not to be had, or alpha is above NOISE_SHARE whatever the warmup.
    """
    reason = refusal(problem, plan, settings)
    if reason:
        raise ArgumentError(f"warmup='threshold' {reason}; give a number of steps")
    step = 0
    while True:
        sound = [chain for chain in chains if chain.status == 0]
        if not sound:  # the run itself reports where its chains diverge
            return replace(plan, warmup=step)
        with one_blas_thread():
            widest = max(noise_at(problem, plan, settings, np.array(c.x)) for c in sound)
        if plan.spec.noise_ratio(plan.time(step), widest) <= NOISE_SHARE:
            return replace(plan, warmup=step)
        ahead = min(max(threshold_step(plan, widest), step + 1), 2 * step + FIRST_LOOK)
        for chain in sound:
            chain.run(ahead - step, False)
        step = ahead


def at_draws(fit):
    """alpha at the first kept draws, the largest of the chains'; NaN where it is not known."""
    if fit.problem.partial or refusal(fit.problem, fit.plan, fit.settings):
        return float("nan")
    with one_blas_thread():
        widest = max(noise_at(fit.problem, fit.plan, fit.settings, x) for x in fit.x[:, 0])
    return fit.plan.spec.noise_ratio(fit.first_time, widest)


def refusal(problem, plan, settings):
    """Why the noise is not to be had; empty where it is."""
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
    if scheme(settings).needs:
        return f"does not apply to subsample={settings.subsample!r} here"
    return ""


def noise_at(problem, plan, settings, x):
    """The largest variance of the gradient's noise in any direction at x, in units of the
    sampler's metric: lambda_max(M^(1/2) V M^(1/2)) (Welling & Teh 2011, eq. 10 and 20).
    """
    n, d = problem.model.n, problem.dim
    most = min(n, SINGLE_ROWS if problem.foreign else enough_rows(d))
    gradient = problem.gradient(
        plan.gradient, Everything(n), Rng(seed_sequence(settings.seed, "pilot", 1))
    )
    natural = problem.coordinates.natural(x)
    covariance = row_noise(gradient, natural, np.arange(most) * n // most)[1]
    covariance = gradient.staleness * noise_in_x(problem.coordinates, x, covariance)
    if plan.spec.own_units:
        covariance = in_units_of(MetricSource().made(gradient, np.array(x)), x, covariance)
    finite = np.isfinite(covariance).all()
    one_row = float(np.linalg.eigvalsh(covariance)[-1]) if finite else np.inf
    law = (lambda m: one_row / m) if scheme(settings).replaces else None
    return Noise(one_row, 0, law=law).of(plan.batch, n)
