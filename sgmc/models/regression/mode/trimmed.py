"""Fits to parts of the rows, by least trimmed squares: starts of a search for several modes."""

import numpy as np

KEPT = (0.1, 0.25, 0.5)  # shares of the rows that a fit keeps, in turn
TURNS = 5  # of fitting, and keeping the rows with the smallest residuals
MOST_ROWS = 20_000
LEAST_SCALE = 1e-3  # of the outcomes' sd
NORMAL_MAD = 1.4826  # sd of a normal law over the median of its absolute values


def trimmed(table, family, size):
    """``draw(random)`` of starts, (size,): coefficients fitted to the rows that lie closest to a
    first fit to a few rows, as the concentration steps of Rousseeuw & Van Driessen (2006, Data
    Mining and Knowledge Discovery 12, section 2); auxiliary parameters by the median residual.

    Parameters
    ----------
    table : Table
    family : Family
        With outcomes in the units of the linear predictor.
    size : int
        Coefficients and auxiliary parameters.
    """
    made = 0

    def draw(random):
        nonlocal made
        share, made = KEPT[made % len(KEPT)], made + 1
        n, d = table.X.shape
        seen = np.sort(random.choice(n, min(n, MOST_ROWS), replace=False))
        X = table.X[seen]
        X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
        y = family.numbers(table.y[seen]) - (0.0 if table.offset is None else table.offset[seen])
        rows = random.choice(len(y), min(len(y), d + 1), replace=False)
        for _ in range(TURNS):
            coefficients = np.linalg.lstsq(X[rows], y[rows], rcond=None)[0]
            apart = np.abs(y - X @ coefficients)
            rows = np.argsort(apart, kind="stable")[: max(d + 1, int(share * len(y)))]
        scale = max(NORMAL_MAD * np.median(apart[rows]), LEAST_SCALE * y.std())
        start = np.zeros(size)
        start[:d], start[d:] = coefficients, family.start(0.0, scale**2)[1]
        if family.clusters:  # from more than one df rows far out would widen the scale first
            start[-1] = 0.0
        return start

    return draw
