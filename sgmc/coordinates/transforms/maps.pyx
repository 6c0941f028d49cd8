"""Maps from sampler coordinates x to natural parameters theta."""
import numpy as np

from libc.math cimport exp, fabs, log

from sgmc.core.contract cimport OK, Map
from sgmc.core.numerics.gram cimport BLAS_COLUMNS
from sgmc.core.numerics.matrices cimport dot_many, tdot_many
from sgmc.errors import NotSupported


cdef class Scaling(Map):
    """theta = m + s * x, elementwise: the diagonal preconditioner.

    Parameters
    ----------
    centre, scale : array (dim,)
    """

    affine = True
    cdef readonly double[::1] centre, scale
    cdef double log_scale

    def __init__(self, centre, scale):
        self.centre, self.scale = np.array(centre, dtype=float), np.array(scale, dtype=float)
        self.dim = self.size = self.centre.shape[0]
        self.diagonal = True
        self.log_scale = np.log(np.abs(scale)).sum()

    def __call__(self, x):
        """theta for points x (..., dim)."""
        return np.asarray(self.centre) + np.asarray(self.scale) * x

    def inverse(self, theta):
        """x for points theta (..., dim)."""
        return (theta - np.asarray(self.centre)) / np.asarray(self.scale)

    def slopes(self, x):
        """dtheta_j/dx_j at a point x (dim,)."""
        return np.asarray(self.scale)

    def jacobian(self, x):
        """dtheta_j/dx_k at a point x (dim,)."""
        return np.diag(self.scale)

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.dim):
            theta[j] = self.centre[j] + self.scale[j] * x[j]
        if log_jacobian != NULL:
            log_jacobian[0] += self.log_scale
        return OK

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.dim):
            v_theta[j] = self.scale[j] * v[j]
        return OK

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.dim):
            grad_x[j] += self.scale[j] * grad_theta[j]
        return OK

    cdef int pull_sd(self, const double *x, const double *sd_theta, double *sd_x) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.dim):
            sd_x[j] = fabs(self.scale[j]) * sd_theta[j]
        return OK


cdef bint opposite(const double *x, Py_ssize_t points, Py_ssize_t dim) noexcept nogil:
    """Whether the second half of some points are the first with other signs."""
    cdef Py_ssize_t i, half = points // 2 * dim
    if points % 2:
        return False
    for i in range(half):
        if x[half + i] != -x[i]:
            return False
    return True


cdef class Affine(Map):
    """theta = m + L x: the dense preconditioner,
    for storage that cannot be rotated (CSR, memory maps).

    Parameters
    ----------
    centre : array (size,)
    matrix : array (size, dim)
        L, row-major.
    """

    affine = True
    cdef readonly double[::1] centre
    cdef readonly double[:, ::1] matrix
    cdef double log_scale

    def __init__(self, centre, matrix):
        self.centre = np.array(centre, dtype=float)
        self.matrix = np.array(matrix, dtype=float, order="C")
        self.size, self.dim = matrix.shape
        self.log_scale = np.linalg.slogdet(matrix)[1] if self.size == self.dim else 0.0

    def __call__(self, x):
        """theta for points x (..., dim)."""
        return np.asarray(self.centre) + x @ np.asarray(self.matrix).T

    def inverse(self, theta):
        """x for points theta (..., size)."""
        away = (theta - np.asarray(self.centre))[..., None]
        return np.linalg.solve(np.asarray(self.matrix), away)[..., 0]

    def jacobian(self, x):
        """dtheta_j/dx_k at a point x (dim,)."""
        return np.asarray(self.matrix)

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        cdef Py_ssize_t j
        self.jvp(x, x, theta)
        for j in range(self.size):
            theta[j] += self.centre[j]
        if log_jacobian != NULL:
            log_jacobian[0] += self.log_scale
        return OK

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef Py_ssize_t j, k
        cdef double total
        for j in range(self.size):
            total = 0
            for k in range(self.dim):
                total += self.matrix[j, k] * v[k]
            v_theta[j] = total
        return OK

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef Py_ssize_t j, k
        for j in range(self.size):
            for k in range(self.dim):
                grad_x[k] += self.matrix[j, k] * grad_theta[j]
        return OK

    cdef int forward_many(self, const double *x, Py_ssize_t points, double *theta,
                          double *log_jacobian) except -1 nogil:
        cdef Py_ssize_t j, k, half = points // 2 * opposite(x, points, self.dim)
        cdef double *there = theta + half * self.size
        if self.dim < BLAS_COLUMNS:
            return Map.forward_many(self, x, points, theta, log_jacobian)
        dot_many(self.size, self.dim, &self.matrix[0, 0], points - half, x, self.dim, theta)
        for j in range(half * self.size):
            there[j] = -theta[j]
        for k in range(points):
            for j in range(self.size):
                theta[k * self.size + j] += self.centre[j]
            if log_jacobian != NULL:
                log_jacobian[k] += self.log_scale
        return OK

    cdef int pull_many(self, const double *x, Py_ssize_t points, const double *grad_theta,
                       double *grad_x) except -1 nogil:
        if self.dim < BLAS_COLUMNS:
            return Map.pull_many(self, x, points, grad_theta, grad_x)
        tdot_many(self.size, self.dim, &self.matrix[0, 0], points, grad_theta, grad_x, self.dim)
        return OK


