"""Draws of the effects of levels, made when they are asked for."""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.core.random.rng import seed_sequence
from sgmc.diagnostics.chains import moments
from sgmc.models.regression.latent.densities.conditional import DF, Conditional, conditional

CONDITIONAL_STEPS = 6  # of the independence sampler: nine in ten proposals are accepted
STREAM = 2  # among those of predictions
NEW = 1 << 40  # added to the number of a level that the fit has not seen
ROUNDED_ROOT = 1e-12  # of correlations, with which their matrices stay positive definite
DRAWN_AT_ONCE = 1 << 21  # numbers of effects that are drawn at a time


@dataclass(frozen=True, kw_only=True)
class Population:
    """Effects of levels that the fit has not seen, at draws of the parameters: normal ones.

    Attributes
    ----------
    roots : array (m, q, q)
        Lambda at each draw.
    seed : int
        Each level has a random stream of its own.
    sizes : array (levels,)
        Rows of each level of the fit; others have higher numbers.
    factor : int
        0, or 1 of an inner one.
    """

    roots: np.ndarray
    seed: int
    sizes: np.ndarray
    factor: int = 0
    integrable = True  # whether means over effects need no draws of them
    law_size = 1  # numbers that a level's law takes at a draw

    def with_draws(self, kept):
        """The same at some of the draws."""
        return replace(self, roots=self.roots[kept])

    def work(self, levels, steps=0):
        """Return how many draws of effects the levels take."""
        return len(levels)

    def draws(self, levels):
        """Draws (L, m, q) for levels by their numbers, those that the fit has not seen included."""
        levels = np.asarray(levels, dtype=np.intp)
        out = np.empty((len(levels), *self.roots.shape[:2]))
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
        return np.random.Generator(np.random.Philox(key=key, counter=[0, 0, number, self.factor]))


@dataclass(frozen=True, kw_only=True)
class LevelEffects(Population):
    """Effects of all levels of a factor at draws of the parameters; nothing of size levels x draws
    is kept.

    Attributes
    ----------
    points : array (m, dim)
        Draws in the natural coordinates of the compiled model; of an inner factor those of its
        density at outer effects of zero.
    conditional : Conditional
        Of the fit's data.
    place : array (levels,) of int
        Where the compiled model has each level.
    within : Within or None
        Of an inner factor.
    """

    points: np.ndarray
    conditional: Conditional
    place: np.ndarray
    within: object = None

    @property
    def integrable(self):
        # unless the law of known levels is told by a single node
        return self.within is None and (self.conditional.closed or self.conditional.count > 1)

    @property
    def law_size(self):
        return self.conditional.count * self.roots.shape[1]

    def with_draws(self, kept):
        """The same at some of the draws."""
        within = None if self.within is None else self.within.with_draws(kept)
        return replace(self, points=self.points[kept], roots=self.roots[kept], within=within)

    def work(self, levels, steps=CONDITIONAL_STEPS):
        """Evaluations of a row's density that a draw of the effects of some levels takes; without
        steps those of their nodes.
        """
        known = np.asarray(levels)
        known = known[known < len(self.sizes)]
        own = float(self.sizes[known].sum()) * looks(self.conditional, steps) + len(levels)
        if self.within is None:
            return own
        return own + self.within.outer.work(np.unique(self.within.parent[known]))

    def known(self, levels):
        """Draws, means (L, m, q) and covariances (L, m, q, q) given the outcomes, of some levels;
        of inner ones those given draws of the outer effects.
        """
        groups = np.ascontiguousarray(self.place[levels], dtype=np.intp)
        numbers = self.random_numbers(levels)
        if self.within is None:
            return self.conditional(self.points, groups, *numbers)
        q, parents = self.roots.shape[1], self.within.parent[levels]
        shape = (len(levels), len(self.points))
        out = np.empty((*shape, q)), np.empty((*shape, q)), np.empty((*shape, q, q))
        for parent, points, _ in self.within.shifted(self.points, np.unique(parents)):
            at = parents == parent
            found = self.conditional(points, groups[at], *(one[at] for one in numbers))
            for whole, part in zip(out, found):
                whole[at] = part
        return out

    def moments(self, levels):
        """The means and covariances alone, of a factor that is within no other."""
        groups = np.ascontiguousarray(self.place[levels], dtype=np.intp)
        normals = np.empty((len(levels), len(self.points), 0, self.roots.shape[1]))
        none = np.empty(normals.shape[:3])
        return self.conditional(self.points, groups, normals, none, none)[1:]

    def random_numbers(self, levels):
        """What `Conditional` makes draws of, from the levels' own streams."""
        steps = 1 if self.conditional.closed else CONDITIONAL_STEPS
        shape = (len(levels), len(self.points), steps)
        normals = np.empty((*shape, self.roots.shape[1]))
        radii, uniforms = np.ones(shape), np.ones(shape)
        for k, level in enumerate(levels):
            random = self.stream(level)
            random.standard_normal(out=normals[k])
            if steps > 1:
                radii[k] = np.sqrt(DF / random.chisquare(DF, size=shape[1:]))
                random.random(out=uniforms[k])
        return normals, radii, uniforms

    def law(self, levels):
        """Nodes (L, m, nodes, q) of the effects of levels given the outcomes, and their
        probabilities; of normal laws, under which means are linear, the mean alone.
        """
        if self.conditional.closed:
            mean = self.moments(levels)[0][:, :, None]
            return mean, np.ones(mean.shape[:3])
        groups = np.ascontiguousarray(self.place[levels], dtype=np.intp)
        _, z, p = self.conditional.nodes(self.points, groups)
        return np.einsum("mab,gmkb->gmka", self.roots, z), p


