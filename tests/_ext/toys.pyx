"""Small models and a map for tests: posteriors known in closed form, and kinds of model that the
contracts must serve without change (no score path, matrix products, simulation inside the
gradient).
"""
import numpy as np

from libc.math cimport cos, cosh, exp, fmax, log, sin, sqrt, tanh
from libc.string cimport memcpy, memset
from scipy.linalg.cython_blas cimport dgemm

from sgmc.core.contract cimport OK, Batch, Map, Metric, Model, Prior, Scratch, row_of
from sgmc.models.regression.bases.glm cimport Glm


# ---- posteriors known in closed form -------------------------------------------------------------

cdef class KnownSigma(Glm):
    """y_i ~ N(eta_i, 1): with a Gaussian prior the posterior is Gaussian,
    and every gradient is linear in theta.
    """

    curvature_bound = 1.0

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(m):
            r[i] = y[i] - eta[i]
            if density != NULL:
                density[i] = -0.5 * r[i] * r[i]
        return OK

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(m):
            w[i] = 1
        return OK


cdef class TwoModes(Prior):
    """Half N(-c, s^2) and half N(c, s^2) in each coordinate: with a likelihood N(0, 1) the
    posterior is half N(-m, t^2) and half N(m, t^2), m = c / (1 + s^2), t^2 = s^2 / (1 + s^2).
    """

    cdef double centre, variance

    def __init__(self, Py_ssize_t dim, double centre, double variance):
        self.dim, self.centre, self.variance = dim, centre, variance

    cdef int add(self, const double *theta, double *value, double *grad) except -1 nogil:
        cdef Py_ssize_t j
        cdef double e
        for j in range(self.dim):
            e = theta[j] * self.centre / self.variance
            if value != NULL:
                value[0] -= 0.5 * theta[j] * theta[j] / self.variance - log(cosh(e))
            if grad != NULL:
                grad[j] -= (theta[j] - self.centre * tanh(e)) / self.variance
        return OK


cdef class GaussianLocation(Model):
    """y_i ~ N(theta, I / precision) in several dimensions:
    gradient noise is the same everywhere; J_i = I, width d.
    """

    cdef const double[:, ::1] y
    cdef double precision

    def __init__(self, y, double precision):
        self.y, self.precision, self.tile = y, precision, 128
        self.n, self.dim = y.shape
        self.width = self.dim

    def metric(self, gradient, start, rows=None):
        """One that depends on the place, though the posterior has no need of it; so little that
        formulas for none hold.
        """
        return Stretch(self.dim, 0.1)

    cdef int scores(self, const double *theta, const Batch *tile, Scratch *s, double *r,
                    double *value) except -1 nogil:
        cdef Py_ssize_t i, k, row
        cdef double e
        for i in range(tile.m):
            row = row_of(tile, i)
            for k in range(self.dim):
                e = self.y[row, k] - theta[k]
                r[i * self.dim + k] = self.precision * e
                if value != NULL:
                    value[0] -= 0.5 * self.precision * e * e
        return OK

    cdef int add_scores(self, const Batch *tile, Scratch *s, const double *r,
                        double *grad) except -1 nogil:
        cdef Py_ssize_t i, k
        for i in range(tile.m):
            for k in range(self.dim):
                grad[k] += r[i * self.dim + k]
        return OK

    cdef int add_squares(self, const Batch *tile, Scratch *s, const double *r,
                         double *square) except -1 nogil:
        cdef Py_ssize_t i, k
        for i in range(tile.m):
            for k in range(self.dim):
                square[k] += r[i * self.dim + k] * r[i * self.dim + k]
        return OK

    cdef int predictors(self, const double *delta, const Batch *tile, Scratch *s,
                        double *eta) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(tile.m):
            memcpy(eta + i * self.dim, delta, self.dim * sizeof(double))
        return OK

    cdef int curvatures(self, const double *theta, const Batch *tile, Scratch *s,
                        double *w) except -1 nogil:
        cdef Py_ssize_t i, k, size = self.dim * self.dim
        memset(w, 0, tile.m * size * sizeof(double))
        for i in range(tile.m):
            for k in range(self.dim):
                w[i * size + k * (self.dim + 1)] = self.precision
        return OK

    cdef int add_curvatures(self, const Batch *tile, Scratch *s, const double *w,
                            double *H) except -1 nogil:
        cdef Py_ssize_t i, k, l
        for i in range(tile.m):
            for k in range(self.dim):
                for l in range(k, self.dim):
                    H[k * self.dim + l] += w[(i * self.dim + k) * self.dim + l]
        return OK


