"""A recorder that keeps whole draws too, as many as there is room for."""
import numpy as np

from libc.float cimport FLT_MAX, FLT_MIN
from libc.math cimport INFINITY, copysign, fabs

from sgmc.core.contract cimport OK, Map
from sgmc.core.partial cimport SubsetRecorder

MAX_BANKED, BANK_MEMORY = 200, 1 << 26        # draws of a chain, and their bytes


cdef class ThinnedDraws(SubsetRecorder):
    """A `SubsetRecorder` that also keeps whole draws in float32, for predictions: every one until
    there is no more room, then every second of them, and so on, so that they are evenly spaced
    however long the run.  Numbers of other sizes than those of float32 become its least or its
    largest: what is positive and finite stays so.

    Parameters
    ----------
    draws, thin, map, dim, columns
        See `SubsetRecorder`.
    """

    def __init__(self, Py_ssize_t draws, Py_ssize_t thin, Map map, Py_ssize_t dim, columns):
        SubsetRecorder.__init__(self, draws, thin, map, dim, columns)
        room = 2 * max(min(MAX_BANKED, BANK_MEMORY // (4 * dim)) // 2, 1)
        self.whole = np.zeros((room, dim), dtype=np.float32)
        self.whole_weights, self.spacing = np.zeros(room), 1

    @property
    def bank(self):
        """The whole draws, (k, dim), and their weights, (k,)."""
        return np.array(self.whole[:self.stored]), np.array(self.whole_weights[:self.stored])

    cdef int accumulate(self, const double *theta, double weight) except -1 nogil:
        cdef Py_ssize_t j, k
        if self.kept % self.spacing:
            return OK
        # an even number: the next draw has a place after the halving
        if self.stored == self.whole.shape[0]:
            self.stored //= 2
            self.spacing *= 2
            for k in range(1, self.stored):
                self.whole[k, :] = self.whole[2 * k, :]
                self.whole_weights[k] = self.whole_weights[2 * k]
        for j in range(self.whole.shape[1]):
            self.whole[self.stored, j] = single(theta[j])
        self.whole_weights[self.stored] = weight
        self.stored += 1
        return OK

    def state(self):
        """Also the whole draws."""
        whole, weights = self.bank
        return {**SubsetRecorder.state(self), "whole": whole, "whole_weights": weights,
                "spacing": self.spacing}

    def set_state(self, state):
        """Continue from a `state()`."""
        SubsetRecorder.set_state(self, state)
        self.stored, self.spacing = len(state["whole"]), state["spacing"]
        np.asarray(self.whole)[:self.stored] = state["whole"]
        np.asarray(self.whole_weights)[:self.stored] = state["whole_weights"]


cdef inline float single(double value) noexcept nogil:
    """A number in float32."""
    if fabs(value) > FLT_MAX and fabs(value) != INFINITY:
        return <float> copysign(FLT_MAX, value)
    if fabs(value) < FLT_MIN and value != 0:
        return <float> copysign(FLT_MIN, value)
    return <float> value
