# cython: auto_pickle=True
# results keep them, and a file keeps results
"""Step sizes as functions of the step's number t = 0, 1, ..."""
import math

from libc.math cimport M_PI, cos, pow
from libc.stdint cimport int64_t

from sgmc.arguments.messages import must_be
from sgmc.arguments.numbers import number, positive, whole
from sgmc.core.contract cimport Schedule
from sgmc.errors import ArgumentError


cdef class Constant(Schedule):
    """h_t = h."""

    cdef readonly double h

    def __init__(self, h):
        self.h = positive("Constant: h", h)

    def __repr__(self):
        return f"Constant({self.h:g})"

    cdef double at(self, int64_t t) except? -1 nogil:
        return self.h


cdef class Polynomial(Schedule):
    """h_t = a (b + t)^-gamma (Welling & Teh 2011, section 2); sums to infinity, its squares do not,
    for 0.5 < gamma <= 1.
    """

    cdef readonly double a, b, gamma

    def __init__(self, a, b, gamma):
        self.a, self.b = positive("Polynomial: a", a), positive("Polynomial: b", b)
        self.gamma = number("Polynomial: gamma", gamma)

    @classmethod
    def between(cls, start, end, steps, gamma=0.55):
        """The schedule with h_0 = start and h_steps = end:
        b = steps / ((start/end)^(1/gamma) - 1), a = start b^gamma.

        Parameters
        ----------
        start, end : float
            start > end > 0.
        steps : int
        gamma : float, optional
            Positive.
        """
        start = positive("Polynomial.between: start", start)
        end = positive("Polynomial.between: end", end)
        steps = positive("Polynomial.between: steps", steps)
        gamma = positive("Polynomial.between: gamma", gamma)
        if end >= start:
            raise must_be("Polynomial.between: end", end, f"less than start={start!r}",
                          "these steps decrease")
        try:
            b = steps / math.expm1(math.log(start / end) / gamma)
            return cls(start * b ** gamma, b, gamma)
        except (OverflowError, ZeroDivisionError, ArgumentError) as error:
            raise ArgumentError(f"Polynomial.between: gamma={gamma!r} cannot lead from {start!r} "
                                f"to {end!r} in {steps:g} steps; take a gamma nearer to "
                                "1") from error

    def __repr__(self):
        return f"Polynomial({self.a:g}, {self.b:g}, {self.gamma:g})"

    cdef double at(self, int64_t t) except? -1 nogil:
        return self.a * pow(self.b + t, -self.gamma)


cdef class Cyclical(Schedule):
    """h_t = h/2 (cos(pi (t mod period + 1/2) / period) + 1) (Zhang et al. 2020, eq. 1,
    at midpoints: never zero).

    Each cycle begins with long steps, which find other modes, and ends with short ones, which
    sample the one found.  Draws are weighted by their steps.

    Parameters
    ----------
    h : float
        About the largest step.
    period : int
        Steps of a cycle.
    """

    cdef readonly double h
    cdef readonly int64_t period

    def __init__(self, h, period):
        self.h = positive("Cyclical: h", h)
        if isinstance(period, float) and period.is_integer():
            period = int(period)
        self.period = whole("Cyclical: period", period, 1)

    def __repr__(self):
        return f"Cyclical({self.h:g}, {self.period})"

    cdef double at(self, int64_t t) except? -1 nogil:
        return 0.5 * self.h * (cos(M_PI * (t % self.period + 0.5) / self.period) + 1)


cdef class Function(Schedule):
    """h_t = f(t) for a Python function; called once a step, with the interpreter lock.

    What it raises surfaces as it is.
    """

    cdef readonly object f

    def __init__(self, f):
        self.f = f

    def __repr__(self):
        return f"Function({getattr(self.f, '__name__', repr(self.f))})"

    cdef double at(self, int64_t t) except? -1 nogil:
        with gil:
            return positive(f"step_size({t})", self.f(t),
                            advice="the function must return one for each step")
