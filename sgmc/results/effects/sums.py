"""Averages over rows for all quantities in one pass: exact ones at each draw, or, of many rows, as
quadratic functions of the coefficients.

What is averaged is a sum over rows of c_i g(eta_i) with one linear predictor eta_i = x_i . theta +
offset_i: g is the mean of the outcome, or its slope.  A variable that is a column of its own has
the derivative theta_j f'(eta_i) of a mean f, so that one sum serves all of these.

Of n rows the coefficients vary by about 1 / sqrt(n), and the sum S(theta) is nearly

    S(c) + S'(c) (theta - c) + (theta - c)' S''(c) (theta - c) / 2

around their mean c, with S' = sum_i c_i g'(eta_i) x_i and S'' = sum_i c_i g''(eta_i) x_i x_i': one
pass over the rows for any number of draws.  What this misses is of third order, and measured: some
draws, the farthest among them, are computed exactly.
"""

from typing import NamedTuple

import numpy as np

from sgmc.core.system import deadline, phases
from sgmc.diagnostics.chains import moments
from sgmc.results.effects.columns import own_column
from sgmc.results.effects.groups import Groups
from sgmc.results.effects.places import (
    MOST_NUMBERS,
    groups_of,
    piece_size,
    rows_at,
    smooths_of,
    thinned,
)
from sgmc.results.effects.variables import as_numbers
from sgmc.results.outcomes.data.rows import CELLS, Rows, evenly

EXACT_WORK = 1e7  # rows x draws up to which every draw is computed: part of a second
EXPANDED = 200  # coefficients, and groups, up to which there are quadratic functions of them
CHECKED = 32  # draws that are computed beside the quadratic functions: half of them the farthest
FARTHEST_OF = 1000  # draws among which these are looked for
# sds of an effect by which such a draw may be off; Monte Carlo errors of 4,000 draws are larger
EXPANSION_ERROR = 0.01
# of linear predictors, for derivatives by differences: errors are about 1e-11 of the first, 1e-9 of
# the third
STENCIL_STEP = 4e-3
FIRST = np.array([1, -8, 0, 8, -1]) / (12 * STENCIL_STEP)
SECOND = np.array([-1, 16, -30, 16, -1]) / (12 * STENCIL_STEP**2)
THIRD = np.array([-1, 2, 0, -2, 1]) / (2 * STENCIL_STEP**3)


class Atom(NamedTuple):
    """A sum over rows, of a piece of these.

    Attributes
    ----------
    X : array (n, d)
    moved : (int, array (n,) or float) or None
        A column of it, and what is added to the column.
    slope : bool
        Whether g is the slope of the mean, not the mean.
    factor : array (n,) or float
        c_i, weights of the rows aside.
    """

    X: np.ndarray
    moved: tuple | None
    slope: bool
    factor: object


class MeanFunction:
    """The mean of an outcome as a function of its linear predictor.

    Parameters
    ----------
    rows : Rows
    link : bool
        Whether the linear predictor itself is meant.
    """

    def __init__(self, rows, link):
        self.family = rows.family
        eta = rows.predictors(slice(0, 1))
        self.straight = link or np.array_equal(self.family.centre(eta, rows.extra), eta)

    def mean(self, eta, extra):
        """Of linear predictors (row, draw)."""
        return eta if self.straight else self.family.centre(eta, extra)

    def around(self, eta, extra, *weights):
        """Derivatives by differences of fourth order, one for each of the weights of a stencil."""
        needed = [k for k in range(5) if any(one[k] for one in weights)]
        values = {k: self.mean(eta + (k - 2) * STENCIL_STEP, extra) for k in needed}
        return [sum(one[k] * values[k] for k in needed if one[k]) for one in weights]

    def value(self, eta, extra, slope):
        """g at linear predictors (row, draw)."""
        if not slope:
            return self.mean(eta, extra)
        return ones_of(eta) if self.straight else self.around(eta, extra, FIRST)[0]

    def derivatives(self, eta, slope):
        """g, g' and g'' at linear predictors (row,)."""
        if self.straight:
            one = ones_of(eta)
            return (one, 0 * one, 0 * one) if slope else (eta, one, 0 * one)
        if slope:
            return self.around(eta, None, FIRST, SECOND, THIRD)
        return [self.mean(eta, None), *self.around(eta, None, FIRST, SECOND)]


def ones_of(eta):
    """Ones where linear predictors are numbers, else NaN: rows that lack a variable have no value,
    of the slope neither.
    """
    return np.where(np.isfinite(eta), 1.0, np.nan)


class AveragedSum(NamedTuple):
    """What is averaged over rows of a quantity: a combination of sums, times a coefficient.

    Attributes
    ----------
    sums : list of int
        Places of the sums.
    times : int or None
        The coefficient.
    """

    sums: list
    times: int | None


