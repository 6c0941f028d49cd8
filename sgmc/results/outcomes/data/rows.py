"""Rows and draws: what linear predictors are made of, for the data of the fit and for new ones."""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.arguments.data.tables import first_place, table
from sgmc.arguments.names import same_order
from sgmc.core.system import deadline, phases
from sgmc.diagnostics.chains import moments
from sgmc.errors import ArgumentError, DataError
from sgmc.formula.data.frames import pandas_or_same
from sgmc.results.outcomes.data.beside import check_errors, check_trials, new_offset, outcomes
from sgmc.results.outcomes.data.labels import labels_of, labels_of_fit
from sgmc.results.outcomes.data.large import room_for

CELLS = 1 << 20  # rows x draws evaluated at a time
# rows x draws evaluated in all; beyond, draws are thinned evenly, to at least FEWEST_DRAWS
ROWS_WORK = 4e8
FEWEST_DRAWS = 200
GAPS = 16  # places for each row, beyond which rows are ranked by sorting
COUNTED_ROWS = 1 << 22  # whose places are found at a time
ROWS_MEMORY = 1 << 30  # bytes of an array (draw, row)


@dataclass(frozen=True)
class Rows:
    """Rows of a table and draws of the coefficients for it.

    Attributes
    ----------
    family : Family
    X : array (n, d), CSR array or CodedTable
    coefficients : array (m, d)
        Or (m, equations * d) for families with several equations.
    extra : array (k, m) or None
        Draws of the family's auxiliary parameters.
    weights : array (m,) or None
        Of the draws.
    offset : array (n,)
    index : Index, "polars" or None
        Labels of the rows, see `sgmc.results.outcomes.data.labels`.
    order : array (n,) or None
        Row i of the table is row order[i] of the output.
    y, trials, se : array (n,) or None
        Outcomes; of counts of successes the trials, of estimates their known standard errors.
    frequency : array (n,) or None
        Frequency weights of the rows.
    """

    family: object
    X: object
    coefficients: np.ndarray
    extra: np.ndarray | None
    weights: np.ndarray | None
    offset: np.ndarray
    index: object = None
    order: np.ndarray | None = None
    y: np.ndarray | None = None
    trials: np.ndarray | None = None
    frequency: np.ndarray | None = None
    se: np.ndarray | None = None

    spacing = 1  # draws of the fit from one of these to the next

    @property
    def n(self):
        """Rows."""
        return self.X.shape[0]

    @property
    def m(self):
        """Draws."""
        return len(self.coefficients)

    def with_draws(self, kept):
        """The same rows with some of the draws."""
        return replace(
            self,
            coefficients=self.coefficients[kept],
            extra=None if self.extra is None else self.extra[:, kept],
            weights=None if self.weights is None else self.weights[kept],
        )

    def affordable(self, n=None):
        """The same rows with evenly thinned draws where there is too much to do, of n rows in all
        where these are some of them.
        """
        n = self.n if n is None else n
        if n * self.m <= ROWS_WORK:
            return self
        return self.with_draws(evenly(self.m, max(FEWEST_DRAWS, int(ROWS_WORK // n))))

    def affordable_mean(self):
        """`mean` by as many draws as take a few seconds."""
        return self.affordable().mean()

    def of_equal_weight(self, count=None):
        """The same rows with draws that count alike: `count` of them, evenly spaced,
        in proportion to their weights.
        """
        if self.weights is None:
            return self if count is None else self.with_draws(evenly(self.m, count))
        return replace(
            self.with_draws(moments.systematic(self.weights, self.m if count is None else count)),
            weights=None,
        )

    def at_mean(self):
        """The same rows with one draw, the posterior mean."""
        mean = np.average(self.coefficients, axis=0, weights=self.weights)[None]
        extra = (
            None
            if self.extra is None
            else np.average(self.extra, axis=1, weights=self.weights)[:, None]
        )
        return replace(self, coefficients=mean, extra=extra, weights=None)

    def mirrored(self, centre):
        """The same rows with each draw and its mirror image at `centre`, those of `at_mean`."""
        mirrored = 2 * centre.coefficients - self.coefficients
        extra = self.extra
        if extra is not None:  # positive numbers: their logs are mirrored
            extra = np.concatenate([extra, centre.extra**2 / extra], axis=1)
        return replace(
            self, coefficients=np.concatenate([self.coefficients, mirrored]), extra=extra
        )

    def among(self, kept):
        """Some of the table's rows, in the order given; they are their own output."""
        y, trials, frequency, se = (
            None if column is None else column[kept]
            for column in (self.y, self.trials, self.frequency, self.se)
        )
        return replace(
            self,
            X=self.X[kept],
            offset=self.offset[kept],
            index=None,
            order=None,
            y=y,
            trials=trials,
            frequency=frequency,
            se=se,
        )

    def blocks(self):
        """Pairs (slice of the table, its linear predictors (row, draw)), few enough at a time for
        memory.

        With several equations these come first: (equation, row, draw).
        """
        size, report = self.block, phases.reporting()
        for a in range(0, self.n, size):
            deadline.check()
            at = slice(a, min(a + size, self.n))
            yield at, self.predictors(at)
            if report is not None and size < self.n:
                report(at.stop, self.n)

    @property
    def block(self):
        """Rows of a block."""
        return max(1, CELLS * self.X.shape[1] // self.coefficients.size)

    def predictors(self, at):
        """Linear predictors of some rows of the table by the coefficients, see `blocks`."""
        return self.family.predictors(self.X[at], self.coefficients, self.offset[at], self.extra)

    def outcome(self, at):
        """The family of these rows' outcomes, with their trials or their standard errors;
        `family` itself is of single ones.
        """
        beside = (None if one is None else one[at, None] for one in (self.trials, self.se))
        return family_of_rows(self.family, *beside)

    def log_density(self, at, eta):
        """log p(y | eta) of some rows of the table, (row, draw)."""
        return self.outcome(at).log_density(self.y[at, None], eta, self.extra)

    def seen(self, at, eta):
        """The same of draws that have seen all of each row's outcomes."""
        return self.log_density(at, eta)

    def unseen(self, rng):
        """Linear predictors (row, draw) at draws of which none has seen its row's outcome once
        weights have made up for that, and auxiliary parameters; what is integrated out comes from
        the random stream.
        """
        return np.concatenate([eta for _, eta in self.blocks()], axis=-2), self.extra

    def near(self):
        """An order of the rows in which neighbours have most in common."""
        return np.arange(self.n)

    def place(self, at):
        """Where rows of the table are in the output."""
        return at if self.order is None else self.order[at]

    def where(self, rows):
        """Rows of the table at places of the output, in ascending order; the inverse of `place`."""
        if self.order is None:
            return rows
        out = np.empty(len(rows), dtype=np.intp)
        for a in range(0, self.n, COUNTED_ROWS):
            part = self.order[a : a + COUNTED_ROWS]
            k = np.minimum(np.searchsorted(rows, part), len(rows) - 1)
            mine = np.flatnonzero(rows[k] == part)
            out[k[mine]] = a + mine
        return out

    def average(self, function):
        """Mean over draws of function(rows of the table, their eta) for each row of the output.

        Where the function's values have an axis of kinds before that of rows, so has the
        output behind: (n, kinds).
        """
        out = np.empty(0)
        for at, eta in self.blocks():
            mean = np.average(function(at, eta), axis=-1, weights=self.weights).T
            out = out if out.size else room_for((self.n, *mean.shape[1:]))
            out[self.place(at)] = mean
        return out

    def mean(self):
        """E[y | x] averaged over draws, for each row of the output; of counts,
        the probability of success; of survival times, their median.
        """
        return self.average(lambda at, eta: self.family.centre(eta, self.extra))

    def fits(self, what):
        """Refuse an array (draw, row) that memory should not hold."""
        size = 8 * self.n * self.m
        if size > ROWS_MEMORY:
            few = ROWS_MEMORY // (8 * self.n)
            advice = f"give draws={few}" if few else "give fewer rows at a time"
            advice += ", or to=, the path of a file, with new rows"
            raise ArgumentError(
                f"{what} of {self.n:,} rows and {self.m:,} draws is {size / 2**30:.1f} GB, over "
                f"the limit of 1 GB; {advice}"
            )


def family_of_rows(family, trials, se):
    """The family of some rows' outcomes, with their trials or their standard errors, where there
    are any: arrays, (row,) or (row, 1), or None.
    """
    return family.of_trials(trials) if se is None else family.of_errors(se)


def evenly(m, count):
    """Numbers of `count` of m draws, evenly spaced."""
    return np.arange(m) if count >= m else np.unique(np.linspace(0, m - 1, count).astype(int))


def rows_of(results, exog=None, offset=None, *, endog=None, trials=None, se=None, transform=True):
    """The rows of new data, or of the data of the fit:
    then in the fit's own coordinates and order.
    """
    fit, family = results._fit, results.model.family
    if exog is not None or fit is None:
        X, off, index = design_of(results, exog, offset, transform)
        size = check_trials(results, exog, trials, X.shape[0])
        y = None if endog is None else outcomes(results, exog, endog, X.shape[0], size)
        return Rows(
            family,
            X,
            sampled(results)[:, : coefficients_of(results)],
            auxiliary_draws(results),
            results.flat_weights,
            off,
            index,
            y=y,
            trials=size,
            se=check_errors(results, exog, se, X.shape[0]),
        )
    for name, value in (("offset", offset), ("endog", endog), ("trials", trials), ("se", se)):
        if value is not None:
            raise ArgumentError(f"{name} belongs to new rows: give exog too")
    refuse_prior_alone(fit)
    x, extra = fit.x.reshape(-1, fit.x.shape[2]), auxiliary_draws(results)
    rows = rows_of_table(fit.problem, family, x, coefficients_of(results), extra)
    return replace(
        rows, weights=results.flat_weights, index=labels_of_fit(results), order=places_of(fit)
    )


def refuse_prior_alone(fit):
    """ArgumentError for what needs the outcomes of a fit that had none."""
    if fit.problem.prior_alone:
        raise ArgumentError(
            "these are draws of the prior alone (prior_only=True), without outcomes: give the "
            "table, posterior_predict(df) or predict(df); everything else needs a fit to the data"
        )


def rows_of_table(problem, family, x, coefficients, extra):
    """The rows of a problem's table, in its order and without labels, for draws x (m, d) in the
    sampler's coordinates, of which so many are coefficients; `extra` as in `Rows`.
    """
    table, model = problem.table, problem.model
    return Rows(
        family,
        table.X,
        problem.coordinates.natural(x)[:, :coefficients],
        extra,
        None,
        np.asarray(model.offset) if len(model.offset) else np.broadcast_to(0.0, len(table.y)),
        y=table.y,
        trials=table.trials,
        frequency=table.weight,
        se=table.se,
    )


def places_of(fit):
    """Where rows of a fit's table are among those used, (n,), in the user's order; None where they
    are in that order.
    """
    order = fit.problem.table.order
    if order is None or not len(order) or order.max() < len(order):
        return order
    if "places" not in fit.computed and order.max() > GAPS * len(order):
        places = np.empty(len(order), np.int64)  # few of very many: by memory of their own
        places[np.argsort(order, kind="stable")] = np.arange(len(order))
        fit.computed["places"] = places
    if "places" not in fit.computed:  # rows were left out before: count those that are there
        there = np.zeros(int(order.max()) + 1, dtype=bool)
        there[order] = True
        rank, before = room_for(len(there), np.int64), 0
        for a in range(0, len(there), COUNTED_ROWS):
            part = np.cumsum(there[a : a + COUNTED_ROWS])
            rank[a : a + COUNTED_ROWS] = before + part - 1
            before += int(part[-1])
        places = room_for(len(order), np.int64)
        for a in range(0, len(order), COUNTED_ROWS):
            places[a : a + COUNTED_ROWS] = rank[order[a : a + COUNTED_ROWS]]
        fit.computed["places"] = places
    return fit.computed["places"]


def fitted_rows(results, what):
    """The rows of the fit's data; ArgumentError, naming `what` was asked for,
    where they were left behind.
    """
    if results._fit is None:
        raise ArgumentError(f"{what} needs the data of the fit: {results._without_rows}")
    results._fit.problem.rows.will_read(random=False)
    return results.table_rows()


def coefficients_of(results):
    """Number of coefficients, with which draws begin."""
    return results.model.equations * len(results.model.exog_names)


def sampled(results):
    """Draws (m, k) of coefficients and of all that is sampled beside them."""
    return results.model.family.sampled(results.flat)


def auxiliary_draws(results):
    """Draws (k, m) of the auxiliary parameters, with which draws end, or None."""
    return auxiliary_of(results.model.family, results.flat)


def auxiliary_of(family, printed):
    """The same of draws (m, p) of what is printed."""
    k = len(family.auxiliary)
    return family.sampled(printed)[:, printed.shape[1] - k :].T if k else None


def design_of(results, exog, offset, transform=True):
    """Rows to predict: (design, offset vector, labels)."""
    spec, names = results.model.spec if transform else None, results.model.exog_names
    if exog is None:
        raise ArgumentError(f"predict needs new data: {results._without_rows}")
    index = labels_of(exog)
    if spec is not None:
        X = spec.table(exog)
    else:
        exog = pandas_or_same(exog)
        X = table("exog", exog)
        X = X[None, :] if X.ndim == 1 and X.shape[0] == len(names) else X
        if X.ndim != 2 or X.shape[1] != len(names):
            raise DataError(
                f"exog has shape {np.shape(exog)}; it must have {len(names)} columns: "
                f"{', '.join(names[:8])}"
            )
        same_order("exog", exog, names, foreign=True, error=DataError)
    place = first_place(X, np.isinf)
    if place is not None:
        raise DataError(
            f"the new data are infinite in {names[place[1]]!r} at row {place[0]}; leave such rows "
            "out"
        )
    return (
        X,
        new_offset(results, exog, offset, X.shape[0], transform),
        index if isinstance(index, str) or np.size(index) == X.shape[0] else None,
    )
