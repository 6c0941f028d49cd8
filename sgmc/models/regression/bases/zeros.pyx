"""The compiled model of counts with zeros of their own: two linear predictors, each of its own
columns of the design.
"""
import numpy as np

from libc.math cimport exp, expm1, fmax, fmin, hypot, log, log1p
from libc.string cimport memcpy, memset

from sgmc.core.contract cimport OK, Batch, Design, Model, Scratch
from sgmc.models.regression.bases.glm cimport Glm, picked
from sgmc.models.regression.bases.rising cimport Rising, rising

cdef double LARGEST_LOG = 300.0   # |log mean| beyond which its square is no number


cdef struct Count:
    # log density of a count without its factorial; slopes by eta and u = log alpha; minus the
    # second derivatives
    double value
    double by_eta
    double by_u
    double eta_eta
    double eta_u
    double u_u


cdef class CountsWithZeros(Glm):
    """Counts with linear predictors eta_i of the first `first` columns, with the offset, and
    zeta_i of the others, theta = (beta, gamma) or (beta, gamma, log alpha); densities without y!.

    With pi = 1 / (1 + exp(-zeta)) and f the Poisson density of mean mu = exp(eta), or the negative
    binomial one of variance mu + alpha mu^2,

        zero-inflated:  p(0) = pi + (1 - pi) f(0),  p(y) = (1 - pi) f(y)   (Lambert 1992)
        hurdle:         p(0) = pi,                  p(y) = (1 - pi) f(y) / (1 - f(0))
                                                                           (Mullahy 1986).

    Parameters
    ----------
    X, y, offset, weight
        As in `Glm`.
    first : int
        Columns of the count's predictor; by default a half.
    dispersed : bool
        Negative binomial counts.
    hurdle : bool
    """

    cdef readonly Py_ssize_t first
    cdef readonly bint dispersed, hurdle

    products = False
    gram_rows = 0
    unbounded = "its rows have a score for each of two predictors, for which there are no bounds"

    def __init__(self, Design X, y, offset=None, weight=None, first=None, bint dispersed=False,
                 bint hurdle=False):
        Glm.__init__(self, X, y, offset, weight)
        self.first = (X.d + 1) // 2 if first is None else first
        self.dispersed, self.hurdle = dispersed, hurdle
        self.width, self.dim = 2 + dispersed, X.d + dispersed

    cdef Py_ssize_t work_size(self) noexcept nogil:
        cdef Py_ssize_t d = self.X.d
        return (4 + self.width) * self.tile + self.X.work_size() + 2 * d + d * d

    cdef double *spare(self, Scratch *s) noexcept nogil:
        """Work behind that of the base: a tile of `width` numbers a row, a tile, d, d and d x d
        numbers.
        """
        return s.work + 3 * self.tile + self.X.work_size()

    cdef Py_ssize_t size_many(self, Py_ssize_t points) noexcept nogil:
        return 0

    cdef int add_many(self, const double *theta, Py_ssize_t points, Scratch *s, double *work,
                      double *value, double *grad) except -1 nogil:
        return Model.add_many(self, theta, points, s, work, value, grad)

    cdef Py_ssize_t begins(self, Py_ssize_t part) noexcept nogil:
        """The first column of a part, and of the part that would be next."""
        return 0 if part == 0 else self.first if part == 1 else self.X.d

    cdef int predictors(self, const double *delta, const Batch *tile, Scratch *s,
                        double *eta) except -1 nogil:
        """(eta_i, zeta_i) or (eta_i, zeta_i, u) a row, without the offset."""
        cdef Py_ssize_t i, part, a, b, d = self.X.d, width = self.width
        cdef double *linear = self.spare(s) + width * self.tile
        cdef double *alone = linear + self.tile
        for part in range(2):
            a, b = self.begins(part), self.begins(part + 1)
            memset(alone, 0, d * sizeof(double))
            memcpy(alone + a, delta + a, (b - a) * sizeof(double))
            self.X.dot(tile, alone, linear, s.work + 3 * self.tile)
            for i in range(tile.m):
                eta[i * width + part] = linear[i]
        for i in range(tile.m if self.dispersed else 0):
            eta[i * width + 2] = delta[d]
        return OK

    cdef const double *place(self, const double *theta, const Batch *tile,
                             Scratch *s) except NULL nogil:
        """Predictors with the offset into spare work; outcomes of the tile."""
        cdef Py_ssize_t i
        cdef double *eta = self.spare(s)
        cdef const double *offset
        self.predictors(theta, tile, s, eta)
        if self.offset.shape[0]:
            offset = picked(&self.offset[0], tile, s.work + self.tile)
            for i in range(tile.m):
                eta[i * self.width] += offset[i]
        s.eta = eta
        return picked(&self.y[0], tile, s.work + self.tile)

    cdef int scores(self, const double *theta, const Batch *tile, Scratch *s, double *r,
                    double *value) except -1 nogil:
        cdef Py_ssize_t i
        cdef double *density = s.work + 2 * self.tile
        cdef const double *y = self.place(theta, tile, s)
        self.family(theta, tile.m, s.eta, y, r, density)
        self.weigh_rows(tile, s, self.width, r)
        self.weigh_rows(tile, s, 1, density)
        for i in range(tile.m if value != NULL else 0):
            value[0] += density[i]
        return OK

    cdef int curvatures(self, const double *theta, const Batch *tile, Scratch *s,
                        double *w) except -1 nogil:
        cdef const double *y = self.place(theta, tile, s)
        self.observed_information(theta, tile.m, self.spare(s), y, w)
        return self.weigh_rows(tile, s, self.width * self.width, w)

    cdef int expected_curvatures(self, const double *theta, const Batch *tile, Scratch *s,
                                 double *w) except -1 nogil:
        cdef const double *y = self.place(theta, tile, s)
        self.expected_information(theta, tile.m, self.spare(s), y, w)
        return self.weigh_rows(tile, s, self.width * self.width, w)

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i, width = self.width
        cdef double zeta, odds, l
        cdef Count C, O
        for i in range(m):
            zeta = eta[i * width + 1]
            if self.hurdle and y[i] == 0:
                C.value, C.by_eta, C.by_u = -softplus(-zeta), 0, 0
                r[i * width + 1] = share(-zeta)
            elif y[i] == 0:
                C = self.count(0, eta + i * width, False)
                odds = share(C.value - zeta)                 # of a zero of the count
                l = -softplus(zeta)
                C.value = fmax(zeta, C.value) + log1p(exp(-abs_of(zeta - C.value))) + l
                C.by_eta, C.by_u = odds * C.by_eta, odds * C.by_u
                r[i * width + 1] = share(-zeta) - odds
            else:
                C = self.count(y[i], eta + i * width, False)
                C.value -= softplus(zeta)
                r[i * width + 1] = -share(zeta)
                if self.hurdle:
                    O = self.count(0, eta + i * width, False)
                    odds = 1 / expm1(-O.value)               # f(0) / (1 - f(0))
                    C.value -= log(-expm1(O.value))
                    C.by_eta += odds * O.by_eta
                    C.by_u += odds * O.by_u
            r[i * width] = C.by_eta
            if self.dispersed:
                r[i * width + 2] = C.by_u
            if density != NULL:
                density[i] = C.value
        return OK

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i, width = self.width
        cdef double zeta, odds, both
        cdef double *at
        cdef Count C, O
        for i in range(m):
            at, zeta = w + i * width * width, eta[i * width + 1]
            memset(at, 0, width * width * sizeof(double))
            at[width + 1] = share(zeta) * share(-zeta)
            if y[i] == 0:
                if self.hurdle:
                    continue
                C = self.count(0, eta + i * width, False)
                odds = share(C.value - zeta)
                both = odds * (1 - odds)
                at[width + 1] -= both
                at[1] = at[width] = both * C.by_eta
                if self.dispersed:
                    at[5] = at[7] = both * C.by_u
                bend(&C, odds, &C, -both)
            else:
                C = self.count(y[i], eta + i * width, False)
                if self.hurdle:
                    O = self.count(0, eta + i * width, False)
                    odds = 1 / expm1(-O.value)
                    bend(&O, odds, &O, -odds * (1 + odds))
                    C.eta_eta, C.eta_u, C.u_u = (C.eta_eta + O.eta_eta, C.eta_u + O.eta_u,
                                                 C.u_u + O.u_u)
            at[0] = C.eta_eta
            if self.dispersed:
                at[2] = at[6] = C.eta_u
                at[8] = C.u_u
        return OK

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        """Those observed by (eta, zeta), without directions in which a row's density is convex; of
        u those of the counts, were their zeros known.
        """
        cdef Py_ssize_t i, width = self.width
        cdef double odds
        cdef double *at
        cdef Count C
        self.observed_information(theta, m, eta, y, w)
        for i in range(m):
            at = w + i * width * width
            convex_off(at, at + 1, at + width + 1)
            at[width] = at[1]
            if self.dispersed:
                C = self.count(y[i], eta + i * width, True)
                odds = 1
                if y[i] == 0:
                    odds = 0 if self.hurdle else share(C.value - eta[i * width + 1])
                at[2] = at[5] = at[6] = at[7] = 0
                at[8] = odds * C.u_u
        return OK

    cdef Count count(self, double y, const double *eta, bint expected) noexcept nogil:
        """The count's own density at (eta, zeta, u), with the expected curvature by u or the
        observed one.
        """
        cdef Count C
        cdef double a, t, q, e, mu
        cdef Rising R
        if not self.dispersed:
            mu = exp(fmin(fmax(eta[0], -LARGEST_LOG), LARGEST_LOG))
            C.value, C.by_eta, C.eta_eta = y * eta[0] - mu, y - mu, mu
            C.by_u = C.eta_u = C.u_u = 0
            return C
        # see `NegativeBinomialLog`
        a, t = exp(-eta[2]), fmin(fmax(eta[0], -LARGEST_LOG), LARGEST_LOG) + eta[2]
        q, R = share(t), rising(a, y)
        e = share(-t) * y - a * q
        C.value = R.value - a * softplus(t) - y * softplus(-t)
        C.by_eta, C.by_u = e, e - a * (R.slope - softplus(t))
        C.eta_eta, C.eta_u = q * share(-t) * (a + y), e * q
        C.u_u = e * q - a * (R.slope - softplus(t)) - a * (a * R.curvature + q)
        if expected:  # the limit for small alpha
            C.u_u = 0.5 * q * q
        return C

    cdef const double *column(self, Py_ssize_t m, Scratch *s, const double *table, Py_ssize_t size,
                              Py_ssize_t k) noexcept nogil:
        """The k-th of `size` numbers of each row, together."""
        cdef Py_ssize_t i
        cdef double *out = self.spare(s) + self.width * self.tile
        for i in range(m):
            out[i] = table[i * size + k]
        return out

    cdef double *empty(self, Scratch *s) noexcept nogil:
        """d zeros in spare work, before d x d numbers."""
        cdef double *out = self.spare(s) + (self.width + 1) * self.tile + self.X.d
        memset(out, 0, self.X.d * sizeof(double))
        return out

    cdef int add_scores(self, const Batch *tile, Scratch *s, const double *r,
                        double *grad) except -1 nogil:
        cdef Py_ssize_t i, j, part
        cdef double *sums
        for part in range(2):
            sums = self.empty(s)
            self.X.tdot(tile, self.column(tile.m, s, r, self.width, part), sums,
                        s.work + 3 * self.tile)
            for j in range(self.begins(part), self.begins(part + 1)):
                grad[j] += sums[j]
        for i in range(tile.m if self.dispersed else 0):
            grad[self.X.d] += r[i * 3 + 2]
        return OK

    cdef int add_squares(self, const Batch *tile, Scratch *s, const double *r,
                         double *square) except -1 nogil:
        cdef Py_ssize_t i, j, part
        cdef double *sums
        for part in range(2):
            sums = self.empty(s)
            self.X.tdot_sq(tile, self.column(tile.m, s, r, self.width, part), sums)
            for j in range(self.begins(part), self.begins(part + 1)):
                square[j] += sums[j]
        for i in range(tile.m if self.dispersed else 0):
            square[self.X.d] += r[i * 3 + 2] * r[i * 3 + 2]
        return OK

    cdef int add_curvatures(self, const Batch *tile, Scratch *s, const double *w,
                            double *H) except -1 nogil:
        cdef Py_ssize_t i, j, p, q, d = self.X.d, size = self.width * self.width
        cdef double *sums
        cdef double *block = self.empty(s) + d
        for p in range(2):
            for q in range(p, 2):
                memset(block, 0, d * d * sizeof(double))
                self.X.gram(tile, self.column(tile.m, s, w, size, p * self.width + q), block, d)
                for i in range(self.begins(p), self.begins(p + 1)):
                    for j in range(max(i, self.begins(q)), self.begins(q + 1)):
                        H[i * self.dim + j] += block[i * d + j]
            if self.dispersed:
                sums = self.empty(s)
                self.X.tdot(tile, self.column(tile.m, s, w, size, p * 3 + 2), sums,
                            s.work + 3 * self.tile)
                for j in range(self.begins(p), self.begins(p + 1)):
                    H[j * self.dim + d] += sums[j]
        for i in range(tile.m if self.dispersed else 0):
            H[d * self.dim + d] += w[i * 9 + 8]
        return OK


