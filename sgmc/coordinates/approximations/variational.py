"""The Gaussian nearest to a posterior: centre and covariance of independent proposals.

The Laplace approximation has the curvature at one point.  With many parameters the linear
predictors of a posterior are far from those at its mode, by `sqrt(d / N)` of their own scale and
more, and the curvature they meet there is another one.  The Gaussian q that minimises KL(q || pi)
has E_q[grad log pi] = 0 and the precision -E_q[Hessian of log pi] (Opper & Archambeau 2009, eqs.
13 and 14, doi:10.1162/neco.2008.08-07-592).  Where a row knows the parameters by one linear
predictor alone, both are sums of one-dimensional integrals over normal laws.
"""

import numpy as np
from scipy import linalg

from sgmc.core.system import deadline
from sgmc.core.system.blas import one_blas_thread

NODES = 7  # of the quadrature of a row: it is exact for polynomials of degree 13
MAX_TURNS = 4
# squared change (twice the KL divergence of the Gaussians, to first order) below which a turn is
# the last: the next one would be about 0.2 times as long
SETTLED = 1.0


def variational(model, prior):
    """Centre m and root A of the nearest Gaussian, with covariance A A', in the coordinates of a
    model whose table is whitened at the mode; None where there is none.

    Newton's method on the conditions, from the Laplace approximation.

    Parameters
    ----------
    model : Glm
        Of width one.
    prior : callable
        ``prior(y)`` returns the gradient of its log density and its precision, or the diagonal of
        it, where the mode is y = 0.

    Returns
    -------
    centre : array (d,)
    root : array (d, d)
        Triangular.
    """
    d = model.dim
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()
    centre, root = np.zeros(d), None
    for _ in range(MAX_TURNS):
        deadline.check(operations=3.0 * model.n * d**2)
        square = model.X.forms(None) if root is None else model.squared_lengths(root)
        gradient, precision = model.expected(centre, np.sqrt(square), nodes, weights)
        slope, curvature = prior(centre)
        gradient += slope
        precision += curvature if curvature.ndim > 1 else np.diag(curvature)
        with one_blas_thread():
            if not np.isfinite(precision).all():
                return None
            try:
                lower = linalg.cholesky(precision, lower=True)
            except linalg.LinAlgError:  # rows that are not log-concave
                return None
            relative = precision if root is None else root.T @ precision @ root
            change = 0.5 * ((relative - np.eye(d)) ** 2).sum()
            root = linalg.solve_triangular(lower, np.eye(d), lower=True).T
            step = root @ (root.T @ gradient)
        centre += step
        if step @ gradient + change < SETTLED:
            return centre, root
    return None
