from sgmc.core.contract cimport Map, Prior

cdef enum:                        # kinds of local scales
    NO_LOCAL = 0
    HALF_CAUCHY = 1
    ROOT_GAMMA = 2

cdef class Shrunk:                # which coefficients have learned scales, and how these are made
    cdef readonly Py_ssize_t d, k, locals, groups, log_params, size
    cdef readonly Py_ssize_t[::1] where, group, own
    cdef readonly int[::1] local
    cdef readonly double[::1] shape, unit, slab, share, noise
    # s_j^2 at theta, and d log s_j / d A_j; then what by A_j is by theta, and the other way
    cdef double variance(self, const double *theta, Py_ssize_t j, double *slope) noexcept nogil
    cdef void spread(self, Py_ssize_t j, double by_scale, double *grad) noexcept nogil
    cdef double along(self, Py_ssize_t j, const double *v_theta) noexcept nogil
