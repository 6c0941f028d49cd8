"""Designs from files: whether their parts belong together, before anything is made of them."""

import math
from typing import Any

from sgmc.core.system.files import Damaged
from sgmc.core.system.memory import available
from sgmc.formula.designs.blocks import width
from sgmc.formula.designs.factors import Factor

CELL_BYTES = 16  # of an entry of a contrast, and its part of the row's beginning
CELLS_SHARE = 0.25  # of the available memory, for all cells of the design's factors


def is_text(value: object) -> bool:
    """Whether it is text that can be written and shown."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:  # half of a pair of UTF-16
        return False


def are_texts(values: Any) -> bool:
    """Whether it is a list of text."""
    return isinstance(values, list) and all(map(is_text, values))


def are_levels(values: Any) -> bool:
    """Whether it is a tuple of labels, each once."""
    texts = isinstance(values, tuple) and [one for one in values if isinstance(one, str)]
    return texts is not False and are_texts(texts) and 0 < len(values) == len({*values})


def check_spec(spec: Any, d: int) -> None:
    """Damaged unless the parts of a design from a file belong together, and make d columns."""
    check_factors(spec)
    check_blocks(spec, d)


def check_groups(spec: Any) -> None:
    """Damaged unless each factor of groups has terms, and each term a factor."""
    if {one.name for one in spec.factors} != {term.factor for term in spec.terms}:
        raise Damaged("is damaged: its group terms are not those of its factors")


def check_factors(spec: Any) -> None:
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


def check_blocks(spec: Any, d: int) -> None:
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
