# What a gradient has beyond a Gaussian's: see excess.pyx

cdef void excess(Py_ssize_t dim, const double *x, const double *g, double most,
                 double *out) noexcept nogil