cdef class Stretch(Metric):
    """M = diag(1 + a sin x_j)."""

    cdef double amount
    cdef double[::1] scale, slope

    def __init__(self, Py_ssize_t dim, double amount=0.5):
        self.amount, self.scale, self.slope = amount, np.ones(dim), np.zeros(dim)

    cdef int move(self, const double *x) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.scale.shape[0]):
            self.scale[j], self.slope[j] = 1 + self.amount * sin(x[j]), self.amount * cos(x[j])
        return OK

    cdef int apply(self, const double *g, double *out) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.scale.shape[0]):
            out[j] = self.scale[j] * g[j]
        return OK

    cdef int root(self, const double *z, double *out) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.scale.shape[0]):
            out[j] = sqrt(self.scale[j]) * z[j]
        return OK

    cdef int root_transposed(self, const double *g, double *out) except -1 nogil:
        return self.root(g, out)

    cdef int divergence(self, double *out) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.scale.shape[0]):
            out[j] = self.slope[j]
        return OK

    cdef int root_divergence(self, double *out) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.scale.shape[0]):
            out[j] = 0.5 * self.slope[j] / sqrt(self.scale[j])
        return OK

    cdef int log_density(self, const double *v, double h, double *value) except -1 nogil:
        cdef Py_ssize_t j
        value[0] = 0
        for j in range(self.scale.shape[0]):
            value[0] -= 0.5 * (log(h * self.scale[j]) + v[j] * v[j] / (h * self.scale[j]))
        return OK


# ---- other kinds of model ------------------------------------------------------------------------

cdef class MatrixFactorisation(Model):
    """y_i ~ N(U_u . V_v, 1) for ratings i of user u and item v; a row's gradient touches 2 k
    numbers (`add` only).
    """

    cdef const int[::1] user, item
    cdef const double[::1] y
    cdef Py_ssize_t k, items_at

    def __init__(self, user, item, y, Py_ssize_t users, Py_ssize_t items, Py_ssize_t k):
        self.user, self.item = np.asarray(user, dtype=np.intc), np.asarray(item, dtype=np.intc)
        self.y, self.k, self.items_at = np.asarray(y, dtype=float), k, users * k
        self.n, self.dim, self.tile = len(y), (users + items) * k, 128

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef Py_ssize_t i, j, row, u, v
        cdef double e, c
        for i in range(b.m):
            row = row_of(b, i)
            u, v = self.user[row] * self.k, self.items_at + self.item[row] * self.k
            c = b.scale * (b.weight[i] if b.weight != NULL else 1)
            e = self.y[row]
            for j in range(self.k):
                e -= theta[u + j] * theta[v + j]
            if value != NULL:
                value[0] -= 0.5 * c * e * e
            if grad != NULL:
                for j in range(self.k):
                    grad[u + j] += c * e * theta[v + j]
                    grad[v + j] += c * e * theta[u + j]
        return OK


cdef class TanhNetwork(Model):
    """Softmax classes from one layer of tanh units; theta = (W1: p x h, W2: h x c), products by
    BLAS on whole tiles.
    """

    cdef const double[:, ::1] X
    cdef const int[::1] label
    cdef int p, h, c

    def __init__(self, X, label, int hidden, int classes):
        self.X, self.label = X, np.asarray(label, dtype=np.intc)
        self.h, self.c, self.tile = hidden, classes, 32
        self.n, self.p = X.shape
        self.dim = hidden * (self.p + classes)

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return self.tile * (self.p + 2 * self.h + self.c)

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef int m = b.m, p = self.p, h = self.h, c = self.c
        cdef Py_ssize_t i
        cdef double one = 1, zero = 0, weight, log_p
        cdef double *x = <double *> self.rows(b, s.work)
        cdef double *hidden = s.work + m * p                  # m x h
        cdef double *back = hidden + m * h                    # m x h
        cdef double *score = back + m * h                     # m x c: logits, then d/d logits
        cdef double *W1 = <double *> theta
        cdef double *W2 = W1 + p * h
        dgemm("N", "N", &h, &m, &p, &one, W1, &h, x, &p, &zero, hidden, &h)
        for i in range(m * h):
            hidden[i] = tanh(hidden[i])
        dgemm("N", "N", &c, &m, &h, &one, W2, &c, hidden, &h, &zero, score, &c)
        for i in range(m):
            weight = b.scale * (b.weight[i] if b.weight != NULL else 1)
            log_p = self.residuals(self.label[row_of(b, i)], weight, score + i * c)
            if value != NULL:
                value[0] += weight * log_p
        if grad == NULL:
            return OK
        dgemm("N", "T", &c, &h, &m, &one, score, &c, hidden, &h, &one, grad + p * h, &c)
        dgemm("T", "N", &h, &m, &c, &one, W2, &c, score, &c, &zero, back, &h)
        for i in range(m * h):
            back[i] *= 1 - hidden[i] * hidden[i]
        dgemm("N", "T", &h, &p, &m, &one, back, &h, x, &p, &one, grad, &h)
        return OK

    cdef const double *rows(self, const Batch *b, double *gathered) noexcept nogil:
        """The batch's rows: in place, or gathered where they are listed."""
        cdef Py_ssize_t i
        if b.rows == NULL:
            return &self.X[b.start, 0]
        for i in range(b.m):
            memcpy(gathered + i * self.p, &self.X[b.rows[i], 0], self.p * sizeof(double))
        return gathered

    cdef double residuals(self, int label, double weight, double *score) noexcept nogil:
        """Logits of a row to weight (1{k = label} - p_k); returns log p_label."""
        cdef Py_ssize_t k
        cdef double top = score[0], total = 0, log_p = score[label]
        for k in range(self.c):
            top = fmax(top, score[k])
        for k in range(self.c):
            score[k] = exp(score[k] - top)
            total += score[k]
        for k in range(self.c):
            score[k] *= -weight / total
        score[label] += weight
        return log_p - top - log(total)


