"""The covariance of the likelihood's score, the V of `sgmc.coordinates.whitened.sandwich`, for few
rows and for rows that depend on each other.
"""

import numpy as np

from sgmc.coordinates.whitened.sandwich import score_covariance
from sgmc.core.expansion import (
    expand,
    of_rows,
    predictor_covariances,
    row_curvatures,
    score_products,
)
from sgmc.core.system import deadline
from sgmc.core.system.blas import one_blas_thread
from sgmc.core.system.storage import spans, too_many
from sgmc.errors import ClusterCountWarning, DataError, LeverageWarning

FEWEST_CLUSTERS = 30  # below, 95 % intervals cover visibly less; see benchmarks/clusters.py
# of the sd, by which HC3 exceeds HC0: 95 % intervals cover about 93 % beyond
NARROW = 0.1
UNTOLD = 1e-12  # share of the largest eigenvalue of the information that is rounding
NO_RESIDUAL = 1e-8  # one less a leverage that leaves a row no residual


def leverage_covariance(model, theta, weight, d):
    """V of HC3 at theta: the sum of the products of divided scores, less the same as in
    `score_covariance`.

    The residuals r_i of a row, one a linear predictor, are (I - h_i)^-1 r_i in divided scores, with
    the leverages h_i = k_i x_i' (X' K X)^-1 x_i, k_i the expected curvature of the row: the
    diagonal of the hat matrix of MacKinnon & White (1985), doi:10.1016/0304-4076(85)90158-7, in
    generalised linear models that of the last step of Fisher scoring (Zeileis 2006,
    doi:10.18637/jss.v016.i09).  Without its row, that step is the divided score's.

    Parameters
    ----------
    model : Model
    theta : array (dim,)
    weight : array (n,) or None
        Frequency weights: of so many equal rows each has its own leverage.
    d : int
        Coefficients, with which theta begins.

    Raises
    ------
    DataError
        Where a row has leverage one.
    """
    h = row_leverages(model, theta, weight, d)
    if (h > 1 - NO_RESIDUAL).any():
        raise DataError(
            f"cov_type='HC3': {(h > 1 - NO_RESIDUAL).sum()} rows have leverage one, as where a row "
            "has a coefficient of its own; drop those, or use cov_type='robust'"
        )
    return divided_covariance(model, theta, weight, d)


def divided_covariance(model, theta, weight, d):
    """V at theta of divided scores, see `leverage_covariance`."""
    white, V = white_of_rows(model, theta, d), np.zeros((model.dim, model.dim))
    for rows in spans(model.n):
        h = hats(model, theta, weight, white, rows)
        divide = np.linalg.inv(np.eye(model.width) - h)
        if weight is not None:  # scores of the model are those of all equal rows
            w = weight[rows]
            divide *= np.sqrt(np.divide(1.0, w, out=np.zeros(len(w)), where=w > 0))[:, None, None]
        V += score_products(model, theta, np.ascontiguousarray(divide), rows)
    total = of_rows(model, theta)[1]
    return V - np.outer(total, total) / (model.n if weight is None else weight.sum())


def row_leverages(model, theta, weight, d):
    """Leverages of the rows, (n,), of each of the equal ones that a weight stands for; of several
    predictors the largest of a combination.
    """
    white, found = white_of_rows(model, theta, d), np.empty(model.n)
    for rows in spans(model.n):
        h = hats(model, theta, weight, white, rows)
        found[rows] = h[:, 0, 0] if model.width == 1 else np.linalg.eigvals(h).real.max(axis=1)
    return found


def white_of_rows(model, theta, d):
    """W (dim, k) with W W' the inverse of the expected information of coefficients, in directions
    that rows tell.
    """
    information = expand(model, theta, expected=True)[2][:d, :d]
    with one_blas_thread():
        values, vectors = np.linalg.eigh(information)
    told = values > UNTOLD * values[-1]  # the rows say nothing of other directions
    white = np.zeros((model.dim, int(told.sum())))
    white[:d] = vectors[:, told] / np.sqrt(values[told])
    return white


def hats(model, theta, weight, white, rows):
    """h_i of a slice of the rows, (rows, width, width)."""
    deadline.check()
    curvature = row_curvatures(model, theta, True, rows)
    found = curvature @ predictor_covariances(model, white, rows)
    if weight is None:
        return found
    w = weight[rows]
    return found * np.divide(1.0, w, out=np.zeros(len(w)), where=w > 0)[:, None, None]


