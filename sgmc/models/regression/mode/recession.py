"""Directions of recession of a regression: improper posteriors, and separated outcomes.

A posterior is improper where its likelihood does not vanish in some direction, and the priors of
all coefficients that move are flat.  (Where heavy-tailed priors bound some of them, as Cauchy's do,
that is not looked for.)  With proper priors such a direction is the separation of Albert & Anderson
(1984, Biometrika 71, 1-10), which is warned of.
"""

from itertools import islice

import numpy as np
from scipy import linalg

from sgmc.arguments.data.tables import CHUNK_ROWS
from sgmc.coordinates.identification.collinearity import MOST_NAMED
from sgmc.coordinates.identification.half_spaces import (
    CategoryHalfSpaces,
    Sides,
    beyond,
    directions,
)
from sgmc.coordinates.identification.recession import (
    LARGEST_PROGRAMME,
    Programme,
    independent,
    recessions,
)
from sgmc.coordinates.identification.separation import completely, partly, uniformly
from sgmc.coordinates.whitened.whitening import undo_centring
from sgmc.core.contract import Anchor
from sgmc.core.designs.design import design, products
from sgmc.core.system.deadline import OutOfTime
from sgmc.core.system.storage import SPAN, is_large, made
from sgmc.errors import DataError
from sgmc.models.regression.mode.check_loss import EXACT

MORE_PART_ROWS = 10  # times as many rows has the next part
CERTAIN = 1e-8  # scores that are surely not zero
ROUNDING = 1e-5  # share of a direction's largest coefficient, in units of sds
MOST_LOOKED = 1e6  # numbers of a table that is looked through for what bounds all coefficients
FEW_LEFT = 2  # rows beside the coefficients
TINY = np.finfo(float).tiny  # variance of a single outcome, whose link is looked for
CURE = "give a proper prior, e.g. prior=sgmc.normal(0, 2.5)"


