"""Zig-zag processes: each velocity is -1 or 1, and an event reverses one of them."""
import numpy as np

from libc.math cimport INFINITY, fmax, fmin, sqrt

from sgmc.core.contract cimport BOUND, DIVERGED, OK, Gradient, Rng, State, next_uniform
from sgmc.samplers.bases.events cimport TAKEN, Events, arrival, distance, inner
from sgmc.samplers.bases.events import EventSpec
from sgmc.samplers.bases.piecewise.sticky cimport Sticky, signs
from sgmc.samplers.bases.piecewise.sticky import INCLUSION


cdef class ZigZagTransition(Sticky):
    """All rows: the gradient is known where the line begins, and U' changes along it by at most
    sqrt(H_ii v'Hv) a unit of time.

    Coordinates that stick to zero, where any may, have no velocity, and bounds of the others are
    lower meanwhile.
    """

    cdef double[::1] root
    cdef bint bounded

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        return signs(s, rng)

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t i, flip = 0, which = -1
        cdef double wait, first = INFINITY, bound, swing = 0, hit, free
        cdef int outcome
        if not self.bounded:
            with gil:
                self.root = np.sqrt(np.diag(g.bounds.hessian))
            self.bounded = True
        self.guide(s, g, rng)
        for i in range(s.dim):
            swing += s.v[i] * inner(s.dim, &g.bounds.hessian[i, 0], s.v)
        swing = sqrt(fmax(swing, 0.))
        for i in range(s.dim):
            wait = (arrival(rng, g.bounds.jump[i] - s.v[i] * self.g[i], self.root[i] * swing)
                    if s.v[i] != 0 else INFINITY)
            if wait < first:
                first, flip = wait, i
        bound = g.bounds.jump[flip] - s.v[flip] * self.g[flip] + self.root[flip] * swing * first
        hit, free = self.crossing(s, &which), self.freedom(s, rng)
        self.move(s, fmin(first, fmin(hit, free)))
        if s.dt == INFINITY:                                  # nothing moves, or nothing holds it
            return DIVERGED
        if s.dt == hit:
            self.stick(s, which)
        g.estimate(s.x, rng, &self.g[0], NULL)
        if s.dt == free:
            self.leave(s, rng)
        if s.dt == hit or s.dt == free:
            return OK
        outcome = self.thin(rng, -s.v[flip] * self.g[flip], bound, self.root[flip] * swing)
        if outcome == BOUND:
            return BOUND
        if outcome == TAKEN:
            s.v[flip] = -s.v[flip]
        return OK


cdef class SubsampledTransition(Events):
    """Minibatches: the rate of coordinate i is at most a_i + b_i |x - x*|, so that one exponential
    serves all coordinates.
    """

    cdef bint control, bounded
    cdef double[::1] flat, steep, flats, steeps, along       # a, b, their cumulative sums; v_i e_i

    def __init__(self, Py_ssize_t dim, double unit, bint control):
        Events.__init__(self, dim, unit)
        self.control, self.along = control, np.zeros(dim)

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        return signs(s, rng)

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef double far, speed = sqrt(<double> s.dim), a, b, u, mean = 0, variance = 0
        cdef Py_ssize_t i
        cdef int outcome
        if not self.bounded:
            with gil:
                self.flat, self.steep = g.bounds.by_coordinate(self.control)
                self.flats, self.steeps = np.cumsum(self.flat), np.cumsum(self.steep)
            self.bounded = True
        far = distance(s.dim, s.x, &g.bounds.centre[0])
        a, b = self.flats[s.dim - 1], self.steeps[s.dim - 1]
        self.move(s, arrival(rng, a + b * far, b * speed))
        far += speed * s.dt
        u = next_uniform(rng) * (a + b * far)
        i = (place(&self.flats[0], s.dim, u) if u < a else place(&self.steeps[0], s.dim,
                                                                 (u - a) / far))
        self.along[i] = s.v[i]
        g.slope(s.x, &self.along[0], rng, &mean, &variance, False)
        self.along[i] = 0
        outcome = self.thin(rng, -mean, self.flat[i] + self.steep[i] * far, self.steep[i])
        if outcome == BOUND:
            return BOUND
        if outcome == TAKEN:
            s.v[i] = -s.v[i]
        return OK


