# A Metropolis-Hastings ratio from few rows; a base, so that tests can plant mistakes in it.
from sgmc.core.targets.centre cimport Centre
from sgmc.core.contract cimport Batch, Gradient, Rng, State
from sgmc.core.targets.remainders cimport Remainders
from sgmc.samplers.bases.metropolis cimport Metropolis

cdef struct Row:                              # a row's log-likelihood at a place
    double value                              # weights included
    double eta

cdef class SubsampledMetropolis(Metropolis):
    cdef bint walks                           # proposals are those of a random walk
    cdef Remainders limits
    cdef Centre centre
    # places of x and y in natural coordinates, x - x* and y - x*; work
    cdef double[::1] theta, new_theta, from_here, from_there, part, bent, residual
    cdef int equip(self, Gradient g) except -1 with gil
    cdef double expanded(self, Gradient g, const double *x, double *theta) except? -1 nogil
    cdef double moved(self, const State *s, Rng rng, double h) noexcept nogil
    cdef int subsample(self, Gradient g, Rng rng, double candidates, double size,
                       double *log_ratio) except -1 nogil
    cdef bint share(self, Gradient g, Py_ssize_t i, double most, double *out) except -1 nogil
    cdef int look(self, Gradient g, const Batch *one, const double *theta, Row *row) except -1 nogil
