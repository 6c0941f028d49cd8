"""Counts with products of positive factors as rates, gamma-gamma priors: Poisson probabilistic
matrix factorisation.
"""
import numpy as np

from libc.math cimport fmax, lgamma, log

from sgmc.core.contract cimport OK, Batch, Scratch, next_tile
from sgmc.core.random.rng cimport bitgen_t
from sgmc.core.random.variates cimport gamma_variate
from sgmc.models.factorization.hierarchy cimport Hierarchy
from sgmc.models.factorization.hierarchy import check_span
from sgmc.models.factorization.products cimport Entry, add_products, products
from sgmc.models.factorization.ratings cimport RATING_TILE, Ratings, entry_of


cdef double LEAST_RATE = 1e-150  # of a newcomer: products of two stay finite


cdef class GammaGamma(Hierarchy):
    """w_ik ~ Gamma(a, rate r_i), r_i ~ Gamma(s, rate s / m), in groups: of users and of items.

    Parameters
    ----------
    dim : int
    groups : list of tuple
        (first, n, rank, rates, a, s, m): where w (n, rank) and r (n) begin in theta, and the
        numbers.
    """

    cdef Py_ssize_t[:, ::1] places
    cdef double[:, ::1] numbers

    def __init__(self, Py_ssize_t dim, groups):
        self.dim = dim
        self.places = np.array([group[:4] for group in groups], dtype=np.intp)
        self.numbers = np.array([group[4:] for group in groups], dtype=float)
        if self.numbers.shape[1] != 3:
            raise ValueError("a group has three numbers")
        for first, n, rank, rates in np.asarray(self.places).tolist():
            check_span(dim, first, n * rank)
            check_span(dim, rates, n)

    cdef int add(self, const double *theta, double *value, double *grad) except -1 nogil:
        cdef Py_ssize_t j, i, k, first, n, rank, rates
        cdef double a, s, m, r, total
        for j in range(self.places.shape[0]):
            first, n = self.places[j, 0], self.places[j, 1]
            rank, rates = self.places[j, 2], self.places[j, 3]
            a, s, m = self.numbers[j, 0], self.numbers[j, 1], self.numbers[j, 2]
            for i in range(n):
                r, total = theta[rates + i], 0
                for k in range(first + i * rank, first + (i + 1) * rank):
                    total += theta[k]
                    if value != NULL:
                        value[0] += (a - 1) * log(theta[k])
                    if grad != NULL:
                        grad[k] += (a - 1) / theta[k] - r
                if value != NULL:
                    value[0] += ((rank * a + s - 1) * log(r) - r * (total + s / m)
                                 - rank * lgamma(a) + s * log(s / m) - lgamma(s))
                if grad != NULL:
                    grad[rates + i] += (rank * a + s - 1) / r - total - s / m
        return OK

    cdef void newcomer(self, Py_ssize_t side, const double *theta, bitgen_t *bits, double *factors,
                       double *bias) noexcept nogil:
        """A rate r from its prior, and factors given r: the others say nothing of them."""
        cdef double a = self.numbers[side, 0], s = self.numbers[side, 1], m = self.numbers[side, 2]
        cdef double r = fmax(gamma_variate(bits, s) * m / s, LEAST_RATE)
        cdef Py_ssize_t k
        for k in range(self.places[side, 2]):
            factors[k] = gamma_variate(bits, a) / r

    @property
    def ranks(self):
        """Numbers that `newcomer` draws, of each group."""
        return np.asarray(self.places)[:, 2].tolist()

    def __reduce__(self):
        groups = np.hstack([self.places, self.numbers])
        given = [(*map(int, one[:4]), *one[4:]) for one in groups.tolist()]
        return GammaGamma, (self.dim, given)


cdef class PoissonFactors(Ratings):
    """y_ij ~ Poisson(U_i . V_j) (Mauri & Zanella, eq. 47); see `Ratings`.

    All factors are positive.
    """

    def __init__(self, rows, sizes, Py_ssize_t dim):
        Ratings.__init__(self, *rows, sizes, dim)

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef double r[RATING_TILE]
        cdef double y, c
        cdef Batch tile
        cdef Py_ssize_t i, at = 0, half = self.users * self.rank
        cdef const Entry *first
        while next_tile(b, RATING_TILE, &at, &tile):
            first = self.entries(b, &tile)
            products(tile.m, self.rank, first, tile.rows, theta, theta + half, r)
            for i in range(tile.m):
                y = entry_of(first, &tile, i).value
                c = tile.scale * (tile.weight[i] if tile.weight != NULL else 1)
                if value != NULL:
                    value[0] += c * ((y * log(r[i]) if y > 0 else 0) - r[i] - lgamma(y + 1))
                r[i] = c * (y / r[i] - 1)
            if grad != NULL:
                add_products(tile.m, self.rank, first, tile.rows, r, theta, theta + half, grad,
                             grad + half)
        return OK
