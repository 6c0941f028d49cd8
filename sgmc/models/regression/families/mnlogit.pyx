"""Multinomial logistic regression."""
import numpy as np

from libc.math cimport exp, log
from libc.string cimport memset

from sgmc.core.contract cimport OK, Batch, Design, Model, Scratch
from sgmc.errors import DataError
from sgmc.models.regression.bases.glm cimport Glm, picked
from sgmc.models.regression.bases.kinds import Kinds
from sgmc.models.regression.bases.predictors.two_designs cimport TwoDesignsModel
from sgmc.models.regression.bases.predictors.two_predictors import refuse_unsound
from sgmc.models.regression.model import Regression

cdef enum:
    MOST_EQUATIONS = 49

MAX_KINDS = MOST_EQUATIONS + 1


cdef double shares_of(const double *eta, Py_ssize_t K, double *p) noexcept nogil:
    """p_k of a row with such predictors; log(1 + sum_k exp(eta_k))."""
    cdef Py_ssize_t k
    cdef double top = 0, total
    for k in range(K):
        top = max(top, eta[k])
    total = exp(-top)
    for k in range(K):
        p[k] = exp(eta[k] - top)
        total += p[k]
    for k in range(K):
        p[k] /= total
    return top + log(total)


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
        cdef Py_ssize_t i, K = self.width
        cdef double *eta = self.spare(s)
        self.predictors(theta, tile, s, eta)
        for i in range(tile.m):
            total[i] = shares_of(eta + i * K, K, p + i * K)
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


cdef class MultinomialColumns(TwoDesignsModel):
    """The same law with predictors of columns of their own: an effect of a level, or a column of a
    smooth, is in one of the equations.
    """

    unbounded = MultinomialLogit.unbounded

    def __init__(self, Design X, y, offset=None, weight=None, predictor=None, Py_ssize_t parts=2):
        TwoDesignsModel.__init__(self, X, y, offset, weight, predictor, parts=parts)
        if not 0 <= np.min(y) <= np.max(y) <= parts:
            raise ValueError("outcomes are of more kinds than there are equations")

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i, k, K = self.parts
        cdef double total
        for i in range(m):
            total = shares_of(eta + i * K, K, r + i * K)
            if density != NULL:
                density[i] = -total
            for k in range(K):
                r[i * K + k] = -r[i * K + k]
            k = <Py_ssize_t> y[i] - 1
            if k >= 0:
                r[i * K + k] += 1
                if density != NULL:
                    density[i] += eta[i * K + k]
        return OK

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i, k, l, K = self.parts
        cdef double[MOST_EQUATIONS] p
        for i in range(m):
            shares_of(eta + i * K, K, p)
            for k in range(K):
                for l in range(K):
                    w[(i * K + k) * K + l] = p[k] * ((k == l) - p[l])
        return OK

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        return self.observed_information(theta, m, eta, y, w)


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
    def in_equations(d, equations):
        """The same where equations have columns of their own besides the d of the design."""
        return MnlogitColumns(d, equations)

    @staticmethod
    def linear(X, coefficients, offset):
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


class MnlogitColumns(MnlogitFamily):
    """The family where group terms or smooths give each equation columns of its own.

    Parameters
    ----------
    d, equations : int
        Columns of the design that each equation has.
    columns : array (k,) of int
        The equation of each further column, or -1.
    """

    def __init__(self, d=0, equations=2, columns=()):
        self.d, self.linear_predictors = d, equations
        self.columns = np.array(columns, dtype=int)

    def unbounded(self):
        return MultinomialLogit.unbounded

    def of_file(self, state):
        """Take over the attributes in a file; ValueError for those that no fit makes."""
        vars(self).update(state)
        if not (isinstance(self.d, int) and 0 < self.linear_predictors <= MOST_EQUATIONS):
            raise ValueError("its equations have no columns")
        refuse_unsound(self.columns, self.linear_predictors)

    def of_columns(self, columns):
        return MnlogitColumns(0, self.linear_predictors, columns)

    def with_columns(self, columns):
        return MnlogitColumns(self.d, self.linear_predictors, np.append(self.columns, columns))

    def kernel(self, X, y, offset=None, weight=None):
        """The compiled model of a design that has the columns of each equation."""
        own = np.append(np.repeat(np.arange(self.linear_predictors), self.d), self.columns)
        return MultinomialColumns(X, y, offset, weight, own if len(own) else None,
                                  parts=self.linear_predictors)

    def predictors(self, X, coefficients, offset, extra):
        return self.linear(X, coefficients, offset)

    def linear(self, X, coefficients, offset):
        # (equation, row, draw)
        found, shared = [offset[:, None]] * self.linear_predictors, self.d * self.linear_predictors
        if self.d:
            found = MnlogitFamily.linear(X[:, :self.d], coefficients[:, :shared], offset)
            X, coefficients = X[:, self.d:], coefficients[:, shared:]
        if len(self.columns):
            own = (np.where(self.columns == k, coefficients, 0.0) for k in range(len(found)))
            found = [eta + X @ b.T for eta, b in zip(found, own)]
        return np.asarray(found)


class MNLogit(Regression):
    """Bayesian multinomial logistic regression: log P(y = k) / P(y = first) = x . theta_k for each
    level k but the first.

    Group terms and smooths have effects of their own in each equation: ``sd(b:1|g)`` is the sd of
    those of the level b of the outcome.
    """

    family = MnlogitFamily
