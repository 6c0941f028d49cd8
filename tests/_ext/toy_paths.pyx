"""A sampler in continuous time and a recorder of paths for tests:
what the contracts must serve without change.
"""
import numpy as np

from libc.math cimport fmax, fmin, log, sqrt
from libc.string cimport memcpy

from sgmc.core.contract cimport (
    BOUND, OK, Gradient, Recorder, Rng, Sampler, State, next_uniform, normal_fill,
)


cdef class BouncyParticle(Sampler):
    """Bouncy particle sampler with minibatches (Pakman et al. 2017);
    exact while its bound holds, else status BOUND.

    On a line x + t v the batch's rate max(0, -v . g_b) is at most a + c t with a = |v| noise - v .
    g(x), c = |v|^2 curvature.  An event proposed at that rate bounces in g_b with probability
    rate / bound; velocities are drawn anew at rate `refreshment`.

    Parameters
    ----------
    curvature : float
        Largest eigenvalue of any batch's Hessian of U.
    noise : float
        Largest distance of a batch's gradient from the exact one.
    """

    cdef double curvature, noise, refreshment
    cdef double[::1] g

    def __init__(self, Py_ssize_t dim, double curvature, double noise, double refreshment):
        Sampler.__init__(self, dim, 1)
        self.curvature, self.noise = curvature, noise
        self.refreshment, self.g = refreshment, np.zeros(dim)

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        normal_fill(rng, s.dim, s.v)
        return OK

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j
        cdef double value = 0, speed = self.dot(s.v, s.v), a
        cdef double c = self.curvature * speed, e, wait, rate, bound
        g.full(s.x, &value, &self.g[0])
        a = sqrt(speed) * self.noise - self.dot(s.v, &self.g[0])
        e = -2 * c * log(1 - next_uniform(rng))
        s.dt = (sqrt(a * a + e) - a) / c if a > 0 else (sqrt(e) - a) / c
        wait = -log(1 - next_uniform(rng)) / self.refreshment
        for j in range(s.dim):
            s.x[j] += fmin(s.dt, wait) * s.v[j]
        if wait < s.dt:
            s.dt = wait
            normal_fill(rng, s.dim, s.v)
            return OK
        g.estimate(s.x, rng, &self.g[0], NULL)
        rate, bound = -self.dot(s.v, &self.g[0]), a + c * s.dt
        if rate > bound * (1 + 1e-9):
            return BOUND
        if next_uniform(rng) * bound < rate:
            e = 2 * self.dot(s.v, &self.g[0]) / self.dot(&self.g[0], &self.g[0])
            for j in range(s.dim):
                s.v[j] -= e * self.g[j]
        return OK

    cdef double dot(self, const double *a, const double *b) noexcept nogil:
        cdef Py_ssize_t j
        cdef double total = 0
        for j in range(self.dim):
            total += a[j] * b[j]
        return total


cdef class PathMoments(Recorder):
    """Integrals over time of x and x x' along the straight pieces of a path.

    Parameters
    ----------
    dim : int
    """

    cdef readonly double[::1] first
    cdef readonly double[:, ::1] second
    cdef readonly double time
    cdef double[::1] before
    cdef bint begun

    def __init__(self, Py_ssize_t dim):
        self.first, self.second, self.before = np.zeros(dim), np.zeros((dim, dim)), np.zeros(dim)

    cdef int record(self, const State *s, Gradient g) except -1 nogil:
        cdef Py_ssize_t j, k
        cdef const double *x = s.x
        cdef double *b = &self.before[0]
        if self.begun:
            self.time += s.dt
            for j in range(s.dim):
                self.first[j] += s.dt * (b[j] + x[j]) / 2
                for k in range(s.dim):
                    self.second[j, k] += s.dt * (b[j] * b[k] + x[j] * x[k]
                                                 + (b[j] * x[k] + x[j] * b[k]) / 2) / 3
        self.begun = True
        memcpy(b, x, s.dim * sizeof(double))
        return OK

    def state(self):
        """The integrals and where the path stands."""
        return {"first": np.array(self.first), "second": np.array(self.second), "time": self.time,
                "before": np.array(self.before), "begun": self.begun}

    def set_state(self, state):
        """Continue from a `state()`."""
        self.first, self.second, self.before = (np.array(state[k])
                                                for k in ("first", "second", "before"))
        self.time, self.begun = state["time"], state["begun"]
