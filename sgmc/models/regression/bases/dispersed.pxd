from sgmc.core.contract cimport Scratch
from sgmc.models.regression.bases.glm cimport Glm

cdef class Dispersed(Glm):
    # how posterior sds of the coefficients go with the scale, exp(power u); and the square of the
    # outcomes' rounding errors in the units of exp(power u), 0 where no scale can vanish
    cdef readonly double power
    cdef public double rounding
    # `family` of rows that have auxiliary parameters of their own, behind their predictor: eta is
    # (m, width)
    cdef int family_by_row(self, Py_ssize_t m, const double *eta, const double *y, double *r,
                           double *density) except -1 nogil
    cdef int rounded(self, const double *theta, Py_ssize_t m, double *r,
                     double *density) noexcept nogil
    cdef int rounded_information(self, const double *theta, Py_ssize_t m, double *w) noexcept nogil
    cdef double *spare(self, Scratch *s) noexcept nogil
    cdef int join(self, const double *theta, Py_ssize_t m, const double *linear,
                  double *eta) except -1 nogil
    cdef const double *column(self, Py_ssize_t m, Scratch *s, const double *table, Py_ssize_t size,
                              Py_ssize_t k) noexcept nogil
