"""Regressions of outcomes that are known in part: censored, truncated, or both."""
import numpy as np

from libc.math cimport INFINITY

from sgmc.arguments.data.limited import ENDS, limited
from sgmc.core.contract cimport OK
from sgmc.models.regression.bases.dispersed cimport Dispersed


cdef Interval interval(double low, double high) noexcept nogil:
    """The interval between two ends, which may be infinite."""
    cdef Interval out
    out.low, out.high = low, high
    if low == high:
        out.code = OBSERVED
    elif low == -INFINITY:
        out.code = ANYWHERE if high == INFINITY else BEFORE
    else:
        out.code = AFTER if high == INFINITY else BETWEEN
    return out


cdef class InPart(Dispersed):
    """y_i in [low_i, high_i] by a law of eta_i and u, given that it could be seen, in [above_i,
    below_i]: the log density (where low = high), or log probability, of the first interval, less
    the log probability of the second.

    Outcomes of the base are the rows' places in a table of what is known of each.  Expected
    curvatures are those of the law where rows were observed; products of scores where they are
    censored, as it is not known which others would have been, and where they are truncated.

    Parameters
    ----------
    X, offset, weight
        As in `Glm`.
    y : array (n,)
        Outcomes of any kind, see `sgmc.arguments.data.limited`.
    """

    def __init__(self, X, y, offset=None, weight=None):
        cdef const double[:, ::1] ends = self.scaled(limited(y))
        cdef Py_ssize_t i
        cdef char[::1] room
        Dispersed.__init__(self, X, np.arange(len(ends), dtype=float), offset, weight)
        self.room = np.empty(max(len(ends), 1) * sizeof(Place), dtype=np.int8)
        room = self.room
        self.places = <Place *> &room[0]
        for i in range(ends.shape[0]):
            self.places[i].outcome = interval(ends[i, 0], ends[i, 1])
            self.places[i].seen = interval(ends[i, 2], ends[i, 3])

    @staticmethod
    def scaled(y):
        """The ends of records on the scale of the predictor, (n, 4)."""
        return np.column_stack([y[name] for name in ENDS.names])

    cdef Parts parts(self, Interval outcome, double eta, double u) noexcept nogil:
        cdef Parts p
        p.value = p.eta = p.u = p.eta_eta = p.eta_u = p.u_u = 0
        return p

    cdef void expected_row(self, Interval outcome, double eta, double u, double *w) noexcept nogil:
        w[0] = w[1] = w[2] = w[3] = 0

    cdef Parts of_row(self, Place row, double eta, double u) noexcept nogil:
        """What is known of a row, given that it could be seen."""
        cdef Parts p = self.parts(row.outcome, eta, u), s
        if row.seen.code != ANYWHERE:
            s = self.parts(row.seen, eta, u)
            p.value -= s.value
            p.eta -= s.eta
            p.u -= s.u
            p.eta_eta -= s.eta_eta
            p.eta_u -= s.eta_u
            p.u_u -= s.u_u
        return p

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i
        cdef double u = theta[self.X.d]
        cdef Parts p
        for i in range(m):
            p = self.of_row(self.places[<Py_ssize_t> y[i]], eta[i], u)
            r[2 * i], r[2 * i + 1] = p.eta, p.u
            if density != NULL:
                density[i] = p.value
        return self.rounded(theta, m, r, density)

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double u = theta[self.X.d]
        cdef Parts p
        for i in range(m):
            p = self.of_row(self.places[<Py_ssize_t> y[i]], eta[i], u)
            w[4 * i] = p.eta_eta
            w[4 * i + 1] = w[4 * i + 2] = p.eta_u
            w[4 * i + 3] = p.u_u
        return self.rounded_information(theta, m, w)

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i
        cdef double u = theta[self.X.d]
        cdef Place row
        cdef Parts p
        for i in range(m):
            row = self.places[<Py_ssize_t> y[i]]
            if row.outcome.code == OBSERVED and row.seen.code == ANYWHERE:
                self.expected_row(row.outcome, eta[i], u, w + 4 * i)
            else:
                p = self.of_row(row, eta[i], u)
                w[4 * i] = p.eta * p.eta
                w[4 * i + 1] = w[4 * i + 2] = p.eta * p.u
                w[4 * i + 3] = p.u * p.u
        return OK

    def log_densities(self, eta, u):
        """log p of each row, (n,), at predictors (n,) and logs of the auxiliary parameter (n,)."""
        cdef const double[::1] at = eta, scale = u
        cdef double[::1] out = np.empty(self.n)
        cdef Py_ssize_t i
        with nogil:
            for i in range(out.shape[0]):
                out[i] = self.of_row(self.places[i], at[i], scale[i]).value
        return np.asarray(out)
