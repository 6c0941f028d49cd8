"""Metropolis-Hastings with scalable subsampling: the transition, see `samplers.mhss`."""
import numpy as np

from libc.math cimport INFINITY, fabs, fmax, fmin, log, sqrt
from libc.string cimport memcpy

from sgmc.core.targets.centre cimport Centre
from sgmc.core.contract cimport (
    BOUND, OK, Batch, Gradient, Rng, State, all_rows, last_predictors, next_exponential,
    next_uniform, normal_fill,
)
from sgmc.core.targets.remainders cimport Remainders
from sgmc.samplers.bases.metropolis cimport Metropolis

cdef double INDEPENDENT_STEP = 2.0    # h at which proposals no longer depend on the position
# by which a remainder may exceed its bound: of the bound, and of the terms that it is made of
cdef double BOUND_ROUNDING = 1e-6
cdef double LOST_DIGITS = 1e-9


cdef class SubsampledMetropolis(Metropolis):
    """`value` is the log posterior with the Taylor polynomials in the place of the rows."""

    def __init__(self, Py_ssize_t dim, double step_size, double target, bint walks):
        Metropolis.__init__(self, dim, step_size, target, "identity", step_size)
        self.first_order, self.walks = False, walks
        self.longest = INFINITY if walks else INDEPENDENT_STEP
        self.from_here, self.from_there = np.zeros(dim), np.zeros(dim)

    cdef int equip(self, Gradient g) except -1 with gil:
        """Take the bounds and what has the size of the model from the gradient."""
        if not isinstance(g.bounds, Remainders) or g.anchor is None:
            raise ValueError("mhss needs Remainders as the gradient's bounds, and an anchor")
        self.limits = g.bounds
        self.centre = Centre(g.model, g.anchor.centre, g.anchor.scores, True)
        self.theta, self.new_theta = np.zeros(g.model.dim), np.zeros(g.model.dim)
        self.part, self.bent = np.zeros(g.model.dim), np.zeros(g.model.dim)
        self.residual = np.zeros(g.model.tile)
        return OK

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        self.equip(g)
        self.value = self.expanded(g, s.x, &self.theta[0])
        return OK

    cdef double expanded(self, Gradient g, const double *x, double *theta) except? -1 nogil:
        """Log posterior at x but for the rows' remainders; theta becomes the place of x."""
        cdef Py_ssize_t j
        cdef double value = 0
        if g.map is None:
            memcpy(theta, x, self.dim * sizeof(double))
        else:
            g.map.forward(x, theta, NULL)
        for j in range(g.model.dim):
            self.part[j] = theta[j] - g.anchor.centre[j]
            value += g.anchor.full[j] * self.part[j]
        if self.limits.order == 2:
            g.anchor.bend.times(&self.part[0], &self.bent[0])
            for j in range(g.model.dim):
                value -= 0.5 * self.part[j] * self.bent[j]
        g.prior.add(theta, &value, NULL)
        return value

    cdef double moved(self, const State *s, Rng rng, double h) noexcept nogil:
        """Fill y; the log of q(y, x) / q(x, y).  Distances of x and y from the centre are kept."""
        cdef Py_ssize_t j
        cdef const double *centre = &self.limits.centre[0]
        cdef double keep = 1. if self.walks else 1 - 0.5 * h
        cdef double spread = sqrt(h if self.walks else h * (1 - 0.25 * h)), change = 0
        normal_fill(rng, s.dim, &self.u[0])
        for j in range(s.dim):
            self.from_here[j] = s.x[j] - centre[j]
            self.from_there[j] = keep * self.from_here[j] + spread * self.u[j]
            self.y[j] = centre[j] + self.from_there[j]
            change += (self.from_there[j] * self.from_there[j]
                       - self.from_here[j] * self.from_here[j])
        return 0. if self.walks else 0.5 * change

    cdef int propose(self, const State *s, Gradient g, Rng rng, double h,
                     double *log_ratio) except -1 nogil:
        cdef double size
        if self.limits is None:                       # a chain that goes on
            self.equip(g)
            self.expanded(g, s.x, &self.theta[0])
        log_ratio[0] = self.moved(s, rng, h)
        self.new_value = self.expanded(g, &self.y[0], &self.new_theta[0])
        size = self.limits.size(&self.from_here[0], &self.from_there[0])
        if size * self.limits.total < g.model.n:
            log_ratio[0] += self.new_value - self.value
            return self.subsample(g, rng, size * self.limits.total, size, log_ratio)
        log_ratio[0] += difference(g, s.x, &self.y[0])
        return OK

    cdef void accept(self) noexcept nogil:
        self.value = self.new_value
        self.theta, self.new_theta = self.new_theta, self.theta

    cdef int subsample(self, Gradient g, Rng rng, double candidates, double size,
                       double *log_ratio) except -1 nogil:
        """Add s_i log(phi_i(y, x) / phi_i(x, y)) over the rows, s_i ~ Poisson(phi_i(x, y)), thinned
        from `candidates` rows on average; `size` is m(x, y).
        """
        cdef double arrival = next_exponential(rng), share
        cdef Py_ssize_t i
        while arrival < candidates:
            i = self.limits.row(next_uniform(rng))
            if not self.share(g, i, size * self.limits.bound(i), &share):
                return BOUND
            if share > 0:
                if next_uniform(rng) >= share:         # else it is no point of phi_i(x, y)
                    log_ratio[0] -= log(1 - share)
            else:
                log_ratio[0] += log(1 + share) if share > -1 else -INFINITY
            arrival += next_exponential(rng)
        return OK

    cdef bint share(self, Gradient g, Py_ssize_t i, double most, double *out) except -1 nogil:
        """r_i(x, y) in units of `most`, its bound, between -1 and 1; false where it is larger by
        more than rounding.
        """
        cdef Batch one = all_rows(1)
        cdef Row here, there
        cdef Py_ssize_t at = i
        cdef double first, second = 0, origin, a, b, remainder, terms
        one.start = i
        self.look(g, &one, &self.theta[0], &here)
        self.look(g, &one, &self.new_theta[0], &there)
        g.touched += 2
        if self.centre.computed:
            self.centre.look(&one, True)
            first, origin = self.centre.score[0], self.centre.predictors[0]
            second = self.centre.curvature[0]
            g.touched += 1
        else:
            first, origin = g.anchor.scores[at], g.anchor.predictors[at]
            second = g.anchor.curvature[at]
        a, b = here.eta - origin, there.eta - origin
        remainder = there.value - here.value - first * (b - a)
        terms = fabs(there.value) + fabs(here.value) + fabs(first) * (fabs(a) + fabs(b))
        if self.limits.order == 2:
            remainder += 0.5 * second * (b * b - a * a)
            terms += fabs(second) * (a * a + b * b)
        if not fabs(remainder) <= most * (1 + BOUND_ROUNDING) + LOST_DIGITS * terms:
            return False
        out[0] = fmax(fmin(remainder / most, 1.), -1.) if most > 0 else 0.
        return True

    cdef int look(self, Gradient g, const Batch *one, const double *theta,
                  Row *row) except -1 nogil:
        row.value = 0
        g.model.scores(theta, one, &g.scratch, &self.residual[0], &row.value)
        row.eta = last_predictors(g.model, theta, one, &g.scratch)[0]
        return OK


cdef double difference(Gradient g, const double *x, const double *y) except? -1 nogil:
    """log posterior at y less that at x, from all rows."""
    cdef double here = 0, there = 0
    g.full(x, &here, NULL)
    g.full(y, &there, NULL)
    return there - here
