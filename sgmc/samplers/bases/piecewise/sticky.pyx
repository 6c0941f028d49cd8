"""Zig-zag processes whose coordinates may stick to zero (Bierkens, Grazzi, van der Meulen & Schauer
2023, section 2.3).

Under a prior w f(x_i) dx_i + (1 - w) delta_0 a coordinate that comes to zero stays there for an
exponential time with rate w / (1 - w) f(0) |v_i| and goes on with the velocity that it came with:
the time at zero has the posterior probability of zero.
"""
import numpy as np

from libc.math cimport INFINITY

from sgmc.core.contract cimport OK, Rng, State, next_exponential, next_uniform
from sgmc.samplers.bases.events cimport Guided
from sgmc.core.spec import Parameter

INCLUSION = Parameter("inclusion", 0.5, "prior probability that a slope is not zero", 0.0, 1.0)


cdef class Sticky(Guided):
    """Velocities are -1, 1, or 0 of coordinates that stick; a leaf writes `step`.

    Nothing sticks before `set_release`.
    """

    def __init__(self, Py_ssize_t dim, double step):
        Guided.__init__(self, dim, step)
        self.release, self.kept = np.zeros(dim), np.zeros(dim)

    def set_release(self, rates):
        """Rates at which single coordinates leave zero, an array (dim,); those with 0 pass it."""
        np.asarray(self.release)[:] = rates

    cdef double crossing(self, State *s, Py_ssize_t *which) noexcept nogil:
        cdef Py_ssize_t i
        cdef double first = INFINITY, wait
        for i in range(s.dim):
            if self.release[i] > 0 and s.v[i] * s.x[i] < 0:
                wait = -s.x[i] / s.v[i]
                if wait < first:
                    first, which[0] = wait, i
        return first

    cdef double freedom(self, State *s, Rng rng) noexcept nogil:
        cdef double total = self.held(s)
        return next_exponential(rng) / total if total > 0 else INFINITY

    cdef double held(self, State *s) noexcept nogil:
        """Sum of the rates of those that stick."""
        cdef Py_ssize_t i
        cdef double total = 0
        for i in range(s.dim):
            if s.v[i] == 0:
                total += self.release[i]
        return total

    cdef void stick(self, State *s, Py_ssize_t i) noexcept nogil:
        s.x[i], self.kept[i], s.v[i] = 0, s.v[i], 0

    cdef void leave(self, State *s, Rng rng) noexcept nogil:
        cdef Py_ssize_t i, last = -1
        cdef double u = next_uniform(rng) * self.held(s)
        for i in range(s.dim):
            if s.v[i] == 0:
                last = i
                u -= self.release[i]
                if u < 0:
                    break
        s.v[last] = self.kept[last]

    def state(self):
        """Also the velocities that coordinates leave zero with."""
        return {**Guided.state(self), "kept": np.array(self.kept)}

    def set_state(self, state):
        """Continue from a `state()`."""
        Guided.set_state(self, state)
        np.asarray(self.kept)[:] = state["kept"]


cdef int signs(State *s, Rng rng) noexcept nogil:
    """Velocities -1 and 1 at random."""
    cdef Py_ssize_t j
    for j in range(s.dim):
        s.v[j] = 1 if next_uniform(rng) < 0.5 else -1
    return OK