cdef inline double softplus(double t) noexcept nogil:
    """log(1 + exp(t))."""
    return t + log1p(exp(-t)) if t > 0 else log1p(exp(t))


cdef inline double share(double t) noexcept nogil:
    """1 / (1 + exp(-t))."""
    return 1 / (1 + exp(-t)) if t > 0 else exp(t) / (1 + exp(t))


cdef void convex_off(double *a, double *b, double *c) noexcept nogil:
    """The matrix (a, b; b, c) without its negative eigenvalues."""
    cdef double middle = 0.5 * (a[0] + c[0]), half = hypot(0.5 * (a[0] - c[0]), b[0])
    cdef double high = middle + half, low = middle - half, share
    if low >= 0:
        return
    share = high / (high - low) if high > 0 else 0
    a[0], b[0], c[0] = share * (a[0] - low), share * b[0], share * (c[0] - low)


cdef inline double abs_of(double t) noexcept nogil:
    """|t|."""
    return -t if t < 0 else t


cdef void bend(Count *C, double times, const Count *O, double squared) noexcept nogil:
    """Curvatures of C times a number, plus the products of the slopes of O times another."""
    C.eta_eta = times * C.eta_eta + squared * O.by_eta * O.by_eta
    C.eta_u = times * C.eta_u + squared * O.by_eta * O.by_u
    C.u_u = times * C.u_u + squared * O.by_u * O.by_u
