"""What a prepared file has by the recipe of its columns; and this recipe, restored and checked
against what there is.
"""

import math

import numpy as np
import pandas as pd

from sgmc.core.files import Damaged
from sgmc.core.memory import available
from sgmc.errors import ArgumentError
from sgmc.formula import DesignSpec
from sgmc.formula.blocks import width
from sgmc.formula.code import Refused
from sgmc.formula.factors import Factor
from sgmc.formula.offsets import Offset
from sgmc.formula.outside import refuse_subset
from sgmc.prepared.schema import VECTORS, are_texts

CELL_BYTES = 16  # of an entry of a contrast, and its part of the row's beginning
MOMENTS = {"mean", "sd", "scale", "shift"}
LEAST = {"sd": 0.0, "scale": np.finfo(float).tiny}
CELLS_SHARE = 0.25  # of the available memory, for all cells of the design's factors


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
    check_factors(spec)
    vars(spec).pop("coding", None)  # made again, of blocks that have been checked
    check_blocks(spec, len(arrays["mean"]))
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


def are_levels(values):
    """Whether it is a tuple of labels, each once."""
    texts = isinstance(values, tuple) and [one for one in values if isinstance(one, str)]
    return texts is not False and are_texts(texts) and 0 < len(values) == len({*values})


def check_factors(spec):
    """Damaged unless each factor has columns, code and levels that go together."""
    for one in spec.factors:
        names = [*one.inputs, *one.inputs.values(), one.label, one.quoted, one.code]
        whole = isinstance(one, Factor) and are_texts([*names, *one.functions, *one.transforms])
        whole = whole and (one.levels is not None or type(one.width) is int)
        if not whole or one.is_column and one.code not in one.inputs:
            raise Damaged("is damaged: a factor of its design lacks a column, or code")
        if one.levels is not None and not are_levels(tuple(one.levels)):
            raise Damaged(f"is damaged: its factor {one.label!r} has no levels, or some twice")
    for block in spec._blocks:
        for factor, contrast in zip(block.factors, block.contrasts, strict=True):
            levels = None if factor.levels is None else len(factor.levels)
            if factor not in spec.factors or levels != (contrast and contrast.matrix.shape[0]):
                raise Damaged(f"is damaged: its factor {factor.label!r} has other contrasts")


def check_blocks(spec, d):
    """Damaged unless blocks are one after the other, of d columns in all, and contrasts are whole:
    before anything is made of them.
    """
    stop, size = 0, 0
    for block in spec._blocks:
        pairs = list(zip(block.factors, block.contrasts, strict=True))
        start, stop = stop, stop + math.prod(int(width(*pair)) for pair in pairs)
        if block.columns != slice(start, stop) or not start < stop <= d:
            raise Damaged("is damaged: columns of its design overlap, or lack")
        matrices = [contrast.matrix for _, contrast in block.categorical]
        for one in matrices:
            one.check_format(full_check=True)
        cells = math.prod(one.shape[0] for one in matrices)
        size += CELL_BYTES * (cells + math.prod(one.nnz for one in matrices))
    for term, at in spec.term_slices.items():
        if not are_texts([term]) or not 0 <= at.start < at.stop <= d or at.step is not None:
            raise Damaged("is damaged: a term of its design has other columns")
    if stop != d or not are_texts(spec.exog_names) or len(set(spec.exog_names)) != d:
        raise Damaged("is damaged: the columns of its design are not those of its recipe")
    if size > CELLS_SHARE * available():
        raise Damaged("is damaged, or has more combinations of levels than fit into memory")


def check_sections(wanted, arrays):
    """Damaged unless the sections of a file are those that a recipe makes, name -> (dtype, shape);
    scales may lack.
    """
    for name in {*wanted, *arrays} - {"scale"}:
        one = arrays.get(name)
        if one is None or name not in wanted or wanted[name] != (one.dtype, one.shape):
            raise Damaged(f"is damaged: its section {name!r} is not what its recipe makes")