cdef Py_ssize_t place(const double *sums, Py_ssize_t n, double u) noexcept nogil:
    """The first of n cumulative sums that exceeds u, by bisection; at most the last."""
    cdef Py_ssize_t low = 0, high = n - 1, middle
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > u:
            high = middle
        else:
            low = middle + 1
    return low


class ZigZag(EventSpec):
    """Zig-zag process with all rows (Bierkens, Fearnhead & Roberts 2019, section 2): exact.

    x moves with velocity v, v_i = -1 or 1; v_i is reversed at rate max(0, v_i dU/dx_i (x)), U =
    -log posterior.  Proposed at rate max(0, v_i dU/dx_i (x0) + sqrt(H_ii v'Hv) t) on the line x0 +
    v t, where H bounds the curvature of U everywhere (their section 3, with a bound of v'Hv in the
    place of one of all velocities'): a proposal costs a pass through the data.
    """

    name = "zigzag"
    all_rows = True

    def build(self, dim, step):
        return ZigZagTransition(dim, step)

    def events(self, bounds, unit):
        """The wait for sum_i sqrt(H_ii v'Hv) t, v'Hv about tr H."""
        diagonal = np.diag(bounds.hessian)
        return float(np.sqrt(2 / np.pi * np.sqrt(diagonal).sum() * np.sqrt(diagonal.sum())))


class StickyZigZag(ZigZag):
    """Sticky zig-zag process with all rows (Bierkens, Grazzi, van der Meulen & Schauer 2023,
    section 2.3): exact, for spike and slab.

    `zigzag` whose slopes stay at zero as those of `stickysgpdmp` do; while one does, bounds of the
    others' rates are lower.
    """

    name = "stickyzigzag"
    sticky = True
    parameters = (INCLUSION,)


class ZZSS(EventSpec):
    """Zig-zag with subsampling: exact, one row an event (Bierkens, Fearnhead & Roberts 2019,
    section 4.1).

    A flip of v_i is proposed at rate a_i >= N max_j |z_ji| S_j + the prior's part, S_j the
    largest |score| of row j and z_j its predictors in the sampler's coordinates, and happens with
    probability max(0, v_i g_i) / a_i, g an unbiased estimate of U' from one random row.  Where
    scores have no bound (probit) S_j is |s_j*| + K_j |z_j| |x - x*|, K_j that of the curvature.
    Rates grow with sqrt(N) in units of the posterior: the data touched for an independent draw grow
    too.
    """

    name = "zzss"
    estimator = "simple"

    def build(self, dim, step):
        return SubsampledTransition(dim, step, self.estimator == "cv")

    def events(self, bounds, unit):
        """The bounds' sum at a typical distance of the mode."""
        flat, steep = bounds.by_coordinate(self.estimator == "cv")
        return float(flat.sum() + steep.sum() * unit * np.sqrt(bounds.dim))

    def memory(self, bounds, unit):
        """Flips at rate c besides make a diffusion with constant 1/(2 c) of the path; c is half of
        the rows' sum_j |z_ji s_j*|.
        """
        return 2 * unit * (1 + float(np.max(bounds.noise)) * unit)


class ZZCV(ZZSS):
    """Zig-zag with control variates: exact, one row an event (Bierkens, Fearnhead & Roberts 2019,
    sections 4.2 and 5).

    g_i = dP/dx_i (x) + sum_j dphi_j/dx_i (x*) + N (dphi_J/dx_i (x) - dphi_J/dx_i (x*)) for a random
    row J, x* the mode.  A flip of v_i is proposed at rate |dU/dx_i (x*)| + C_i (|x - x*| + sqrt(d)
    t), C_i = N max_j K_j |z_ji| |z_j| + the prior's part and K_j the largest |curvature| of row j
    (their eq. 19, with p = 2), and happens with probability max(0, v_i g_i) over that.  As |x - x*|
    is of order 1/sqrt(N) and a draw takes a time of that order, the rows touched for an independent
    draw do not depend on N.  With ``subsample="preferential"`` row J is drawn with a probability
    proportional to K_j |z_j|^2, and
    N max_j K_j |z_ji| |z_j| becomes about sum_j K_j |z_j|^2: fewer events where predictors have
    long tails.
    """

    name = "zzcv"
    estimator = "cv"

    def memory(self, bounds, unit):
        """That of a line: control values leave noise of the order of the gradient."""
        return EventSpec.memory(self, bounds, unit)
