"""What comes beside new rows: offset, exposure, trials and outcomes, checked."""

from collections.abc import Mapping

import numpy as np

from sgmc.arguments.choices import nearest
from sgmc.arguments.data import values
from sgmc.arguments.data.arrays import numeric, vector
from sgmc.arguments.data.limited import is_records, records
from sgmc.arguments.data.rows import for_rows, not_a_name, same_index, same_length
from sgmc.arguments.data.survival import uncensored
from sgmc.errors import ArgumentError, DataError


def new_offset(results, exog, offset, n, transform=True):
    """All that is added to the linear predictors of n new rows: `offset`, which has the log of
    their exposure in it and is asked for by name where the fit had one, and what the formula adds.

    Unless `transform`, rows are a design, to which the formula adds nothing.
    """
    from sgmc.formula.data.frames import as_frame

    if isinstance(offset, str):
        offset = column_of(exog, "offset", offset)
    same_index(exog=exog, offset=offset)
    given, spec = given_offset(results, offset, n, transform), results.model.spec
    own = transform and spec is not None and spec.offset is not None
    return given + spec.offset.of(as_frame(exog)) if own else given


def given_offset(results, offset, n, transform):
    """The offset that comes beside n new rows, checked."""
    if offset is not None and results.model.family.outcome == "category":
        raise ArgumentError(
            f"offset does not apply to {results.model.family_name}, which has a linear predictor "
            "for each equation: one number a row does not say to which of them it is added",
        )
    if offset is None:
        if asks_offset(results, transform):
            raise ArgumentError(
                "the model was fitted with an offset: predict needs offset= for the new rows"
                f"{by_name(results, 'offset')} (0 for none)"
            )
        return np.zeros(n)
    offset = for_rows("offset", offset, n)
    if np.isinf(offset).any():
        raise DataError("offset has infinite values; leave such rows out")
    return offset


def asks_offset(results, transform=True):
    """Whether the fit had an offset that new rows of its formula do not bring themselves."""
    model = results.model
    brought = transform and model.spec is not None and model.spec.offset is not None
    return "offset" in model.given and not (brought and model.inputs.get("offset") is None)


def with_exposure(results, exog, offset, exposure, transform=True):
    """The offset of new rows with the log of their exposure,
    which is asked for by name where the fit had one.

    Unless `transform`, rows are a design, which does not bring the offset of the formula.
    """
    if not isinstance(transform, bool | np.bool_):
        file = f": to write to a file give to={transform!r}" if isinstance(transform, str) else ""
        raise ArgumentError(f"transform={transform!r} must be True or False{file}")
    if exposure is None:
        if exog is not None and "exposure" in results.model.given:
            raise ArgumentError(
                "the model was fitted with an exposure: predict needs exposure= for the new rows"
                f"{by_name(results, 'exposure')} (1 for none)"
            )
        return offset
    if not results.model.family.counts:
        raise ArgumentError(
            f"exposure does not apply to {results.model.family_name}: it belongs to models of "
            "counts"
        )
    if exog is None:
        raise ArgumentError("exposure belongs to new rows: give exog too")
    if isinstance(exposure, str):
        exposure = column_of(exog, "exposure", exposure)
    same_index(exog=exog, exposure=exposure)
    if np.ndim(exposure):
        same_length("exposure", exposure, rows_in(exog), "the new data have")
    size = values.exposures("exposure", numeric("exposure", exposure))
    if offset is None and asks_offset(results, transform):
        return None  # asked for where it is missed
    if isinstance(offset, str):
        offset = column_of(exog, "offset", offset)
    return np.log(size) + (0.0 if offset is None else numeric("offset", offset))


def by_name(results, argument):
    """The argument with the name of the column that the fit had; empty where that was none."""
    name = results.model.inputs.get(argument)
    return f", {argument}={name!r} where they have the column" if isinstance(name, str) else ""


