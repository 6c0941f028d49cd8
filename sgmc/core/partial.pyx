"""A recorder whose memory does not grow with the parameters: draws of some, moments of all."""
import numpy as np

from libc.string cimport memcpy

from sgmc.core.contract cimport DIVERGED, FULL, OK, Gradient, Map, Recorder, State, diverged


cdef class SubsetRecorder(Recorder):
    """Of every `thin`-th position some parameters, and the weighted mean and variance of all,
    updated one by one (West 1979).

    Subclasses that sum up something else of a draw, such as predictions, define `accumulate`.

    Parameters
    ----------
    draws, thin : int
    map : Map or None
        From positions to parameters.
    dim : int
        Parameters.
    columns : array of int
        Those whose draws are kept.

    Attributes
    ----------
    always : bool
        Whether it is wanted also where there is room for the draws of all parameters.
    """

    always = False

    def __init__(self, Py_ssize_t draws, Py_ssize_t thin, Map map, Py_ssize_t dim, columns):
        self.columns = np.array(columns, dtype=np.intp)
        self.draws = np.zeros((draws, len(columns)))
        self.weights, self.thin, self.map = np.zeros(draws), thin, map
        self.mean, self.scatter, self.theta = np.zeros(dim), np.zeros(dim), np.zeros(dim)

    cdef int record(self, const State *s, Gradient g) except -1 nogil:
        cdef Py_ssize_t j
        cdef double share, e
        if self.kept == self.draws.shape[0]:
            return FULL
        self.since += 1
        if self.since < self.thin:
            return OK
        for j in range(s.dim):
            if diverged(s.x[j]):
                return DIVERGED
        if self.map is None:
            memcpy(&self.theta[0], s.x, s.dim * sizeof(double))
        else:
            self.map.forward(s.x, &self.theta[0], NULL)
        self.total += s.weight
        share = s.weight / self.total
        for j in range(self.theta.shape[0]):
            e = self.theta[j] - self.mean[j]
            self.mean[j] += share * e
            self.scatter[j] += s.weight * (1 - share) * e * e
        for j in range(self.columns.shape[0]):
            self.draws[self.kept, j] = self.theta[self.columns[j]]
        self.weights[self.kept] = s.weight
        self.accumulate(&self.theta[0], s.weight)
        self.kept += 1
        self.since = 0
        return FULL if self.kept == self.draws.shape[0] else OK

    cdef int accumulate(self, const double *theta, double weight) except -1 nogil:
        """What a subclass sums up of a draw."""
        return OK

    def state(self):
        """Draws and sums so far, and the place within the thinning."""
        return {"draws": np.asarray(self.draws[:self.kept]),
                "weights": np.asarray(self.weights[:self.kept]), "since": self.since,
                "mean": np.array(self.mean), "scatter": np.array(self.scatter), "total": self.total}

    def set_state(self, state):
        """Continue from a `state()` of no more draws than there is room for."""
        self.kept, self.since, self.total = len(state["draws"]), state["since"], state["total"]
        np.asarray(self.draws)[:self.kept] = state["draws"]
        np.asarray(self.weights)[:self.kept] = state["weights"]
        np.asarray(self.mean)[:], np.asarray(self.scatter)[:] = state["mean"], state["scatter"]


def pooled(recorders):
    """Mean and sd of all parameters over the draws of some recorders, arrays (dim,)."""
    weights = np.array([r.total for r in recorders])
    mean = np.average([np.asarray(r.mean) for r in recorders], axis=0, weights=weights)
    within = sum(np.asarray(r.scatter) for r in recorders)
    between = sum(w * (np.asarray(r.mean) - mean) ** 2 for w, r in zip(weights, recorders))
    return mean, np.sqrt((within + between) / weights.sum())
