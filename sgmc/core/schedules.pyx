"""Step sizes as functions of the step's number t = 0, 1, ..."""
from libc.math cimport pow
from libc.stdint cimport int64_t

from sgmc.core.contract cimport Schedule
from sgmc.errors import ArgumentError


cdef double checked(value, low, str what) except? -1:
    """A finite number above `low`; ArgumentError, saying what it is, for anything else."""
    try:
        number = float("nan") if isinstance(value, (str, bytes, bool)) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not low < number < float("inf"):
        raise ArgumentError(f"{what}{value!r}; it must be a {'positive' if low == 0 else 'finite'} number")
    return number


cdef class Constant(Schedule):
    """h_t = h."""

    cdef readonly double h

    def __init__(self, h):
        self.h = checked(h, 0, "Constant: h=")

    cdef double at(self, int64_t t) except? -1 nogil:
        return self.h


cdef class Polynomial(Schedule):
    """h_t = a (b + t)^-gamma (Welling & Teh 2011, section 2); sums to infinity, its squares do not, for 0.5 < gamma <= 1."""

    cdef readonly double a, b, gamma

    def __init__(self, a, b, gamma):
        self.a, self.b = checked(a, 0, "Polynomial: a="), checked(b, 0, "Polynomial: b=")
        self.gamma = checked(gamma, -float("inf"), "Polynomial: gamma=")

    cdef double at(self, int64_t t) except? -1 nogil:
        return self.a * pow(self.b + t, -self.gamma)


cdef class Function(Schedule):
    """h_t = f(t) for a Python function; called once a step, with the interpreter lock.  What it raises surfaces as it is."""

    cdef readonly object f

    def __init__(self, f):
        self.f = f

    cdef double at(self, int64_t t) except? -1 nogil:
        with gil:
            return checked(self.f(t), 0, f"step_size: the function returned, for step {t}, ")
