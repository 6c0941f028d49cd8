from numpy.random cimport bitgen_t

cdef double gamma(bitgen_t *bits, double shape) noexcept nogil        # one of rate 1