def together(results, places, quantities, link):
    """`Groups` with the averages of each quantity, and how far draws may be off, in sds; None where
    an average is no sum of functions of one linear predictor, or not finite.
    """
    if any(one.linear is None for one in quantities) or not single(results.model.family):
        return None
    if any(one.bases[0].continues for one in smooths_of(results)):
        return None  # rows have columns more where a series goes on beyond its ends
    if groups_of(results):
        return None  # effects of groups are drawn for each row, and are no coefficients
    columns = {
        one.moves.term: own_column(results, one.moves.term) for one in quantities if one.moves
    }
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        own = [name for name, j in columns.items() if j is not None]
        first = first_rows(results, places, own)
        if first is None:
            return None
        found, error = [], 0.0
        for some in batches(results, places, quantities, columns):
            one = None
            if first.m * places.n > EXACT_WORK and expandable(first, link):
                one = Pass(results, places, some, link, columns, first, True).run()
            if one is None:
                one = Pass(results, places, some, link, columns, first, False).run()
            if one is None:
                return None
            found, error = [*found, *one[0]], max(error, one[1])
        return found, error


def single(family):
    """Whether outcomes have one linear predictor and one mean."""
    return not (family.several or family.parts or family.outcome == "ordered")


def slopes_together(results, places, quantities, link):
    """Derivatives theta_j f'(eta) among quantities: place -> j, of columns of their own."""
    asked = {k: one for k, one in enumerate(quantities) if one.linear and one.moves}
    asked = {k: own_column(results, one.moves.term) for k, one in asked.items() if one.moves.slope}
    found = {k: j for k, j in asked.items() if j is not None}
    if not found or not single(results.model.family) or groups_of(results):
        return {}
    names = [quantities[k].moves.term for k in found]
    return {} if first_rows(results, places, names) is None else found


def slopes_by_row(results, places, link, names):
    """f'(eta) of all rows, (row, draw), in blocks: a `Piece`, a slice of it, numbers, and the
    piece's `Rows`; `names` are the variables.
    """
    curve = MeanFunction(first_rows(results, places, names), link)
    for piece in places.pieces():
        refuse_text(piece, names)
        rows = thinned(rows_at(results, piece.frame, piece.offset), places.n)
        for start in range(0, rows.n, rows.block):
            deadline.check()
            at = slice(start, min(start + rows.block, rows.n))
            eta = linear(rows.X[at], rows.coefficients, rows.offset[at])
            yield piece, at, curve.value(eta, rows.extra, True), rows


def refuse_text(piece, names):
    """DataError where variables that held numbers in the fit do not."""
    for name in names:
        as_numbers(name, piece.frame[name])


