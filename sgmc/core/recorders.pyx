"""Where draws go."""
import numpy as np

from libc.math cimport pow
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from sgmc.core.contract cimport (
    DIVERGED, FULL, OK, Gradient, Recorder, Schedule, State, diverged,
)


cdef class FullRecorder(Recorder):
    """Every `thin`-th position, with its step-size weight.

    Parameters
    ----------
    draws, dim, thin : int
    """

    cdef readonly double[:, ::1] draws
    cdef readonly double[::1] weights
    cdef readonly Py_ssize_t thin, kept, since

    def __init__(self, Py_ssize_t draws, Py_ssize_t dim, Py_ssize_t thin):
        self.draws, self.weights, self.thin = np.zeros((draws, dim)), np.zeros(draws), thin

    @property
    def full(self):
        """Whether it has its draws."""
        return self.kept == self.draws.shape[0]

    def move(self, double[:, ::1] into):
        """Keep the draws there, in an array of the same shape, from now on."""
        into[:self.kept] = self.draws[:self.kept]
        self.draws = into

    cdef int record(self, const State *s, Gradient g) except -1 nogil:
        if self.kept == self.draws.shape[0]:
            return FULL
        self.since += 1
        return OK if self.since < self.thin else self.keep(s)

    cdef int keep(self, const State *s) except -1 nogil:
        """This position and its weight."""
        cdef Py_ssize_t j
        for j in range(s.dim):
            if diverged(s.x[j]):
                return DIVERGED
        memcpy(&self.draws[self.kept, 0], s.x, s.dim * sizeof(double))
        self.weights[self.kept] = s.weight
        self.kept += 1
        self.since = 0
        return FULL if self.kept == self.draws.shape[0] else OK

    def state(self):
        """Draws so far, not copied as they never change, and the place within the thinning."""
        return {"draws": np.asarray(self.draws[:self.kept]),
                "weights": np.asarray(self.weights[:self.kept]),
                "since": self.since}

    def set_state(self, state):
        """Continue from a `state()` of no more draws than there is room for."""
        if len(state["draws"]) > self.draws.shape[0]:
            raise ValueError(f"{len(state['draws'])} draws for a recorder of {self.draws.shape[0]}")
        self.kept, self.since = len(state["draws"]), state["since"]
        np.asarray(self.draws)[:self.kept] = state["draws"]
        np.asarray(self.weights)[:self.kept] = state["weights"]


cdef class Walkers(FullRecorder):
    """The positions of all walkers of a chain, every `thin` steps, until there are enough.

    Parameters
    ----------
    draws : int
        Of all walkers together.
    walkers, dim, thin : int
    """

    cdef readonly Py_ssize_t walkers

    def __init__(self, Py_ssize_t draws, Py_ssize_t walkers, Py_ssize_t dim, Py_ssize_t thin):
        FullRecorder.__init__(self, draws, dim, thin)
        self.walkers = walkers

    cdef int keep(self, const State *s) except -1 nogil:
        cdef State one = s[0]
        cdef Py_ssize_t k
        cdef int status = OK
        one.dim = s.dim // self.walkers
        for k in range(self.walkers):
            one.x = s.x + k * one.dim
            if status == OK:
                status = FullRecorder.keep(self, &one)
        return status

    @staticmethod
    def by_walker(draws, walkers):
        """Draws in the order of steps, (draw, ...), walker after walker."""
        return draws[np.argsort(np.arange(len(draws)) % walkers, kind="stable")]


cdef class Spaced(FullRecorder):
    """Positions whenever the time since the last one exceeds that of the first step that is
    recorded, the "mixing distance" of Welling & Teh (2011, section 5.3.1).

    Parameters
    ----------
    draws, dim : int
    power : float
        The time of a step grows with this power of it.

    Attributes
    ----------
    times : array (draws,)
        The time between a draw and the one before it; the first step's is 1.
    """

    cdef readonly double[::1] times
    cdef readonly double first, power, elapsed

    def __init__(self, Py_ssize_t draws, Py_ssize_t dim, double power):
        FullRecorder.__init__(self, draws, dim, 1)
        self.times, self.power = np.zeros(draws), power

    cdef int record(self, const State *s, Gradient g) except -1 nogil:
        if self.kept == self.draws.shape[0]:
            return FULL
        if self.first == 0:
            self.first = s.weight
        self.elapsed += pow(s.weight / self.first, self.power)
        if self.elapsed <= 1:
            return OK
        self.times[self.kept] = self.elapsed
        self.elapsed = 0
        return self.keep(s)

    def state(self):
        """Draws so far, and the time since the last one."""
        return {**FullRecorder.state(self), "times": np.asarray(self.times[:self.kept]),
                "first": self.first, "elapsed": self.elapsed}

    def set_state(self, state):
        """Continue from a `state()`."""
        FullRecorder.set_state(self, state)
        np.asarray(self.times)[:self.kept] = state["times"]
        self.first, self.elapsed = state["first"], state["elapsed"]


def steps_to_space(Schedule schedule not None, int64_t start, Py_ssize_t draws, double power,
                   int64_t most):
    """Steps from number `start` on in which a `Spaced` recorder is full; -1 where `most` are not
    enough.
    """
    cdef int64_t t = start
    cdef Py_ssize_t kept = 0
    cdef double elapsed = 0, first = schedule.at(start)
    with nogil:
        while kept < draws and t - start < most:
            elapsed += pow(schedule.at(t) / first, power)
            t += 1
            if elapsed > 1:
                kept, elapsed = kept + 1, 0
    return t - start if kept == draws else -1


cdef class MomentsRecorder(Recorder):
    """Weighted mean and covariance of all positions, updated one by one (West 1979);
    memory does not grow.

    Parameters
    ----------
    dim : int
    """

    cdef readonly double[::1] mean
    cdef readonly double[:, ::1] scatter
    cdef readonly double total
    cdef double[::1] deviation

    def __init__(self, Py_ssize_t dim):
        self.mean, self.deviation, self.scatter = np.zeros(dim), np.zeros(dim), np.zeros((dim, dim))

    cdef int record(self, const State *s, Gradient g) except -1 nogil:
        cdef Py_ssize_t j, k
        cdef double share
        self.total += s.weight
        share = s.weight / self.total
        for j in range(s.dim):
            self.deviation[j] = s.x[j] - self.mean[j]
            self.mean[j] += share * self.deviation[j]
        for j in range(s.dim):
            for k in range(s.dim):
                self.scatter[j, k] += s.weight * (1 - share) * self.deviation[j] * self.deviation[k]
        return OK

    def covariance(self):
        """Weighted covariance of the positions so far."""
        return np.asarray(self.scatter) / self.total

    def state(self):
        """The running sums."""
        return {"mean": np.array(self.mean), "scatter": np.array(self.scatter), "total": self.total}

    def set_state(self, state):
        """Continue from a `state()`."""
        np.asarray(self.mean)[:], np.asarray(self.scatter)[:] = state["mean"], state["scatter"]
        self.total = state["total"]
