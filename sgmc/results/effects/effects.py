"""What results have of effects: methods with the names of the R package marginaleffects."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from sgmc.arguments.choices import one_of
from sgmc.arguments.declared.signatures import ByOtherNames
from sgmc.arguments.intervals import with_level
from sgmc.arguments.names import texts
from sgmc.arguments.types import Frame
from sgmc.core.system import phases
from sgmc.errors import ArgumentError
from sgmc.results.effects.averages import by_group, by_row
from sgmc.results.effects.places import places_of
from sgmc.results.effects.quantities import (
    SLOPES,
    checked_type,
    comparison_of,
    kinds_of,
    slope_of,
    the_mean,
)
from sgmc.results.effects.variables import Variables, varied
from sgmc.results.effects.with_groups import note_of, with_groups
from sgmc.results.outcomes.data.second import seen_from

if TYPE_CHECKING:
    from sgmc.results.effects.margeff import MarginalEffects
    from sgmc.results.effects.places import FitPlaces, NewPlaces
    from sgmc.results.effects.quantities import Quantity
    from sgmc.results.effects.table import EffectTable
    from sgmc.results.outcomes.data.rows import Rows
    from sgmc.results.results import Results


MOST_SETTINGS = 10_000  # of combinations of values that predictions are taken at


def columns_by(by: str | Sequence[str] | None) -> list[str]:
    """Names of the columns that averages are taken by; none for True and None."""
    if by is None or by is True:
        return []
    return texts("by", by, "names of columns, or True for the average of all rows")


class Effects(ByOtherNames):
    """Methods of `RegressionResults` for effects on the scale of the outcome.

    Each returns a table: ``estimate`` is the posterior mean, ``std_error`` the posterior standard
    deviation, ``conf_low`` and ``conf_high`` are quantiles; ``.draws`` of the table has the draws,
    (row, draw).  Averages weigh rows by the frequency weights of the fit, and by the trials of
    counts of successes.  Effects of group terms are zero, unless
    ``random=True``; smooths are included.

    Averages over many rows are quadratic functions of the coefficients, expanded at the posterior
    mean.  ``attrs["draws_error"]`` of their table is the largest error of 32 draws that are
    computed exactly, in posterior sds of the effect: at most 0.01, and 0 where all draws are exact.
    """

    def population_rows(self, frame: Frame, offset: Any) -> "Rows":
        """Return the `Rows` of new data, effects of group terms being zero."""
        return self.table_rows(frame, offset)

    @phases.shown("predictions")
    @with_level
    def predictions(
        self,
        data: Any = None,
        *,
        variables: Any = None,
        by: str | Sequence[str] | None = None,
        of: str = "mean",
        type: str = "response",
        level: float = 0.95,
        weights: ArrayLike | str | None = None,
        offset: ArrayLike | str | None = None,
        exposure: ArrayLike | str | None = None,
        random: bool = False,
        new_levels: str | None = None,
    ) -> "EffectTable":
        """Predict the mean of the outcome at each row, with its posterior interval.

        Parameters
        ----------
        data : DataFrame, dict, array, or path and the like, optional
            Rows to predict, e.g. a grid by `sgmc.datagrid`; default those of the fit.
        variables : str, list of str or dict, optional
            Variables to set: each row is predicted at all combinations of their values, as
            ``{"dose": [0, 10]}``.  Of a name alone all levels, or of a number minimum, quartiles
            and maximum.
        by : str, list of str or True, optional
            Columns to average by, see `avg_predictions`.
        of : str, default "mean"
            ``"sigma"``, ``"phi"``, ``"dispersion"`` or ``"zero"``: the parameter of that name, of
            fits with predictors of it, instead of the mean of the outcome.
        type : {"response", "link"}
            The scale: of the outcome (of the parameter), or of its linear predictor.
        level : float
            Probability of the intervals.
        weights, offset, exposure : str, float or array_like, optional
            Of new rows: a column's name, a number for all, or one for each.  Default: the column
            of that name in the fit, where `data` have it.
        random : bool, default False
            Of fits with group terms: whether rows have the effects of their groups, as in
            `predict`.  False: effects of groups are zero, those of a typical group.  The table
            prints which.
        new_levels : {"sample", "error"}, optional
            With `random`, as in `predict`: what to do about levels that the fit has not seen.

        Returns
        -------
        DataFrame
            ``rowid``, the number of the row in the table, ``group`` (of outcomes of several kinds),
            ``estimate``, ``std_error``, ``conf_low``, ``conf_high``, and the model's variables; the
            index has the labels of the rows.

        Raises
        ------
        ArgumentError, DataError, FormulaError
            Naming the argument or column.
        """
        beside = dict(weights=weights, offset=offset, exposure=exposure)
        seen = seen_from(with_groups(self, random, new_levels), "of", of)
        return predictions_of(seen, data, variables, by, type, level, beside, by is not None)

    @phases.shown("predictions")
    @with_level
    def avg_predictions(
        self,
        data: Any = None,
        *,
        variables: Any = None,
        by: str | Sequence[str] | None = None,
        of: str = "mean",
        type: str = "response",
        level: float = 0.95,
        weights: ArrayLike | str | None = None,
        offset: ArrayLike | str | None = None,
        exposure: ArrayLike | str | None = None,
        random: bool = False,
        new_levels: str | None = None,
    ) -> "EffectTable":
        """Average predictions over rows, for each draw, and summarise the averages.

        With `variables`, one average for each of their values, all rows being set to it.

        Parameters
        ----------
        data, variables, of, type, level, weights, offset, exposure, random, new_levels
            As in `predictions`.
        by : str or list of str, optional
            Columns of the data; one average for each of their combinations.

        Returns
        -------
        DataFrame
        """
        beside = dict(weights=weights, offset=offset, exposure=exposure)
        seen = seen_from(with_groups(self, random, new_levels), "of", of)
        return predictions_of(seen, data, variables, by, type, level, beside, True)

    @phases.shown("comparisons")
    @with_level
    def comparisons(
        self,
        variables: Any = None,
        data: Any = None,
        *,
        by: str | Sequence[str] | None = None,
        comparison: str = "difference",
        of: str = "mean",
        type: str = "response",
        level: float = 0.95,
        weights: ArrayLike | str | None = None,
        offset: ArrayLike | str | None = None,
        exposure: ArrayLike | str | None = None,
        random: bool = False,
        new_levels: str | None = None,
    ) -> "EffectTable":
        """Compare predictions at two values of a variable, all others as they are, at each row.

        Parameters
        ----------
        variables : str, list of str or dict, optional
            Names, or what to compare by name.  Numbers: a step (default 1; of columns of 0 and 1
            the value 1 against 0), two values ``[20, 40]``, ``"sd"``, ``"2sd"``, ``"iqr"`` or
            ``"minmax"``.  Labels: each level
            against the reference (default), ``"sequential"``, ``"pairwise"``, ``"all"``, or two
            levels, ``["a", "b"]`` for b against a.  Default: all variables.
        comparison : {"difference", "ratio", "lnratio", "lnor"}
            The last one is the log odds ratio.
        data, by, of, type, level, weights, offset, exposure, random, new_levels
            As in `predictions`.

        Returns
        -------
        DataFrame
            ``rowid``, ``term``, ``contrast``, ``group``, ``estimate``, ``std_error``,
            ``conf_low``, ``conf_high``, and the model's variables.
        """
        beside = dict(weights=weights, offset=offset, exposure=exposure)
        how = data, by, comparison, type, level, beside
        seen = seen_from(with_groups(self, random, new_levels), "of", of)
        return comparisons_of(seen, variables, *how, by is not None)

    @phases.shown("comparisons")
    @with_level
    def avg_comparisons(
        self,
        variables: Any = None,
        data: Any = None,
        *,
        by: str | Sequence[str] | None = None,
        comparison: str = "difference",
        of: str = "mean",
        type: str = "response",
        level: float = 0.95,
        weights: ArrayLike | str | None = None,
        offset: ArrayLike | str | None = None,
        exposure: ArrayLike | str | None = None,
        random: bool = False,
        new_levels: str | None = None,
    ) -> "EffectTable":
        """Average comparisons over rows, for each draw, and summarise the averages.

        Ratios are those of the two averages, not averages of ratios: a marginal risk ratio.

        Parameters
        ----------
        variables, data, by, comparison, of, type, level, weights, offset, exposure, random
        new_levels
            As in `comparisons`.

        Returns
        -------
        DataFrame
        """
        beside = dict(weights=weights, offset=offset, exposure=exposure)
        seen = seen_from(with_groups(self, random, new_levels), "of", of)
        return comparisons_of(seen, variables, data, by, comparison, type, level, beside, True)

    @phases.shown("slopes")
    @with_level
    def slopes(
        self,
        variables: Any = None,
        data: Any = None,
        *,
        by: str | Sequence[str] | None = None,
        slope: str = "dydx",
        of: str = "mean",
        type: str = "response",
        level: float = 0.95,
        weights: ArrayLike | str | None = None,
        offset: ArrayLike | str | None = None,
        exposure: ArrayLike | str | None = None,
        random: bool = False,
        new_levels: str | None = None,
    ) -> "EffectTable":
        """Differentiate predictions with respect to a variable, at each row.

        By central differences, (f(x + h/2) - f(x - h/2)) / h with h = 1e-4 of the variable's
        range, of the whole formula: of ``x + I(x**2)`` both terms move.  Labels have no derivative:
        theirs are comparisons with the reference.  In averages, numbers that are a predictor by
        themselves and in no other term have the closed form f'(eta) beta.

        Parameters
        ----------
        variables : str or list of str, optional
            Default: all variables.
        slope : {"dydx", "eyex", "eydx", "dyex"}
            dY/dX; elasticity (dY/dX) (x/y); semi-elasticities (dY/dX) / y and (dY/dX) x.
        data, by, of, type, level, weights, offset, exposure, random, new_levels
            As in `predictions`.

        Returns
        -------
        DataFrame
            As of `comparisons`.
        """
        beside = dict(weights=weights, offset=offset, exposure=exposure)
        seen = seen_from(with_groups(self, random, new_levels), "of", of)
        return slopes_of(seen, variables, data, by, slope, type, level, beside, by is not None)

    @phases.shown("slopes")
    @with_level
    def avg_slopes(
        self,
        variables: Any = None,
        data: Any = None,
        *,
        by: str | Sequence[str] | None = None,
        slope: str = "dydx",
        of: str = "mean",
        type: str = "response",
        level: float = 0.95,
        weights: ArrayLike | str | None = None,
        offset: ArrayLike | str | None = None,
        exposure: ArrayLike | str | None = None,
        random: bool = False,
        new_levels: str | None = None,
    ) -> "EffectTable":
        """Average slopes over rows, for each draw, and summarise the averages.

        Parameters
        ----------
        variables, data, by, slope, of, type, level, weights, offset, exposure, random
        new_levels
            As in `slopes`.

        Returns
        -------
        DataFrame
        """
        beside = dict(weights=weights, offset=offset, exposure=exposure)
        seen = seen_from(with_groups(self, random, new_levels), "of", of)
        return slopes_of(seen, variables, data, by, slope, type, level, beside, True)

    def get_margeff(
        self,
        at: str = "overall",
        method: str = "dydx",
        *,
        dummy: bool = False,
        count: bool = False,
        data: Any = None,
    ) -> "MarginalEffects":
        """Return marginal effects of the columns of the design, one at a time, as in statsmodels.

        They are effects on what `predict` returns: means, of survival times medians.  Of ``x +
        I(x**2)`` each column moves alone; `avg_slopes` moves x.

        Parameters
        ----------
        at : {"overall", "mean", "median", "zero"}
            Averaged over rows, or at one row of means, medians or zeros of the columns.
        method : {"dydx", "eyex", "dyex", "eydx"}
            Derivatives, elasticities, semi-elasticities.
        dummy : bool
            Whether columns of 0 and 1 change from 0 to 1.
        count : bool
            Whether columns of whole numbers change by one, (f(x + 1) - f(x - 1)) / 2.
        data : DataFrame, array, or path and the like, optional
            As in `predictions`.

        Returns
        -------
        MarginalEffects
            ``margeff``, ``margeff_se``, ``conf_int``, ``summary_frame``, ``summary``, ``draws``.
        """
        from sgmc.results.effects.margeff import get_margeff

        return get_margeff(self, at, method, dummy, count, data)


def predictions_of(
    results: "Results",
    data: Any,
    variables: Any,
    by: Any,
    kind: str,
    level: float,
    beside: dict[str, Any],
    averaged: bool,
) -> "EffectTable":
    """The table of predictions, see `Effects.predictions`."""
    link = checked_type(results, kind)
    places = places_of(results, data, columns_by(by), **beside)
    cells = [{}]
    if variables is not None:
        values = Variables(results, places).values(variables)
        count = 1
        for one in values.values():
            count *= len(one)
        if not 0 < count <= MOST_SETTINGS:
            raise ArgumentError(
                f"variables: {count:,} combinations of values, at most {MOST_SETTINGS:,} are "
                "predicted; give fewer"
            )
        cells = [dict(zip(values, one)) for one in product(*values.values())]
    found = [the_mean(setting(cell), cell) for cell in cells]
    return tabled(results, places, found, link, level, averaged)


def tabled(
    results: "Results",
    places: "FitPlaces | NewPlaces",
    quantities: "list[Quantity]",
    link: bool,
    level: float,
    averaged: bool,
) -> "EffectTable":
    """The table of quantities, of rows or of averages."""
    made = by_group if averaged else by_row
    out = made(results, places, quantities, link, kinds_of(results, link), level)
    out.attrs["note"] = note_of(results)
    return out


def comparisons_of(
    results: "Results",
    variables: Any,
    data: Any,
    by: Any,
    comparison: str,
    kind: str,
    level: float,
    beside: dict[str, Any],
    averaged: bool,
) -> "EffectTable":
    """The table of comparisons, see `Effects.comparisons`."""
    link = checked_type(results, kind, comparison)
    places = places_of(results, data, columns_by(by), **beside)
    changes = Variables(results, known_places(results, places)).changes(variables)
    found = [comparison_of(one, comparison) for one in changes]
    return tabled(results, places, found, link, level, averaged)


def slopes_of(
    results: "Results",
    variables: Any,
    data: Any,
    by: Any,
    slope: str,
    kind: str,
    level: float,
    beside: dict[str, Any],
    averaged: bool,
) -> "EffectTable":
    """The table of slopes, see `Effects.slopes`."""
    link = checked_type(results, kind)
    one_of("slope", slope, SLOPES)
    places = places_of(results, data, columns_by(by), **beside)
    changes = Variables(results, known_places(results, places)).slopes(variables)
    found = [slope_of(one, slope) for one in changes]
    return tabled(results, places, found, link, level, averaged)


def known_places(results: "Results", places: "FitPlaces | NewPlaces") -> "FitPlaces | NewPlaces":
    """Rows that ranges and levels of variables are taken from: those of the fit, where these are
    here.
    """
    return places if results._kept is None else places_of(results, None)


def setting(cell: dict[str, Any]) -> Callable[[Frame], Frame]:
    """A function that sets variables of a table to values."""

    def frames(frame: Frame) -> Frame:
        for name, value in cell.items():
            frame = varied(frame, name, value)
        return frame

    return frames