def cluster_covariance(model, theta, codes, weight, d, nobs=None):
    """V of clusters at theta: c sum_g (S_g - S)(S_g - S)', S_g the sum of the scores of a cluster
    and S their mean (Liang & Zeger 1986, doi:10.1093/biomet/73.1.13).

    c = G / (G - 1) * (n - 1) / (n - d), of G clusters, n rows and d coefficients, as in statsmodels
    and Stata (Cameron & Miller 2015, eq. 12, doi:10.3368/jhr.50.2.317).

    Parameters
    ----------
    model : Model
    theta : array (dim,)
    codes : array (n,)
        The cluster of each row of the model.
    weight : array (n,) or None
        Frequency weights.
    d : int
        Coefficients.
    nobs : float, optional
        Observations, where rows of the model are groups of these; default: the sum of the weights.

    Raises
    ------
    DataError
        Where there are fewer clusters than coefficients, or too few rows.
    """
    _, codes = np.unique(codes, return_inverse=True)
    order = np.argsort(codes, kind="stable").astype(np.intp)
    ends = np.cumsum(np.bincount(codes))
    count, n = len(ends), model.n if weight is None else float(weight.sum())
    n = n if nobs is None else nobs
    if count < 2 or n <= d:
        raise DataError(
            f"cov_type='cluster': groups has {count} clusters of {n:g} rows in all, too few for "
            f"{d} coefficients; give groups with more levels, or use cov_type='nonrobust'"
        )
    sums = np.empty((count, model.dim))
    for g, end in enumerate(ends):
        deadline.check()
        sums[g] = of_rows(model, theta, order[ends[g - 1] if g else 0 : end])[1]
    sums -= sums.mean(axis=0)
    return count / (count - 1) * (n - 1) / (n - d) * (sums.T @ sums)


def few_clusters(codes):
    """The warning, in a list, where clusters are few."""
    count = len(np.unique(codes))
    if count >= FEWEST_CLUSTERS:
        return []
    return [
        ClusterCountWarning(
            f"{count} clusters in groups, fewer than {FEWEST_CLUSTERS}: their sandwich is too "
            "small on average, and 95 % intervals cover less than 95 %.",
            "Take intervals of t with one degree of freedom less than clusters, which are wider by "
            "its quantile over the normal's, or model the groups: (1 | g) in the formula.",
        )
    ]


def heavy_leverage(model, mode, where, weight, d):
    """The warning, in a list, where leverages make HC0 visibly narrower than HC3, whose intervals
    cover as stated for few rows, too (Long & Ervin 2000, doi:10.1080/00031305.2000.10474549).

    Parameters
    ----------
    model : Model
    mode : Mode
    where : Coordinates
        Those of the sandwich with V of `score_covariance`.
    weight : array (n,) or None
        Frequency weights.
    d : int
        Coefficients.
    """
    if too_many(model, 3):  # of tables that stay in files nothing is kept for each row
        return []
    h = row_leverages(model, mode.theta, weight, d)
    if h.max() <= 1 - 1 / (1 + NARROW):  # no score is divided by less
        return []
    alone = int((h > 1 - NO_RESIDUAL).sum())
    if alone:
        return [
            LeverageWarning(
                f"{alone} rows have leverage one, as where a row has a coefficient of its own: "
                "residuals of these rows are near zero whatever their spread, and intervals by the "
                "sandwich are too short.",
                "Leave these rows or their columns out.",
            )
        ]
    with one_blas_thread():
        half = where.back @ np.linalg.inv(mode.precision)
        meat = divided_covariance(model, mode.theta, weight, d) + mode.prior
        divided = ((half @ meat) * half).sum(axis=1)
    wider = float(np.sqrt(divided / (where.white**2).sum(axis=1))[:d].max() - 1)
    if wider <= NARROW:
        return []
    return [
        LeverageWarning(
            f"leverages of rows are up to {h.max():.2g}, and cov_type='robust' (HC0) does not "
            f"correct for them: intervals by HC3 are up to {100 * wider:.0f} % wider.",
            "Use cov_type='HC3', which covers as stated for few rows and high leverages, too.",
        )
    ]


def covariance_of_scores(cov_type, model, theta, weight, d, codes=None):
    """V of one of the sandwiches."""
    if cov_type == "HC3":
        return leverage_covariance(model, theta, weight, d)
    if cov_type == "cluster":
        return cluster_covariance(model, theta, codes, weight, d)
    return score_covariance(model, theta, weight)
