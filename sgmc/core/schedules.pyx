"""Step sizes as functions of the step's number t = 0, 1, ..."""
from libc.math cimport pow
from libc.stdint cimport int64_t

from sgmc.core.contract cimport Schedule


cdef class Constant(Schedule):
    """h_t = h."""

    cdef readonly double h

    def __init__(self, double h):
        self.h = h

    cdef double at(self, int64_t t) except? -1 nogil:
        return self.h


cdef class Polynomial(Schedule):
    """h_t = a (b + t)^-gamma (Welling & Teh 2011, section 2); sums to infinity, its squares do not, for 0.5 < gamma <= 1."""

    cdef readonly double a, b, gamma

    def __init__(self, double a, double b, double gamma):
        self.a, self.b, self.gamma = a, b, gamma

    cdef double at(self, int64_t t) except? -1 nogil:
        return self.a * pow(self.b + t, -self.gamma)


cdef class Function(Schedule):
    """h_t = f(t) for a Python function; called once a step, with the interpreter lock."""

    cdef readonly object f

    def __init__(self, f):
        self.f = f

    cdef double at(self, int64_t t) except? -1 nogil:
        with gil:
            return self.f(t)
