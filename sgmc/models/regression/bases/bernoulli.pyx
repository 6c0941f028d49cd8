"""The shared base of links for outcomes 0 and 1, and for shares of successes whose trials are part
of the row's weight.

A leaf defines `outcomes` and `outcome_information`, of successes and failures alone.
"""
import numpy as np

from sgmc.core.contract cimport OK
from sgmc.core.system.storage import spans
from sgmc.models.regression.bases.glm cimport Glm


cdef class Bernoulli(Glm):
    """log density y_i log p_i + (1 - y_i) log(1 - p_i) for 0 <= y_i <= 1;
    scores and curvatures are mixed alike.
    """

    def __init__(self, X, y, offset=None, weight=None):
        Glm.__init__(self, X, y, offset, weight)
        y = np.asarray(self.y)
        parts = (y[rows] for rows in spans(self.n))
        self.shares = any(bool(((part != 0) & (part != 1)).any()) for part in parts)

    cdef int outcomes(self, Py_ssize_t m, const double *eta, const double *y, double *r,
                      double *density) except -1 nogil:
        raise NotImplementedError("outcomes")

    cdef int outcome_information(self, Py_ssize_t m, const double *eta, const double *y,
                                 double *w) except -1 nogil:
        raise NotImplementedError("outcome_information")

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i
        cdef double rarer, slope, value = 0
        self.outcomes(m, eta, y, r, density)
        for i in range(m if self.shares else 0):
            rarer = y[i] <= 0.5
            self.outcomes(1, eta + i, &rarer, &slope, &value if density != NULL else NULL)
            r[i] = mixed(y[i], r[i], slope)
            if density != NULL:
                density[i] = mixed(y[i], density[i], value)
        return OK

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double rarer, curvature
        self.outcome_information(m, eta, y, w)
        for i in range(m if self.shares else 0):
            rarer = y[i] <= 0.5
            self.outcome_information(1, eta + i, &rarer, &curvature)
            w[i] = mixed(y[i], w[i], curvature)
        return OK


cdef double mixed(double y, double commoner, double rarer) noexcept nogil:
    """The mean over a row's trials of what its commoner and its rarer outcome have."""
    cdef double share = y if y > 0.5 else 1 - y
    return share * commoner + (1 - share) * rarer