cdef class Warp(Map):
    """theta_j = t_j(x_j) for the first coordinates, with t_j tabulated on a uniform grid; the
    others are left alone.

    Between nodes t and log t' are cubic Hermite interpolants; beyond the grid t goes on as a line.

    Parameters
    ----------
    dim : int
    grid : array (m,)
        Nodes in x, evenly spaced.
    values, log_slopes, bends : array (walls, m)
        t_j, log t_j' and its derivative at the nodes.
    """

    cdef readonly double[:, ::1] values, log_slopes, bends
    cdef readonly Py_ssize_t walls, last
    cdef double first, step

    def __init__(self, Py_ssize_t dim, grid, values, log_slopes, bends):
        self.dim = self.size = dim
        self.diagonal = True
        self.values = np.array(values, dtype=float)
        self.log_slopes = np.array(log_slopes, dtype=float)
        self.bends = np.array(bends, dtype=float)
        self.walls, self.last = self.values.shape[0], self.values.shape[1] - 1
        self.first, self.step = grid[0], (grid[len(grid) - 1] - grid[0]) / self.last

    cdef void at(self, Py_ssize_t j, double x, double *t, double *slope,
                 double *d_log_slope) noexcept nogil:
        """t_j, t_j' and (log t_j')' at x."""
        cdef double place = (x - self.first) / self.step, a, b, g, h = self.step
        # a lost place fits no integer
        cdef Py_ssize_t k = <Py_ssize_t> min(place, <double> self.last) if place > 0 else 0
        cdef bint outside = place < 0 or place > self.last
        k = min(k, self.last - (0 if outside else 1))
        a = place - k
        if outside:
            slope[0] = exp(self.log_slopes[j, k])
            t[0] = self.values[j, k] + slope[0] * a * h
            d_log_slope[0] = 0
            return
        b = 1 - a
        t[0] = ((1 + 2 * a) * b * b * self.values[j, k] + a * a * (3 - 2 * a) * self.values[j, k
                                                                                            + 1]
                + h * a * b * (b * exp(self.log_slopes[j, k]) - a * exp(self.log_slopes[j, k + 1])))
        g = ((1 + 2 * a) * b * b * self.log_slopes[j, k]
             + a * a * (3 - 2 * a) * self.log_slopes[j, k + 1]
             + h * a * b * (b * self.bends[j, k] - a * self.bends[j, k + 1]))
        slope[0] = exp(g)
        d_log_slope[0] = (6 * a * b * (self.log_slopes[j, k + 1] - self.log_slopes[j, k]) / h
                   + b * (1 - 3 * a) * self.bends[j, k] + a * (3 * a - 2) * self.bends[j, k + 1])

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        cdef Py_ssize_t j
        cdef double slope, d_log_slope
        for j in range(self.walls):
            self.at(j, x[j], &theta[j], &slope, &d_log_slope)
            if log_jacobian != NULL:
                log_jacobian[0] += log(slope)
        for j in range(self.walls, self.dim):
            theta[j] = x[j]
        return OK

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef Py_ssize_t j
        cdef double t, slope, d_log_slope
        for j in range(self.dim):
            v_theta[j] = v[j]
            if j < self.walls:
                self.at(j, x[j], &t, &slope, &d_log_slope)
                v_theta[j] *= slope
        return OK

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef Py_ssize_t j
        cdef double t, slope, d_log_slope
        for j in range(self.walls):
            self.at(j, x[j], &t, &slope, &d_log_slope)
            grad_x[j] += slope * grad_theta[j] + d_log_slope
        for j in range(self.walls, self.dim):
            grad_x[j] += grad_theta[j]
        return OK

    cdef int pull_sd(self, const double *x, const double *sd_theta, double *sd_x) except -1 nogil:
        return self.jvp(x, sd_theta, sd_x)                  # slopes are positive

    def __call__(self, x):
        """theta for points x (..., dim)."""
        out = np.array(x, dtype=float)
        cdef double[:, ::1] points = out.reshape(-1, self.dim)
        cdef Py_ssize_t i, j
        cdef double slope, d_log_slope
        for i in range(points.shape[0]):
            for j in range(self.walls):
                self.at(j, points[i, j], &points[i, j], &slope, &d_log_slope)
        return np.asarray(points).reshape(out.shape)

    def slopes(self, x):
        """dtheta_j/dx_j at a point x (dim,)."""
        cdef double t, d_log_slope
        cdef double[::1] slope = np.ones(self.dim), point = np.array(x, dtype=float)
        for j in range(self.walls):
            self.at(j, point[j], &t, &slope[j], &d_log_slope)
        return np.asarray(slope)

    def inverse(self, theta):
        """x for points theta (..., dim), to the accuracy of linear interpolation."""
        x, grid = np.array(theta, dtype=float), self.first + self.step * np.arange(self.last + 1)
        for j in range(self.walls):
            given = np.array(x[..., j])
            x[..., j] = np.interp(given, self.values[j], grid)
            for k, limited in ((0, np.minimum), (self.last, np.maximum)):   # on lines beyond
                beyond = (given - self.values[j, k]) * np.exp(-self.log_slopes[j, k])
                x[..., j] += limited(beyond, 0.0)
        return x


