"""Mixtures of any number of Gaussians in any number of dimensions."""
import numpy as np

from libc.math cimport exp, log, INFINITY, M_PI

from sgmc.core.contract cimport OK, Batch, Model, Scratch, row_of


cdef class GaussianMixtureKernel(Model):
    """y_i ~ sum_k w_k N(mu_k, Sigma_k), with Sigma_k by the regressions of each coordinate on those
    before it (Pourahmadi 1999).

    With e = y - mu_k, z_j = (e_j - sum_{l<j} b_kjl e_l) / s_kj are independent standard
    normal numbers: log N = -sum_j (z_j^2 / 2 + log s_kj) - D log(2 pi) / 2.  Without slopes b
    Sigma_k is diagonal.  Gradients are those of the components, times the probabilities that the
    row is theirs.

    theta: weights (K, if K > 1), means (K x D), sds s (K x D), slopes b (K x D(D-1)/2, row by row
    of each triangle).

    Parameters
    ----------
    X : array (n, D)
    components : int
        K.
    full : bool
        Whether there are slopes.
    """

    cdef const double[:, ::1] X
    cdef Py_ssize_t K, D, B                   # B: slopes of a component
    cdef Py_ssize_t means, sds, slopes        # where they begin

    def __init__(self, X, Py_ssize_t components, bint full):
        self.X, self.K, self.D = X, components, X.shape[1]
        self.B = self.D * (self.D - 1) // 2 if full else 0
        self.means = self.K if self.K > 1 else 0
        self.sds, self.slopes = self.means + self.K * self.D, self.means + 2 * self.K * self.D
        self.n, self.dim, self.tile = X.shape[0], self.slopes + self.K * self.B, 1024

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return self.K * (2 + self.D) + self.D + 1

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef Py_ssize_t i, j, k
        cdef double *constant = s.work  # log w_k - sum_j log s_kj - D log(2 pi) / 2
        cdef double *density = constant + self.K
        cdef double *z = density + self.K                     # of all components
        cdef double *e = z + self.K * self.D
        cdef double c, top, total
        cdef const double *y
        for k in range(self.K):
            constant[k] = (log(theta[k]) if self.K > 1 else 0) - 0.5 * self.D * log(2 * M_PI)
            for j in range(self.D):
                constant[k] -= log(theta[self.sds + k * self.D + j])
        for i in range(b.m):
            y = &self.X[row_of(b, i), 0]
            c = b.scale * (b.weight[i] if b.weight != NULL else 1)
            top, total = -INFINITY, 0
            for k in range(self.K):
                density[k] = constant[k] - 0.5 * self.standardise(theta, y, k, e, z + k * self.D)
                top = max(top, density[k])
            for k in range(self.K):
                density[k] = exp(density[k] - top)
                total += density[k]
            if value != NULL:
                value[0] += c * (top + log(total))
            for k in range(self.K if grad != NULL else 0):
                if density[k] > 0:
                    self.add_component(theta, y, k, c * density[k] / total, z + k * self.D, grad)
        return OK

    cdef double standardise(self, const double *theta, const double *y, Py_ssize_t k, double *e,
                            double *z) noexcept nogil:
        """z of a row in component k; returns the sum of their squares."""
        cdef Py_ssize_t j, l
        cdef const double *mu = theta + self.means + k * self.D
        cdef const double *sd = theta + self.sds + k * self.D
        cdef const double *slope = theta + self.slopes + k * self.B
        cdef double total = 0
        for j in range(self.D):
            e[j] = z[j] = y[j] - mu[j]
            for l in range(j if self.B else 0):
                z[j] -= slope[l] * e[l]
            slope += j
            z[j] /= sd[j]
            total += z[j] * z[j]
        return total

    cdef void add_component(self, const double *theta, const double *y, Py_ssize_t k, double r,
                            const double *z, double *grad) noexcept nogil:
        """r times the gradient of log w_k N(y; mu_k, Sigma_k)."""
        cdef Py_ssize_t j, l, at = self.slopes + k * self.B
        cdef Py_ssize_t means = self.means + k * self.D, sds = self.sds + k * self.D
        cdef double pull
        if self.K > 1:
            grad[k] += r / theta[k]
        for j in range(self.D):
            pull = r * z[j] / theta[sds + j]
            grad[means + j] += pull
            grad[sds + j] += r * (z[j] * z[j] - 1) / theta[sds + j]
            for l in range(j if self.B else 0):
                grad[means + l] -= theta[at + l] * pull
                grad[at + l] += pull * (y[l] - theta[means + l])
            at += j
