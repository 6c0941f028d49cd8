"""Draws of the effects of levels, made when they are asked for."""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.core.rng import seed_sequence
from sgmc.diagnostics import moments
from sgmc.errors import NotSupported
from sgmc.models.mixed.conditional import DF, Conditional

CONDITIONAL_STEPS = 6  # of the independence sampler: nine in ten proposals are accepted
STREAM = 2  # among those of predictions
DRAWN_AT_ONCE = 1 << 21  # numbers of effects that are drawn at a time
NEW = 1 << 40  # added to the number of a level that the fit has not seen


@dataclass(frozen=True)
class LevelEffects:
    """Effects of levels at draws of the parameters; nothing of size levels x draws is kept.

    Attributes
    ----------
    points : array (m, dim)
        Draws in the natural coordinates of the compiled model.
    roots : array (m, q, q)
        Lambda at each.
    seed : int
        Each level has a random stream of its own.
    conditional : Conditional or None
        Of the fit's data; None where these were left behind.
    group : array (levels,) of int or None
        Where the compiled model has each level.
    sizes : array (levels,)
        Rows of each.
    """

    points: np.ndarray
    roots: np.ndarray
    seed: int
    conditional: Conditional | None
    group: np.ndarray | None
    sizes: np.ndarray

    def with_draws(self, kept):
        """The same at some of the draws."""
        return replace(self, points=self.points[kept], roots=self.roots[kept])

    def work(self, levels):
        """Evaluations of a row's density that a draw of the effects of some levels takes."""
        known = np.asarray(levels)
        known = known[known < len(self.sizes)]
        return float(self.sizes[known].sum()) * (2 * CONDITIONAL_STEPS) + len(levels)

    def known(self, levels):
        """Draws, means (L, m, q) and covariances (L, m, q, q) given the outcomes of some levels."""
        m, q = len(self.points), self.roots.shape[1]
        steps = 1 if self.conditional.closed else CONDITIONAL_STEPS
        shape = (len(levels), m, steps)
        normals, radii, uniforms = np.empty((*shape, q)), np.ones(shape), np.ones(shape)
        for k, level in enumerate(levels):
            random = self.stream(level)
            random.standard_normal(out=normals[k])
            if steps > 1:
                radii[k] = np.sqrt(DF / random.chisquare(DF, size=shape[1:]))
                random.random(out=uniforms[k])
        groups = np.ascontiguousarray(self.group[levels], dtype=np.intp)
        return self.conditional(self.points, groups, normals, radii, uniforms)

    def moments(self, levels):
        """Means (L, m, q) and covariances (L, m, q, q) given the outcomes of some levels."""
        m, q = len(self.points), self.roots.shape[1]
        none = np.empty((len(levels), m, 0))
        groups = np.ascontiguousarray(self.group[levels], dtype=np.intp)
        normals = np.empty((len(levels), m, 0, q))
        return self.conditional(self.points, groups, normals, none, none)[1:]

    def draws(self, levels):
        """Draws (L, m, q) for levels by their numbers, those that the fit has not seen included."""
        levels = np.asarray(levels, dtype=np.intp)
        out = np.empty((len(levels), len(self.points), self.roots.shape[1]))
        seen = levels < len(self.sizes)
        if seen.any():
            out[seen] = self.known(levels[seen])[0]
        for k in np.flatnonzero(~seen):
            normals = self.stream(int(levels[k]) + NEW).standard_normal(out.shape[1:])
            out[k] = np.einsum("mij,mj->mi", self.roots, normals)
        return out

    def stream(self, number):
        """The random stream of a level."""
        key = seed_sequence(self.seed, "predict", STREAM).generate_state(2, np.uint64)
        return np.random.Generator(np.random.Philox(key=key, counter=[0, 0, number, 0]))


def level_effects(results, seed):
    """`LevelEffects` at all draws of some results with their data."""
    fit = results._fit
    problem, rows = fit.problem, fit.problem.rows
    if rows.subgroups is not None:
        raise NotSupported(
            f"effects of nested factors ({', '.join(problem.effects.sds)}) cannot be drawn yet; "
            "predictions at effects of zero are there, random=False"
        )
    loading, first = problem.effects.loading, problem.coordinates.first
    return effects_of_fit(fit, results.model.sizes, loading, first, seed)


def effects_of_fit(fit, sizes, loading, first, seed):
    """`LevelEffects` at all draws of a fit with one factor.

    Parameters
    ----------
    fit : Fit
    sizes : array (levels,)
        Rows of each level.
    loading : Loading
    first : int
        Where its parameters begin.
    seed : int
    """
    problem, rows = fit.problem, fit.problem.rows
    points = problem.coordinates.natural(fit.x.reshape(-1, fit.x.shape[2]))
    group = np.empty(len(rows.level), dtype=np.intp)
    group[rows.level] = np.arange(len(rows.level))
    return LevelEffects(
        np.ascontiguousarray(points),
        loading.root(points[:, first : first + loading.size]),
        seed,
        Conditional(problem.model),
        group,
        sizes,
    )


def posterior_of(effects, weights, levels, ends):
    """Mean, sd and quantiles of the effects of levels, (levels, q, 2 + ends): means and sds are
    averages over draws of the parameters of the conditional ones, quantiles are those of draws.

    Parameters
    ----------
    effects : LevelEffects
    weights : array (m,) or None
        Of the draws.
    levels : array of int
    ends : list of float
        Probabilities; without any nothing is drawn.
    """
    q = effects.roots.shape[1]
    out = np.empty((len(levels), q, 2 + len(ends)))
    size = max(1, DRAWN_AT_ONCE // (len(effects.points) * 16 * q))
    for a in range(0, len(levels), size):
        at = slice(a, a + size)
        if len(ends):
            drawn, mean, covariance = effects.known(levels[at])
            flat = np.moveaxis(drawn, 1, 0).reshape(1, drawn.shape[1], -1)
            found = moments.quantile(flat, ends, weights)
            out[at, :, 2:] = found.T.reshape(*out[at, :, 2:].shape)
        else:
            mean, covariance = effects.moments(levels[at])
        centre = np.average(mean, axis=1, weights=weights)
        spread = np.average((mean - centre[:, None]) ** 2, axis=1, weights=weights)
        within = np.diagonal(covariance, axis1=2, axis2=3)
        out[at, :, 0] = centre
        out[at, :, 1] = np.sqrt(spread + np.average(within, axis=1, weights=weights))
    return out
