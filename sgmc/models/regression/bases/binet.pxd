cdef struct Binet:
    double value, slope, bend

cdef Binet binet(double a) noexcept nogil
