# One batch's estimate of the gradient and of the covariance of its noise, between coordinates too.
from sgmc.core.contract cimport Batch, Gradient, Rng

cdef class BatchCovariance:
    cdef readonly Py_ssize_t dim              # of x
    cdef double[::1] residual, products, part, pulled, origin
    cdef double[:, ::1] outer, total, turned
    # g as `Gradient.estimate`, and the covariance (dim x dim), prior excluded
    cdef int estimate(self, Gradient gradient, const double *x, Rng rng, double *g,
                      double *covariance) except -1 nogil
    cdef int add_run(self, Gradient gradient, const double *theta,
                     const Batch *run) except -1 nogil
    cdef int add_rows(self, Gradient gradient, const double *theta,
                      const Batch *run) except -1 nogil
    cdef void close_stratum(self, Py_ssize_t m, double fpc, double *g) noexcept nogil
    cdef void balance(self, Gradient gradient) noexcept nogil
    cdef int vjp(self, Gradient gradient, const double *x, const double *grad, double *g,
                  double *covariance) except -1 nogil
