"""Gaussian ratings as products of factors, with normal-gamma hyperpriors: Bayesian probabilistic
matrix factorisation.
"""
import numpy as np

from libc.math cimport M_PI, lgamma, log, sqrt
from libc.string cimport memset
from sgmc.core.random.rng cimport bitgen_t

from sgmc.core.contract cimport OK, Batch, Scratch, next_tile
from sgmc.models.factorization.hierarchy cimport Hierarchy
from sgmc.models.factorization.hierarchy import check_span
from sgmc.models.factorization.products cimport Entry, add_products, products
from sgmc.core.random.variates cimport gamma_variate, normal_variate
from sgmc.models.factorization.ratings cimport RATING_TILE, Ratings, entry_of


cdef enum:
    MAX_FACTOR_DIM = 1000                # most numbers of a factor: their sums are on the stack

cdef struct Group:  # of parameters with a common law: w_ik ~ N(mu_k, 1 / lambda_k), i < n, k < rank
    Py_ssize_t first, n, rank     # where w begins
    Py_ssize_t mu, precision      # where mu and lambda are
    Py_ssize_t each               # 1: a lambda for every k; 0: one for all


cdef class NormalGamma(Hierarchy):
    """w_ik ~ N(mu_k, 1 / lambda_k), mu_k ~ N(m, 1 / (c lambda_k)), lambda_k ~ Gamma(a, rate b), in
    groups of parameters.

    With one lambda for all k of a group it is the same lambda everywhere.

    Parameters
    ----------
    dim : int
    groups : list of tuple
        (first, n, rank, mu, precision, each): where w, mu and lambda begin in theta, and whether
        each k has a lambda.
    hyper : (float, float, float, float)
        m, c, a, b.
    """

    cdef Group[::1] groups
    cdef readonly double m, c, a, b

    def __init__(self, Py_ssize_t dim, groups, hyper):
        self.dim = dim
        kinds = np.dtype([(name, np.intp) for name in ("first", "n", "rank", "mu", "precision",
                                                       "each")])
        self.groups = np.array([tuple(group) for group in groups], dtype=kinds)
        for first, n, rank, mu, precision, each in groups:
            check_span(dim, first, n * rank)
            check_span(dim, mu, rank)
            check_span(dim, precision, rank if each else 1)
        self.m, self.c, self.a, self.b = hyper

    cdef int add(self, const double *theta, double *value, double *grad) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.groups.shape[0]):
            if grad != NULL:
                pull(&self.groups[j], theta, grad)
            hyperprior(self, &self.groups[j], theta, value, grad)
        return OK

    cdef void newcomer(self, Py_ssize_t side, const double *theta, bitgen_t *bits, double *factors,
                       double *bias) noexcept nogil:
        """From N(mu, 1 / lambda); groups are those of U, V, a and b."""
        around(&self.groups[side], theta, bits, factors)
        if self.groups.shape[0] > 2:
            around(&self.groups[2 + side], theta, bits, bias)

    @property
    def ranks(self):
        """Numbers that `newcomer` draws, of each group."""
        return [self.groups[j].rank for j in range(self.groups.shape[0])]

    def __reduce__(self):
        given = self.dim, np.asarray(self.groups).tolist(), (self.m, self.c, self.a, self.b)
        return NormalGamma, given


cdef void around(const Group *s, const double *theta, bitgen_t *bits, double *out) noexcept nogil:
    """One more w of a group."""
    cdef Py_ssize_t k
    for k in range(s.rank):
        out[k] = (theta[s.mu + k]
                  + normal_variate(bits) / sqrt(theta[s.precision + k * s.each]))


cdef void moments(const Group *s, const double *theta, double *total,
                  double *square) noexcept nogil:
    """sum_i e_ik and sum_i e_ik^2 with e_ik = w_ik - mu_k."""
    cdef Py_ssize_t i, k
    cdef const double *w = theta + s.first
    cdef const double *mu = theta + s.mu
    cdef double e
    memset(total, 0, s.rank * sizeof(double))
    memset(square, 0, s.rank * sizeof(double))
    for i in range(s.n):
        for k in range(s.rank):
            e = w[k] - mu[k]
            total[k] += e
            square[k] += e * e
        w += s.rank


cdef void pull(const Group *s, const double *theta, double *grad) noexcept nogil:
    """The gradient with respect to w."""
    cdef Py_ssize_t i, k
    cdef const double *w = theta + s.first
    cdef double *g = grad + s.first
    cdef const double *mu = theta + s.mu
    cdef const double *precision = theta + s.precision
    for i in range(s.n):
        for k in range(s.rank):
            g[k] -= precision[k * s.each] * (w[k] - mu[k])
        w += s.rank
        g += s.rank


