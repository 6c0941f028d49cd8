"""Names and matrices of small tables."""

import numpy as np

N = 60
AWKWARD = ["my var", "class", "it's", "Q", "C", "a:b", "1st", "größe", "x²", "np", "tick`", "I"]
AWKWARD += ["back\\slash", "'both\" quotes"]


def design(table, dtype=np.float64, **how):
    out = np.full((len(table.rows), len(table.spec.exog_names)), -99, dtype)
    table.fill(out, **how)
    return out