@dataclass(frozen=True)
class OuterEffects:
    """The outer effects on which inner ones depend.

    Attributes
    ----------
    outer : LevelEffects
    parent : array (levels,) of int
        The outer level of each inner one.
    first : int
        Where the outer effects are among the coefficients of the inner density.
    away : array (outer levels, b)
        Outer effects at which that density has its zero.
    """

    outer: LevelEffects
    parent: np.ndarray
    first: int
    away: np.ndarray

    def with_draws(self, kept):
        """The same at some of the draws."""
        return replace(self, outer=self.outer.with_draws(kept))

    def shifted(self, points, levels):
        """Points (m, dim) of the inner density at draws of the effects of some outer levels, an
        iterator of (level, points, effects).
        """
        columns = slice(self.first, self.first + self.away.shape[1])
        for level, effects in zip(levels, self.outer.draws(levels)):
            points = points.copy()
            points[:, columns] = effects - self.away[level]
            yield level, points, effects


def looks(conditional, steps=CONDITIONAL_STEPS):
    """How often a row's density is evaluated for a draw of the effects of its level."""
    return 1 if conditional.closed else (conditional.count + steps) * conditional.cost


def effects_of_fit(fit, seed, sizes):
    """The `LevelEffects` of each factor, the outer first, at all draws of a fit; `sizes` are the
    rows of the levels of each.
    """
    points = fit.problem.coordinates.natural(fit.x.reshape(-1, fit.x.shape[2]))
    return effects_at(fit.problem, points, seed, sizes)


def effects_at(problem, points, seed, sizes):
    """The same at points (m, dim) in the natural coordinates of a problem's compiled model."""
    points = np.ascontiguousarray(points)
    if problem.own.effects is None:  # coefficients in units of their priors
        return [of_factor(problem, points, np.ones((len(points), 1, 1)), seed, sizes[0])]
    rows, q = problem.own.rows, problem.own.effects.outer.q
    fold = problem.coordinates.report.signs
    roots = fold.loading.root(points[:, fold.places])
    outer = of_factor(problem, points, roots[:, :q, :q], seed, sizes[0])
    inner = rows.subgroups
    if inner is None:
        return [outer]
    parent = np.empty(len(inner.level), dtype=np.intp)
    parent[inner.level] = np.repeat(rows.level, np.diff(inner.first))
    return [
        outer,
        LevelEffects(
            points=np.array([problem.model.inner_theta(one) for one in points]),
            roots=np.ascontiguousarray(roots[:, q:, q:]),
            seed=seed,
            conditional=conditional(problem.model.inner),
            place=places(inner.level),
            sizes=sizes[1],
            factor=1,
            within=OuterEffects(
                outer, parent, problem.model.p, np.asarray(problem.model.away)[outer.place]
            ),
        ),
    ]


def of_factor(problem, points, roots, seed, sizes):
    """The `LevelEffects` of the outer or only factor, with Lambda (m, q, q) at each point."""
    return LevelEffects(
        points=points,
        roots=np.ascontiguousarray(roots),
        seed=seed,
        conditional=conditional(problem.model),
        place=places(problem.own.rows.level),
        sizes=sizes,
    )


def populations(model, draws, seed):
    """The `Population` of each factor by reported draws (m, parameters), without data."""
    effects, first = model.effects, model.printed_coefficients
    q, pairs = effects.loading.q, effects.loading.correlations()
    R = np.tile((1 + ROUNDED_ROOT) * np.eye(q), (len(draws), 1, 1))
    for k, (i, j) in enumerate(pairs):
        R[:, i, j] = R[:, j, i] = draws[:, first + q + k]
    roots = draws[:, first : first + q, None] * np.linalg.cholesky(R)
    return [
        Population(
            roots=np.ascontiguousarray(roots[:, own][:, :, own]), seed=seed, sizes=sizes, factor=k
        )
        for k, (own, sizes) in enumerate(zip(effects.places(), model.sizes))
    ]


def places(level):
    """Where each level is, of the level at each place."""
    place = np.empty(len(level), dtype=np.intp)
    place[level] = np.arange(len(level))
    return place


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
    size = max(1, DRAWN_AT_ONCE // (len(effects.roots) * 16 * q))
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
