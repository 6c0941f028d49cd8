"""What is kept of the draws of a factorisation: predictions of given pairs, summed up, and a few
draws of everything.
"""
import numpy as np

from libc.math cimport NAN, fmax, fmin, lgamma, log, sqrt

from sgmc.core.bank cimport ThinnedDraws
from sgmc.core.contract cimport OK
from sgmc.models.factorization.hierarchy cimport Everyone
from sgmc.models.factorization.products cimport Entry, products


cdef class Rated(ThinnedDraws):
    """A `ThinnedDraws`, by whose whole draws any pair can be predicted, that also sums up
    predictions of given pairs, and keeps all draws of those of a few.

    A prediction is centre + unit (U_i . V_j + a_i + b_j), clipped to a range, draw by draw; mean
    and scatter are updated one by one (West 1979).

    Parameters
    ----------
    draws, thin, map, dim, columns
        See `ThinnedDraws`.
    pairs : (array of int, array of int, array, array)
        Users, items, newcomers among them, their ratings, NaN where unknown, and below which order
        moments of their expectations are finite.  Accuracies are of those with a mean.
    judged : (array of int, array of int)
        Users and items of the few, none of them new; their predictions are kept unclipped.
    prior : Hierarchy
    form : dict
        ``sizes`` (users, items, rank), ``biases`` (0 or 1), ``fresh`` (new users and items),
        ``centre``, ``unit``, ``low``, ``high``, and ``counts``: whether accuracy is the log density
        of Poisson counts, else the squared error.
    """

    always = True
    cdef Entry[::1] pairs, few
    cdef Everyone everyone
    cdef bint biases, counts
    cdef double centre, unit, low, high
    cdef double[::1] predicted
    cdef readonly object moments
    cdef readonly double[::1] average, spread  # means and sums of squares of predictions
    cdef readonly double[:, ::1] judged        # of each draw
    cdef readonly double[:, ::1] path  # accuracy of each draw, and of the mean so far

    def __init__(self, draws, thin, map, dim, columns, pairs, judged, prior, form):
        ThinnedDraws.__init__(self, draws, thin, map, dim, columns)
        user, item, value, self.moments = pairs
        self.pairs = entries(user, item, np.where(self.moments > 1, value, np.nan))
        self.few = entries(*judged, 0.0)
        self.judged = np.empty((draws, len(judged[0])))
        self.everyone = Everyone(prior, form["sizes"], form["biases"], form["fresh"])
        self.biases, self.counts = form["biases"], form["counts"]
        self.centre, self.unit = form["centre"], form["unit"]
        self.low, self.high = form["low"], form["high"]
        self.predicted = np.zeros(len(user))
        self.average, self.spread = np.zeros(len(user)), np.zeros(len(user))
        self.path = np.full((draws, 2), np.nan)

    cdef int accumulate(self, const double *theta, double weight) except -1 nogil:
        cdef Py_ssize_t i
        cdef double e, share = weight / self.total
        ThinnedDraws.accumulate(self, theta, weight)
        self.everyone.take(theta, self.kept)
        self.predict(self.few, &self.judged[self.kept, 0])
        if self.pairs.shape[0] == 0:
            return OK
        self.predict(self.pairs, &self.predicted[0])
        for i in range(self.pairs.shape[0]):
            self.predicted[i] = fmin(fmax(self.predicted[i], self.low), self.high)
        self.path[self.kept, 0] = self.accuracy(&self.predicted[0])
        for i in range(self.pairs.shape[0]):
            e = self.predicted[i] - self.average[i]
            self.average[i] += share * e
            self.spread[i] += weight * (1 - share) * e * e
        self.path[self.kept, 1] = self.accuracy(&self.average[0])
        return OK

    cdef void predict(self, Entry[::1] pairs, double *out) noexcept nogil:
        """Expected ratings of pairs in the draw that `everyone` is of."""
        cdef Py_ssize_t i
        cdef const Entry *y
        products(pairs.shape[0], self.everyone.rank, &pairs[0], NULL, self.everyone.U,
                 self.everyone.V, out)
        for i in range(pairs.shape[0]):
            y = &pairs[i]
            if self.biases:
                out[i] += self.everyone.a[y.user] + self.everyone.b[y.item]
            out[i] = self.centre + self.unit * out[i]

    cdef double accuracy(self, const double *predicted) noexcept nogil:
        """Root mean square error, or the sum of log densities, over pairs whose rating is known;
        NaN without such.
        """
        cdef Py_ssize_t i, known = 0
        cdef double y, p, total = 0
        for i in range(self.pairs.shape[0]):
            y, p = self.pairs[i].value, predicted[i]
            if y != y:
                continue
            known += 1
            total += y * log(p) - p - lgamma(y + 1) if self.counts else (y - p) * (y - p)
        if known == 0:
            return NAN
        return total if self.counts else sqrt(total / known)

    def state(self):
        """Also sums and accuracies so far."""
        return {**ThinnedDraws.state(self), "average": np.array(self.average),
                "spread": np.array(self.spread),
                "path": np.asarray(self.path[:self.kept]),
                "judged": np.asarray(self.judged[:self.kept])}

    def set_state(self, state):
        """Continue from a `state()`."""
        ThinnedDraws.set_state(self, state)
        np.asarray(self.average)[:], np.asarray(self.spread)[:] = state["average"], state["spread"]
        np.asarray(self.path)[:self.kept] = state["path"]
        np.asarray(self.judged)[:self.kept] = state["judged"]


def entries(user, item, value):
    """A table of `Entry`."""
    kinds = [("user", np.int32), ("item", np.int32), ("value", np.float64)]
    table = np.empty(len(user), dtype=kinds)
    table["user"], table["item"], table["value"] = user, item, value
    return table
