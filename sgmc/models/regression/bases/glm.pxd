from sgmc.core.contract cimport Batch, Design, Model, Scratch

cdef class Glm(Model):
    cdef readonly Design X
    cdef readonly const double[::1] y
    cdef readonly const double[::1] offset, weight        # empty where there is none
    cdef readonly bint single     # products with many points are in float32, and densities may be
    # one batch of rows, given their linear predictors; NULL = not wanted; r, value and w without
    # row weights
    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil
    # the same m rows with several predictors each, (nodes, m), outcomes repeated: weighted scores
    # into r, sums of weighted densities added to `total`; eta and density are scratch
    cdef int family_sums(self, const double *theta, Py_ssize_t nodes, Py_ssize_t m, double *eta,
                         const double *y, const double *weight, double *r, double *density,
                         double *total) except -1 nogil
    # the sums alone: r is scratch; at several nodes, and at one
    cdef int family_values(self, const double *theta, Py_ssize_t nodes, Py_ssize_t m, double *eta,
                           const double *y, const double *weight, double *r, double *density,
                           double *total) except -1 nogil
    cdef int family_total(self, const double *theta, Py_ssize_t m, double *eta, const double *y,
                          const double *weight, double *r, double *density,
                          double *total) except -1 nogil
    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil
    # expected values of these, or others that are positive definite; by default the same
    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil
    cdef int weigh_rows(self, const Batch *tile, Scratch *s, Py_ssize_t size,
                        double *r) except -1 nogil
    cdef int row_terms(self, const double *theta, const Batch *tile, double *eta, double *own,
                       double *value, double *r, double *beyond) except -1 nogil
    cdef const double *gather(self, const double *theta, const Batch *tile,
                              Scratch *s) except NULL nogil

cdef const double *picked(const double *column, const Batch *tile, double *into) noexcept nogil
