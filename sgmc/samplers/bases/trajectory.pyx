"""Trajectories that grow by doubling until they turn back, and a draw from their states.

Momenta p are in units of the metric, N(0, I).  A tree is kept as the sum of its momenta, those of
its two ends, a state chosen among its own with probabilities proportional to exp(-H), and the log
sum of these weights.
"""
import numpy as np

from libc.math cimport INFINITY, exp, fabs, fmax, fmin, log, log1p
from libc.string cimport memcpy

from sgmc.core.contract cimport OK, Gradient, Rng, State, next_uniform, normal_fill
from sgmc.samplers.bases.adaptation cimport IDENTITY, WarmupWindows
from sgmc.samplers.bases.metropolis cimport MAX_ENERGY_RISE, Metropolis

cdef enum:
    WARMING_DEPTH = 6             # of trees, while the metric is not known
    MAX_DOUBLINGS = 60            # of the first step

cdef double LOG_HALF = log(0.5)
cdef double STEP_SPREAD = 0.1     # of a tree's step: trees of one length may come back periodically


cdef class Trajectory(Metropolis):
    """A tree of leapfrog steps of one chain, and what is learned from it in warmup.

    Parameters
    ----------
    dim : int
    step_size : float
    target : float
        Acceptance statistic aimed at while warming.
    metric : {"identity", "diag", "dense"}
    unit_step : float
        Step to begin with once the metric has been learned.
    max_depth : int
        A tree has at most 2^max_depth - 1 leapfrog steps.
    """

    def __init__(self, Py_ssize_t dim, double step_size, double target, metric, double unit_step,
                 int max_depth):
        Metropolis.__init__(self, dim, step_size, target, metric, unit_step)
        self.metric = self.scores = ScoreMetric(dim, metric)
        self.max_depth, self.energies = max_depth, Energies()
        self.end_x, self.end_p, self.end_w = (np.zeros((2, dim)) for _ in range(3))
        self.near, self.total = np.zeros(dim), np.zeros(dim)
        self.momenta, self.first, self.last, self.place, self.slope = (
            np.zeros((max_depth + 2, dim)) for _ in range(5))
        self.height, self.weight = np.zeros(max_depth + 2), np.zeros(max_depth + 2)
        self.level = np.zeros(max_depth + 2, dtype=np.intc)

    def plan_warmup(self, steps):
        self.windows = early_windows(steps)

    # ---- one draw --------------------------------------------------------------------------------

    cdef int propose(self, const State *s, Gradient g, Rng rng, double h,
                     double *log_ratio) except -1 nogil:
        cdef Py_ssize_t side, depth = 0, most = self.max_depth
        cdef size_t size = s.dim * sizeof(double)
        if self.warming and not self.scores.known:
            most = min(most, WARMING_DEPTH)
        self.root(s, rng)
        h *= 1 + STEP_SPREAD * (2 * next_uniform(rng) - 1)
        while depth < most:
            side = next_uniform(rng) < 0.5
            memcpy(&self.near[0], &self.end_p[side, 0], size)
            if not self.grow(g, rng, side, depth, h):
                break
            depth += 1
            if log(next_uniform(rng)) < self.log_chance(self.weight[0], self.weight[1]):
                self.take(0, 1)
            memcpy(&self.first[0, 0], &self.end_p[1 - side, 0], size)
            memcpy(&self.last[0, 0], &self.near[0], size)
            if not self.join(0):
                break
        if not self.warming:
            self.leapfrogs += self.states
            self.saturated += depth == self.max_depth
            self.depth_total += depth
            self.accepted_total += self.acceptance / self.states
        memcpy(&self.y[0], &self.place[0, 0], size)
        memcpy(&self.new_g[0], &self.slope[0, 0], size)
        self.new_value = self.height[0]
        self.metric.transposed(&self.new_g[0], &self.new_w[0])
        log_ratio[0] = 0
        return OK

    cdef void root(self, const State *s, Rng rng) noexcept nogil:
        """The tree of the current state alone, with a fresh momentum."""
        cdef Py_ssize_t side
        cdef size_t size = s.dim * sizeof(double)
        normal_fill(rng, s.dim, &self.end_p[0, 0])
        memcpy(&self.end_p[1, 0], &self.end_p[0, 0], size)
        memcpy(&self.momenta[0, 0], &self.end_p[0, 0], size)
        for side in range(2):
            memcpy(&self.end_x[side, 0], s.x, size)
            memcpy(&self.end_w[side, 0], &self.w[0], size)
        memcpy(&self.place[0, 0], s.x, size)
        memcpy(&self.slope[0, 0], &self.g[0], size)
        self.height[0], self.weight[0], self.level[0] = self.value, 0, 0
        self.start_energy = 0.5 * square(self.dim, &self.end_p[0, 0]) - self.value
        self.acceptance, self.states = 0, 0
        if not self.warming:
            self.energies.note(self.start_energy)

    cdef bint grow(self, Gradient g, Rng rng, Py_ssize_t side, Py_ssize_t depth,
                   double h) except? True nogil:
        """A subtree of 2^depth states beyond the end on that side, into row 1; False where it
        diverges or turns.

        Rows hold subtrees of falling sizes; two neighbours of one size are joined.
        """
        cdef Py_ssize_t k, top = 0
        cdef size_t size = self.dim * sizeof(double)
        cdef double rise
        for k in range(<Py_ssize_t> 1 << depth):
            self.leap(g, side, h)
            rise = (0.5 * square(self.dim, &self.end_p[side, 0]) - self.new_value
                    - self.start_energy)
            self.states += 1
            self.acceptance += exp(fmin(-rise, 0)) if rise == rise else 0
            if not rise < MAX_ENERGY_RISE:               # nor if it is not a number
                self.divergent += not self.warming
                self.impossible += not self.warming and self.new_value == -INFINITY
                return False
            top += 1
            self.level[top], self.weight[top] = 0, self.log_weight(rise)
            memcpy(&self.momenta[top, 0], &self.end_p[side, 0], size)
            memcpy(&self.first[top, 0], &self.end_p[side, 0], size)
            memcpy(&self.last[top, 0], &self.end_p[side, 0], size)
            memcpy(&self.place[top, 0], &self.end_x[side, 0], size)
            memcpy(&self.slope[top, 0], &self.new_g[0], size)
            self.height[top] = self.new_value
            while top > 1 and self.level[top - 1] == self.level[top]:
                top -= 1
                if log(next_uniform(rng)) < self.log_share(self.weight[top], self.weight[top + 1]):
                    self.take(top, top + 1)
                if not self.join(top):
                    return False
        return True

    cdef int leap(self, Gradient g, Py_ssize_t side, double h) except -1 nogil:
        """A leapfrog step of the end on that side, backwards on side 0."""
        cdef Py_ssize_t j
        cdef double step = h if side else -h
        cdef double *p = &self.end_p[side, 0]
        cdef double *x = &self.end_x[side, 0]
        for j in range(self.dim):
            p[j] += 0.5 * step * self.end_w[side, j]
            self.u[j] = step * p[j]
        self.move(x, &self.u[0], &self.y[0])
        memcpy(x, &self.y[0], self.dim * sizeof(double))
        self.evaluate(g, x)
        for j in range(self.dim):
            p[j] += 0.5 * step * self.new_w[j]
        memcpy(&self.end_w[side, 0], &self.new_w[0], self.dim * sizeof(double))
        return OK

    cdef void take(self, Py_ssize_t row, Py_ssize_t other) noexcept nogil:
        """The state chosen in `other` is that of `row`, too."""
        memcpy(&self.place[row, 0], &self.place[other, 0], self.dim * sizeof(double))
        memcpy(&self.slope[row, 0], &self.slope[other, 0], self.dim * sizeof(double))
        self.height[row] = self.height[other]

    cdef bint join(self, Py_ssize_t row) noexcept nogil:
        """Make one tree of those in `row` and the next; False where it turns back on itself, as a
        whole or from either part to the nearest state of the other.
        """
        cdef Py_ssize_t j, other = row + 1
        cdef double *total = &self.total[0]
        cdef double *sums = &self.momenta[row, 0]
        cdef double *more = &self.momenta[other, 0]
        cdef double *inner = &self.last[row, 0]
        cdef double *outer = &self.first[other, 0]
        cdef bint back
        for j in range(self.dim):
            total[j] = sums[j] + more[j]
        back = self.turned(total, &self.first[row, 0], &self.last[other, 0])
        if not back and self.level[row] != 0:            # of two states these are the same
            for j in range(self.dim):
                total[j] = sums[j] + outer[j]
            back = self.turned(total, &self.first[row, 0], outer)
            for j in range(0 if back else self.dim):
                total[j] = more[j] + inner[j]
            back = back or self.turned(total, inner, &self.last[other, 0])
        for j in range(self.dim):
            sums[j] += more[j]
        memcpy(inner, &self.last[other, 0], self.dim * sizeof(double))
        self.weight[row] = log_sum(self.weight[row], self.weight[other])
        self.level[row] += 1
        return not back

    cdef bint turned(self, const double *momenta, const double *first,
                     const double *last) noexcept nogil:
        """Whether a tree's sum of momenta points against the momentum at one of its ends."""
        return not (product(self.dim, momenta, first) > 0 and product(self.dim, momenta, last) > 0)

    cdef double log_weight(self, double rise) noexcept nogil:
        """Of a state whose energy is so much above the first one's."""
        return -rise

    cdef double log_chance(self, double old, double new) noexcept nogil:
        """Of taking the state of the new half of the whole tree: biased away from the start."""
        return new - old

    cdef double log_share(self, double old, double new) noexcept nogil:
        """Of taking the state of the later half of a subtree: in proportion to its weight."""
        return new - log_sum(old, new)

    # ---- warmup ----------------------------------------------------------------------------------

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        Metropolis.start(self, s, g, rng)
        if self.warming:
            self.scores.scale_to(&self.g[0])
            self.metric.transposed(&self.g[0], &self.w[0])
            self.search.restart(self.first_factor(s, g, rng))
        return OK

    cdef double first_factor(self, const State *s, Gradient g, Rng rng) except? -1 nogil:
        """Log of the factor of the given step at which one leapfrog step has about an acceptance
        probability of a half, by doubling or halving (Hoffman & Gelman 2014, algorithm 4).
        """
        cdef double factor = 0, rise, up = 0
        cdef Py_ssize_t k
        for k in range(MAX_DOUBLINGS):
            self.root(s, rng)
            self.leap(g, 1, self.step_size * exp(factor))
            rise = 0.5 * square(self.dim, &self.end_p[1, 0]) - self.new_value - self.start_energy
            if up == 0:
                up = 1 if rise < -LOG_HALF else -1
            if (rise < -LOG_HALF) != (up > 0):
                break
            factor -= up * LOG_HALF
        return factor

    cdef void learn(self, const State *s, double probability) noexcept nogil:
        """As `Metropolis`, by the mean acceptance of the tree's states, and by gradients, too;
        where a metric is only renewed the search for the step goes on.
        """
        cdef bint known = self.scores.known
        self.search.learn(self.acceptance / self.states)
        if self.metric.kind == IDENTITY or s.t < self.windows.first:
            return
        self.metric.absorb(s.x)
        self.scores.absorb_slope(&self.g[0])
        if self.windows.ends_at(s.t + 1):
            self.metric.renew()
            self.metric.transposed(&self.g[0], &self.w[0])
            if self.scores.known and not known:
                self.search.restart(log(self.unit_step / self.step_size))

    # ---- what is told ----------------------------------------------------------------------------

    @property
    def accepted(self):
        """Sum over trees of the mean acceptance probability of their states, after warmup."""
        return self.accepted_total

    @property
    def tree_depth(self):
        """Mean depth of the trees after warmup."""
        return self.depth_total / self.proposed if self.proposed else float("nan")

    @property
    def e_bfmi(self):
        """Estimated Bayesian fraction of missing information."""
        return self.energies.bfmi

    def state(self):
        """Also the sums over trees and energies."""
        return {**Metropolis.state(self), "energies": self.energies.state(),
                "trees": [self.leapfrogs, self.saturated, self.accepted_total, self.depth_total]}

    def set_state(self, state):
        """Continue from a `state()`."""
        Metropolis.set_state(self, state)
        self.energies.set_state(state["energies"])
        self.leapfrogs, self.saturated, self.accepted_total, self.depth_total = state["trees"]


cdef double product(Py_ssize_t dim, const double *a, const double *b) noexcept nogil:
    cdef Py_ssize_t j
    cdef double total = 0
    for j in range(dim):
        total += a[j] * b[j]
    return total


cdef double square(Py_ssize_t dim, const double *p) noexcept nogil:
    """|p|^2"""
    return product(dim, p, p)


cdef double log_sum(double a, double b) noexcept nogil:
    """log(exp a + exp b)"""
    return fmax(a, b) + log1p(exp(-fabs(a - b)))


cdef WarmupWindows early_windows(int64_t warmup):
    """Windows of ten steps and more, from the tenth step on and up to 85 % of warmup: gradients
    tell scales by few draws.
    """
    return WarmupWindows(warmup, min(10, warmup // 10), int(0.85 * warmup), 10)
