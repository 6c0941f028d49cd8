"""Coefficients as figures show them: which, in which units, and what their axis is called."""

from typing import TYPE_CHECKING, Any

import numpy as np

from sgmc.arguments.choices import flag
from sgmc.arguments.numbers import level
from sgmc.arguments.types import Floats
from sgmc.diagnostics.chains import moments
from sgmc.errors import ArgumentError, NotSupported
from sgmc.formula.designs.spreads import of_array, of_rows
from sgmc.results.outcomes.data import words

if TYPE_CHECKING:
    from sgmc.results.results import Results

INTERCEPT = "Intercept"
INNER_ALPHA = 0.5  # of the thick bars
MOST_LINES = 100
SMALLEST_UNIT = 1e-300  # sds of columns that vary
SMALL_UNIT, LARGE_UNIT = 1e-4, 1e7  # between which units are written in full


def forest(
    results: "Results", cols: Any, ax: Any, by_sd: bool | None, exponentiate: bool, alpha: float
) -> Any:
    """Draw coefficients; see `Views.plot_forest`.  None for `by_sd`: where the data are there."""
    from sgmc.plots.lines import intervals

    flag("exponentiate", exponentiate)
    names, ours = shown(results, cols), coefficients_of(results)
    other = [name for name in names if name not in ours]
    if exponentiate and (other or not ours):
        what = f"{other[0]!r} is none" if ours else "this model has none"
        raise ArgumentError(
            f"exponentiate=True is for coefficients of a regression, and {what}: choose cols="
        )
    units = {} if by_sd is not None and not flag("by_sd", by_sd) else units_of(results)
    if by_sd and units is None:
        raise NotSupported(
            "by_sd=True needs the rows of the fit, which these results do not have: draw "
            "coefficients per unit, by_sd=False",
            because="limit",
        )
    units = units or {}
    draws = results.draws[:, :, [results.names.index(name) for name in names]]
    draws = draws * np.array([units.get(name, 1.0) for name in names])
    ends = [level(alpha) / 2, 1 - alpha / 2, INNER_ALPHA / 2, 1 - INNER_ALPHA / 2, 0.5]
    low, high, *inner, middle = moments.quantile(draws, ends, results.weights)
    centre = middle if exponentiate else moments.mean(draws, results.weights)
    found = np.array([centre, low, high, *inner])
    if exponentiate:
        with np.errstate(over="ignore"):
            found = np.exp(found)
        infinite = ~np.isfinite(found).all(axis=0)
        if infinite.any():
            raise ArgumentError(
                f"exponentiate=True: exp of {names[int(np.argmax(infinite))]!r} per unit is beyond "
                "all numbers; give by_sd=True, or choose cols="
            )
    texts = [f"{name} (per {short(units[name])})" if name in units else name for name in names]
    unit = "numbers per sd; " if any(name in units for name in names) else ""
    bars = bars_in_words(alpha, exponentiate)
    label = f"{axis_words(results, names, exponentiate)}\n{unit}{bars}"
    neutral = 1.0 if exponentiate else 0.0
    return intervals(
        texts, *found[:3], label, ax, neutral, inner=(found[3], found[4]), ratio=exponentiate
    )


def short(unit: float) -> str:
    """An sd with three digits, such as 8630; very small and large ones with a power of ten."""
    if not SMALL_UNIT <= unit < LARGE_UNIT:
        return f"{unit:.2e}"
    return np.format_float_positional(unit, 3, fractional=False, trim="-")


def bars_in_words(alpha: float, median: bool) -> str:
    """What point and bars are."""
    return (
        f"posterior {'median' if median else 'mean'}, {100 * (1 - INNER_ALPHA):g} % and "
        f"{100 * (1 - alpha):g} % intervals"
    )


def shown(results: "Results", cols: Any) -> list[str]:
    """Parameters asked for, or all slopes, but for those that are parts of smooths; of models
    without slopes all parameters.
    """
    if cols is None:
        parts = lines_of_smooths(results)
        slopes = [
            name
            for name in coefficients_of(results) or results.names
            if name.split(":")[-1] != INTERCEPT and name not in parts
        ]
        cols = slopes or None
    return results._plotted(cols, MOST_LINES)[2]


def lines_of_smooths(results: "Results") -> set[str]:
    """Columns of the straight lines in smooths, which mean nothing without the curve."""
    smooths = getattr(getattr(results.model, "groups", None), "smooths", ())
    return {name for one in smooths for name in one.covariates.exog_names}


def coefficients_of(results: "Results") -> list[str]:
    """Names of the coefficients of a regression, intercepts included; of another model none."""
    model: Any = results.model
    if not hasattr(model, "family"):
        return []
    columns = list(model.exog_names)
    if model.equations > 1:
        columns = [f"{kind}:{name}" for kind in model.kinds[1:] for name in columns]
    known = set(columns)
    return [name for name in results.names if name in known]


def axis_words(results: "Results", names: list[str], exponentiate: bool) -> str:
    """What these parameters are, on an axis."""
    ours = coefficients_of(results)
    if not ours or not set(names) <= set(ours):
        return "value"
    parts = results.model.family.parts
    of_second = {name.startswith(parts) for name in names} if parts else {False}
    if of_second != {False}:  # whose slopes are on a scale of their own
        return "exp of slope" if exponentiate else "slope"
    return words.coefficients(results.model, exponentiate)


def units_of(results: "Results") -> dict[str, float] | None:
    """The sd of each coefficient's column, where this is one of numbers; none for levels and
    columns of 0 and 1, whose coefficients are differences by themselves (Gelman, Jakulin, Pittau &
    Su 2008, doi:10.1214/08-AOAS191).  None where the rows of the fit are not there.
    """
    table = getattr(getattr(getattr(results, "_fit", None), "problem", None), "table", None)
    kept = getattr(results, "_kept", None)
    sd = getattr(table, "sd", None)
    if kept is None or sd is None:
        return None
    model: Any = results.model
    scales = column_scales(model, kept, sd)
    if scales is None:
        return None
    columns = list(model.exog_names)
    unit = {
        name: float(scale)
        for name, scale, spread in zip(columns, scales, sd)
        if scale != 1.0 and spread > SMALLEST_UNIT
    }
    if model.equations == 1:
        return unit
    return {f"{kind}:{name}": one for kind in model.kinds[1:] for name, one in unit.items()}


def column_scales(model: Any, kept: Any, sd: Floats) -> Floats | None:
    """What autoscaled priors of the columns are divided by, see `sgmc.formula.designs.spreads`."""
    if kept.names is None:
        return of_array(kept.frame, kept.weight)(sd)
    if model.spec is None:
        return None
    frame = kept.taken(slice(None), kept.names)
    return of_rows(model.spec, frame, np.arange(len(frame)), kept.weight)(sd)