cdef void hyperprior(NormalGamma p, const Group *s, const double *theta, double *value,
                     double *grad) noexcept nogil:
    """The density, and its gradient with respect to mu and lambda."""
    cdef double total[MAX_FACTOR_DIM]
    cdef double square[MAX_FACTOR_DIM]
    cdef double precision, away
    cdef Py_ssize_t k
    moments(s, theta, total, square)
    for k in range(s.rank):
        precision, away = theta[s.precision + k * s.each], theta[s.mu + k] - p.m
        square[k] += p.c * away * away
        if value != NULL:
            value[0] += 0.5 * ((s.n + 1) * log(precision / (2 * M_PI)) + log(p.c)
                               - precision * square[k])
        if grad != NULL:
            grad[s.mu + k] += precision * (total[k] - p.c * away)
            grad[s.precision + k * s.each] += 0.5 * ((s.n + 1) / precision - square[k])
    for k in range(s.rank if s.each else 1):
        precision = theta[s.precision + k]
        if value != NULL:
            value[0] += p.a * log(p.b) - lgamma(p.a) + (p.a - 1) * log(precision) - p.b * precision
        if grad != NULL:
            grad[s.precision + k] += (p.a - 1) / precision - p.b


cdef class GaussianFactors(Ratings):
    """y_ij ~ N(U_i . V_j + a_i + b_j, 1 / alpha); a and b,
    where there are biases, follow U and V in theta.

    With `refreshes`, mu and lambda of the prior are drawn between steps from their conditional law:
    with S_k the sum of (w_ik - mean w_k)^2, lambda_k ~ Gamma(a + n/2, rate b + S_k/2 + c n (mean
    w_k - m)^2 / (2 (c + n))) and mu_k ~ N((c m + n mean w_k) / (c + n), 1 / ((c + n) lambda_k));
    for a common lambda shapes and rates add up.

    Parameters
    ----------
    user, item, value, sizes, dim
        See `Ratings`.
    alpha : float
    biases : bool
    prior : NormalGamma
    refreshes : bool
    """

    cdef readonly double alpha
    cdef bint biases
    cdef NormalGamma prior

    def __init__(self, rows, sizes, double alpha, bint biases, NormalGamma prior, bint refreshes):
        Ratings.__init__(self, *rows, sizes, prior.dim)
        self.alpha, self.biases, self.prior, self.refreshes = alpha, biases, prior, refreshes

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef double r[RATING_TILE]
        cdef double e, c, total = 0
        cdef Batch tile
        cdef Py_ssize_t i, at = 0
        cdef const Entry *first
        while next_tile(b, RATING_TILE, &at, &tile):
            first = self.entries(b, &tile)
            products(tile.m, self.rank, first, tile.rows, theta, theta + self.users * self.rank, r)
            for i in range(tile.m):
                e = entry_of(first, &tile, i).value - r[i]
                if self.biases:
                    e -= self.bias(theta, entry_of(first, &tile, i))
                c = tile.scale * (tile.weight[i] if tile.weight != NULL else 1)
                total += c * (log(self.alpha / (2 * M_PI)) - self.alpha * e * e)
                r[i] = c * self.alpha * e
            if grad != NULL:
                self.spread(&tile, first, theta, r, grad)
        if value != NULL:
            value[0] += 0.5 * total
        return OK

    cdef double bias(self, const double *theta, const Entry *y) noexcept nogil:
        """a_i + b_j."""
        cdef const double *a = theta + (self.users + self.items) * self.rank
        return a[y.user] + a[self.users + y.item]

    cdef void spread(self, const Batch *tile, const Entry *first, const double *theta,
                     const double *r, double *grad) noexcept nogil:
        """grad += sum_i r_i d(U . V + a + b)_i."""
        cdef Py_ssize_t i, half = self.users * self.rank
        cdef double *a = grad + half + self.items * self.rank
        cdef const Entry *y
        add_products(tile.m, self.rank, first, tile.rows, r, theta, theta + half, grad, grad + half)
        for i in range(tile.m if self.biases else 0):
            y = entry_of(first, tile, i)
            a[y.user] += r[i]
            a[self.users + y.item] += r[i]

    cdef int refresh(self, double *theta, Scratch *s) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.prior.groups.shape[0]):
            redraw(self.prior, &self.prior.groups[j], theta, s.bits)
        return OK


cdef void redraw(NormalGamma p, const Group *s, double *theta, bitgen_t *bits) noexcept nogil:
    """lambda and mu of a group from their law given w."""
    cdef double total[MAX_FACTOR_DIM]
    cdef double square[MAX_FACTOR_DIM]
    cdef double rate = p.b, count = p.c + s.n, gap
    cdef Py_ssize_t k
    moments(s, theta, total, square)
    for k in range(s.rank):
        gap = theta[s.mu + k] + total[k] / s.n - p.m
        rate += 0.5 * (square[k] - total[k] * total[k] / s.n + p.c * s.n * gap * gap / count)
        theta[s.mu + k] = p.m + s.n * gap / count
        if s.each:
            theta[s.precision + k] = gamma_variate(bits, p.a + 0.5 * s.n) / rate
            rate = p.b
    if not s.each:
        theta[s.precision] = gamma_variate(bits, p.a + 0.5 * s.n * s.rank) / rate
    for k in range(s.rank):
        theta[s.mu + k] += normal_variate(bits) / sqrt(count * theta[s.precision + k * s.each])
