from sgmc.core.targets.bounds cimport Bounds

# immutable, shared by chains: what Taylor remainders of the rows exceed nowhere
cdef class Remainders(Bounds):
    cdef readonly int order                  # of the polynomials, 1 or 2
    cdef readonly double[::1] sums           # of c_i, cumulative
    cdef readonly double total               # of c_i
    cdef readonly double reach               # a bound grows by exp(reach |x - x*|)
    # m of Remainders: a and b are x - x* and y - x*; symmetric in them
    cdef double size(self, const double *a, const double *b) noexcept nogil
    # a row, with probability c_i / total, for u uniform on (0, 1)
    cdef Py_ssize_t row(self, double u) noexcept nogil
    cdef double bound(self, Py_ssize_t i) noexcept nogil           # c_i
