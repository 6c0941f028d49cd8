"""A constant metric learned from positions and gradients together.

For a normal law with covariance S gradients have covariance S^-1, so that positions and gradients
each tell S.  The metric that minimises the Fisher divergence between the posterior and a normal law
is the geometric mean of the two estimates, cov(x) # cov(g)^-1; on normal laws it is S itself once
there are more draws than parameters, while the sample covariance of positions has the relative
error sqrt(d / n) (Seyboldt, Carlson & Carpenter, arXiv:2603.18845).
"""
import numpy as np

from libc.math cimport fabs, fmax, fmin, isfinite, sqrt

from sgmc.samplers.bases.adaptation cimport DENSE, DIAGONAL, IDENTITY, Preconditioner

SPARE_DRAWS = 1.1                 # draws per parameter from which a dense metric is estimated
SHRINKAGE = 1e-3                  # weight of the diagonal metric, in draws per parameter
cdef double WIDEST_SCALE = 1e5    # of a coordinate by a single gradient, and its inverse


cdef class ScoreMetric(Preconditioner):
    """As `Preconditioner`, from positions and gradients.

    Parameters
    ----------
    dim : int
    kind : {"identity", "diag", "dense"}
    """

    def __init__(self, Py_ssize_t dim, kind):
        Preconditioner.__init__(self, dim, kind)
        self.slope_scatter = np.zeros_like(self.scatter)
        self.slope_mean, self.slope_deviation = np.zeros(dim), np.zeros(dim)
        self.known = self.kind == IDENTITY

    cdef void absorb_slope(self, const double *g) noexcept nogil:
        """Take the gradient at the position that `absorb` took just before into the sums."""
        cdef Py_ssize_t j, k
        cdef double share = 1 - 1. / self.count
        for j in range(self.dim):
            self.slope_deviation[j] = g[j] - self.slope_mean[j]
            self.slope_mean[j] += self.slope_deviation[j] / self.count
        if self.kind == DIAGONAL:
            for j in range(self.dim):
                self.slope_scatter[0, j] += (share * self.slope_deviation[j]
                                             * self.slope_deviation[j])
        else:
            for j in range(self.dim):
                for k in range(j + 1):
                    self.slope_scatter[j, k] += (share * self.slope_deviation[j]
                                                 * self.slope_deviation[k])

    cdef void scale_to(self, const double *g) noexcept nogil:
        """Scales from one gradient, for want of more: x_j of variance 1 / |g_j|."""
        cdef Py_ssize_t j
        cdef double scale
        for j in range(self.dim if self.kind != IDENTITY else 0):
            scale = sqrt(1 / fabs(g[j])) if isfinite(g[j]) and g[j] != 0 else 1.
            scale = fmin(fmax(scale, 1 / WIDEST_SCALE), WIDEST_SCALE)
            self.L[j if self.kind == DENSE else 0, j] = scale

    cdef void renew(self) noexcept nogil:
        """L from the window; begin a new one, unless there are too few draws yet for correlations.
        Coordinates that did not move, or whose gradients did not, keep their scales.
        """
        cdef bint found
        with gil:
            found = settled(np.asarray(self.L), np.asarray(self.scatter),
                            np.asarray(self.slope_scatter), self.count, self.kind == DENSE)
        if not found and not self.known:
            return
        self.known = True
        self.scatter[...] = 0
        self.slope_scatter[...] = 0
        self.mean[:] = 0
        self.slope_mean[:] = 0
        self.count = 0

    def state(self):
        """The metric in use and the sums of the window."""
        return {**Preconditioner.state(self), "slope_scatter": np.array(self.slope_scatter),
                "slope_mean": np.array(self.slope_mean), "known": self.known}

    def set_state(self, state):
        """Continue from a `state()`."""
        Preconditioner.set_state(self, state)
        np.asarray(self.slope_scatter)[...] = state["slope_scatter"]
        np.asarray(self.slope_mean)[:], self.known = state["slope_mean"], state["known"]


def settled(L, scatter, slope_scatter, count, dense):
    """Write the factor of the new metric into L, a diagonal one where draws are too few for
    correlations; return whether they were enough.

    Parameters
    ----------
    L : ndarray
        Lower triangle, or a row of scales where diagonal.
    scatter, slope_scatter : ndarray
        Sums of products of the deviations of positions and gradients; lower triangles, or rows.
    count : int
    dense : bool
    """
    by_place, by_slope = (np.diagonal(s) if dense else s[0] for s in (scatter, slope_scatter))
    known = (by_place > 0) & (by_slope > 0) & np.isfinite(by_place) & np.isfinite(by_slope)
    old = np.sqrt((L * L).sum(axis=1)) if dense else L[0]
    scale = old.copy()
    scale[known] = (by_place[known] / by_slope[known]) ** 0.25
    if not dense:
        L[0] = scale
        return True
    factor, enough = np.diag(scale), False
    if count > SPARE_DRAWS * len(scale) + 1 and known.all():
        products = np.outer(scale, scale)
        try:
            correlated = scale[:, None] * mean_factor(whole(scatter) / products,
                                                      whole(slope_scatter) * products)
            if np.isfinite(correlated).all():
                factor, enough = correlated, True
        except np.linalg.LinAlgError:         # sums that overflow: scales alone
            pass
    L[...] = factor
    return enough


def whole(lower):
    """A symmetric matrix from its lower triangle."""
    return np.tril(lower) + np.tril(lower, -1).T


def mean_factor(a, b):
    """Cholesky factor of the geometric mean a # b^-1, both shrunk a little to their diagonals.

    With a = C C', it is C (C' b C)^(-1/2) C': the solution m of m b m = a.
    """
    d = len(a)
    for one in (a, b):
        one[np.diag_indices(d)] *= 1 + SHRINKAGE / d
    C = np.linalg.cholesky(a)
    values, vectors = np.linalg.eigh(C.T @ b @ C)
    root = C @ vectors
    return np.linalg.cholesky((root / np.sqrt(np.maximum(values, 1e-300))) @ root.T)
