"""What partitions have no sums for: such fits are of the columns of the formula, read into this
process where they fit.
"""

from dataclasses import dataclass

import pandas as pd

from sgmc.cluster.blocks import RowsNeeded
from sgmc.cluster.recipe import BESIDE
from sgmc.core.system.memory import READING_SHARE, available, shown
from sgmc.errors import ArgumentError, DataError, OutOfMemoryError
from sgmc.formula.data.frames import as_frame
from sgmc.formula.evaluation.functions import CALLS_IN_PART
from sgmc.priors import JointNormal, PriorSpec, learns

MOST_PARAMETERS = 2000  # of which a partition returns p^2 numbers


def needed_by_model(family, inputs):
    """Raise RowsNeeded for families and arguments that have no sums of one design and one number a
    row.
    """
    for wrong, why in (
        (family.parts, f"{family.name} has two designs"),
        (family.working, f"the covariance of {family.name} is one of scores of rows"),
        (family.outcome == "survival", "a survival time is more than one number"),
        (family.outcome == "ordered", "thresholds are those of the levels of all rows"),
        (inputs["strata"] is not None, "strata= divides the rows"),
        (inputs["groups"] is not None, "groups= puts rows of several partitions together"),
    ):
        if wrong:
            raise RowsNeeded(why)


def needed_by_formula(table, parsed, beside):
    """Raise RowsNeeded for terms and responses that have no such sums."""
    column = parsed.names.inputs(parsed.offset).get(parsed.offset)
    for wrong, why in (
        (
            table.bars or table.smooths,
            "effects of groups and smooths, and their sds, are not learned from sums over rows",
        ),
        (table.spec.increments, "effects of one sign have no one Gaussian around the mode"),
        (
            parsed.response.startswith(CALLS_IN_PART),
            "an outcome that is censored or truncated is more than one number",
        ),
        (
            parsed.offset and (column is None or "offset" in beside),
            "an offset that is an expression is no column",
        ),
    ):
        if wrong:
            raise RowsNeeded(why)


def needed_by_fit(names, prior, settings):
    """Raise RowsNeeded for priors and settings that one Gaussian around the mode of all rows does
    not serve.

    Parameters
    ----------
    names : list of str
        Of the parameters.
    prior : None, str, PriorSpec or dict
    settings : Settings
    """
    given = prior.values() if isinstance(prior, dict) else [prior]
    elsewhere = any(isinstance(one, JointNormal) or getattr(one, "cut", False) for one in given)
    shrinks = any(one.family == "horseshoe" for one in specs_of(prior))
    for wrong, why in (
        (len(names) > MOST_PARAMETERS, f"a partition would return {len(names)}^2 numbers"),
        (learns(prior) or shrinks or elsewhere, "this prior has no one Gaussian around the mode"),
        (settings.robust, f"cov_type={settings.cov_type!r} is made of scores of rows"),
        (settings.modes == "search", "modes='search' takes passes over all rows for each start"),
        (settings.prior_only, "prior_only=True has no sums"),
        (settings.tuned, "tune= takes passes over all rows for each arm"),
        (
            settings.sampler is not None and settings.sampler.continuous,
            "piecewise-deterministic samplers need bounds on the slopes of rows",
        ),
    ):
        if wrong:
            raise RowsNeeded(why)


def check_inputs(inputs):
    """Raise ArgumentError for arguments of ``from_formula`` that do not go with partitions; those
    of files are taken out.
    """
    for name in (*BESIDE, "strata", "groups"):
        if inputs[name] is not None and not isinstance(inputs[name], str):
            raise ArgumentError(
                f"{name} must be the name of a column for data in partitions, not an array: an "
                "array has no partitions"
            )
    subset = inputs["subset"]
    if not (subset is None or isinstance(subset, str) or callable(subset)):
        raise ArgumentError(
            "subset must be an expression, a column name or a function for data in partitions, not "
            "an array"
        )
    for name in ("cache", "memory_limit"):
        if inputs.pop(name) is not None:
            raise ArgumentError(
                f"{name} does not apply to data in partitions: they are read where they are; leave "
                "it out"
            )


@dataclass(frozen=True)
class Columns:
    """A pass that returns the columns of a partition which a fit needs.

    Attributes
    ----------
    looking : SchemaSampling
    """

    looking: object

    def __call__(self, number, data):
        frame = as_frame(data)
        return frame[self.looking.needed(frame.columns)]


def collected(model, looking, seen, why):
    """The rows of all partitions as one DataFrame.

    Parameters
    ----------
    model : PartitionedRegression
    looking : SchemaSampling
    seen : SchemaSample
        What it has found.
    why : str
        They are needed.

    Raises
    ------
    OutOfMemoryError
        Where they take more than the share of the memory that files may.
    DataError
        For ordered categories of several orders.
    """
    size, room = row_bytes(seen.frame) * seen.rows, READING_SHARE * available()
    if size > room:
        raise OutOfMemoryError(
            f"{why}, so that partitions have no sums for it, and their columns take about "
            f"{shown(size)}, more than the quarter of the memory here that they may, "
            f"{shown(room)}: fit a sample of the rows, or leave that out"
        )
    parts = model.traffic.run("columns", model.blocks, Columns(looking), rows=len)
    parts = [part for part in parts if len(part)]
    for name in parts[0]:
        ordered = [part[name].dtype for part in parts if getattr(part[name].dtype, "ordered", 0)]
        if len({tuple(one.categories) for one in ordered}) > 1:
            raise DataError(
                f"the levels of {name!r} are in another order in some partitions: give all the same"
            )
    return pd.concat(parts, ignore_index=True)


def row_bytes(sample):
    """Mean bytes of a row, by some: of a categorical column those of its codes, as all rows have
    the levels together.
    """
    each = [
        column.cat.codes if isinstance(column.dtype, pd.CategoricalDtype) else column
        for _, column in sample.items()
    ]
    total = sum(column.memory_usage(index=False, deep=True) for column in each)
    return total / max(len(sample), 1)


def specs_of(prior):
    """The specifications in what a user gave as prior."""
    given = list(prior.values()) if isinstance(prior, dict) else [prior]
    if "horseshoe" in given:
        from sgmc.priors import horseshoe

        given.append(horseshoe())
    return [one for one in given if isinstance(one, PriorSpec)]
