"""The loop over steps: no Python inside, no clock inside."""
import numpy as np

from libc.stdint cimport INT64_MAX, int64_t

from sgmc.core.contract cimport (
    DIVERGED, FULL, OK, SPENT, Gradient, Recorder, Rng, Sampler, Schedule, State,
    diverged,
)

STATUS_NAMES = {0: "ok", 1: "diverged", 2: "full", 3: "bound exceeded", 4: "spent"}

cdef enum:
    STEPS_PER_CHECK = 64                    # steps between looks for lost positions


cdef class Chain:
    """One chain: position, sampler, gradient, stream, schedule and recorder.

    Parameters
    ----------
    x : array (dim,)
        Start, in sampler coordinates; copied.
    velocity : bool
        Whether the state has a velocity (piecewise-deterministic samplers).
    """

    cdef readonly Sampler sampler
    cdef readonly Gradient gradient
    cdef readonly Rng rng
    cdef readonly Schedule schedule
    cdef public Recorder recorder
    cdef public int64_t budget    # rows that it may touch
    cdef public object batches    # what changes its batches between steps of warmup, or None
    cdef public object watched    # what keeps positions of its warmup, or None
    cdef readonly double[::1] x, v
    cdef State s                  # points into x and v, which are never replaced
    cdef readonly int status
    cdef bint started

    def __init__(self, x, Sampler sampler not None, Gradient gradient not None, Rng rng not None,
                 Schedule schedule not None, bint velocity=False):
        self.x, self.v = np.array(x, dtype=float), np.zeros(len(x) if velocity else 1)
        self.sampler, self.gradient, self.rng, self.schedule = sampler, gradient, rng, schedule
        self.s.dim = len(x)
        self.s.x, self.s.v = &self.x[0], &self.v[0] if velocity else NULL
        self.s.dt, self.s.weight, self.s.diverged_index, self.s.t = 1, 1, -1, 0
        self.budget = INT64_MAX

    @property
    def steps(self):
        """Steps or events made."""
        return self.s.t

    @property
    def continuous(self):
        """Whether it moves in continuous time, from event to event."""
        return self.s.v != NULL

    @property
    def diverged_index(self):
        """The coordinate that diverged, or -1."""
        return self.s.diverged_index

    def run(self, int64_t steps, bint record=True):
        """At most `steps` steps, recorded or not; stops early with a status other than ok.

        Returns the status.
        """
        cdef int64_t k
        cdef int status = OK
        if record and self.recorder is None:
            raise ValueError("a chain that records needs a recorder")
        with nogil:
            if not self.started:
                self.sampler.step_size = self.schedule.at(0)
                status = self.sampler.start(&self.s, self.gradient, self.rng)
                self.started = True
            if record:
                self.recorder.open(&self.s)
            for k in range(steps):
                if status != OK:
                    break
                self.sampler.step_size = self.s.weight = self.schedule.at(self.s.t)
                status = self.sampler.step(&self.s, self.gradient, self.rng)
                self.gradient.refresh(self.s.x)
                self.s.t += 1
                if self.s.t % STEPS_PER_CHECK == 0 and status == OK and not finite(&self.s):
                    status = DIVERGED
                if record and status == OK:
                    status = self.recorder.record(&self.s, self.gradient)
                if status == OK and self.gradient.touched >= self.budget:
                    status = SPENT
            if status == DIVERGED:
                finite(&self.s)
        self.status = status
        return status

    def state(self):
        """Everything needed to continue the chain bit by bit."""
        warmup = {"warmup": self.watched.state()} if self.watched is not None else {}
        return {"x": np.array(self.x), "v": np.array(self.v), "t": self.s.t, "status": self.status,
                "culprit": self.s.diverged_index, "started": self.started, "rng": self.rng.state(),
                "sampler": self.sampler.state(),
                "gradient": self.gradient.state(),
                "recorder": self.recorder.state() if self.recorder else None,
                "batches": self.batches.state(self) if self.batches else None, **warmup}

    def set_state(self, state):
        """Continue from a `state()`."""
        if state["status"] not in STATUS_NAMES:
            raise ValueError(f"a chain has no status {state['status']}")
        np.asarray(self.x)[:], np.asarray(self.v)[:] = state["x"], state["v"]
        self.s.t, self.started = state["t"], state["started"]
        self.s.diverged_index = state["culprit"]
        # there may be room, and a new budget
        self.status = OK if state["status"] in (FULL, SPENT) else state["status"]
        self.rng.set_state(state["rng"])
        self.sampler.set_state(state["sampler"])
        if self.batches is not None:
            self.batches.set_state(self, state["batches"])
        self.gradient.set_state(state["gradient"])
        if self.watched is not None:
            self.watched.set_state(state["warmup"])
        if self.recorder is not None and state["recorder"] is not None:
            self.recorder.set_state(state["recorder"])


cdef bint finite(State *s) noexcept nogil:
    """Whether all coordinates are finite; else State.diverged_index is the first that is not."""
    cdef Py_ssize_t j
    for j in range(s.dim):
        if diverged(s.x[j]):
            s.diverged_index = j
            return False
    return True


def evaluate(Gradient gradient, x, Rng rng, bint noise=False):
    """One estimate (and its sd a coordinate, prior excluded) at x, as arrays (g, sd or None)."""
    cdef double[::1] at = np.array(x, dtype=float)
    cdef double[::1] g = np.empty(gradient.dim), sd = np.empty(gradient.dim)
    with nogil:
        gradient.estimate(&at[0], rng, &g[0], &sd[0] if noise else NULL)
    return np.asarray(g), np.asarray(sd) if noise else None


def full(Gradient gradient, x):
    """Exact log posterior (up to a constant) and its gradient at x, from all rows."""
    cdef double[::1] at = np.array(x, dtype=float), g = np.empty(gradient.dim)
    cdef double value = 0
    with nogil:
        gradient.full(&at[0], &value, &g[0])
    return value, np.asarray(g)


def density(Gradient gradient, x):
    """Exact log posterior (up to a constant) at x, from all rows."""
    cdef double[::1] at = np.array(x, dtype=float)
    cdef double value = 0
    with nogil:
        gradient.full(&at[0], &value, NULL)
    return value


def full_many(Gradient gradient, points, bint slopes=True):
    """Exact log posterior (up to a constant) and its gradient, or None for it, at each of some
    points (n, dim), by one pass over the rows.
    """
    cdef double[:, ::1] at = np.array(points, dtype=float, order="C")
    cdef double[:, ::1] g = np.empty((at.shape[0] if slopes else 1, gradient.dim))
    cdef double[::1] value = np.empty(at.shape[0])
    with nogil:
        gradient.full_many(&at[0, 0], at.shape[0], &value[0], &g[0, 0] if slopes else NULL)
    return np.asarray(value), np.asarray(g) if slopes else None


def scores(Gradient gradient, const double[:, ::1] points, Rng rng):
    """Gradient estimates at each of some points, (n, dim)."""
    cdef double[:, ::1] out = np.empty((points.shape[0], gradient.dim))
    cdef Py_ssize_t i
    with nogil:
        for i in range(points.shape[0]):
            gradient.estimate(&points[i, 0], rng, &out[i, 0], NULL)
    return np.asarray(out)
