"""Feedforward neural networks: forward and backward passes as products of matrices over tiles of
rows.
"""
import numpy as np

from libc.math cimport exp, lgamma, log, M_PI
from libc.string cimport memset

from sgmc.core.contract cimport OK, Batch, Model, Prior, Scratch, row_of
from sgmc.core.random.variates cimport gamma_variate
from sgmc.core.numerics.simd cimport expit, exponential
from sgmc.models.bases.layers cimport Inputs, add_tdot, times, times_transposed

cdef enum:
    SIGMOID = 0
    TANH = 1
    RELU = 2
    NORMED = 3
    SOFTMAX = 0
    GAUSSIAN = 1
    POISSON = 2
    HETEROSCEDASTIC = 3

ACTIVATIONS = {"sigmoid": SIGMOID, "tanh": TANH, "relu": RELU, "softmax": NORMED}
OUTCOMES = {"softmax": SOFTMAX, "gaussian": GAUSSIAN, "poisson": POISSON,
            "heteroscedastic": HETEROSCEDASTIC}
cdef double LOG_2PI = log(2 * M_PI)
TILE_NUMBERS = 1 << 19  # of inputs and units in a tile: they stay in the second or third cache


cdef class Network(Model):
    """eta_i = b_L + a_i,L-1 W_L with a_il = act(b_l + a_i,l-1 W_l), a_i0 = x_i;
    outcomes have these eta.

    "softmax": p(y_i = k) = exp(eta_ik) / sum_l exp(eta_il).  "gaussian": y_ik ~ N(eta_ik,
    sigma_k^2).  "heteroscedastic": y_ik ~ N(eta_ik, exp(2 eta_i,K+k)), the last layer twice as wide
    as there are outcomes.  "poisson": y_i has the rate exp(eta_i + shift).  theta = (W_1, b_1, ..,
    W_L, b_L[, sigma][, log lambda]), matrices row-major, inputs x units; log lambda are log
    precisions of the priors of the arrays before, of which the likelihood knows nothing.

    Parameters
    ----------
    X : Inputs
    y : array (n, outcomes)
    sizes : list of int
        Units of each layer, the inputs first.
    activation, outcome : str
    shift : float
    shape : array (2,), optional
        Shape and rate of the gamma prior of each precision, if these are drawn from their
        conditional laws between steps.
    """

    cdef Inputs X
    cdef const double[:, ::1] y
    cdef Py_ssize_t[::1] sizes, weights, active       # places in theta of W_l, and in work of a_l
    cdef Py_ssize_t layers, widest, spread, outcomes
    cdef int activation, outcome
    cdef double shift, alpha, beta

    def __init__(self, Inputs X, y, sizes, activation, outcome, double shift=0, shape=None,
                 Py_ssize_t precisions=0):
        sizes = np.array(sizes, dtype=np.intp)
        ends = np.r_[0, np.cumsum((sizes[:len(sizes) - 1] + 1) * sizes[1:])]
        self.X, self.y = X, np.ascontiguousarray(y, dtype=float)
        self.outcomes = self.y.shape[1]
        self.sizes, self.layers = sizes, len(sizes) - 1
        self.weights = ends
        self.activation = ACTIVATIONS[activation]
        self.outcome, self.shift = OUTCOMES[outcome], shift
        self.n, self.dim = X.n, ends.max() + precisions
        if self.outcome == GAUSSIAN:
            self.dim += self.outcomes
        self.tile = int(np.clip(TILE_NUMBERS // sizes.sum() // 32 * 32, 32, 1024))
        self.widest = sizes[1:].max()
        self.active = self.tile * np.r_[0, np.cumsum(sizes[1:])]
        self.spread = self.active[self.layers] + 2 * self.tile * self.widest
        self.squares, self.refreshes = True, shape is not None
        self.alpha, self.beta = (0, 0) if shape is None else shape

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return self.spread + self.X.work_size(self.tile, self.sizes[1])

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef Py_ssize_t last = self.layers
        self.forward(theta, b, s)
        self.judge(theta, b, s.work + self.active[last - 1], value, grad)
        return self.backward(theta, b, s, grad, NULL) if grad != NULL else OK

    cdef int add_with_squares(self, const double *theta, const Batch *b, Scratch *s, double *grad,
                              double *square) except -1 nogil:
        self.forward(theta, b, s)
        self.judge(theta, b, s.work + self.active[self.layers - 1], NULL, grad)
        if self.outcome == GAUSSIAN:
            self.judge_squares(theta, b, s, square)
        return self.backward(theta, b, s, grad, square)

    cdef int forward(self, const double *theta, const Batch *b, Scratch *s) except -1 nogil:
        """a_l of all layers, the last one without activation."""
        cdef Py_ssize_t l, i, k, h
        cdef const double *bias
        cdef double *out
        for l in range(self.layers):
            h, out = self.sizes[l + 1], s.work + self.active[l]
            bias = theta + self.weights[l] + self.sizes[l] * h
            for i in range(b.m):
                for k in range(h):
                    out[i * h + k] = bias[k]
            if l == 0:
                self.X.forward(b, theta, h, out, s.work + self.spread)
            else:
                times(b.m, self.sizes[l], h, s.work + self.active[l - 1], <double *> theta
                      + self.weights[l], 1, out)
            if l + 1 < self.layers:
                activate(self.activation, b.m, h, out)
        return OK

    cdef int judge(self, const double *theta, const Batch *b, double *eta, double *value,
                   double *grad) except -1 nogil:
        """Log densities; eta become the slopes of these, scaled and weighed."""
        cdef Py_ssize_t i, K = self.sizes[self.layers], own = self.weights[self.layers]
        cdef double c, density
        cdef const double *y
        cdef double *out
        for i in range(b.m):
            out, y = eta + i * K, &self.y[row_of(b, i), 0]
            c = b.scale * (b.weight[i] if b.weight != NULL else 1)
            if self.outcome == SOFTMAX:
                density = classified(K, <Py_ssize_t> y[0], c, out)
            elif self.outcome == GAUSSIAN:
                density = spread_alike(K, y, theta + own, c, out,
                                       grad + own if grad != NULL else NULL)
            elif self.outcome == HETEROSCEDASTIC:
                density = spread_by_inputs(self.outcomes, y, c, out)
            else:
                density = counted(y[0], self.shift, c, out)
            if value != NULL:
                value[0] += c * density
        return OK

    cdef int judge_squares(self, const double *theta, const Batch *b, Scratch *s,
                           double *square) except -1 nogil:
        """Squares of the rows' slopes for sigma_k, c (e^2 - 1) / sigma_k,
        from those for eta_k, c e / sigma_k.
        """
        cdef Py_ssize_t i, k, K = self.outcomes, own = self.weights[self.layers]
        cdef double c, slope
        for i in range(b.m):
            c = b.scale * (b.weight[i] if b.weight != NULL else 1)
            for k in range(K):
                slope = s.work[self.active[self.layers - 1] + i * K + k]
                slope = slope * slope * theta[own + k] / c - c / theta[own + k] if c != 0 else 0
                square[own + k] += slope * slope
        return OK

    cdef int backward(self, const double *theta, const Batch *b, Scratch *s, double *grad,
                      double *square) except -1 nogil:
        """Gradients of all layers from the slopes of the last one, and (or NULL)
        sums of their squares over rows.
        """
        cdef Py_ssize_t l, i, h, d
        cdef double *delta = s.work + self.active[self.layers - 1]
        cdef double *spare = s.work + self.active[self.layers]
        cdef double *squares = spare + self.tile * self.widest
        cdef double *inputs
        for l in range(self.layers - 1, -1, -1):
            d, h = self.sizes[l], self.sizes[l + 1]
            inputs = s.work + self.active[l - 1] if l else NULL
            add_columns(b.m, h, delta, grad + self.weights[l] + d * h)
            if l:
                add_tdot(b.m, d, h, inputs, delta, grad + self.weights[l])
                times_transposed(b.m, h, d, delta, <double *> theta + self.weights[l], spare)
            else:
                self.X.backward(b.m, delta, h, grad, s.work + self.spread)
            if square != NULL:
                for i in range(b.m * h):
                    squares[i] = delta[i] * delta[i]
                add_columns(b.m, h, squares, square + self.weights[l] + d * h)
            if l == 0 and square != NULL:
                self.X.backward_squares(b.m, squares, h, square, s.work + self.spread)
            if l:  # slopes take the place of the activations that they belong to
                slope_back(self.activation, b.m, d, inputs, spare, square != NULL)
                if square != NULL:
                    add_tdot(b.m, d, h, inputs, squares, square + self.weights[l])
                for i in range(b.m * d):
                    inputs[i] = spare[i]
                delta = inputs
        return OK

    cdef int refresh(self, double *theta, Scratch *s) except -1 nogil:
        """lambda ~ Gamma(alpha + size / 2, beta + sum of squares / 2), an array of weights at a
        time (Chen et al. 2014, 4.2).
        """
        cdef Py_ssize_t l, part, j, first, size
        cdef Py_ssize_t at = self.dim - 2 * self.layers
        cdef double total
        for l in range(self.layers):
            for part in range(2):
                size = self.sizes[l + 1] * (self.sizes[l] if part == 0 else 1)
                first = self.weights[l] + (0 if part == 0 else self.sizes[l] * self.sizes[l + 1])
                total = 0
                for j in range(first, first + size):
                    total += theta[j] * theta[j]
                theta[at + 2 * l + part] = log(gamma_variate(s.bits, self.alpha + 0.5 * size)
                                               / (self.beta + 0.5 * total))
        return OK


cdef void activate(int kind, Py_ssize_t m, Py_ssize_t h, double *z) noexcept nogil:
    """Activations of m rows of h units in the place of their arguments."""
    cdef Py_ssize_t i, n = m * h
    if kind == RELU:
        for i in range(n):
            z[i] = z[i] if z[i] > 0 else 0
        return
    if kind == NORMED:
        shares(m, h, z)
        return
    if kind == TANH:                                          # 2 / (1 + exp(-2 z)) - 1
        for i in range(n):
            z[i] *= 2
    expit(n, z, z)
    if kind == TANH:
        for i in range(n):
            z[i] = 2 * z[i] - 1


cdef void shares(Py_ssize_t m, Py_ssize_t h, double *z) noexcept nogil:
    """exp(z_k) / sum_l exp(z_l) of each row, in place."""
    cdef Py_ssize_t i, k
    cdef double top, total
    for i in range(m):
        top, total = z[i * h], 0
        for k in range(1, h):
            top = max(top, z[i * h + k])
        for k in range(h):
            z[i * h + k] -= top
        exponential(h, z + i * h, z + i * h)
        for k in range(h):
            total += z[i * h + k]
        for k in range(h):
            z[i * h + k] /= total


cdef void slope_back(int kind, Py_ssize_t m, Py_ssize_t h, double *a, double *delta,
                     bint square) noexcept nogil:
    """delta <- delta d act / dz of m rows, a function of a = act(z); then a become their squares,
    where these are wanted.
    """
    cdef Py_ssize_t i, k, n = m * h
    cdef double along
    if kind == RELU:
        for i in range(n):
            delta[i] = delta[i] if a[i] > 0 else 0
    elif kind == TANH:
        for i in range(n):
            delta[i] *= 1 - a[i] * a[i]
    elif kind == SIGMOID:
        for i in range(n):
            delta[i] *= a[i] * (1 - a[i])
    else:                                     # d a_k / dz_j = a_k (1(k = j) - a_j)
        for i in range(m):
            along = 0
            for k in range(i * h, (i + 1) * h):
                along += a[k] * delta[k]
            for k in range(i * h, (i + 1) * h):
                delta[k] = a[k] * (delta[k] - along)
    if square:
        for i in range(n):
            a[i] *= a[i]


cdef double classified(Py_ssize_t K, Py_ssize_t y, double c, double *eta) noexcept nogil:
    """The log probability of class y; eta become c times its slopes."""
    cdef Py_ssize_t k
    cdef double total = log_sum(K, eta), density = eta[y] - total
    for k in range(K):
        eta[k] = c * ((k == y) - exp(eta[k] - total))
    return density


cdef double spread_alike(Py_ssize_t K, const double *y, const double *sigma, double c, double *eta,
                         double *slope) noexcept nogil:
    """The log density of y_k ~ N(eta_k, sigma_k^2); eta become c times its slopes, and c times
    those for sigma are added to `slope` (or NULL).
    """
    cdef Py_ssize_t k
    cdef double e, density = 0
    for k in range(K):
        e = (y[k] - eta[k]) / sigma[k]
        density -= 0.5 * (e * e + LOG_2PI) + log(sigma[k])
        eta[k] = c * e / sigma[k]
        if slope != NULL:
            slope[k] += c * (e * e - 1) / sigma[k]
    return density


cdef double spread_by_inputs(Py_ssize_t K, const double *y, double c, double *eta) noexcept nogil:
    """The log density of y_k ~ N(eta_k, exp(2 eta_K+k)); eta become c times its slopes."""
    cdef Py_ssize_t k
    cdef double e, precision, density = 0
    for k in range(K):
        precision = exp(-eta[K + k])
        e = (y[k] - eta[k]) * precision
        density -= 0.5 * (e * e + LOG_2PI) + eta[K + k]
        eta[k] = c * e * precision
        eta[K + k] = c * (e * e - 1)
    return density


cdef double counted(double y, double shift, double c, double *eta) noexcept nogil:
    """The log probability of a Poisson count y of rate exp(eta + shift);
    eta becomes c times its slope.
    """
    cdef double rate = exp(eta[0] + shift), density = y * (eta[0] + shift) - rate - lgamma(y + 1)
    eta[0] = c * (y - rate)
    return density


cdef double log_sum(Py_ssize_t K, const double *eta) noexcept nogil:
    """log sum_k exp(eta_k)."""
    cdef Py_ssize_t k
    cdef double top = eta[0], total = 0
    for k in range(1, K):
        top = max(top, eta[k])
    for k in range(K):
        total += exp(eta[k] - top)
    return top + log(total)


cdef void add_columns(Py_ssize_t m, Py_ssize_t h, const double *rows, double *sum) noexcept nogil:
    """sum (h) += the rows of a matrix (m x h)."""
    cdef Py_ssize_t i, k
    for i in range(m):
        for k in range(h):
            sum[k] += rows[i * h + k]
