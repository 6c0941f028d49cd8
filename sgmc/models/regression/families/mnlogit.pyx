"""Multinomial logistic regression."""
import numpy as np

from libc.math cimport exp, log
from libc.string cimport memset

from sgmc.core.contract cimport OK, Batch, Design, Model, Scratch
from sgmc.errors import DataError
from sgmc.models.regression.bases.glm cimport Glm, picked
from sgmc.models.regression.bases.kinds import Kinds
from sgmc.models.regression.model import Regression

MAX_KINDS = 50


cdef class MultinomialLogit(Glm):
    """p(y_i = k) = exp(eta_ik) / (1 + sum_l exp(eta_il)), eta_ik = x_i . beta_k, k = 1, .., K;
    y_i = 0 has eta = 0.

    theta = (beta_1, .., beta_K), J_i = diag(x_i', .., x_i'); scores 1{y_i = k} - p_ik, curvatures
    p_ik (1{k = l} - p_il).

    Parameters
    ----------
    X : Design
    y : array (n,)
        0, 1, .., K.
    offset : None
    weight : array (n,), optional
    """

    products = False
    gram_rows = 0
    unbounded = "its rows have a score for each equation, for which there are no bounds here"

    def __init__(self, Design X, y, offset=None, weight=None):
        Glm.__init__(self, X, y, offset, weight)
        self.width = int(np.max(y))
        self.dim = self.width * X.d

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return (3 + self.width) * self.tile + self.X.work_size() + self.X.d * self.X.d

    cdef double *spare(self, Scratch *s) noexcept nogil:
        """Work behind that of the base: a tile of `width` numbers a row, then d x d numbers."""
        return s.work + 3 * self.tile + self.X.work_size()

    cdef int predictors(self, const double *delta, const Batch *tile, Scratch *s,
                        double *eta) except -1 nogil:
        cdef Py_ssize_t i, k
        cdef double *linear = s.work
        for k in range(self.width):
            self.X.dot(tile, delta + k * self.X.d, linear, s.work + 3 * self.tile)
            for i in range(tile.m):
                eta[i * self.width + k] = linear[i]
        return OK

    cdef Py_ssize_t size_many(self, Py_ssize_t points) noexcept nogil:
        return 0

    cdef int add_many(self, const double *theta, Py_ssize_t points, Scratch *s, double *work,
                      double *value, double *grad) except -1 nogil:
        return Model.add_many(self, theta, points, s, work, value, grad)

    cdef int shares(self, const double *theta, const Batch *tile, Scratch *s, double *p,
                    double *total) except -1 nogil:
        """p_ik, and log(1 + sum_k exp(eta_ik)) a row; the predictors stay in spare work."""
        cdef Py_ssize_t i, k, K = self.width
        cdef double *eta = self.spare(s)
        cdef double top, sum
        self.predictors(theta, tile, s, eta)
        for i in range(tile.m):
            top = 0
            for k in range(K):
                top = max(top, eta[i * K + k])
            sum = exp(-top)
            for k in range(K):
                p[i * K + k] = exp(eta[i * K + k] - top)
                sum += p[i * K + k]
            for k in range(K):
                p[i * K + k] /= sum
            total[i] = top + log(sum)
        return OK

    cdef int scores(self, const double *theta, const Batch *tile, Scratch *s, double *r,
                    double *value) except -1 nogil:
        cdef Py_ssize_t i, k, K = self.width
        cdef double *density = s.work + 2 * self.tile
        cdef const double *y
        self.shares(theta, tile, s, r, density)
        y = picked(&self.y[0], tile, s.work + self.tile)
        s.eta = self.spare(s)
        for i in range(tile.m):
            density[i] = -density[i]
            for k in range(K):
                r[i * K + k] = -r[i * K + k]
            k = <Py_ssize_t> y[i] - 1
            if k >= 0:
                r[i * K + k] += 1
                density[i] += s.eta[i * K + k]
        self.weigh_rows(tile, s, K, r)
        self.weigh_rows(tile, s, 1, density)
        for i in range(tile.m if value != NULL else 0):
            value[0] += density[i]
        return OK

    cdef int curvatures(self, const double *theta, const Batch *tile, Scratch *s,
                        double *w) except -1 nogil:
        cdef Py_ssize_t i, k, l, K = self.width
        cdef double *p = self.spare(s)
        self.shares(theta, tile, s, p, s.work + 2 * self.tile)
        for i in range(tile.m):
            for k in range(K):
                for l in range(K):
                    w[(i * K + k) * K + l] = p[i * K + k] * ((k == l) - p[i * K + l])
        return self.weigh_rows(tile, s, K * K, w)

    cdef int expected_curvatures(self, const double *theta, const Batch *tile, Scratch *s,
                                 double *w) except -1 nogil:
        return self.curvatures(theta, tile, s, w)

    cdef const double *column(self, Py_ssize_t m, Scratch *s, const double *table, Py_ssize_t size,
                              Py_ssize_t k) noexcept nogil:
        """The k-th of `size` numbers of each row, together."""
        cdef Py_ssize_t i
        for i in range(m):
            s.work[i] = table[i * size + k]
        return s.work

    cdef int add_scores(self, const Batch *tile, Scratch *s, const double *r,
                        double *grad) except -1 nogil:
        cdef Py_ssize_t k
        for k in range(self.width):
            self.X.tdot(tile, self.column(tile.m, s, r, self.width, k), grad + k * self.X.d,
                        s.work + 3 * self.tile)
        return OK

    cdef int add_squares(self, const Batch *tile, Scratch *s, const double *r,
                         double *square) except -1 nogil:
        cdef Py_ssize_t k
        for k in range(self.width):
            self.X.tdot_sq(tile, self.column(tile.m, s, r, self.width, k), square + k * self.X.d)
        return OK

    cdef int add_curvatures(self, const Batch *tile, Scratch *s, const double *w,
                            double *H) except -1 nogil:
        cdef Py_ssize_t i, j, k, l, d = self.X.d, K = self.width
        # off the diagonal a whole block, of which `gram` gives a half
        cdef double *block = self.spare(s) + self.tile * K
        for k in range(K):
            self.X.gram(tile, self.column(tile.m, s, w, K * K, k * K + k),
                        H + k * d * (self.dim + 1), self.dim)
            for l in range(k + 1, K):
                memset(block, 0, d * d * sizeof(double))
                self.X.gram(tile, self.column(tile.m, s, w, K * K, k * K + l), block, d)
                for i in range(d):
                    for j in range(d):
                        H[(k * d + i) * self.dim + l * d + j] += block[min(i, j) * d + max(i, j)]
        return OK


