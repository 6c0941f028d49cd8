# Second derivatives by sums over nodes
from sgmc.models.regression.latent.densities.nodes cimport Nodes, Room

cdef class Informed(Nodes):
    cdef void sum_up(self, Py_ssize_t start, Py_ssize_t m, double share, const double *z,
                     const double *inner, double *sums) noexcept nogil
    cdef void less_covariance(self, const Room *room, double *score, double *w) noexcept nogil
    cdef int add_information(self, Py_ssize_t start, Py_ssize_t m, const double *sums,
                             const Room *room, double *w) except -1 nogil
