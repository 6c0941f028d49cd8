"""What is kept of the draws of a factorisation: predictions of given pairs, summed up, and a few
draws of everything.
"""
import numpy as np

from libc.math cimport NAN, fmax, fmin, lgamma, log, sqrt

from sgmc.core.bank cimport Bank
from sgmc.core.contract cimport OK
from sgmc.models.factorization.products cimport Entry, products


cdef class Rated(Bank):
    """A `Bank`, by whose whole draws any pair can be predicted,
    that also sums up predictions of given pairs.

    A prediction is centre + U_i . V_j + a_i + b_j, clipped to a range, draw by draw; mean and
    scatter are updated one by one (West 1979).  Of users without ratings U_i is mu_U where `means`
    says where that is, else the mean over all users; of items likewise.

    Parameters
    ----------
    draws, thin, map, dim, columns
        See `Bank`.
    pairs : (array of int, array of int, array)
        Users, items (-1: without ratings) and their ratings, NaN where unknown.
    form : dict
        ``sizes`` (users, items, rank), ``biases`` (0 or 1), ``means`` (where mu_U, mu_V, mu_a and
        mu_b are, or -1), ``centre``, ``low``, ``high``, and ``counts``: whether accuracy is the log
        density of Poisson counts, else the squared error.
    """

    always = True
    cdef Entry[::1] pairs
    cdef Py_ssize_t[::1] strange          # pairs of which user or item is without ratings
    cdef char[::1] new_user, new_item
    cdef Py_ssize_t users, items, rank
    cdef Py_ssize_t means[4]
    cdef bint biases, counts
    cdef double centre, low, high
    cdef double[::1] predicted, other
    cdef readonly double[::1] average, spread  # means and sums of squares of predictions
    cdef readonly double[:, ::1] path  # accuracy of each draw, and of the mean so far

    def __init__(self, draws, thin, map, dim, columns, pairs, form):
        Bank.__init__(self, draws, thin, map, dim, columns)
        user, item, value = pairs
        table = np.empty(len(user), dtype=[("user", np.int32), ("item", np.int32),
                                           ("value", np.float64)])
        table["user"], table["item"], table["value"] = np.maximum(user, 0), np.maximum(item,
                                                                                       0), value
        self.pairs = table
        self.new_user, self.new_item = (user < 0).astype(np.int8), (item < 0).astype(np.int8)
        self.strange = np.flatnonzero((user < 0) | (item < 0)).astype(np.intp)
        (self.users, self.items, self.rank), self.means = form["sizes"], form["means"]
        self.biases, self.counts, self.centre = form["biases"], form["counts"], form["centre"]
        self.low, self.high = form["low"], form["high"]
        self.predicted, self.other = np.zeros(len(user)), np.zeros(2 * (self.rank + 1))
        self.average, self.spread = np.zeros(len(user)), np.zeros(len(user))
        self.path = np.full((draws, 2), np.nan)

    cdef int take(self, const double *theta, double weight) except -1 nogil:
        cdef Py_ssize_t i
        cdef double e, share = weight / self.total
        Bank.take(self, theta, weight)
        if self.pairs.shape[0] == 0:
            return OK
        self.predict(theta)
        self.path[self.kept, 0] = self.accuracy(&self.predicted[0])
        for i in range(self.pairs.shape[0]):
            e = self.predicted[i] - self.average[i]
            self.average[i] += share * e
            self.spread[i] += weight * (1 - share) * e * e
        self.path[self.kept, 1] = self.accuracy(&self.average[0])
        return OK

    cdef void predict(self, const double *theta) noexcept nogil:
        """Predictions of all pairs from a draw."""
        cdef Py_ssize_t i, j, d = self.rank
        cdef const double *U = theta
        cdef const double *V = U + self.users * d
        cdef const double *a = V + self.items * d
        cdef const Entry *y
        products(self.pairs.shape[0], d, &self.pairs[0], NULL, U, V, &self.predicted[0])
        if self.biases:
            for i in range(self.pairs.shape[0]):
                self.predicted[i] += a[self.pairs[i].user] + a[self.users + self.pairs[i].item]
        if self.strange.shape[0] > 0:
            self.without_ratings(theta)
        for j in range(self.strange.shape[0]):
            i = self.strange[j]
            y = &self.pairs[i]
            self.predicted[i] = dot(d, &self.other[0] if self.new_user[i] else U + y.user * d,
                                    &self.other[d + 1] if self.new_item[i] else V + y.item * d)
            if self.biases:
                self.predicted[i] += ((self.other[d] if self.new_user[i] else a[y.user])
                                      + (self.other[2 * d + 1] if self.new_item[i]
                                         else a[self.users + y.item]))
        for i in range(self.pairs.shape[0]):
            self.predicted[i] = fmin(fmax(self.centre + self.predicted[i], self.low), self.high)

    cdef void without_ratings(self, const double *theta) noexcept nogil:
        """Factors and biases of users and items without ratings."""
        cdef Py_ssize_t side, d = self.rank, half = self.users * d
        for side in range(2):
            mean_of(self.items if side else self.users, d, theta + (half if side else 0), theta,
                    self.means[side],
                    &self.other[side * (d + 1)])
            if self.biases:
                self.other[side * (d + 1) + d] = theta[self.means[2 + side]]

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
        return {**Bank.state(self), "average": np.array(self.average),
                "spread": np.array(self.spread),
                "path": np.asarray(self.path[:self.kept])}

    def set_state(self, state):
        """Continue from a `state()`."""
        Bank.set_state(self, state)
        np.asarray(self.average)[:], np.asarray(self.spread)[:] = state["average"], state["spread"]
        np.asarray(self.path)[:self.kept] = state["path"]


cdef double dot(Py_ssize_t d, const double *u, const double *v) noexcept nogil:
    """u . v"""
    cdef Py_ssize_t k
    cdef double total = 0
    for k in range(d):
        total += u[k] * v[k]
    return total


cdef void mean_of(Py_ssize_t n, Py_ssize_t d, const double *w, const double *theta, Py_ssize_t at,
                  double *out) noexcept nogil:
    """A prior mean at `at` in theta, or where that is negative the mean of n rows w."""
    cdef Py_ssize_t i, k
    for k in range(d):
        out[k] = theta[at + k] if at >= 0 else 0
        for i in range(n if at < 0 else 0):
            out[k] += w[i * d + k] / n
