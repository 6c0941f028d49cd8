# Groups as rows: the density of a group's outcomes with its effects integrated out
from sgmc.core.contract cimport Model
from sgmc.models.mixed.loading cimport Loading
from sgmc.models.regression.bases.glm cimport Glm

cdef struct Place:                # what of theta all groups share
    const double *beta
    const double *auxiliary       # as `Glm.family` wants theta: its auxiliary part at X.d
    const double *root            # Lambda, q x q
    const double *phi             # its coordinates
    double *slopes                # of its entries by these; scratch of 1 + dim columns behind

cdef class Marginal(Model):
    cdef readonly Glm glm                     # of the rows, sorted by group
    cdef readonly Loading loading
    cdef readonly Py_ssize_t p, q, auxiliary, longest     # longest: rows of the largest group
    cdef readonly const Py_ssize_t[::1] starts
    cdef readonly const double[:, ::1] Z
    cdef readonly bint constant               # Z is a column of ones
    cdef readonly double[::1] unit
    cdef double *room(self, double *work) noexcept nogil
    cdef Place at(self, const double *theta, double *work) noexcept nogil
    cdef int predict(self, const Place *at, Py_ssize_t start, Py_ssize_t m, double *eta,
                      double *work) except -1 nogil
    # doubles of scratch for any group
    cdef Py_ssize_t group_size(self) noexcept nogil
    # log density of a group and its score, by theta
    cdef int group_score(self, const Place *at, Py_ssize_t group, double *room, double *value,
                         double *r) except -1 nogil
    # minus its Hessian by theta
    cdef int group_curvature(self, const Place *at, Py_ssize_t group, double *room,
                             double *w) except -1 nogil
    # log density of a group alone
    cdef int group_value(self, const Place *at, Py_ssize_t group, double *work,
                         double *value) except -1 nogil
    # log density of a group, and r = its gradient by (beta, entries of Lambda, auxiliary)
    cdef int of_group(self, const Place *at, Py_ssize_t group, double *work, double *value,
                      double *r) except -1 nogil
    # minus its Hessian by the same, and the gradient by the entries (slope) that it goes with
    cdef int information(self, const Place *at, Py_ssize_t group, double *work, double *w,
                         double *slope) except -1 nogil
