"""Effective degrees of freedom of smooths."""

import numpy as np


def edf_of_smooths(smooths, rows, found):
    """Effective degrees of freedom of each smooth, and how many it has at most: name -> pair.

    They are the trace of H^-1 I over its coefficients, I the information of the rows and H that of
    the posterior, at the centre of the posterior and given standard deviations (Wood 2017, section
    5.4.2).  In units of these the prior has a precision of one, so that a coefficient has 1 less
    its variance; those of lines count whole.

    Parameters
    ----------
    smooths : list of Smooth
    rows : CrossedRows
    found : Laplace
    """
    taken, out, begin = 1 - variances(rows, found), {}, 0
    for one in smooths:
        lines = one.lines
        for name, sizes in one.curves.items():
            end = begin + sum(sizes)
            out[name] = lines + float(taken[begin:end].sum()), lines + end - begin
            begin = end
    return out


def variances(rows, found):
    """Of the coefficients of smooths in units of their sds, given these, (columns,)."""
    at = np.searchsorted(found.precision.rest, rows.dense[rows.blocks.d :])
    return (np.asarray(found.map.root)[at] ** 2).sum(axis=1)
