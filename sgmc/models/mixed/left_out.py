"""What leaving out a row, or a group, needs: its density given all others, at each draw."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from sgmc.core import deadline
from sgmc.models.mixed.random_effects import effects_at
from sgmc.results.outcomes.rows import CELLS, Rows, family_of_rows

INFORMED = 0.5  # what a row may move of its linear predictor, in variances of it
MOST_SHARED = 0.99  # of what is known of a linear predictor, by a single row
POINT_VARIANCE = 1e-9  # of the population's variance: of nodes of which one has all probability
ETA_STEP = 1e-3  # of a linear predictor, for derivatives by differences


@dataclass(frozen=True, kw_only=True)
class LeftOut(Rows):
    """Units whose densities at a draw are given the other outcomes, effects integrated out.

    Draws are points of the compiled density in the place of coefficients, so that they can be
    averaged and mirrored.

    Attributes
    ----------
    problem : Problem
    table : Rows
        All rows of the fit.
    sizes : list of array
        Rows of the levels of each factor.
    effects : LevelEffects
        At the points.
    """

    problem: object
    table: Rows
    sizes: list
    effects: object

    linear = False

    @classmethod
    def of(cls, results):
        """Of all units of some results with their data."""
        problem, table = results._fit.problem, results.table_rows(random=False)
        x = results._fit.x
        points, sizes = problem.coordinates.natural(x.reshape(-1, x.shape[2])), results.model.sizes
        return cls(
            family=results.model.family,
            coefficients=points,
            extra=None,
            weights=results.flat_weights,
            problem=problem,
            table=table,
            sizes=sizes,
            effects=effects_at(problem, points, results.seed, sizes)[cls.level],
            **cls.units(problem, table),
        )

    def with_draws(self, kept):
        weights = None if self.weights is None else self.weights[kept]
        return self.moved(self.coefficients[kept], weights)

    def moved(self, points, weights=None):
        """The same at other points."""
        effects = effects_at(self.problem, points, self.effects.seed, self.sizes)[self.level]
        return replace(self, coefficients=points, weights=weights, effects=effects)

    def at_mean(self):
        return self.moved(np.average(self.coefficients, axis=0, weights=self.weights)[None])

    def mirrored(self, centre):
        points = self.coefficients
        return self.moved(np.concatenate([points, 2 * centre.coefficients - points]))

    def log_density(self, at, eta):
        # given all other outcomes
        return eta[0]

    def seen(self, at, eta):
        return eta[1]

    def blocks(self):
        # both log densities, (2, unit, draw)
        size = max(1, CELLS // (self.m * self.effects.conditional.count))
        for a in range(0, self.n, size):
            deadline.check()
            at = slice(a, min(a + size, self.n))
            yield at, self.densities(self.X[at, 0])


@dataclass(frozen=True, kw_only=True)
class LeftOutGroups(LeftOut):
    """Groups: p(y_g | theta).

    Attributes
    ----------
    constants : array (groups,)
        Of the groups' log densities, which compiled ones leave out.
    """

    constants: np.ndarray
    level = 0

    @staticmethod
    def units(problem, table):
        """What `LeftOut` has of each group."""
        rows = problem.own.rows
        return dict(
            X=np.arange(len(rows.level))[:, None],
            offset=np.zeros(len(rows.level)),
            order=rows.level,
            y=np.add.reduceat(table.y, rows.starts[:-1]),
            constants=np.zeros(0),
        )

    @classmethod
    def of(cls, results):
        return replace(super().of(results), constants=LeftOutRows.of(results).constants())

    def densities(self, groups):
        """Both log densities of some groups, which are the same."""
        conditional, at = self.effects.conditional, np.ascontiguousarray(groups, dtype=np.intp)
        value = conditional.nodes(self.effects.points, at)[0] + self.constants[groups][:, None]
        return np.array([value, value])


class LeftOutRows(LeftOut):
    """Rows: p(y_i | y_g without i, theta).

    With normal outcomes by the row's leverage.  Otherwise 1 / E[1 / p(y_i | b) | y_g] by the nodes
    of the group, where the row has little to say of its linear predictor (its slope squared and its
    curvature, times what is left of the variance, are below INFORMED), else p(y_g) / p(y_g without
    i), each with nodes of its own.
    """

    level = -1

    @staticmethod
    def units(problem, table):
        """What `LeftOut` has of each row."""
        return dict(
            X=np.arange(table.n)[:, None],
            offset=table.offset,
            order=table.order,
            y=table.y,
            trials=table.trials,
            se=table.se,
            frequency=table.frequency,
        )

    @property
    def starts(self):
        """First row of each innermost group."""
        rows = self.problem.own.rows
        return rows.starts if rows.subgroups is None else rows.subgroups.starts

    def densities(self, rows):
        """Both log densities of some rows."""
        out = np.empty((2, len(rows), self.m))
        group = np.searchsorted(self.starts, rows, side="right") - 1
        for some, points, apart in self.together(np.unique(group)):
            here = np.flatnonzero(np.isin(group, some))
            place = np.searchsorted(some, group[here])
            eta = self.plain(rows[here], points, apart)
            out[:, here] = self.of_groups(some, rows[here], place, points, eta, apart)
        return out

    def together(self, groups):
        """Groups that can be looked at together, their points, and the outer effects there."""
        within = self.effects.within
        if within is None:
            yield groups, self.effects.points, None
            return
        level = self.problem.own.rows.subgroups.level[groups]
        parents = within.parent[level]
        for parent, points, apart in within.moved(self.effects.points, np.unique(parents)):
            yield groups[parents == parent], points, apart

    def plain(self, rows, points, apart):
        """Linear predictors of rows without effects, but for the outer ones, (row, draw)."""
        d = self.table.X.shape[1]
        eta = self.table.X[rows] @ points[:, :d].T + self.table.offset[rows, None]
        return (
            eta
            if apart is None
            else eta + self.problem.own.rows.Z[rows, : apart.shape[1]] @ apart.T
        )

    def slopes(self, rows):
        """How linear predictors of rows move with standard effects, (row, draw, q)."""
        q = self.effects.roots.shape[1]
        return np.einsum("ia,mab->imb", self.problem.own.rows.Z[rows, -q:], self.effects.roots)

    def density_of(self, rows, eta):
        """log p(y | eta) of rows, (row, draw, ..)."""
        shape = (len(rows), *[1] * (eta.ndim - 1))
        return self.family_of(rows, shape).log_density(
            self.table.y[rows].reshape(shape), eta, self.auxiliary(eta.ndim - 2)
        )

    def family_of(self, rows, shape):
        """The family of rows, what belongs to each in that shape."""
        beside = (self.table.trials, self.table.se)
        return family_of_rows(
            self.family, *(None if one is None else one[rows].reshape(shape) for one in beside)
        )

    def auxiliary(self, more=0):
        """Auxiliary parameters (k, draw, ..), or None."""
        k = len(self.family.auxiliary)
        values = np.exp(self.coefficients[:, self.coefficients.shape[1] - k :]).T
        return values.reshape(k, self.m, *[1] * more) if k else None

    def of_groups(self, groups, rows, place, points, eta, apart):
        """Both log densities of rows, of the groups at some places of a list of groups."""
        _, z, p = self.effects.conditional.nodes(points, np.ascontiguousarray(groups, np.intp))
        mean = np.einsum("gmka,gmk->gma", z, p)
        away = z - mean[:, :, None]
        cov = np.einsum("gmka,gmkb,gmk->gmab", away, away, p)
        u = self.slopes(rows)
        middle = eta + np.einsum("ima,ima->im", u, mean[place])
        own = np.einsum("ima,imab,imb->im", u, cov[place], u)
        if self.effects.conditional.closed:
            residual = self.table.y[rows, None] - middle
            variance = self.family_of(rows, (-1, 1)).variance(middle, self.auxiliary())
            return by_leverage(residual, own, variance)
        slope, curvature = self.derivatives(rows, middle)
        nodes = eta[:, :, None] + np.einsum("ima,imka->imk", u, z[place])
        value = self.density_of(rows, nodes)
        with np.errstate(divide="ignore"):
            log_p = np.log(p[place])
        out = np.array(
            [-special.logsumexp(log_p - value, axis=2), special.logsumexp(log_p + value, axis=2)]
        )
        share = np.minimum(curvature * own, MOST_SHARED)
        for i in np.flatnonzero((share + slope**2 * own > INFORMED).any(axis=1)):
            g = place[i]
            whole, group = (mean[g], cov[g]), np.arange(*self.starts[groups[g] + [0, 1]])
            pulled = np.einsum("mab,mb->ma", cov[g], u[i])
            more = curvature[i] / (1 - share[i])
            rest = cov[g] + more[:, None, None] * pulled[:, :, None] * pulled[:, None]
            at = mean[g] - slope[i][:, None] * np.einsum("mab,mb->ma", rest, u[i])
            plain = self.plain(group, points, apart)
            out[0, i] = self.integral(group, plain, whole) - self.integral(
                group, plain, (at, rest), rows[i]
            )
        return out

    def constants(self):
        """What log densities of the outer groups have and compiled ones leave out, (groups,):
        differences at effects of zero and one draw.
        """
        one, starts = self.moved(self.coefficients[:1]), self.starts
        compiled, plain = np.empty(len(starts) - 1), np.empty(self.table.n)
        for some, points, apart in one.together(np.arange(len(compiled))):
            here = np.concatenate([np.arange(*starts[g + [0, 1]]) for g in some])
            compiled[some] = one.effects.conditional.without_effects(points[0], some)
            plain[here] = one.density_of(here, one.plain(here, points, apart))[:, 0]
        count = 1.0 if self.table.frequency is None else self.table.frequency
        found = np.add.reduceat(count * plain, starts[:-1]) - compiled
        inner = self.problem.own.rows.subgroups
        return found if inner is None else np.add.reduceat(found, inner.first[:-1])

    def derivatives(self, rows, eta):
        """Slope of each row's log density by its linear predictor, and minus its curvature."""
        up, here, down = (self.density_of(rows, eta + step) for step in (ETA_STEP, 0.0, -ETA_STEP))
        bent = np.maximum((2 * here - up - down) / ETA_STEP**2, 0.0)
        return (up - down) / (2 * ETA_STEP), bent

    def integral(self, rows, plain, place, left_out=None):
        """log p(y) of rows of a group at each draw, with one of them left out, by nodes around a
        mean and a covariance of the standard effects.
        """
        mean, cov = place
        q = mean.shape[1]
        t, weight = self.one_set(q)
        root = np.linalg.cholesky(cov + POINT_VARIANCE * np.eye(q))
        z = mean[:, None] + np.einsum("mab,kb->mka", root, t)
        count = np.ones(len(rows)) if self.table.frequency is None else self.table.frequency[rows]
        count = count - (rows == left_out)
        eta = plain[:, :, None] + np.einsum("ima,mka->imk", self.slopes(rows), z)
        value = np.einsum("i,imk->mk", count, self.density_of(rows, eta))
        value += weight - 0.5 * (z**2).sum(axis=2) - 0.5 * q * np.log(2 * np.pi)
        log_det = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        return special.logsumexp(value, axis=1) + log_det

    def one_set(self, q):
        """Nodes and log weights of the fit's rule; of several sets of them the first."""
        rule = self.problem.own.rule
        t, weight = rule.scheme.make(rule.nodes, q)
        return (t[0], weight[0]) if rule.scheme.scattered else (t, weight)


def by_leverage(residual, own, variance):
    """Both log densities of rows with normal errors, from residuals and variances of what is known
    of their linear predictors with them.
    """
    spread = variance**2 / (variance - own)  # of the prediction without the row
    away = residual * variance / (variance - own)
    return np.array([normal(away, spread), normal(residual, variance + own)])


def normal(away, variance):
    """Log density of a normal law at a distance from its mean."""
    return -0.5 * (np.log(2 * np.pi * variance) + away**2 / variance)
