from libc.stdint cimport uint64_t
from sgmc.core.contract cimport Prior
from sgmc.core.random.rng cimport bitgen_t

# base of the priors of factorisations
cdef class Hierarchy(Prior):
    # factors, and a bias where there are any, of a user (side 0) or an item (1) without ratings
    cdef void newcomer(self, Py_ssize_t side, const double *theta, bitgen_t *bits, double *factors,
                       double *bias) noexcept nogil

# factors and biases of all users and items in a draw: pointers, into the draw itself where there
# are no newcomers
cdef class Everyone:
    cdef readonly Hierarchy prior
    cdef Py_ssize_t users, items, rank
    cdef Py_ssize_t[2] fresh
    cdef bint biases
    cdef double[:, ::1] copied_users, copied_items
    cdef double[::1] copied_a, copied_b
    cdef uint64_t key
    cdef bitgen_t bits
    cdef const double *U
    cdef const double *V
    cdef const double *a
    cdef const double *b
    cdef void take(self, const double *theta, Py_ssize_t number) noexcept nogil
