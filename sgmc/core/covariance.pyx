"""The covariance of a batch's gradient estimate between all of its coordinates."""
import numpy as np

from libc.math cimport sqrt
from libc.string cimport memcpy, memset

from sgmc.core.contract cimport (
    OK, Batch, Gradient, Rng, apply_weights, next_tile,
)


cdef class BatchCovariance:
    """Memory for the covariance of one chain's gradient estimates.

    The covariance is that of a batch's rows, stratum by stratum: fpc m/(m - 1) (sum z_i z_i' -
    (sum z_i)(sum z_i)'/m), z_i the scaled row terms without their control values, as
    `Gradient.estimate` has its diagonal.  It costs d^2 for each row, and 2 d pulls of a map.

    Parameters
    ----------
    gradient : Gradient
    """

    def __init__(self, Gradient gradient not None):
        cdef Py_ssize_t d = gradient.model.dim, w = max(gradient.model.width, 1)
        cdef Py_ssize_t tile = gradient.model.tile
        self.dim = gradient.dim
        self.residual, self.products = np.zeros(tile * w), np.zeros(tile * w * w)
        self.part, self.pulled, self.origin = np.zeros(d), np.zeros(self.dim), np.zeros(self.dim)
        self.outer, self.total, self.turned = np.zeros((d, d)), np.zeros((d, d)), np.zeros(
            (self.dim, d))

    cdef int estimate(self, Gradient gradient, const double *x, Rng rng, double *g,
                      double *covariance) except -1 nogil:
        cdef const Batch *runs = NULL
        cdef Py_ssize_t n_runs = gradient.rows.draw(rng, &runs), k, seen = 0
        cdef Py_ssize_t d = gradient.model.dim
        cdef const double *theta = x
        cdef double *grad = g
        gradient.fetch(runs)
        if gradient.map is not None:
            gradient.map.forward(x, &gradient.natural[0], NULL)
            theta, grad = &gradient.natural[0], &gradient.ahead[0]
        memset(grad, 0, d * sizeof(double))
        memset(&self.part[0], 0, d * sizeof(double))
        memset(&self.outer[0, 0], 0, d * d * sizeof(double))
        memset(&self.total[0, 0], 0, d * d * sizeof(double))
        gradient.prior.add(theta, NULL, grad)
        gradient.prepare(theta)
        gradient.known(theta, grad)
        for k in range(n_runs):
            gradient.touched += gradient.each * runs[k].m
            seen += runs[k].m
            if gradient.model.width:
                self.add_run(gradient, theta, &runs[k])
            else:
                self.add_rows(gradient, theta, &runs[k])
            if k + 1 == n_runs or runs[k + 1].stratum != runs[k].stratum:
                self.close_stratum(seen, runs[k].fpc, grad)
                seen = 0
        self.balance(gradient)
        return self.vjp(gradient, x, grad, g, covariance)

    cdef int add_run(self, Gradient gradient, const double *theta,
                     const Batch *run) except -1 nogil:
        """Sum and products of the row terms by their scores."""
        cdef Batch tile
        cdef Py_ssize_t at = 0, w = gradient.model.width, i, k, l
        cdef double *r = &self.residual[0]
        while next_tile(run, gradient.model.tile, &at, &tile):
            gradient.model.scores(theta, &tile, &gradient.scratch, r, NULL)
            gradient.remember(&tile, r)
            gradient.correct(theta, &tile, r)
            apply_weights(&tile, w, r)
            gradient.model.add_scores(&tile, &gradient.scratch, r, &self.part[0])
            for i in range(tile.m):
                for k in range(w):
                    for l in range(w):
                        self.products[(i * w + k) * w + l] = r[i * w + k] * r[i * w + l]
            gradient.model.add_curvatures(&tile, &gradient.scratch, &self.products[0],
                                          &self.outer[0, 0])
        return OK

    cdef int add_rows(self, Gradient gradient, const double *theta,
                      const Batch *run) except -1 nogil:
        """The same, row by row, of models without scores."""
        cdef Batch row, plain
        cdef Py_ssize_t at = 0, j, k, d = gradient.model.dim
        cdef double *z = &gradient.single[0]
        while next_tile(run, 1, &at, &row):
            plain = row
            plain.scale, plain.weight = 1, NULL
            memset(z, 0, d * sizeof(double))
            gradient.model.add(theta, &plain, &gradient.scratch, NULL, z)
            gradient.remember(&plain, z)
            gradient.correct_batch(theta, &plain, z)
            apply_weights(&row, d, z)
            for j in range(d):
                self.part[j] += z[j]
                for k in range(j, d):
                    self.outer[j, k] += z[j] * z[k]
        return OK

    cdef void close_stratum(self, Py_ssize_t m, double fpc, double *g) noexcept nogil:
        """Move a stratum's sum to g and its covariance to the total; one row says nothing of the
        spread around the mean, which is then taken as zero.
        """
        cdef Py_ssize_t j, k, d = self.part.shape[0]
        for j in range(d):
            for k in range(j, d):
                if m > 1:
                    self.outer[j, k] -= self.part[j] * self.part[k] / m
                    self.outer[j, k] *= <double> m / (m - 1)
                self.total[j, k] += fpc * self.outer[j, k]
                self.outer[j, k] = 0
        for j in range(d):
            g[j] += self.part[j]
            self.part[j] = 0

    cdef void balance(self, Gradient gradient) noexcept nogil:
        """The lower triangle, and the design effect of long blocks."""
        cdef Py_ssize_t j, k
        for j in range(self.part.shape[0]):
            for k in range(j, self.part.shape[0]):
                if gradient.rows.design_effect is not None:
                    self.total[j, k] *= sqrt(gradient.rows.design_effect[j]
                                             * gradient.rows.design_effect[k])
                self.total[k, j] = self.total[j, k]

    cdef int vjp(self, Gradient gradient, const double *x, const double *grad, double *g,
                  double *covariance) except -1 nogil:
        """g = J' grad + d log|J|, and covariance = J' total J."""
        cdef Py_ssize_t j, k, d = self.part.shape[0]
        if gradient.map is None:
            memcpy(covariance, &self.total[0, 0], d * d * sizeof(double))
            return OK
        memset(&self.origin[0], 0, self.dim * sizeof(double))
        gradient.map.vjp(x, &self.part[0], &self.origin[0])  # of zeros: d log|J| alone
        for j in range(d):
            memset(&self.pulled[0], 0, self.dim * sizeof(double))
            gradient.map.vjp(x, &self.total[j, 0], &self.pulled[0])
            for k in range(self.dim):
                self.turned[k, j] = self.pulled[k] - self.origin[k]
        for j in range(self.dim):
            memset(&self.pulled[0], 0, self.dim * sizeof(double))
            gradient.map.vjp(x, &self.turned[j, 0], &self.pulled[0])
            for k in range(self.dim):
                covariance[j * self.dim + k] = self.pulled[k] - self.origin[k]
        memset(g, 0, self.dim * sizeof(double))
        return gradient.map.vjp(x, grad, g)


def evaluate_covariance(Gradient gradient not None, x, Rng rng not None):
    """One estimate at x and the covariance of its noise, as arrays (g, covariance)."""
    cdef double[::1] at = np.array(x, dtype=float), g = np.empty(gradient.dim)
    cdef double[:, ::1] covariance = np.empty((gradient.dim, gradient.dim))
    cdef BatchCovariance batch = BatchCovariance(gradient)
    with nogil:
        batch.estimate(gradient, &at[0], rng, &g[0], &covariance[0, 0])
    return np.asarray(g), np.asarray(covariance)
