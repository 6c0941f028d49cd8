"""What leaving out a row, or a group, needs where effects are sampled with the other parameters:
its density given all others at each whole draw, the effects of one level integrated out.
"""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.arguments.data.limited import as_numbers
from sgmc.core.designs.design import design
from sgmc.core.system import deadline
from sgmc.errors import ArgumentError
from sgmc.models.mixed.loading import UnitLoading
from sgmc.models.regression.latent.covariance.group_effects import closed_form
from sgmc.models.regression.latent.densities.conditional import conditional
from sgmc.models.regression.latent.densities.rules import scheme_of
from sgmc.models.regression.latent.effects.curves import spacing
from sgmc.models.regression.latent.effects.left_out import LeftOutRows, log_sum, moments_of
from sgmc.models.regression.latent.integrated.problem import one_factor
from sgmc.results.outcomes.data.rows import CELLS, fitted_rows


@dataclass(frozen=True)
class OneLevel:
    """The rows of some groups at some draws as a compiled model of groups reads them: each group at
    each draw is a group of its own, whose effects are standard ones.
    """

    table: object
    starts: np.ndarray
    Z: np.ndarray


@dataclass(frozen=True, kw_only=True)
class LeftOutOfCrossed(LeftOutRows):
    """Rows of fits with several factors, or one beside smooths: p(y_i | y without i, rest), rest
    being a whole draw without the effects of one level of the row, those of the factor of which
    fewest rows have the same level: of these rows p(y_i | b) has the law of b given the rest and
    their outcomes.  Averages over draws of the posterior are then those of leaving out the row from
    fits in which these effects are integrated out.

    Attributes
    ----------
    factor : array (n,) of int
        Number of that factor, of each row of the fit.
    sorted : list of (array (n,), array (levels + 1,))
        Of each factor, rows of the fit by their levels, and where each level begins among these.
    """

    factor: np.ndarray
    sorted: list
    spacing: int

    @classmethod
    def of(cls, results, factor=None):
        """Of all units of some results with their data; of one factor, if a number is given."""
        table = fitted_rows(results, "loo")  # refuses results without their data
        problem = results._fit.problem
        codes, sizes = problem.own.rows.codes, results.model.sizes
        counts = np.column_stack([size[code] for size, code in zip(sizes, codes.T)])
        own = np.argmin(counts, axis=1) if factor is None else np.full(len(codes), factor)
        starts = [np.append(0, np.cumsum(size)) for size in sizes]
        found = cls(
            family=results.model.family,
            coefficients=results.whole("loo"),
            extra=None,
            weights=None,
            problem=problem,
            table=table,
            sizes=sizes,
            effects=None,
            factor=own,
            sorted=[(np.argsort(k, kind="stable"), at) for k, at in zip(codes.T, starts)],
            spacing=spacing(results._fit),
            **cls.units(problem, table),
        )
        return found.among_units(factor)

    def among_units(self, factor):
        """The same with rows of the same group as neighbours."""
        order = np.argsort(self.groups_of(np.arange(self.n)), kind="stable")
        return replace(self.among(order), order=self.order[order])

    def shifted(self, points, weights=None):
        return replace(self, coefficients=points, weights=weights)

    @property
    def closed(self):
        return closed_form(self.family)

    @property
    def nodes(self):
        q = max(map(len, self.problem.own.effects.of_factor))
        return scheme_of(q).count(scheme_of(q).first)

    def near(self):
        return np.argsort(self.groups_of(self.X[:, 0]), kind="stable")

    def groups_of(self, rows):
        """The level of each row among those of all factors."""
        first = np.cumsum([0, *map(len, self.sizes)])
        factor = self.factor[rows]
        return first[factor] + self.problem.own.rows.codes[rows, factor]

    def members(self, group):
        """Rows of a level."""
        k, level = self.placed(group)
        order, starts = self.sorted[k]
        return order[starts[level] : starts[level + 1]]

    def placed(self, group):
        """Factor and level of a group."""
        first = np.cumsum([0, *map(len, self.sizes)])
        k = int(np.searchsorted(first, group, side="right")) - 1
        return k, int(group - first[k])

    def together(self, groups):
        # those of a factor
        factor = np.array([self.placed(group)[0] for group in groups])
        for k in np.unique(factor):
            yield groups[factor == k], self.coefficients, k

    def densities(self, rows, rng=None):
        # as many draws at a time as there is room for all rows of the groups
        groups = np.unique(self.groups_of(rows))
        count = sum(len(self.members(group)) for group in groups) * self.nodes
        size = max(1, CELLS // count)
        found = []
        for a in range(0, self.m, size):
            deadline.check()
            part = self.with_draws(slice(a, a + size))
            found.append(super(LeftOutOfCrossed, part).densities(rows, rng))
        return np.concatenate(found, axis=2)

    def plain(self, rows, points, apart):
        """Linear predictors of rows without effects of this factor, (row, draw)."""
        held = self.problem.own.rows
        width = held.table.X.shape[1]
        eta = held.table.X[rows] @ points[:, :width].T + self.table.offset[rows, None]
        places = held.places(apart)[held.codes[rows, apart]]
        for z, place in zip(self.covariates(rows, apart).T, places.T):
            eta -= z[:, None] * points[:, place].T
        return eta

    def covariates(self, rows, apart):
        """Of the effects of a factor, (row, q)."""
        return self.problem.own.rows.Z[rows][:, self.problem.own.effects.of_factor[apart]]

    def slopes(self, rows, apart):
        held, own = self.problem.own, self.problem.own.effects.of_factor[apart]
        roots = held.effects.loading.root(self.coefficients[:, held.rows.blocks.phi])
        return np.einsum("ia,mab->imb", self.covariates(rows, apart), roots[:, own][:, :, own])

    def law(self, groups, points, apart):
        members, *parts = zip(*self.inside(groups, points, apart))
        rows, eta, u = np.concatenate(members), *map(np.concatenate, parts)
        m, q, log_params = len(points), u.shape[2], len(self.family.auxiliary)
        held, every = self.problem.own.rows.fixed, np.tile(rows, m)
        weight = None if held.multiplicity is None else held.multiplicity[every]
        # draw by draw, a column of zeros in the place of the design
        glm = self.family.kernel(
            design(np.zeros((len(every), 1))), held.response[every], eta.T.ravel(), weight
        )
        sizes = np.tile([len(one) for one in members], m)
        slopes = np.moveaxis(u, 1, 0).reshape(-1, q)
        one = OneLevel(held, np.append(0, np.cumsum(sizes)), np.ascontiguousarray(slopes))
        scheme = scheme_of(q)
        model = one_factor(glm, one, self.family, UnitLoading(q), scheme.first, None, scheme.make)
        theta = np.zeros((m, 1 + log_params))
        theta[:, 1:] = points[:, points.shape[1] - log_params :]
        if not model.closed:
            model = model.anchored(np.repeat(theta, len(groups), axis=0))
        nodes, numbers = conditional(model).nodes, np.arange(len(groups), dtype=np.intp)
        found = [nodes(theta[s : s + 1], numbers + s * len(groups))[1:] for s in range(m)]
        return [np.concatenate(one, axis=1) for one in zip(*found)]

    def one_set(self, q):
        scheme = scheme_of(q)
        t, weight = scheme.make(scheme.first, q)
        return (t[0], weight[0]) if scheme.scattered else (t, weight)


@dataclass(frozen=True, kw_only=True)
class LeftOutLevels(LeftOutOfCrossed):
    """Levels of one factor: p(y_g | rest), rest being a whole draw without the effects of g."""

    def among_units(self, factor):
        levels = np.arange(len(self.sizes[factor]))
        order, starts = self.sorted[factor]
        return replace(
            self,
            X=order[starts[:-1], None],
            offset=np.zeros(len(levels)),
            order=levels,
            y=np.add.reduceat(as_numbers(self.table.y)[order], starts[:-1]),
            trials=None,
            se=None,
            frequency=None,
        )

    def of_groups(self, groups, rows, place, points, apart, rng=None):
        """Both log densities of groups, which are the same, by nodes around their laws."""
        law = moments_of(*self.law(groups, points, apart))
        inside = self.inside(groups, points, apart)
        found = [log_sum(self.terms(*one, *where)[0]) for one, *where in zip(inside, *law)]
        return np.array([found, found])[:, place]


def refuse_outer(results, k):
    """Refuse to leave out levels of a factor that has another within its levels."""
    codes, names = results._fit.problem.own.rows.codes, results.model.effects.factors
    for j in np.delete(np.arange(len(names)), k):
        if len(np.unique(codes[:, [k, j]], axis=0)) == codes[:, j].max() + 1:
            raise ArgumentError(
                f"loo(group={names[k]!r}): each level of {names[j]} is within one of {names[k]}, "
                "and all rows that determine its effect would be left out with it: importance "
                "weights of draws that have seen these have no variance; give kfold(data, "
                f"groups=<labels of {names[k]}>)"
            )
