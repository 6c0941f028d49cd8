"""Regressions with auxiliary parameters beside the coefficients:
a scale, a dispersion, degrees of freedom.
"""
import numpy as np

from libc.math cimport exp
from libc.string cimport memset

from sgmc.core.contract cimport OK, Batch, Design, Scratch
from sgmc.core.numerics.limits import SMALLEST_POSITIVE
from sgmc.core.system.storage import Computed, largest
from sgmc.models.regression.bases.glm cimport Glm

# of predictions, relative to outcomes: float64 rounds outcomes, products and sums
OUTCOME_ROUNDING = 4 * np.finfo(float).eps


def rounding_of(y, offset=None):
    """Return the square of rounding errors of outcomes and of their predictions, which are of the
    size of the largest outcome or offset.
    """
    size = largest(y) if offset is None else max(largest(y), largest(offset))
    return (OUTCOME_ROUNDING * size) ** 2


def rounding_of_logs(y, offset=None):
    """Return the same of logs of positive outcomes, which are rounded before and after."""
    logs = Computed(len(y), lambda rows: np.log(np.maximum(y[rows], SMALLEST_POSITIVE)))
    return rounding_of(logs, offset) + OUTCOME_ROUNDING ** 2


cdef class Dispersed(Glm):
    """y_i ~ family(eta_i, exp(u)), theta = (beta, u):
    the auxiliary parameters u are logs and follow the d coefficients.

    The score of a row is (dlog p_i/deta_i, dlog p_i/du), `width` numbers, its Jacobian J_i =
    diag(x_i', I).  A family leaf defines `family`, `observed_information` and
    `expected_information` for these, all of them `width` or `width` x `width` numbers a row.

    Where predictors fit all outcomes a scale s = exp(power u) has no posterior: its density grows
    without limit towards zero.  But outcomes and predictions are rounded.  A leaf whose scale can
    vanish gives the square of these errors as `rounding`, in units of s, and `rounded` adds
    -rounding / (2 s^2) to the log density of a row, as if its squared residual were as much larger.

    Parameters
    ----------
    X, y, offset, weight
        As in `Glm`.
    auxiliary : int
        Number of auxiliary parameters.
    """

    unbounded = "its auxiliary parameters, which are sampled too, scale the curvature without limit"

    def __init__(self, Design X, y, offset=None, weight=None, Py_ssize_t auxiliary=1):
        Glm.__init__(self, X, y, offset, weight)
        self.width, self.dim = 1 + auxiliary, X.d + auxiliary
        self.power, self.rounding = 1.0, 0.0

    cdef int family_by_row(self, Py_ssize_t m, const double *eta, const double *y, double *r,
                           double *density) except -1 nogil:
        cdef Py_ssize_t i, k = self.width
        for i in range(m):  # `family` looks for auxiliary parameters behind d coefficients
            self.family(eta + k * i + 1 - self.X.d, 1, eta + k * i, y + i, r + k * i,
                        NULL if density == NULL else density + i)
        return OK

    cdef int rounded(self, const double *theta, Py_ssize_t m, double *r,
                     double *density) noexcept nogil:
        """Add the term of rounding errors to scores and log densities (or NULL) of rows."""
        cdef Py_ssize_t i
        cdef double share = self.rounding * exp(-2 * self.power * theta[self.X.d])
        for i in range(m):
            r[i * self.width + 1] += self.power * share
            if density != NULL:
                density[i] -= 0.5 * share
        return OK

    cdef int rounded_information(self, const double *theta, Py_ssize_t m,
                                 double *w) noexcept nogil:
        """Add that term to curvatures of rows."""
        cdef Py_ssize_t i, size = self.width * self.width
        cdef double share = self.rounding * exp(-2 * self.power * theta[self.X.d])
        for i in range(m):
            w[i * size + self.width + 1] += 2 * self.power * self.power * share
        return OK

    def bounds_of_known(self, auxiliary):
        """Largest |d log p / d eta| and |d^2 log p / d eta^2| where the auxiliary parameters
        have these values, numbers or arrays (n,).
        """
        raise NotImplementedError("bounds_of_known")

    def third_of_known(self, auxiliary):
        """The same of |d^3 log p / d eta^3|."""
        raise NotImplementedError("third_of_known")

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return (4 + self.width) * self.tile + self.X.work_size() + self.X.d

    cdef double *spare(self, Scratch *s) noexcept nogil:
        """Work behind that of the base: a tile, a tile of `width` numbers a row, and d numbers."""
        return s.work + 3 * self.tile + self.X.work_size()

    cdef int predictors(self, const double *delta, const Batch *tile, Scratch *s,
                        double *eta) except -1 nogil:
        cdef double *linear = self.spare(s)
        self.X.dot(tile, delta, linear, s.work + 3 * self.tile)
        return self.join(delta, tile.m, linear, eta)

    cdef int join(self, const double *theta, Py_ssize_t m, const double *linear,
                  double *eta) except -1 nogil:
        """(eta_i, u) a row."""
        cdef Py_ssize_t i, k
        for i in range(m):
            eta[i * self.width] = linear[i]
            for k in range(1, self.width):
                eta[i * self.width + k] = theta[self.X.d + k - 1]
        return OK

    cdef int scores(self, const double *theta, const Batch *tile, Scratch *s, double *r,
                    double *value) except -1 nogil:
        cdef double *both = self.spare(s) + self.tile
        Glm.scores(self, theta, tile, s, r, value)
        self.join(theta, tile.m, s.eta, both)
        s.eta = both
        return OK

    cdef const double *column(self, Py_ssize_t m, Scratch *s, const double *table, Py_ssize_t size,
                              Py_ssize_t k) noexcept nogil:
        """The k-th of `size` numbers of each row, together."""
        cdef Py_ssize_t i
        cdef double *out = self.spare(s)
        for i in range(m):
            out[i] = table[i * size + k]
        return out

    cdef int add_scores(self, const Batch *tile, Scratch *s, const double *r,
                        double *grad) except -1 nogil:
        cdef Py_ssize_t i, k
        self.X.tdot(tile, self.column(tile.m, s, r, self.width, 0), grad, s.work + 3 * self.tile)
        for i in range(tile.m):
            for k in range(1, self.width):
                grad[self.X.d + k - 1] += r[i * self.width + k]
        return OK

    cdef int add_squares(self, const Batch *tile, Scratch *s, const double *r,
                         double *square) except -1 nogil:
        cdef Py_ssize_t i, k
        self.X.tdot_sq(tile, self.column(tile.m, s, r, self.width, 0), square)
        for i in range(tile.m):
            for k in range(1, self.width):
                square[self.X.d + k - 1] += r[i * self.width + k] * r[i * self.width + k]
        return OK

    cdef int add_curvatures(self, const Batch *tile, Scratch *s, const double *w,
                            double *H) except -1 nogil:
        cdef Py_ssize_t i, j, k, l, d = self.X.d, width = self.width, size = width * width
        cdef double *cross = self.spare(s) + (1 + width) * self.tile
        self.X.gram(tile, self.column(tile.m, s, w, size, 0), H, self.dim)
        for k in range(1, width):
            memset(cross, 0, d * sizeof(double))
            self.X.tdot(tile, self.column(tile.m, s, w, size, k), cross, s.work + 3 * self.tile)
            for j in range(d):
                H[j * self.dim + d + k - 1] += cross[j]
            for l in range(k, width):
                for i in range(tile.m):
                    H[(d + k - 1) * self.dim + d + l - 1] += w[i * size + k * width + l]
        return OK
