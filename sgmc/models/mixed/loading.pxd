# The square root of the covariance of a group's effects, as a function of sds and correlations
cdef enum:
    MOST_EFFECTS = 8              # of one group
    MOST_SDS = 16                 # of all effects and smooths

cdef class Loading:
    cdef readonly Py_ssize_t q                # effects
    cdef readonly Py_ssize_t size             # numbers: sds, then the correlations' coordinates
    cdef readonly Py_ssize_t[::1] row, column             # of each entry that is not always zero
    cdef readonly list blocks
    cdef readonly double[::1] scale           # c, zero: phi_i is the sd itself
    cdef Py_ssize_t[:, ::1] xi                # place of the coordinate of (i, j), -1: independent
    cdef Py_ssize_t[::1] first                # effect with which a row's block begins
    # Lambda (q x q, row by row) at phi, and its entries' slopes (size x size) by phi
    cdef void fill(self, const double *phi, double *root) noexcept nogil
    cdef void slopes(self, const double *phi, double *J) noexcept nogil
    # out (size x size) += sum_e weight_e d^2 lambda_e / dphi dphi'
    cdef void add_bends(self, const double *phi, const double *weight, double *out) noexcept nogil
    # the sd of effect i, its slope by phi_i, and its second derivative
    cdef double sd(self, const double *phi, Py_ssize_t i) noexcept nogil
    cdef double stretch(self, const double *phi, Py_ssize_t i) noexcept nogil
    cdef double bend(self, const double *phi, Py_ssize_t i) noexcept nogil
    cdef double unit(self, const double *phi, Py_ssize_t i, Py_ssize_t j, Py_ssize_t k,
                     Py_ssize_t l) noexcept nogil
