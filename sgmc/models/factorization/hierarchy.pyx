"""Users and items without ratings, whose factors are drawn from the hierarchy of the others."""
import numpy as np

from sgmc.errors import ArgumentError

from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from sgmc.core.random.rng cimport bitgen_t


cdef class Hierarchy(Prior):
    """A prior of the factors of users and items, that also draws those of newcomers.

    Attributes
    ----------
    ranks : list of int
        Numbers that `newcomer` draws: of users and items, and where there are any of their biases.
    """

    cdef void newcomer(self, Py_ssize_t side, const double *theta, bitgen_t *bits, double *factors,
                       double *bias) noexcept nogil:
        """Factors and bias of a user (side 0) or an item (1) given the rest of theta."""


cdef class Everyone:
    """Factors and biases of all users and items in a draw; newcomers, who are numbered after the
    others, get theirs by one draw from the `Hierarchy`, the same for all of their pairs.

    A draw and its number are the key of the newcomers' stream: predictions need no seed, take
    nothing from the chain's stream, and are the same after a resumption.

    Parameters
    ----------
    prior : Hierarchy
    sizes : (int, int, int)
        Users, items, rank.
    biases : bool
    fresh : (int, int)
        New users and items.
    """

    def __init__(self, Hierarchy prior, sizes, bint biases, fresh):
        self.prior, self.biases = prior, biases
        self.users, self.items, self.rank = sizes
        expected = [self.rank, self.rank] + [1, 1] * (len(prior.ranks) > 2)
        few = prior.dim < (self.users + self.items) * (self.rank + biases)
        if few or min(*sizes, *fresh) < 0 or list(prior.ranks) != expected:
            raise ArgumentError(f"factors of rank {prior.ranks} are not those of {tuple(sizes)}")
        self.fresh = fresh
        users, items = (self.users + fresh[0], self.items + fresh[1]) if any(fresh) else (0, 0)
        self.copied_users = np.zeros((users, self.rank))
        self.copied_items = np.zeros((items, self.rank))
        self.copied_a, self.copied_b = np.zeros(users), np.zeros(items)

    cdef void take(self, const double *theta, Py_ssize_t number) noexcept nogil:
        """Look at a draw."""
        cdef Py_ssize_t i, d = self.rank
        self.U, self.V = theta, theta + self.users * d
        self.a = self.V + self.items * d
        self.b = self.a + self.users
        if self.fresh[0] + self.fresh[1] == 0:
            return
        memcpy(&self.key, theta, sizeof(double))
        self.key ^= mixed(<uint64_t> (number + 1) * GOLDEN)
        self.bits.state, self.bits.next_double = &self.key, next_keyed
        memcpy(&self.copied_users[0, 0], self.U, self.users * d * sizeof(double))
        memcpy(&self.copied_items[0, 0], self.V, self.items * d * sizeof(double))
        if self.biases:
            memcpy(&self.copied_a[0], self.a, self.users * sizeof(double))
            memcpy(&self.copied_b[0], self.b, self.items * sizeof(double))
        for i in range(self.users, self.users + self.fresh[0]):
            self.prior.newcomer(0, theta, &self.bits, &self.copied_users[i, 0], &self.copied_a[i])
        for i in range(self.items, self.items + self.fresh[1]):
            self.prior.newcomer(1, theta, &self.bits, &self.copied_items[i, 0], &self.copied_b[i])
        self.U, self.V = &self.copied_users[0, 0], &self.copied_items[0, 0]
        self.a, self.b = &self.copied_a[0], &self.copied_b[0]

    def of(self, const double[::1] theta, Py_ssize_t number):
        """U, V, a and b of everyone in the draw of a number, as arrays; a and b are zero where
        there are no biases.
        """
        if theta.shape[0] != self.prior.dim:
            raise ArgumentError(f"a draw of {theta.shape[0]} numbers, not {self.prior.dim}")
        users, items = self.users + self.fresh[0], self.items + self.fresh[1]
        shapes = ((users, self.rank), (items, self.rank), (users,), (items,))
        out = [np.zeros(shape) for shape in shapes]
        self.take(&theta[0], number)
        fill(out[0].reshape(-1), self.U)
        fill(out[1].reshape(-1), self.V)
        if self.biases:
            fill(out[2], self.a)
            fill(out[3], self.b)
        return out


def check_span(Py_ssize_t dim, first, size):
    """ValueError where a span is not among the numbers of a draw."""
    if not (0 <= first and 0 <= size and first + size <= dim):
        raise ValueError(f"numbers {first} to {first + size} of a draw of {dim}")


cdef uint64_t GOLDEN = 0x9E3779B97F4A7C15


cdef uint64_t mixed(uint64_t z) noexcept nogil:
    """The output function of SplitMix64 (Steele, Lea and Flood 2014, OOPSLA)."""
    z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EB
    return z ^ (z >> 31)


cdef double next_keyed(void *state) noexcept nogil:
    """A uniform on [0, 1)."""
    cdef uint64_t *key = <uint64_t *> state
    key[0] += GOLDEN
    return <double> (mixed(key[0]) >> 11) * 2.0**-53


cdef void fill(double[::1] out, const double *values) noexcept:
    """Copy as many values as there is room for."""
    if out.shape[0]:
        memcpy(&out[0], values, out.shape[0] * sizeof(double))