cdef class HiddenMarkov(Model):
    """Windows y_t ~ N(theta_{z_t}, 1) of a two-state chain that stays with probability `stay`;
    a row is a window.

    The value is the exact marginal.  The gradient is dlog p(y, z | theta) at a path z drawn from
    p(z | y, theta), whose mean is the marginal's gradient (Fisher's identity): a model that
    simulates.
    """

    cdef const double[:, ::1] y
    cdef double stay
    cdef Py_ssize_t length

    def __init__(self, y, double stay):
        self.y, self.stay, self.dim, self.tile = y, stay, 2, 16
        self.n, self.length = y.shape

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return 2 * self.length

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef Py_ssize_t i, t, z, row
        cdef double c, marginal, p
        cdef double *filtered = s.work
        if grad != NULL and s.bits == NULL:
            raise NotImplementedError("a model that simulates has no gradient without a random "
                                      "stream, hence no anchor")
        for i in range(b.m):
            row = row_of(b, i)
            c = b.scale * (b.weight[i] if b.weight != NULL else 1)
            marginal = self.filter(theta, row, filtered)
            if value != NULL:
                value[0] += c * marginal
            if grad == NULL:
                continue
            z = 0
            for t in range(self.length - 1, -1, -1):
                p = filtered[2 * t + 1]
                if t + 1 < self.length:               # p(z_t = 1 | y_1..t, z_{t+1})
                    p *= self.stay if z == 1 else 1 - self.stay
                    p /= p + filtered[2 * t] * (self.stay if z == 0 else 1 - self.stay)
                z = 1 if s.bits.next_double(s.bits.state) < p else 0
                grad[z] += c * (self.y[row, t] - theta[z])
        return OK

    cdef double filter(self, const double *theta, Py_ssize_t row, double *filtered) noexcept nogil:
        """p(z_t | y_1..t) into `filtered`; returns log p(y) without its constant."""
        cdef Py_ssize_t t, z
        cdef double before, e, total, log_p = 0
        for t in range(self.length):
            total = 0
            for z in range(2):
                before = 0.5
                if t > 0:
                    before = (self.stay * filtered[2 * t - 2 + z]
                              + (1 - self.stay) * filtered[2 * t - 1 - z])
                e = self.y[row, t] - theta[z]
                filtered[2 * t + z] = before * exp(-0.5 * e * e)
                total += filtered[2 * t + z]
            for z in range(2):
                filtered[2 * t + z] /= total
            log_p += log(total)
        return log_p


cdef class Positive(Map):
    """theta_j = exp x_j."""

    def __init__(self, Py_ssize_t dim):
        self.dim = self.size = dim
        self.diagonal = True

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.dim):
            theta[j] = exp(x[j])
            if log_jacobian != NULL:
                log_jacobian[0] += x[j]
        return OK

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.dim):
            v_theta[j] = exp(x[j]) * v[j]
        return OK

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.dim):
            grad_x[j] += exp(x[j]) * grad_theta[j] + 1
        return OK

    cdef int pull_sd(self, const double *x, const double *sd_theta, double *sd_x) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.dim):
            sd_x[j] = exp(x[j]) * sd_theta[j]
        return OK