cdef class Tempered(Map):
    """Another map, whose gradients are pulled back gamma_j times as long: direction j moves as if
    its temperature were 1/gamma_j.

    grad_x = Gamma J' grad_theta, Gamma = diag(gamma).  Where the precision A in x is diagonal,
    samplers without accept-reject see in it a Gaussian with precision Gamma A.  It is the gradient
    of no density unless all gamma_j are the same, and is not for samplers that need values.

    Parameters
    ----------
    inner : Map
        A `Scaling` or an `Affine`.
    gamma : array (dim,)
        Positive.
    """

    cdef readonly Map inner
    cdef readonly double[::1] gamma

    def __init__(self, Map inner, gamma):
        self.inner, self.gamma = inner, np.array(gamma, dtype=float)
        self.dim, self.size, self.diagonal = inner.dim, inner.size, inner.diagonal

    def __call__(self, x):
        """theta for points x (..., dim)."""
        return self.inner(x)

    def inverse(self, theta):
        """x for a point theta (size,)."""
        return self.inner.inverse(theta)

    def slopes(self, x):
        """By what each gradient is multiplied at a point x (dim,), for diagonal maps."""
        return np.asarray(self.gamma) * self.inner.slopes(x)

    def jacobian(self, x):
        """The matrix (size, dim) whose transpose pulls gradients back at x, for affine maps."""
        return np.asarray(self.inner.jacobian(x)) * np.asarray(self.gamma)

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        return self.inner.forward(x, theta, log_jacobian)

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        with gil:                             # v . grad_x is then no slope of a log density
            raise NotSupported("samplers that follow slopes of the log density do not lead to the "
                               "sandwich; use sampler='auto'", because="mathematics")

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef Py_ssize_t j
        # the inner map adds to what is there; the map is shared and has no room of its own
        for j in range(self.dim):
            grad_x[j] /= self.gamma[j]
        self.inner.vjp(x, grad_theta, grad_x)
        for j in range(self.dim):
            grad_x[j] *= self.gamma[j]
        return OK

    cdef int pull_sd(self, const double *x, const double *sd_theta, double *sd_x) except -1 nogil:
        cdef Py_ssize_t j
        self.inner.pull_sd(x, sd_theta, sd_x)
        for j in range(self.dim):
            sd_x[j] *= self.gamma[j]
        return OK
