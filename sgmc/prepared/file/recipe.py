"""What a prepared file has by the recipe of its columns; and this recipe, restored and checked
against what there is.
"""

import numpy as np
import pandas as pd

from sgmc.core.system.files import Damaged
from sgmc.errors import ArgumentError
from sgmc.formula import DesignSpec
from sgmc.formula.designs.offsets import Offset
from sgmc.formula.evaluation.code import Refused
from sgmc.formula.outside import refuse_subset
from sgmc.prepared.file.schema import VECTORS
from sgmc.saved.designs import are_levels, are_texts, check_spec

MOMENTS = {"mean", "sd", "scale", "shift"}
LEAST = {"sd": 0.0, "scale": np.finfo(float).tiny}


def arrays_of(n, spec, dtype, vectors, recipe):
    """Types and shapes of the sections of a file: name -> (dtype, shape).

    Parameters
    ----------
    n : int
        Rows.
    spec : DesignSpec
    dtype : numpy.dtype
        Of the design's numbers.
    vectors : iterable of str
        Those of `VECTORS` that there are.
    recipe : bytes
    """
    d, coding = len(spec.exog_names), spec.coding
    small = {"recipe": (np.uint8, (len(recipe),))}
    small |= dict.fromkeys(("mean", "sd", "scale", "shift"), (np.float64, (d,)))
    if coding is None:
        design = {"X": (dtype, (n, d))}
    else:
        design = {
            "numbers": (dtype, (n, len(coding.places))),
            "codes": (np.int32, (n, len(coding.terms))),
            "factors": (np.float64, (n, coding.by.max() + 1)),
        }
    rows = dict.fromkeys(("y", *vectors), (np.float64, (n,)))
    return {**small, **design, **rows, "order": (np.int64, (n,))}


def kept_arrays(n, kept, recipe):
    """The same for a file of columns, each a `KeptColumn`."""
    arrays = {"recipe": (np.uint8, (len(recipe),))}
    return arrays | {one.section: (one.dtype, (n,)) for one in kept}


def refuse_subset_of(path, facts, trust):
    """ArgumentError for a subset with other code than one from outside may have: fits of other rows
    select these by it.
    """
    subset = facts["arguments"].get("subset")
    if trust.formulas or not isinstance(subset, str):
        return
    try:
        refuse_subset(subset)
    except Refused as error:
        raise ArgumentError(
            f"the subset in {path} has {error.piece!r}: {error.reason}. Fits of other rows would "
            "execute it; if the file is from someone you trust, sgmc.open(path, "
            "trust_formulas=True)"
        ) from error


def check_design(found, arrays, facts):
    """Damaged unless the design that a recipe makes is the one in the file."""
    spec, levels = found["spec"], found["outcome_levels"]
    whole = isinstance(spec, DesignSpec) and isinstance(found["examples"], pd.Series)
    if not whole or not isinstance(spec.offset, Offset | None):
        raise Damaged("is damaged: its recipe lacks the design")
    if str(spec.formula) != facts["formula"]:
        raise Damaged("is damaged: its recipe is of another formula")
    if not (levels is None or are_levels(levels)) or not are_texts([spec.endog_name]):
        raise Damaged("is damaged: its recipe lacks what the outcomes are")
    vars(spec).pop("coding", None)  # made again, of blocks that have been checked
    check_spec(spec, len(arrays["mean"]))
    vectors = [name for name in VECTORS if name in arrays]
    wanted = arrays_of(facts["n"], spec, facts["dtype"], vectors, arrays["recipe"])
    check_sections(wanted, arrays)
    if spec.coding is not None:
        spec.coding.cells.check_format(full_check=True)
    for name in MOMENTS & {*arrays}:
        bad = ~np.isfinite(arrays[name]) | (arrays[name] < LEAST.get(name, -np.inf))
        if bad.any():
            column = spec.exog_names[int(np.argmax(bad))]
            raise Damaged(
                f"is damaged, or has a column {column!r} of numbers that are too large: its "
                f"{name} is {arrays[name][bad][0]:g}"
            )


def check_sections(wanted, arrays):
    """Damaged unless the sections of a file are those that a recipe makes, name -> (dtype, shape);
    scales may lack.
    """
    for name in {*wanted, *arrays} - {"scale"}:
        one = arrays.get(name)
        if one is None or name not in wanted or wanted[name] != (one.dtype, one.shape):
            raise Damaged(f"is damaged: its section {name!r} is not what its recipe makes")
