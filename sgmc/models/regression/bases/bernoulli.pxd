from sgmc.models.regression.bases.glm cimport Glm

cdef class Bernoulli(Glm):
    cdef readonly bint shares                 # some y_i is neither 0 nor 1
    # `family` and `bend` of outcomes 0 and 1, told apart at a half
    cdef int outcomes(self, Py_ssize_t m, const double *eta, const double *y, double *r,
                      double *density) except -1 nogil
    cdef int curves(self, Py_ssize_t m, const double *eta, const double *y,
                    double *w) except -1 nogil
