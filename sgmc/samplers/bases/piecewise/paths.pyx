"""Recorders of piecewise linear paths: draws on a regular grid of times, integrals,
and the turning points themselves.
"""
import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.string cimport memcmp, memcpy

from sgmc.core.contract cimport DIVERGED, FULL, OK, Gradient, Recorder, State, diverged

cdef enum:
    MAX_INTEGRAL_BATCHES = 64                  # most batches that integrals are kept in

# times the given spacing that warmup's second half must last to tell another
cdef double ENOUGH = 20


cdef class Integrals:
    """Integrals over time of x and x^2, in up to 64 batches of equally many turns; where these are
    full, two become one.

    Parameters
    ----------
    dim : int
    """

    cdef readonly double[:, ::1] first, second        # of x - origin and its square, a row a batch
    cdef readonly double[::1] times, origin
    cdef readonly int64_t turns, every                # in the last batch, in a full one
    cdef Py_ssize_t last

    def __init__(self, Py_ssize_t dim):
        self.first = np.zeros((MAX_INTEGRAL_BATCHES, dim))
        self.second = np.zeros((MAX_INTEGRAL_BATCHES, dim))
        self.times = np.zeros(MAX_INTEGRAL_BATCHES)
        self.origin, self.every = np.zeros(dim), 1

    cdef void clear(self, const double *x) noexcept nogil:
        """Begin anew, with deviations from x."""
        self.first[:, :] = 0
        self.second[:, :] = 0
        self.times[:] = 0
        self.turns, self.every, self.last = 0, 1, 0
        memcpy(&self.origin[0], x, self.origin.shape[0] * sizeof(double))

    cdef void add(self, const double *a, const double *b, double dt) noexcept nogil:
        """The straight line from a to b in a time dt."""
        cdef Py_ssize_t j, k
        cdef double p, q
        if self.turns == self.every:
            self.turns = 0
            self.last += 1
            if self.last == MAX_INTEGRAL_BATCHES:
                for k in range(MAX_INTEGRAL_BATCHES // 2):
                    for j in range(self.origin.shape[0]):
                        self.first[k, j] = self.first[2 * k, j] + self.first[2 * k + 1, j]
                        self.second[k, j] = self.second[2 * k, j] + self.second[2 * k + 1, j]
                    self.times[k] = self.times[2 * k] + self.times[2 * k + 1]
                self.first[MAX_INTEGRAL_BATCHES // 2:, :] = 0
                self.second[MAX_INTEGRAL_BATCHES // 2:, :] = 0
                self.times[MAX_INTEGRAL_BATCHES // 2:] = 0
                self.every *= 2
                self.last = MAX_INTEGRAL_BATCHES // 2
        for j in range(self.origin.shape[0]):
            p, q = a[j] - self.origin[j], b[j] - self.origin[j]
            self.first[self.last, j] += 0.5 * dt * (p + q)
            self.second[self.last, j] += dt * (p * p + p * q + q * q) / 3
        self.times[self.last] += dt
        self.turns += 1

    def batches(self):
        """Times (k,), and integrals (k, dim) of x - origin and its square,
        of the batches so far.
        """
        k = self.last + (self.turns > 0)
        return tuple(np.array(a)[:k] for a in (np.asarray(self.times), np.asarray(self.first),
                                               np.asarray(self.second)))

    def correlation_time(self, most=MAX_INTEGRAL_BATCHES):
        """Integrated autocorrelation time of each coordinate's path, (dim,): its mean has variance
        Var(x) times that over T.

        From the batches' integrals r_k, less their times by the mean: K / (K - 1) sum_k r_k^2 / (T
        Var(x)); batches are put together until there are at most `most` of them.
        """
        times, first, second = self.batches()
        while len(times) > most:
            times, first, second = (np.add.reduceat(a, range(0, len(a), 2))
                                    for a in (times, first, second))
        total, k = times.sum(), len(times)
        mean = first.sum(axis=0) / total
        spread = np.maximum(second.sum(axis=0) / total - mean ** 2, 0.0)
        rest = first - times[:, None] * mean
        with np.errstate(invalid="ignore", divide="ignore"):
            return k / (k - 1) * (rest ** 2).sum(axis=0) / total / spread

    def state(self):
        """The sums."""
        return {"first": np.array(self.first), "second": np.array(self.second),
                "times": np.array(self.times),
                "origin": np.array(self.origin), "place": [self.turns, self.every, self.last]}

    def set_state(self, state):
        """Continue from a `state()`."""
        for mine, name in ((np.asarray(self.first), "first"), (np.asarray(self.second), "second"),
                           (np.asarray(self.times), "times"), (np.asarray(self.origin), "origin")):
            mine[:] = state[name]
        turns, every, last = state["place"]
        if turns < 0 or every < 1 or not 0 <= last < MAX_INTEGRAL_BATCHES:
            raise ValueError("the integrals of a path have no such place")
        self.turns, self.every, self.last = turns, every, last


cdef class SkeletonBuffer:
    """Turning points of a path: times, positions, and the velocities that lead on from there, as
    many as there is room for.

    Parameters
    ----------
    dim, most : int
    """

    cdef double[::1] times
    cdef double[:, ::1] positions, velocities
    cdef readonly Py_ssize_t kept, most

    def __init__(self, Py_ssize_t dim, Py_ssize_t most):
        self.times, self.positions = np.zeros(0), np.zeros((0, dim))
        self.velocities = np.zeros((0, dim))
        self.most = most

    cdef int add(self, double time, const double *x, const double *v) except -1 nogil:
        cdef Py_ssize_t size = self.positions.shape[1] * sizeof(double)
        if self.kept == self.most:
            return OK
        if self.kept == self.times.shape[0]:
            with gil:
                self.grow(min(max(1024, 2 * self.kept), self.most))
        self.times[self.kept] = time
        memcpy(&self.positions[self.kept, 0], x, size)
        memcpy(&self.velocities[self.kept, 0], v, size)
        self.kept += 1
        return OK

    cdef grow(self, Py_ssize_t room):
        """More room; what others see of the old arrays stays."""
        kept, dim = self.state(), self.positions.shape[1]
        self.times, self.positions = np.zeros(room), np.zeros((room, dim))
        self.velocities = np.zeros((room, dim))
        for mine, name in ((np.asarray(self.times), "times"),
                           (np.asarray(self.positions), "positions"),
                           (np.asarray(self.velocities), "velocities")):
            mine[:self.kept] = kept[name]

    def state(self):
        """The points so far, not copied as they never change."""
        return {"times": np.asarray(self.times)[:self.kept],
                "positions": np.asarray(self.positions)[:self.kept],
                "velocities": np.asarray(self.velocities)[:self.kept]}

    def set_state(self, state):
        """Continue from a `state()`."""
        points = len(state["times"]), len(state["positions"]), len(state["velocities"])
        if not points[0] == points[1] == points[2] <= self.most:
            raise ValueError("times, positions and velocities of a path are not as many")
        self.kept = len(state["times"])
        self.times, self.positions, self.velocities = (np.array(state[name])
                                                       for name in ("times", "positions",
                                                                    "velocities"))


cdef class Path(Recorder):
    """Draws at regular times, integrals over the path and its skeleton, from the end of warmup on.

    The spacing of the draws is settled by the second half of warmup: the longest autocorrelation
    time of any coordinate there, from 16 to 32 batch means.  Halves are counted in events.  A half
    that has fewer turns, or lasts less than 20 times the spacing that was given, leaves that as it
    is.

    Parameters
    ----------
    draws, dim : int
    spacing : float
        Time between draws, where warmup does not tell.
    warmup : int
        Events.
    turns : int
        Most turning points kept.
    """

    cdef readonly double[:, ::1] draws
    cdef readonly Py_ssize_t kept
    cdef readonly double spacing, time  # between draws; since the end of warmup, to the last turn
    cdef readonly Integrals integrals
    cdef readonly SkeletonBuffer skeleton
    # the line being travelled, and what follows it once it has ended
    cdef double[::1] begin, along, end, turn
    cdef double run, due                              # time on it, and that of the next draw
    cdef int64_t warmup
    cdef bint opened, ended

    def __init__(self, Py_ssize_t draws, Py_ssize_t dim, double spacing, int64_t warmup=0,
                 Py_ssize_t turns=0):
        self.draws, self.spacing, self.warmup = np.zeros((draws, dim)), spacing, warmup
        self.integrals, self.skeleton = Integrals(dim), SkeletonBuffer(dim, turns)
        self.begin, self.along = np.zeros(dim), np.zeros(dim)
        self.end, self.turn = np.zeros(dim), np.zeros(dim)
        self.due = INFINITY

    @property
    def full(self):
        """Whether it has its draws."""
        return self.kept == self.draws.shape[0]

    cdef int open(self, const State *s) except -1 nogil:
        if not self.opened:
            self.restart(s)
            if s.t >= self.warmup:
                self.settle(s, False)
        self.opened = True
        return OK

    cdef void restart(self, const State *s) noexcept nogil:
        """A line begins here, and all integrals."""
        memcpy(&self.begin[0], s.x, s.dim * sizeof(double))
        memcpy(&self.along[0], s.v, s.dim * sizeof(double))
        self.run = 0
        self.integrals.clear(s.x)

    cdef int settle(self, const State *s, bint learned) except -1 nogil:
        """Warmup is over."""
        if learned:
            with gil:
                self.learn()
        self.restart(s)
        self.due = self.spacing
        return self.skeleton.add(0, s.x, s.v)

    cdef learn(self):
        """The spacing from the integrals of the second half of warmup."""
        if self.integrals.every == 1 or self.integrals.batches()[0].sum() <= ENOUGH * self.spacing:
            return
        # longer batches are less short of it
        longest = self.integrals.correlation_time(MAX_INTEGRAL_BATCHES // 2)
        if np.isfinite(longest).all() and longest.min() > 0:
            self.spacing = float(longest.max())

    cdef int record(self, const State *s, Gradient g) except -1 nogil:
        cdef Py_ssize_t size = s.dim * sizeof(double)
        if self.due <= self.run:
            return FULL
        self.run += s.dt
        self.ended = memcmp(&self.along[0], s.v, size) != 0
        if self.ended:
            memcpy(&self.end[0], s.x, size)
            memcpy(&self.turn[0], s.v, size)
        if s.t > self.warmup:
            return self.travel()
        self.pass_turn()
        if s.t == self.warmup // 2:
            self.restart(s)
        return self.settle(s, True) if s.t == self.warmup else OK

    cdef int travel(self) except -1 nogil:
        """Draws that are due on this line, and its end if it has ended."""
        cdef Py_ssize_t j, dim = self.begin.shape[0]
        cdef double *draw
        while self.due <= self.run:
            if self.kept == self.draws.shape[0]:
                return FULL
            draw = &self.draws[self.kept, 0]
            for j in range(dim):
                draw[j] = self.begin[j] + self.due * self.along[j]
                if diverged(draw[j]):
                    return DIVERGED
            self.kept += 1
            self.due += self.spacing
        self.due -= self.run if self.ended else 0
        self.time += self.run if self.ended else 0
        if self.ended:
            self.skeleton.add(self.time, &self.end[0], &self.turn[0])
        self.pass_turn()
        return FULL if self.kept == self.draws.shape[0] else OK

    cdef void pass_turn(self) noexcept nogil:
        """The next line, if this one has ended."""
        cdef Py_ssize_t size = self.begin.shape[0] * sizeof(double)
        if not self.ended:
            return
        self.integrals.add(&self.begin[0], &self.end[0], self.run)
        memcpy(&self.begin[0], &self.end[0], size)
        memcpy(&self.along[0], &self.turn[0], size)
        self.run, self.ended = 0, False

    def state(self):
        """Draws so far, not copied as they never change,
        the line being travelled, integrals and skeleton.
        """
        line = [np.array(a) for a in (np.asarray(self.begin), np.asarray(self.along),
                                      np.asarray(self.end), np.asarray(self.turn))]
        return {"draws": np.asarray(self.draws[:self.kept]), "line": line, "opened": self.opened,
                "ended": self.ended,
                "times": [self.spacing, self.time, self.run, self.due],
                "integrals": self.integrals.state(),
                "skeleton": self.skeleton.state()}

    def set_state(self, state):
        """Continue from a `state()` of no more draws than there is room for;
        those due on the line are made at once.
        """
        if len(state["draws"]) > self.draws.shape[0]:
            raise ValueError(f"{len(state['draws'])} draws for a recorder of {self.draws.shape[0]}")
        self.kept = len(state["draws"])
        np.asarray(self.draws)[:self.kept] = state["draws"]
        self.begin, self.along, self.end, self.turn = (np.array(a) for a in state["line"])
        self.opened, self.ended = state["opened"], state["ended"]
        self.spacing, self.time, self.run, self.due = state["times"]
        self.integrals.set_state(state["integrals"])
        self.skeleton.set_state(state["skeleton"])
        self.travel()