def column_of(exog, argument, name):
    """A column of the new rows by its name; ArgumentError where they have none such."""
    from sgmc.formula.data.frames import pandas_or_same

    frame = pandas_or_same(exog)
    if not hasattr(frame, "columns") and not isinstance(frame, Mapping):
        return not_a_name(argument, name)
    if name not in frame:
        hint = nearest(name, list(frame), "its columns are")
        raise ArgumentError(f"{argument}={name!r} is not a column of the new data{hint}")
    return frame[name]


def rows_in(exog):
    """Rows of a table, of a dict of columns, or of a design."""
    if isinstance(exog, Mapping):
        return max(map(np.size, exog.values()), default=0)
    return exog.shape[0] if hasattr(exog, "shape") else len(exog)


def check_trials(results, exog, trials, n):
    """Trials of n new rows, or None where none are given."""
    if trials is None:
        return None
    if results.model.family.outcome != "binary":
        raise ArgumentError(
            f"trials does not apply to {results.model.family_name}: it belongs to counts of "
            "successes"
        )
    same_index(exog=exog, trials=not_a_name("trials", trials))
    return values.counts("trials", for_rows("trials", trials, n).astype(float))


def check_errors(results, exog, se, n):
    """Standard errors of n new rows, or None where none are given."""
    if se is None:
        return None
    if not has_errors(results):
        raise ArgumentError(
            f"se does not apply here: the {results.model.family_name} model was fitted without "
            "known standard errors"
        )
    same_index(exog=exog, se=not_a_name("se", se))
    return values.standard_errors("se", for_rows("se", se, n).astype(float))


def has_errors(results):
    """Whether the outcomes of the fit had known standard errors."""
    return "se" in results.model.given


def need_errors(results, exog, se, what):
    """ArgumentError, naming `what` was asked for,
    where outcomes of new rows are estimates of unknown standard errors.
    """
    if se is None and exog is not None and has_errors(results):
        raise ArgumentError(
            f"the outcomes of the fit had known standard errors: {what} needs se= for the new "
            "rows; get_prediction() without se has their means, and of new groups the interval of "
            "their true effects"
        )


def need_trials(results, exog, trials, what):
    """ArgumentError, naming `what` was asked for,
    where outcomes of new rows are counts of unknown trials.
    """
    if trials is None and exog is not None and "trials" in results.model.given:
        raise ArgumentError(
            f"the model was fitted to counts of successes: {what} needs trials= for the new rows "
            "(1 for 0 and 1)"
        )


def outcomes(results, exog, endog, n, trials=None):
    """Outcomes of n new rows as numbers; `endog` may be a column's name,
    and hold the labels of the fit's two levels.
    """
    import pandas as pd

    from sgmc.formula.data.columns import codes_of
    from sgmc.formula.data.frames import as_frame

    label, levels = results.model.endog_names, results.model.levels
    if isinstance(endog, str):
        frame = as_frame(exog)
        if endog not in frame:
            raise ArgumentError(
                f"endog={endog!r} is not a column of the new data; give the outcomes themselves"
            )
        endog = frame[endog]
    same_index(exog=exog, endog=endog)
    if results.model.family.outcome == "survival":
        return same_length("endog", uncensored("endog", endog), n, "the new data have")
    if results.model.family.limited:
        if not is_records(endog):
            endog = vector("endog", endog)
        return same_length("endog", records("endog", endog), n, "the new data have")
    held = pd.Series(np.ravel(np.asarray(endog)))
    if levels is not None and (held.dtype.kind not in "biuf" or held.isin(levels).all()):
        codes = codes_of(held, levels, label).astype(float)
        endog = np.where(codes < 0, np.nan, codes)
    y = vector("endog", endog)
    same_length("endog", y, n, "the new data have")
    if trials is not None:
        if ((y < 0) | (y > trials) | (y != np.floor(y))).any():
            raise DataError(
                f"the outcome {label!r} must be counts of successes in the new data, 0, 1, .. "
                "trials"
            )
    elif results.model.family.outcome == "binary":
        values.binary(f"the outcome {label!r} in the new data", y)
    return y
