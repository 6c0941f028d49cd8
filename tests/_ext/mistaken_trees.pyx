"""Planted mistakes of the No-U-Turn sampler, for tests that must catch them."""
from sgmc.core.contract cimport Gradient, Rng
from sgmc.samplers.bases.trajectory cimport Trajectory


cdef class Even(Trajectory):
    """States of a path are drawn evenly, whatever their energies."""

    cdef double log_weight(self, double rise) noexcept nogil:
        return 0


cdef class Lopsided(Trajectory):
    """A path ends where the sum of its momenta points against the momentum at its newest end."""

    cdef bint turned(self, const double *momenta, const double *first,
                     const double *last) noexcept nogil:
        cdef Py_ssize_t j
        cdef double total = 0
        for j in range(self.dim):
            total += momenta[j] * last[j]
        return not total > 0


cdef class Unreversed(Trajectory):
    """Steps backwards in time begin with a kick that goes forwards."""

    cdef int leap(self, Gradient g, Py_ssize_t side, double h) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(0 if side else self.dim):
            self.end_w[0, j] = -self.end_w[0, j]
        return Trajectory.leap(self, g, side, h)


cdef class Newest(Trajectory):
    """The newest half of a path always has the draw."""

    cdef double log_chance(self, double old, double new) noexcept nogil:
        return 0


cdef class Hasty(Trajectory):
    """Within a new half, too, the later part replaces the earlier by the ratio of their weights."""

    cdef double log_share(self, double old, double new) noexcept nogil:
        return new - old


cdef class Unfinished(Trajectory):
    """A half that turned back on itself is sampled from all the same."""

    cdef bint grow(self, Gradient g, Rng rng, Py_ssize_t side, Py_ssize_t depth,
                   double h) except? True nogil:
        Trajectory.grow(self, g, rng, side, depth, h)
        return True
