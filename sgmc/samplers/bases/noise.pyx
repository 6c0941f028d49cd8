"""The sd of the gradient estimate, or its covariance, followed along a chain."""
import numpy as np

from sgmc.core.contract cimport OK, Gradient, Rng
from sgmc.core.covariance cimport BatchCovariance
from sgmc.core.spec import Parameter

NOISE_WEIGHT = Parameter("beta", 0.1, "weight of the newest sd in the running mean tau", 0.0, 1.0)


cdef class NoiseTracker:
    """tau: exponential average of the gradient's sd, without the bias of its start at zero (as in
    Adam).

    Parameters
    ----------
    dim : int
    beta : float
        Weight of the newest value.
    """

    def __init__(self, Py_ssize_t dim, double beta):
        self.beta, self.decay, self.sd, self.mean = beta, 1.0, np.zeros(dim), np.zeros(dim)

    cdef void track(self) noexcept nogil:
        """sd, the newest estimate, becomes tau."""
        cdef Py_ssize_t j
        self.decay *= 1 - self.beta
        for j in range(self.sd.shape[0]):
            self.mean[j] += self.beta * (self.sd[j] - self.mean[j])
            self.sd[j] = self.mean[j] / (1 - self.decay)

    def state(self):
        """The average and what is left of its start."""
        return {"mean": np.array(self.mean), "decay": self.decay}

    def set_state(self, state):
        """Continue from a `state()`."""
        np.asarray(self.mean)[:], self.decay = state["mean"], state["decay"]


cdef class CovarianceTracker:
    """The same of the covariance between all coordinates.

    Parameters
    ----------
    dim : int
    beta : float
        Weight of the newest value.
    """

    def __init__(self, Py_ssize_t dim, double beta):
        self.beta, self.decay = beta, 1.0
        self.covariance, self.mean = np.zeros((dim, dim)), np.zeros((dim, dim))

    cdef int estimate(self, Gradient gradient, const double *x, Rng rng,
                      double *g) except -1 nogil:
        """g at x; `covariance` becomes the tracked one."""
        cdef Py_ssize_t j, k
        if self.batch is None:
            with gil:
                self.batch = BatchCovariance(gradient)
        self.batch.estimate(gradient, x, rng, g, &self.covariance[0, 0])
        self.decay *= 1 - self.beta
        for j in range(self.covariance.shape[0]):
            for k in range(self.covariance.shape[0]):
                self.mean[j, k] += self.beta * (self.covariance[j, k] - self.mean[j, k])
                self.covariance[j, k] = self.mean[j, k] / (1 - self.decay)
        return OK

    def state(self):
        """The average and what is left of its start."""
        return {"mean": np.array(self.mean), "decay": self.decay}

    def set_state(self, state):
        """Continue from a `state()`."""
        np.asarray(self.mean)[...], self.decay = state["mean"], state["decay"]