class MnlogitFamily(Kinds):
    """Outcomes of three or more kinds: log p(k) / p(first) = x . theta_k.

    `eta` has an equation, a row and a draw; `mean` is the probability of each kind, (kind, row,
    draw).
    """

    name = "mnlogit"
    title = "Multinomial logit"
    outcome = "category"
    accepts = "labels of three or more kinds"
    kernel = MultinomialLogit

    @staticmethod
    def predictors(X, coefficients, offset, extra):
        # (equation, row, draw)
        d = X.shape[1]
        return np.array([X @ coefficients[:, j:j + d].T + offset[:, None]
                         for j in range(0, coefficients.shape[1], d)])

    @staticmethod
    def mean(eta):
        """Probabilities (kind, row, draw)."""
        with_first = np.concatenate([np.zeros((1, *eta.shape[1:])), eta])
        p = np.exp(with_first - with_first.max(axis=0))
        return p / p.sum(axis=0)

    @staticmethod
    def log_density(y, eta, extra=None):
        with_first = np.concatenate([np.zeros((1, *eta.shape[1:])), eta])
        chosen = np.broadcast_to(np.asarray(y, dtype=int), eta.shape[1:])
        return np.take_along_axis(with_first, chosen[None],
                                  axis=0)[0] - np.logaddexp.reduce(with_first, axis=0)

    @classmethod
    def simulate(cls, eta, rng, extra=None):
        """Numbers of the kinds, 0, 1, .., (row, draw)."""
        below = np.cumsum(cls.mean(eta), axis=0)[:-1]
        return (rng.random(eta.shape[1:]) > below).sum(axis=0).astype(float)

    @staticmethod
    def check(y, label):
        """Three kinds or more, and not a kind for every number."""
        kinds = len(np.unique(y))
        if kinds < 3:
            raise DataError(f"the outcome {label!r} has {kinds} kind{'s' if kinds > 1 else ''} in "
                            "the rows used; mnlogit is for three or more, use logit for two")
        if kinds > MAX_KINDS:
            raise DataError(f"the outcome {label!r} has {kinds} kinds; mnlogit takes at most "
                            f"{MAX_KINDS}: join some of them, or use ols for numbers")


class MNLogit(Regression):
    """Bayesian multinomial logistic regression: log P(y = k) / P(y = first) = x . theta_k for each
    level k but the first.
    """

    family = MnlogitFamily
