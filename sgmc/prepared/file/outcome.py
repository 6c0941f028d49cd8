"""The response of a prepared table as a family takes it: numbers, counts, or levels."""

import numpy as np

from sgmc.arguments.data.values import counts
from sgmc.core.system.storage import made, spans
from sgmc.errors import DataError, FormulaError
from sgmc.formula.data.columns import kind
from sgmc.formula.outcomes import OUTCOMES
from sgmc.formula.terms import NOT_A_PAIR


def as_outcome(prepared, outcome):
    """Outcomes, trials and levels, as `sgmc.formula.outcomes` has them of rows in memory.

    Parameters
    ----------
    prepared : Prepared
        Its `y` are numbers, or places among `outcome_levels`; `trials` go with counts of
        successes and failures; `examples` tell what the source holds: all distinct values, or of
        numbers the first ones and the extremes.
    outcome : {"binary", "numeric", "category", "ordered"}

    Raises
    ------
    DataError, FormulaError
        With the words for rows in memory.
    """
    y, trials, levels = prepared.y, prepared.trials, prepared.outcome_levels
    label, examples = prepared.spec.endog_name, prepared.examples
    if trials is not None:
        if outcome == "binary":
            for rows in spans(len(y)):
                for some in (y[rows], trials[rows] - y[rows]):
                    counts(f"the response {label!r}", some)
            return y, trials, None
        if prepared.spec.paired:
            raise FormulaError(NOT_A_PAIR.format(label=label))
        y, levels = trials, None  # the sum, as arithmetic
    if outcome == "ordered" and levels is not None:
        raise DataError(
            f"the response {label!r} holds labels, and a prepared table does not keep their order: "
            "prepare it with numbers in their place, 1, 2, .. from the lowest level on"
        )
    if outcome in ("category", "ordered"):
        if levels is None:
            found = np.unique(np.concatenate([np.unique(y[rows]) for rows in spans(len(y))]))
            places = made(len(y), y, lambda rows: np.searchsorted(found, y[rows]).astype(float))
            return places, None, tuple(found.tolist())
        return y, None, levels
    OUTCOMES[outcome](examples, label)
    labelled = outcome == "binary" and kind(examples) != "number"
    return y, None, levels if labelled else None
