"""The noise of a fit's gradient estimates: what the plan needs to know, and what is reported."""

from dataclasses import dataclass

import numpy as np

from sgmc import registry
from sgmc.core.expansion import block_effect
from sgmc.fit.batch_noise import Noise
from sgmc.fit.pilot import draws_of_laplace
from sgmc.fit.rows import scheme, shared_rows

# of the rows: longer blocks have their design effect computed, shorter ones are close to 1
BLOCK_SHARE = 0.005


@dataclass(frozen=True)
class GradientNoise:
    """Noise of the gradient estimates of a plan's batches, at stationarity.

    Attributes
    ----------
    worst : float
        V, the variance relative to the posterior precision, of the worst parameter.
    widest : float
        The largest variance of any direction of the sampler's coordinates, in the same units.
    tau : array (d,)
        The sd of each of these coordinates, in their own units.
    """

    worst: float
    widest: float
    tau: np.ndarray

    def as_seen(self, searches, rows):
        """The same, but as chains that adapted their batches saw it, in the mean over chains.

        Parameters
        ----------
        searches : list of BatchSearch or None
            One a chain.
        rows : list of Subsampler
        """
        if searches[0] is None:
            return self
        seen = np.mean([s.noise(r) for s, r in zip(searches, rows) if s.looks], axis=0)
        worst = float(seen.max())
        anisotropy = self.widest / self.worst if self.worst else 1.0
        return GradientNoise(worst, worst * anisotropy, np.sqrt(seen * searches[0].max_precision))


def noise_of(problem, gradient, settings, seen):
    """Noise and cost of an estimator of that name, of whose kind the pilot was, under the
    subsampling scheme of the fit.
    """
    cls, rows = registry.lookup("gradients", gradient, "gradient"), scheme(settings)
    common = cls.block_noise if rows.name == "block" else 0.0
    each = cls.row_cost + (cls.recomputes and not problem.model.width)
    each *= getattr(problem.model, "row_cost", 1.0)  # more where rows share work when all are taken
    # an exact sampler's pilot looks for none; and rows that are all alike have none
    if seen is None or not seen.worst_noise():
        return Noise(0.0, problem.always_computed(gradient), each, common)
    shared = shared_rows(problem, settings, gradient)

    def law(m):
        return seen.worst_noise(1 / m if shared is None else shared.factors(m))

    return Noise(
        seen.worst_noise(),
        problem.always_computed(gradient),
        each,
        common,
        law if rows.replaces or shared is not None else None,
        seen.widest_noise() / problem.coordinates.max_precision / seen.worst_noise(),
        cancels(gradient, settings),
    )


def cancels(gradient, settings):
    """Whether the errors of a sweep's batches add up to zero; not with control values that change
    on the way.
    """
    cls = registry.lookup("gradients", gradient, "gradient")
    return scheme(settings).sweeps and cls.staleness == 1


def noise_of_plan(problem, plan, settings, seen, chains):
    """The `GradientNoise` of a plan; gives long blocks of its chains their design effect."""
    n, d = problem.model.n, problem.dim
    if not plan.spec.noisy:
        return GradientNoise(0.0, 0.0, np.zeros(d))
    if seen is None:
        return GradientNoise(np.nan, np.nan, np.full(d, np.nan))
    known = noise_of(problem, plan.gradient, settings, seen)
    worst = known.of(plan.batch, n)
    if worst == 0:
        return GradientNoise(0.0, 0.0, np.zeros(d))
    effect = share_design_effect(problem, plan, settings, chains)
    mean = float(effect.mean())
    return GradientNoise(
        worst * mean,
        worst * mean * known.anisotropy,
        seen.tau() * np.sqrt(worst / known.one_row * effect),
    )


def share_design_effect(problem, plan, settings, chains):
    """Give long blocks their design effect a coordinate, computed once at a draw of the Laplace
    approximation; returns it.
    """
    n, d = problem.model.n, problem.dim
    if (
        not problem.model.width
        or settings.subsample != "block"
        or plan.batch <= BLOCK_SHARE * n
        or plan.batch == n
    ):
        return np.ones(d)
    z = draws_of_laplace(settings.seed, d)[0]
    natural = problem.coordinates.natural(problem.coordinates.from_white(z))
    effect = block_effect(chains[0].gradient, natural, plan.batch)
    for chain in chains:
        chain.gradient.rows.set_design_effect(effect)
    return effect