def batches(results, places, quantities, columns):
    """The quantities in lists, in their order, whose tables of a piece fit into memory together;
    columns of their own need none.
    """
    rows = min(places.n, piece_size(results))
    most = max(1, MOST_NUMBERS // (2 * rows * len(results.model.exog_names)))
    found, tables = [[]], 0
    for one in quantities:
        if one.moves is None or columns[one.moves.term] is None:
            tables += 1
        if tables > most:
            found, tables = [*found, []], 1
        found[-1].append(one)
    return found


def first_rows(results, places, names):
    """`Rows` of one row; None where linear predictors are not those of the design alone.  `names`
    are variables that held numbers in the fit.
    """
    piece = next(iter(places.pieces()))
    refuse_text(piece, names)
    offset = piece.offset[:1] if np.ndim(piece.offset) else piece.offset
    rows = rows_at(results, piece.frame.head(1), offset)
    if type(rows) is not Rows or rows.X.shape[1] != rows.coefficients.shape[1]:
        return None
    X = rows.X.toarray() if hasattr(rows.X, "toarray") else np.asarray(rows.X)
    eta = rows.predictors(slice(0, 1))
    same = eta.ndim == 2 and np.allclose(eta, X @ rows.coefficients.T + rows.offset[:, None])
    return rows if same else None


def expandable(rows, link):
    """Whether the mean depends on the linear predictor alone, and a quadratic function of the
    coefficients is less work than the draws.
    """
    if not isinstance(rows.X, np.ndarray) or rows.X.shape[1] > min(EXPANDED, rows.m / 4):
        return False
    if link or rows.extra is None:
        return True
    eta, extra = rows.predictors(slice(0, 1)), rows.extra
    return np.array_equal(rows.family.centre(eta, extra), rows.family.mean(eta))


class Pass:
    """One pass over the rows.

    Parameters
    ----------
    results : Results
    places : FitPlaces or NewPlaces
    quantities : list of Quantity
    link : bool
    columns : dict
        Variable that is moved -> its own column, or None.
    first : Rows
        For their draws.
    expanded : bool
        Whether sums are quadratic functions of the coefficients.
    """

    def __init__(self, results, places, quantities, link, columns, first, expanded):
        self.results, self.places, self.quantities = results, places, quantities
        self.columns, self.expanded, self.curve = columns, expanded, MeanFunction(first, link)
        self.all = first if expanded else thinned(first, places.n)
        self.drawn, self.centre = self.all, self.all.at_mean().coefficients[0]
        if expanded:
            self.checked = some_draws(self.all.coefficients, self.all.weights)
            self.drawn = self.all.with_draws(self.checked)
        self.atoms, self.total, self.quadratic, self.weight = {}, [], [], []
        self.parts = [None] * len(quantities)

    def run(self):
        """A list of `Groups`, one a quantity, and the largest error of a draw in its sds."""
        groups, report = Groups(self.places.by), phases.reporting()
        own = [name for name, j in self.columns.items() if j is not None]
        for piece in self.places.pieces():
            refuse_text(piece, own)
            rows = rows_at(self.results, piece.frame, piece.offset)
            atoms = self.atoms_of(piece, rows)
            code = groups.codes(piece.by)
            if self.expanded and len(groups.places) > EXPANDED:
                return None
            groups.refuse_many(len(self.atoms) * self.all.m)
            self.room(len(groups.places))
            self.add(rows, atoms, np.asarray(piece.weight, dtype=float), code)
            if report is not None:
                report(piece.start + rows.n, self.places.n)
        return self.finished(groups)

    def room(self, count):
        """Begin sums of so many groups."""
        d, k = len(self.centre), len(self.atoms)
        for _ in range(count - len(self.total)):
            self.total.append(np.zeros((k, self.drawn.m)))
            self.quadratic.append([np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))])
            self.weight.append(0.0)

    # ---- what is summed --------------------------------------------------------------------------

    def atoms_of(self, piece, rows):
        """The sums of a piece, an `Atom` for each place."""
        found = {}
        for k, quantity in enumerate(self.quantities):
            change = quantity.moves
            j = None if change is None else self.columns[change.term]
            x = None if j is None or change.shift else column_of(rows.X, j)
            if j is not None and change.slope:  # theta_j g'(eta), times x for elasticities
                x = column_of(rows.X, j) if quantity.elastic else None
                key = ("slope", j if quantity.elastic else None)
                found[key] = Atom(rows.X, None, True, 1.0 if x is None else x)
                self.name(k, [[key]], j)
                continue
            if j is not None:
                ends = (change.low, change.high)
                steps = ends if change.shift else [float(one) - x for one in ends]
                designs, numbers = [(rows.X, (j, step)) for step in steps], None
            else:
                frames, numbers = quantity.frames(piece.frame)
                tables = [rows_at(self.results, one, piece.offset) for one in frames]
                # an offset that the formula computes from the variable changes with it
                designs = [(one.X, (None, one.offset - rows.offset)) for one in tables]
            keys = []
            for part, factors in enumerate(quantity.linear(numbers)):
                keys.append([])
                for side, ((X, moved), factor) in enumerate(zip(designs, factors, strict=True)):
                    if factor is None:
                        continue
                    found[k, part, side] = Atom(X, moved, False, factor)
                    keys[-1].append((k, part, side))
            self.name(k, keys, None)
        return [found[key] for key in self.atoms]

    def name(self, k, keys, times):
        """Places of sums by their keys, and the parts of quantity k."""
        for key in (one for part in keys for one in part):
            self.atoms.setdefault(key, len(self.atoms))
        self.parts[k] = [AveragedSum([self.atoms[one] for one in part], times) for part in keys]

    # ---- sums ------------------------------------------------------------------------------------

    def add(self, rows, atoms, weight, code):
        """Add the rows of a piece."""
        width = max(self.drawn.m, 16 * len(self.centre) if self.expanded else 1)
        size = max(1, CELLS // width)
        for start in range(0, rows.n, size):
            deadline.check()
            at = slice(start, min(start + size, rows.n))
            within = [
                (int(g), slice(None) if len(seen) == 1 else np.flatnonzero(code[at] == g))
                for seen in [np.unique(code[at])]
                for g in seen
            ]
            for g, mine in within:
                self.weight[g] += weight[at][mine].sum()
            known = {}
            for place, atom in enumerate(atoms):
                c = weight[at] * (atom.factor[at] if np.ndim(atom.factor) else atom.factor)
                value = self.values(rows, atom, at, known)
                for g, mine in within:
                    self.total[g][place] += c[mine] @ value[mine]
                if self.expanded:
                    self.expand(rows, atom, at, place, c, within)

    def values(self, rows, atom, at, known):
        """g of some rows at the draws that are computed, (row, draw); `known` has those of this
        block.
        """
        theta, extra = self.drawn.coefficients, self.drawn.extra
        if atom.X is not rows.X:  # a table of one quantity alone
            eta = linear(atom.X[at], theta, rows.offset[at] + atom.moved[1][at])
            return self.curve.value(eta, extra, atom.slope)
        if "eta" not in known:
            known["eta"] = linear(rows.X[at], theta, rows.offset[at])
        if atom.moved is None:
            if "slope" not in known:
                known["slope"] = self.curve.value(known["eta"], extra, True)
            return known["slope"]
        j, step = atom.moved
        step = step[at, None] if np.ndim(step) else step
        return self.curve.value(known["eta"] + step * theta[:, j], extra, atom.slope)

    def expand(self, rows, atom, at, place, c, within):
        """Add value, gradient and curvature at the centre."""
        X, offset = np.asarray(atom.X[at], dtype=float), rows.offset[at]
        if atom.moved is not None:
            j, step = atom.moved
            step = step[at] if np.ndim(step) else step
            if j is None:
                offset = offset + step
            else:
                X = X.copy()
                X[:, j] += step
        g, first, second = self.curve.derivatives(X @ self.centre + offset, atom.slope)
        for k, mine in within:
            value, gradient, curvature = self.quadratic[k]
            some, w = X[mine], c[mine]
            value[place] += w @ g[mine]
            gradient[place] += (w * first[mine]) @ some
            curvature[place] += (some.T * (w * second[mine])) @ some

    # ---- averages --------------------------------------------------------------------------------

    def finished(self, groups):
        """Averages by group, of each quantity, and the error of their draws."""
        found, worst = [], 0.0
        away = self.all.coefficients - self.centre
        for k, quantity in enumerate(self.quantities):
            sums = Groups(self.places.by)
            sums.places, sums.weight = groups.places, self.weight
            sums.draw_weights, sums.total = self.all.weights, []
            for g, total in enumerate(self.total):
                parts = self.combined(k, total, self.drawn.coefficients)
                if self.expanded:
                    value, gradient, curvature = self.quadratic[g]
                    bent = np.array([((away @ one) * away).sum(axis=1) for one in curvature])
                    whole = value[:, None] + gradient @ away.T + bent / 2
                    exact, parts = parts, self.combined(k, whole, self.all.coefficients)
                    worst = max(worst, self.error(quantity, parts, exact, self.weight[g]))
                if not np.isfinite(parts).all():
                    return None
                sums.total.append(parts[:, None])
            found.append(sums)
        return (found, worst) if worst <= EXPANSION_ERROR else None

    def combined(self, k, total, theta):
        """The parts of quantity k, (part, draw), from sums (place, draw)."""
        return np.array(
            [
                total[part.sums].sum(axis=0) * (1.0 if part.times is None else theta[:, part.times])
                for part in self.parts[k]
            ]
        )

    def error(self, quantity, parts, exact, weight):
        """The largest difference to draws that are computed exactly, in sds of the quantity."""
        with np.errstate(all="ignore"):
            value = quantity.final(*(parts[:, None] / weight))
            apart = np.abs(
                value[:, self.checked] - quantity.final(*(exact[:, None] / weight))
            ).max()
            sd = moments.sd(value[0][None, :, None], self.all.weights)[0]
        rounding = 1e-10 * np.abs(value).max()
        return 0.0 if apart <= rounding else float(apart / sd) if sd > 0 else np.inf


def linear(X, coefficients, offset):
    """Linear predictors (row, draw), in place."""
    eta = np.asarray(X @ coefficients.T)
    eta += offset[:, None]
    return eta


def column_of(X, j):
    """One column of a design as numbers, (n,)."""
    unit = np.zeros(X.shape[1])
    unit[j] = 1.0
    return np.asarray(X[:, j] if isinstance(X, np.ndarray) else X @ unit, dtype=float)


def some_draws(coefficients, weights):
    """Numbers of CHECKED draws: some evenly, and those farthest from the mean."""
    even = evenly(len(coefficients), FARTHEST_OF)
    some = coefficients[even]
    away = some - np.average(coefficients, axis=0, weights=weights)
    values, axes = np.linalg.eigh(np.cov(some.T, ddof=0).reshape(some.shape[1], -1))
    told = values > 1e-12 * values[-1]
    distance = ((away @ axes[:, told]) ** 2 / values[told]).sum(axis=1)
    far = even[np.argsort(distance)[-CHECKED // 2 :]]
    return np.union1d(far, evenly(len(coefficients), CHECKED // 2))