class Likelihood:
    """What bounds the coefficients of a regression.

    Parameters
    ----------
    table : Table
    data : RegressionData
    family : Family
    priors : PriorTable
    model : Model
    shift : array (d,)
        See `RegressionMode`.
    """

    def __init__(self, table, data, family, priors, model, shift):
        self.table, self.data, self.family, self.priors = table, data, family, priors
        self.model, self.shift = model, shift
        self.size = len(priors.names) - priors.auxiliary
        self.flat = np.array([one == "flat" for one in priors.columns("family")])[: self.size]

    @property
    def bytes(self):
        """Of a number in the table."""
        return 4 if self.table.X.dtype == np.float32 else 8  # sparse ones are read as float64

    @property
    def n(self):
        """Rows of the table."""
        return len(self.table.y)

    @property
    def kept(self):
        """Whether a row counts, (n,): rows of weight 0 do not; None where all do."""
        weight = self.table.weight
        if weight is None:
            return None
        return made(self.n, self.table.X, lambda rows: weight[rows] > 0, bool)

    def parts(self):
        """Yield likelihoods of more and more rows, and at last this one: what bounds coefficients
        in a part of the rows does so in all.  Only this one where the table is in memory.
        """
        rows = SPAN
        while is_large(self.table.X, self.n, 3) and rows < self.n:
            yield self.first(rows)
            rows *= MORE_PART_ROWS
        yield self

    def first(self, n):
        """The same of the first n rows."""
        table, family = self.table.first(n), self.family
        model = family.kernel(design(table.X), table.response, table.offset, table.multiplicity)
        return Likelihood(table, self.data, family, self.priors, model, self.shift)

    def spaces(self, free):
        """The half-spaces of the rows, for coefficients that are free to move.

        Parameters
        ----------
        free : array (size,) of bool
        """
        table = self.table
        basis = directions(
            free, self.data.intercept, self.shift, table.mean - table.shift, table.sd
        )
        if self.family.outcome == "category":
            return CategoryHalfSpaces(table.X, self.model.X, basis, table.y, kept=self.kept)

        def side(k):
            return made(self.n, table.X, lambda rows: self.open(rows)[k], bool)

        return Sides(table.X, self.model.X, basis, side(0), side(1))

    def open(self, rows):
        """Return which rows leave their mean free to go up, and down; rows that do not count bound
        none.
        """
        y, trials, weight = (
            None if part is None else part[rows]
            for part in (self.table.y, self.table.trials, self.table.weight)
        )
        up, down = self.family.open_sides(y, trials)
        return (up, down) if weight is None else (up | (weight <= 0), down | (weight <= 0))

    def as_given(self, delta):
        """A direction in coefficients of the user's columns."""
        return undo_centring(self.size, self.table.shift, self.priors.intercepts) @ delta

    def involved(self, delta):
        """Places of the coefficients that a direction moves, slopes first."""
        size = np.abs(delta) * np.tile(
            np.where(self.table.sd > 0, self.table.sd, 1.0), self.size // self.data.d
        )
        places = np.flatnonzero(size > ROUNDING * size.max())
        return sorted(places, key=lambda j: (j in self.priors.intercepts, j))

    def described(self, delta):
        """A direction in words: ``"a + 0.5 b - Intercept"``."""
        places = self.involved(delta)
        terms = []
        for j in places[:MOST_NAMED]:
            number = delta[j] / delta[places[0]]
            times = "" if f"{abs(number):.3g}" == "1" else f"{abs(number):.3g} "
            terms.append(f"{'-' if number < 0 else '+'} {times}{self.priors.names[j]}")
        more = len(places) - MOST_NAMED
        return " ".join(terms)[2:] + (f" and {more} more" if more > 0 else "")

    def refuse_improper(self):
        """DataError where flat priors leave coefficients, or a scale, unbounded."""
        if self.data.parts and self.flat.any():
            raise DataError(
                f"the prior of {self.priors.names[np.flatnonzero(self.flat)[0]]!r} is flat, under "
                f"which posteriors of {self.family.name} may be improper: {CURE}"
            )
        if self.flat.any() and self.flat.sum() <= LARGEST_PROGRAMME:
            self.refuse_flat()
        self.refuse_few_rows()
        self.refuse_saturated()

    def refuse_flat(self):
        """DataError where flat priors leave coefficients unbounded: where all rows do."""
        for part in self.parts():
            try:
                part.refuse_unbounded(part.spaces(self.flat))
                break
            except DataError:
                if part is self:
                    raise

    def refuse_unbounded(self, spaces):
        """DataError where the likelihood does not bound coefficients with flat priors."""
        null = Programme(spaces, self.bytes).aliased()
        if null.shape[1]:
            delta = self.as_given(spaces.basis @ sparse_column(null))
            raise DataError(
                "the posterior is improper: the likelihood is constant in the direction "
                f"{self.described(delta)} of the coefficients (collinear or constant columns), "
                f"{self.flat_priors(delta)}; drop a column, or {CURE}"
            )
        delta = next(recessions(spaces, self.bytes, self.priors.intercepts), None)
        if delta is not None:
            delta = self.as_given(delta)
            raise DataError(
                "the posterior is improper: the likelihood does not bound the coefficients in the "
                f"direction {self.described(delta)} (the outcomes do not contradict it in any row)"
                f", {self.flat_priors(delta)}; {CURE}, or drop or merge columns"
            )

    def bounds_all(self):
        """Whether the rows bound all coefficients, whatever their priors: a log likelihood that is
        concave then falls in proportion to their size at least, in every direction.  False where
        that is too much to look for.
        """
        if self.data.parts or self.size > LARGEST_PROGRAMME or self.n * self.size > MOST_LOOKED:
            return False
        everything = self.spaces(np.ones(self.size, dtype=bool))
        try:
            if Programme(everything, self.bytes).aliased().shape[1]:
                return False
            return next(recessions(everything, self.bytes, self.priors.intercepts), None) is None
        except OutOfTime:
            return False

    def flat_priors(self, delta):
        """The coefficients of a direction whose priors are flat, in words."""
        names = [self.priors.names[j] for j in self.involved(delta) if self.flat[j]]
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        shown = ", ".join(names[:MOST_NAMED]) + more
        return f"and the prior{'s' if len(names) > 1 else ''} of {shown} " + (
            "are flat" if len(names) > 1 else "is flat"
        )

    def refuse_few_rows(self):
        """DataError where rows are too few for a flat prior of a scale of the outcomes.

        For a large scale s the likelihood, integrated over f coefficients with flat priors, falls
        like s^-(n - f), a dispersion being s^2 or the like; its integral is finite if n - f > 1.
        """
        own = self.family.auxiliary
        if not own or not own[0].power or self.priors.used[self.size].family != "flat":
            return
        telling, weight = self.family.telling(self.table.y), self.table.weight
        rows = telling.sum() if weight is None else weight[telling].sum()
        freedom = rows - self.flat.sum()
        if freedom <= 1:
            raise DataError(
                f"the posterior is improper: {rows:g} rows and {self.flat.sum()} coefficients with "
                f"flat priors leave {freedom:g} degree{'' if freedom == 1 else 's'} of freedom for "
                f"{own[0].name!r}, whose prior is flat; give it a proper one, e.g. "
                f"prior={{'*': 'flat', {own[0].name!r}: sgmc.exponential(1)}}"
            )

    def refuse_saturated(self):
        """DataError where coefficients fit all outcomes, and hardly a row is left over.

        Given coefficients that do, the density of a scale s is about s^-f ds towards zero, f the
        rows left over.  Only rounding errors bound it: log s is flat over dozens of units (f = 1),
        or nearly so (f = 2), where no chain gets anywhere.  With more rows s is at these errors.
        """
        own, table, d = self.family.auxiliary, self.table, self.data.d
        if not own or not own[0].power or self.family.parts:
            return
        if not 0 < table.nobs - d <= FEW_LEFT or not self.family.telling(table.y).all():
            return
        counted = np.ones(self.n, dtype=bool) if self.kept is None else np.asarray(self.kept)
        offset = np.zeros(self.n) if table.offset is None else table.offset
        linked = np.array([self.family.start(y, TINY)[0] for y in self.family.numbers(table.y)])
        X, rest = (table.X @ np.eye(d))[counted], (linked - offset)[counted]
        left = rest - X @ np.linalg.lstsq(X, rest)[0]
        if np.abs(left).max() <= EXACT * max(np.abs(linked).max(), np.abs(offset).max()):
            raise DataError(
                f"the posterior is improper: {d} coefficients fit all {table.nobs:g} outcomes "
                f"exactly, and hardly a row is left to learn {own[0].name!r} from; add rows, or "
                "leave predictors out"
            )

    def separation(self, mode, walls):
        """SeparationWarnings, in a list, of outcomes that more than single columns separate.

        Parameters
        ----------
        mode : Mode
            Of a table with many columns its linear predictors are all that is looked at.
        walls : list of Wall
            Single columns, which have a warning of their own.
        """
        family = self.family
        separable = family.outcome != "numeric" or family.counts or family.limited
        if self.data.parts or not separable or self.flat.all() and self.size <= LARGEST_PROGRAMME:
            return []  # no maximum to lose, or the posterior would be improper
        if self.size <= LARGEST_PROGRAMME and any(part.overlaps(mode) for part in self.parts()):
            return []
        if self.size > LARGEST_PROGRAMME:
            everything = self.spaces(np.ones(self.size, dtype=bool))
            complete = everything.margins(mode.theta[: self.size]).min() > 0
            return completely() if complete else []
        for part in self.parts():
            everything = part.spaces(np.ones(self.size, dtype=bool))
            rest = part.beyond(everything, [w for w in walls if w.contrary == 0])
            some = recessions(rest, self.bytes, self.priors.intercepts)
            found = [self.described(self.as_given(one)) for one in islice(some, MOST_NAMED + 1)]
            if not found:
                return []
        if not independent(everything, self.bytes).complete():
            return partly(found)
        alike = sum(len(places) > 0 for places in everything.groups()) == 1
        return uniformly() if alike else completely()

    def overlaps(self, mode):
        """Whether there surely is no direction of recession, by the rows' scores at the mode.

        Positive weights of the rows' half-spaces whose weighted normals add up to zero exclude one
        (Stiemke's lemma).  With scores r, curvatures w and v the step of Newton's method for the
        likelihood alone, sum (r_i - w_i x_i'v) x_i = 0: that is such a sum where no row's r_i has
        another sign after the step.  At the maximum of the likelihood v = 0, and all rows serve.
        """
        if self.model.width > 1 or self.size < self.model.dim:
            return False
        there = mode.anchor
        if there is None or there.n != self.n:
            there = Anchor(self.model, mode.theta, curvature=True)
        if not len(there.scores):  # nothing is kept of the rows
            return False
        try:
            factor = linalg.cho_factor(np.asarray(there.hessian))
        except linalg.LinAlgError:
            return False
        step = linalg.cho_solve(factor, np.asarray(there.full))
        table, kept = self.table, self.table.weight
        for a in range(0, self.n, CHUNK_ROWS):  # so that nothing of a column's size is made
            rows = slice(a, a + CHUNK_ROWS)
            y, trials = table.y[rows], None if table.trials is None else table.trials[rows]
            up, down = self.family.open_sides(y, trials)
            moved = products(self.model.X, step, a, len(y))
            moved *= there.curvature[rows]
            left = np.subtract(there.scores[rows], moved, out=moved)
            bounding = up != down if kept is None else (up != down) & (kept[rows] > 0)
            if (np.where(up, left, -left)[bounding] <= CERTAIN).any():
                return False
        return True

    def beyond(self, spaces, pure):
        """The half-spaces of rows, and directions of coefficients, without the walls that have no
        contrary outcomes.
        """
        if not pure:
            return spaces
        delta = np.zeros(self.size)
        for wall in pure:
            delta[wall.column] += wall.usual / wall.gap
            if self.data.intercept is not None:
                delta[self.data.intercept] -= wall.common * wall.usual / wall.gap
        columns = [wall.column for wall in pure]
        kept = ~spaces.basis[columns].any(axis=0)
        return spaces.without(beyond(spaces, delta, 0.5)).within(spaces.basis[:, kept])


def sparse_column(null):
    """A direction in the span of some, in which as many coefficients as possible are 0."""
    reduced = null.copy()
    for k in range(null.shape[1] - 1):  # Gaussian elimination: the last column has the fewest
        pivot = np.abs(reduced[:, k]).argmax()
        reduced[:, k + 1 :] -= np.outer(reduced[:, k], reduced[pivot, k + 1 :] / reduced[pivot, k])
    return reduced[:, -1]
