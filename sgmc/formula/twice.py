"""Effects that a formula has twice: as coefficients of a factor, and as effects of its levels."""

import numpy as np

from sgmc.errors import FormulaError
from sgmc.formula.blocks import INTERCEPT


def refuse_twice(table, bar, design, codes, levels):
    """FormulaError where coefficients and a group term have the same columns, one a level.

    Data then tell only the sum of the two: how it is shared is the priors' alone, and chains hardly
    move along that.

    Parameters
    ----------
    table : Table
    bar : Bar
        The group term,
    design : DesignSpec
        its effects,
    codes : array (n,) of int
        and the level of each row.
    levels : int
    """
    for block in table.spec.blocks_with_levels:
        numbers = ":".join(factor.label for factor in block.numeric) or INTERCEPT
        if numbers in design.exog_names and same_rows(table, block, codes, levels):
            name = block.term_name(clean=True)
            raise FormulaError(
                f"{name} and ({bar.text}) are the same columns, one for each level of "
                f"{':'.join(bar.columns)}, of which the data tell the sum alone: drop one of them; "
                f"({bar.text}) pools the levels, {name} does not"
            )


def same_rows(table, block, codes, levels):
    """Whether the combinations of a block's factors are the levels of a group, under other names
    perhaps.
    """
    sizes = [contrast.matrix.shape[0] for _, contrast in block.categorical]
    if np.prod(sizes, dtype=float) < levels:
        return False
    pairs = np.empty(0, dtype=np.int64)
    for span, values in table.spec.values(table.frame, table.rows, of=block.factors):
        pairs = np.unique(np.append(pairs, block.joint(values) * levels + codes[span]))
        cells, groups = (len(np.unique(one)) for one in np.divmod(pairs, levels))
        if not len(pairs) == cells == groups:  # as soon as one is cut by the other
            return False
    return True
