"""What leaving out a row, or a group, needs: its density given all others, at each draw."""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.arguments.data.limited import as_numbers
from sgmc.models.regression.latent.effects.random_effects import effects_at
from sgmc.results.outcomes.data.rows import CELLS, Rows, family_of_rows, rows_of

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

    @classmethod
    def of(cls, results, sizes):
        """Of all units of some results with their data."""
        problem, table, x = results._fit.problem, rows_of(results), results._fit.x
        points = problem.coordinates.natural(x.reshape(-1, x.shape[2]))
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
        return self.shifted(self.coefficients[kept], weights)

    def shifted(self, points, weights=None):
        """The same at other points."""
        effects = effects_at(self.problem, points, self.effects.seed, self.sizes)[self.level]
        return replace(self, coefficients=points, weights=weights, effects=effects)

    def at_mean(self):
        return self.shifted(np.average(self.coefficients, axis=0, weights=self.weights)[None])

    def mirrored(self, centre):
        points = self.coefficients
        return self.shifted(np.concatenate([points, 2 * centre.coefficients - points]))

    def log_density(self, at, eta):
        # given all other outcomes
        return eta[0]

    def seen(self, at, eta):
        return eta[1]

    @property
    def nodes(self):
        """Nodes of a unit's effects."""
        return self.effects.conditional.count

    @property
    def block(self):
        return max(1, CELLS // (self.m * self.nodes))

    def predictors(self, at):
        # both log densities, (2, unit, draw)
        return self.densities(self.X[at, 0])


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
            y=np.add.reduceat(as_numbers(table.y), rows.starts[:-1]),
            constants=np.zeros(0),
        )

    @classmethod
    def of(cls, results, sizes):
        constants = LeftOutRows.of(results, sizes).constants()
        return replace(super().of(results, sizes), constants=constants)

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

    @property
    def closed(self):
        """Whether effects have normal laws."""
        return self.effects.conditional.closed

    def near(self):
        return np.argsort(self.X[:, 0], kind="stable")

    def groups_of(self, rows):
        """The innermost group of each row."""
        return np.searchsorted(self.starts, rows, side="right") - 1

    def members(self, group):
        """Rows of a group."""
        return np.arange(*self.starts[group + [0, 1]])

    def densities(self, rows, rng=None):
        """Both log densities of some rows, (2, row, draw); with a random stream also linear
        predictors drawn given the other outcomes.
        """
        out = np.empty((2 + (rng is not None), len(rows), self.m))
        group = self.groups_of(rows)
        for some, points, apart in self.together(np.unique(group)):
            here = np.flatnonzero(np.isin(group, some))
            place = np.searchsorted(some, group[here])
            out[:, here] = self.of_groups(some, rows[here], place, points, apart, rng)
        return out

    def unseen(self, rng):
        found = [
            self.densities(self.X[a : a + self.block, 0], rng)[2]
            for a in range(0, self.n, self.block)
        ]
        extra = self.auxiliary()
        return self.family.placed(np.concatenate(found), extra), extra

    def together(self, groups):
        """Groups that can be looked at together, their points, and the outer effects there."""
        within = self.effects.within
        if within is None:
            yield groups, self.effects.points, None
            return
        level = self.problem.own.rows.subgroups.level[groups]
        parents = within.parent[level]
        for parent, points, apart in within.shifted(self.effects.points, np.unique(parents)):
            yield groups[parents == parent], points, apart

    def law(self, groups, points, apart):
        """Nodes (group, draw, node, q) of standard effects of groups, and their probabilities."""
        return self.effects.conditional.nodes(points, np.ascontiguousarray(groups, np.intp))[1:]

    def plain(self, rows, points, apart):
        """Linear predictors of rows without effects, but for the outer ones, (row, draw)."""
        d = self.table.X.shape[1]
        eta = self.table.X[rows] @ points[:, :d].T + self.table.offset[rows, None]
        return (
            eta
            if apart is None
            else eta + self.problem.own.rows.Z[rows, : apart.shape[1]] @ apart.T
        )

    def slopes(self, rows, apart):
        """How linear predictors of rows move with standard effects, (row, draw, q)."""
        q = self.effects.roots.shape[1]
        return np.einsum("ia,mab->imb", self.problem.own.rows.Z[rows, -q:], self.effects.roots)

    def density_of(self, rows, eta):
        """log p(y | eta) of rows, (row, draw, ..)."""
        shape = (len(rows), *[1] * (eta.ndim - 1))
        extra = self.auxiliary(eta.ndim - 2)
        return self.family_of(rows, shape).log_density(
            self.table.y[rows].reshape(shape), self.family.placed(eta, extra), extra
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

    def of_groups(self, groups, rows, place, points, apart, rng=None):
        """What `densities` has of rows, of the groups at some places of a list of groups."""
        z, p = self.law(groups, points, apart)
        eta, u = self.plain(rows, points, apart), self.slopes(rows, apart)
        mean, cov = moments_of(z, p)
        middle = eta + np.einsum("ima,ima->im", u, mean[place])
        own = np.einsum("ima,imab,imb->im", u, cov[place], u)
        counted = np.ones(len(rows), dtype=bool)
        if self.table.frequency is not None:  # those that count zero times are left out already
            counted = self.table.frequency[rows] > 0
        if self.closed:
            residual = self.table.y[rows, None] - middle
            variance = self.family_of(rows, (-1, 1)).variance(middle, self.auxiliary())
            out, rest, left = by_leverage(residual, own, variance, counted)
            if rng is None:
                return out
            drawn = rest + np.sqrt(left) * rng.standard_normal(own.shape)
            return np.concatenate([out, self.table.y[rows, None] - drawn[None]])
        slope, curvature = self.derivatives(rows, middle)
        nodes = eta[:, :, None] + np.einsum("ima,imka->imk", u, z[place])
        value = self.density_of(rows, nodes)
        with np.errstate(divide="ignore"):
            log_p = np.log(p[place])
        of_row, seen = counted[:, None, None] * value, log_sum(log_p + value)
        out = [np.where(counted[:, None], -log_sum(log_p - of_row), seen), seen]
        if rng is not None:
            out.append(one_of_nodes(nodes, log_p - of_row, rng))
        share = np.minimum(curvature * own, MOST_SHARED)
        told = (share + slope**2 * own > INFORMED).any(axis=1)
        telling = np.flatnonzero(told & counted)
        which, number = np.unique(place[telling], return_inverse=True)
        inside = self.inside(groups[which], points, apart)
        for i, k in zip(telling, number):
            g, group = place[i], inside[k]
            pulled = np.einsum("mab,mb->ma", cov[g], u[i])
            more = curvature[i] / (1 - share[i])
            rest = cov[g] + more[:, None, None] * pulled[:, :, None] * pulled[:, None]
            at = mean[g] - slope[i][:, None] * np.einsum("mab,mb->ma", rest, u[i])
            whole = self.terms(*group, mean[g], cov[g])[0]
            without, there = self.terms(*group, at, rest, rows[i])
            out[0][i] = log_sum(whole) - log_sum(without)
            if rng is not None:
                out[2][i] = one_of_nodes(there[group[0] == rows[i]][0], without, rng)
        return np.array(out)

    def constants(self):
        """What log densities of the outer groups have and compiled ones leave out, (groups,):
        differences at effects of zero and one draw.
        """
        one, starts = self.shifted(self.coefficients[:1]), self.starts
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

    def inside(self, groups, points, apart):
        """Rows of each group, their linear predictors without effects (row, draw), and how these
        move with standard effects (row, draw, q).
        """
        members = [self.members(group) for group in groups]
        if not members:
            return []
        rows, ends = np.concatenate(members), np.cumsum([len(one) for one in members[:-1]])
        eta, u = self.plain(rows, points, apart), self.slopes(rows, apart)
        return list(zip(members, *(np.split(one, ends.astype(int)) for one in (eta, u))))

    def terms(self, rows, eta, u, mean, cov, left_out=None):
        """Logs (draw, node) of what nodes around a mean and a covariance of the standard effects
        of a group, see `inside`, add to the density of its rows, one of them left out; and the
        rows' linear predictors there.
        """
        q = mean.shape[1]
        t, weight = self.one_set(q)
        root = np.linalg.cholesky(cov + POINT_VARIANCE * np.eye(q))
        z = mean[:, None] + np.einsum("mab,kb->mka", root, t)
        count = np.ones(len(rows)) if self.table.frequency is None else self.table.frequency[rows]
        count = count - (rows == left_out)
        eta = eta[:, :, None] + np.einsum("ima,mka->imk", u, z)
        value = np.einsum("i,imk->mk", count, self.density_of(rows, eta))
        value += weight - 0.5 * (z**2).sum(axis=2) - 0.5 * q * np.log(2 * np.pi)
        log_det = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        return value + log_det[:, None], eta

    def one_set(self, q):
        """Nodes and log weights of the fit's rule; of several sets of them the first."""
        rule = self.problem.own.rule
        t, weight = rule.scheme.make(rule.nodes, q)
        return (t[0], weight[0]) if rule.scheme.scattered else (t, weight)


def moments_of(z, p):
    """Means (.., q) and covariances (.., q, q) of nodes (.., node, q) with probabilities."""
    mean = np.einsum("...ka,...k->...a", z, p)
    away = z - mean[..., None, :]
    return mean, np.einsum("...ka,...kb,...k->...ab", away, away, p)


def log_sum(value):
    """log sum exp over the last axis."""
    top = value.max(axis=-1)
    with np.errstate(invalid="ignore"):  # of infinite ones
        total = np.exp(value - top[..., None]).sum(axis=-1)
    return np.where(np.isfinite(top), top + np.log(total), top)


def one_of_nodes(nodes, log_p, rng):
    """One of the nodes (.., node) at random, by logs of their probabilities up to a constant."""
    chosen = np.argmax(log_p + rng.gumbel(size=log_p.shape), axis=-1)
    return np.take_along_axis(nodes, chosen[..., None], axis=-1)[..., 0]


def by_leverage(residual, own, variance, counted):
    """Both log densities of rows with normal errors, from residuals and variances of what is known
    of their linear predictors with them, which is without them where they are not `counted`; and
    residuals and these variances without them.
    """
    counted = counted[:, None]
    taken = np.where(counted, own, 0.0)
    spread = variance**2 / (variance - taken)  # of the prediction without the row
    away = residual * variance / (variance - taken)
    seen = normal(residual, variance + own)
    without = np.where(counted, normal(away, spread), seen)
    return np.array([without, seen]), away, own * variance / (variance - taken)


def normal(away, variance):
    """Log density of a normal law at a distance from its mean."""
    return -0.5 * (np.log(2 * np.pi * variance) + away**2 / variance)
