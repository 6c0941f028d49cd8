"""The density of groups: what all of them share, whatever integrates their effects out."""
import numpy as np

from libc.string cimport memcpy, memset

from sgmc.core.contract cimport OK, Batch, Scratch, all_rows, row_of
from sgmc.errors import NotSupported
from sgmc.models.mixed.loading cimport MOST_EFFECTS

cdef enum:
    TILE = 16                     # groups
    MOST_ENTRIES = MOST_EFFECTS * (MOST_EFFECTS + 1) // 2


LOGIT_TERMS = 4.0                 # nanoseconds that a row's take at a node


cdef class Marginal(Model):
    r"""Groups with effects: a row of the contract is a group.

    log p(y_g | theta) = log int prod_i p(y_i | x_i . beta + z_i . Lambda z) N(z; 0, I) dz with
    theta = (beta, phi, u): coefficients, standard deviations and correlations (`Loading`), logs of
    the family's auxiliary parameters.  A group's score is its whole gradient, J_g the identity.

    Parameters
    ----------
    glm : Glm
        Of the rows, those of a group together.
    starts : array (groups + 1,) of int
        First row of each group.
    Z : array (n, q)
        Covariates of the effects.
    loading : Loading
    unit : array (dim,), optional
        Distances in theta over which curvatures of a group change by a factor of up to e.
    """

    def __init__(self, Glm glm, starts, Z, Loading loading, unit=None):
        self.glm, self.loading, self.q, self.p = glm, loading, loading.q, glm.X.d
        self.starts = np.ascontiguousarray(starts, dtype=np.intp)
        self.Z = np.ascontiguousarray(Z, dtype=float)
        self.constant = self.q == 1 and bool((np.asarray(self.Z) == 1).all())
        self.auxiliary = glm.dim - glm.X.d
        self.n = len(starts) - 1
        self.dim = self.width = self.p + loading.size + self.auxiliary
        sizes = np.diff(self.starts)
        if not (sizes > 0).all():
            raise ValueError("a group without rows")
        self.longest = int(sizes.max())
        self.tile = TILE
        self.unit = np.ones(self.dim) if unit is None else np.array(unit, dtype=float)

    @property
    def row_terms(self):
        """Times as long as those of a logit that the terms of a row take."""
        return max(1.0, self.glm.nanoseconds / LOGIT_TERMS)

    @property
    def offset(self):
        """Of the rows."""
        return self.glm.offset

    def units(self, theta):
        return np.array(self.unit)

    def metric(self, gradient, start, rows=None):
        """NotSupported: Fisher's information of a group is a sum over all of its outcomes."""
        raise NotSupported("group terms: metrics that depend on the position are the information "
                           "of rows, and none is computed of groups whose effects are integrated "
                           "out; use another sampler, such as 'mala'", because="limit")

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return (self.tile * self.dim + self.p + self.q * self.q + self.glm.dim
                + 2 * self.dim * self.dim + self.dim + self.group_size())

    cdef Py_ssize_t group_size(self) noexcept nogil:
        return 1

    cdef void fetch(self, const Batch *b) noexcept nogil:
        cdef Batch rows
        if b.rows == NULL and b.m:
            rows = all_rows(self.starts[b.start + b.m] - self.starts[b.start])
            rows.start = self.starts[b.start]
            self.glm.X.fetch(&rows)

    cdef double *room(self, double *work) noexcept nogil:
        """Scratch of a group, behind what `at` fills."""
        return (work + self.tile * self.dim + self.p + self.q * self.q + self.glm.dim
                + 2 * self.dim * self.dim + self.dim)

    cdef Place at(self, const double *theta, double *work) noexcept nogil:
        """What all groups need of theta; it is kept in work, behind a tile's predictors."""
        cdef Place place
        cdef double *begin = work + self.tile * self.dim
        memcpy(begin, theta, self.p * sizeof(double))
        place.beta = begin
        place.root = begin + self.p
        place.phi = theta + self.p
        self.loading.fill(place.phi, begin + self.p)
        begin += self.p + self.q * self.q
        memcpy(begin, theta, self.p * sizeof(double))
        memcpy(begin + self.p, theta + self.p + self.loading.size, self.auxiliary * sizeof(double))
        place.auxiliary = begin
        place.slopes = begin + self.glm.dim
        self.loading.slopes(place.phi, place.slopes)
        return place

    cdef int predict(self, const Place *at, Py_ssize_t start, Py_ssize_t m, double *eta,
                     double *work) except -1 nogil:
        """eta_i = x_i . beta + offset_i of some neighbouring rows."""
        cdef Batch rows = all_rows(m)
        cdef Py_ssize_t i
        rows.start = start
        self.glm.X.dot(&rows, at.beta, eta, work)
        for i in range(m if self.glm.offset.shape[0] else 0):
            eta[i] += self.glm.offset[start + i]
        return OK

    cdef int of_group(self, const Place *at, Py_ssize_t group, double *work, double *value,
                      double *r) except -1 nogil:
        raise NotImplementedError("of_group")

    cdef int information(self, const Place *at, Py_ssize_t group, double *work, double *w,
                         double *slope) except -1 nogil:
        raise NotImplementedError("information")

    cdef int group_score(self, const Place *at, Py_ssize_t group, double *room, double *value,
                         double *r) except -1 nogil:
        cdef double *J = at.slopes
        cdef double *entries = J + 2 * self.dim * self.dim
        cdef double total
        cdef Py_ssize_t e, f, size = self.loading.size
        self.of_group(at, group, room, value, r)
        memcpy(entries, r + self.p, size * sizeof(double))
        for f in range(size):
            total = 0
            for e in range(size):
                total += entries[e] * J[e * size + f]
            r[self.p + f] = total
        return OK

    cdef int group_value(self, const Place *at, Py_ssize_t group, double *work,
                         double *value) except -1 nogil:
        """With a gradient that is left, where a density has no shorter way."""
        return self.of_group(at, group, work, value, at.slopes + 2 * self.dim * self.dim)

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        """Densities alone, where no gradient is asked for, cost less."""
        cdef Place place
        cdef double one, total = 0
        cdef Py_ssize_t i
        if grad != NULL or value == NULL or b.weight != NULL:
            return Model.add(self, theta, b, s, value, grad)
        place = self.at(theta, s.work)
        for i in range(b.m):
            self.group_value(&place, row_of(b, i), self.room(s.work), &one)
            total += one
        value[0] += b.scale * total
        return OK

    cdef int scores(self, const double *theta, const Batch *tile, Scratch *s, double *r,
                    double *value) except -1 nogil:
        cdef Place place = self.at(theta, s.work)
        cdef double *room = self.room(s.work)
        cdef double one, total = 0
        cdef Py_ssize_t i
        for i in range(tile.m):
            memcpy(s.work + i * self.dim, theta, self.dim * sizeof(double))
            self.group_score(&place, row_of(tile, i), room, &one, r + i * self.dim)
            total += one
        s.eta = s.work
        if value != NULL:
            value[0] += total
        return OK

    cdef int predictors(self, const double *delta, const Batch *tile, Scratch *s,
                        double *eta) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(tile.m):
            memcpy(eta + i * self.dim, delta, self.dim * sizeof(double))
        return OK

    cdef int add_scores(self, const Batch *tile, Scratch *s, const double *r,
                        double *grad) except -1 nogil:
        cdef Py_ssize_t i, j
        for i in range(tile.m):
            for j in range(self.dim):
                grad[j] += r[i * self.dim + j]
        return OK

    cdef int add_squares(self, const Batch *tile, Scratch *s, const double *r,
                         double *square) except -1 nogil:
        cdef Py_ssize_t i, j
        for i in range(tile.m):
            for j in range(self.dim):
                square[j] += r[i * self.dim + j] * r[i * self.dim + j]
        return OK

    cdef int add_curvatures(self, const Batch *tile, Scratch *s, const double *w,
                            double *H) except -1 nogil:
        cdef Py_ssize_t i, j, k, dim = self.dim
        for i in range(tile.m):
            for j in range(dim):
                for k in range(j, dim):
                    H[j * dim + k] += w[(i * dim + j) * dim + k]
        return OK

    cdef int group_curvature(self, const Place *at, Py_ssize_t group, double *room,
                             double *w) except -1 nogil:
        """By the entries of Lambda first, then by phi: J' w J - sum_e slope_e d^2 lambda_e."""
        cdef double *J = at.slopes
        cdef double *half = J + self.dim * self.dim
        cdef double *slope = half + self.dim * self.dim
        cdef double bends[MOST_ENTRIES * MOST_ENTRIES]
        cdef Py_ssize_t j, k, l, dim = self.dim, size = self.loading.size, p = self.p
        self.information(at, group, room, w, slope)
        for j in range(dim):                  # half = w J, on the columns of phi
            for k in range(size):
                half[j * size + k] = 0
                for l in range(size):
                    half[j * size + k] += w[j * dim + p + l] * J[l * size + k]
            memcpy(w + j * dim + p, half + j * size, size * sizeof(double))
        for k in range(size):                 # J' half, on the rows
            for j in range(dim):
                half[k * dim + j] = 0
                for l in range(size):
                    half[k * dim + j] += J[l * size + k] * w[(p + l) * dim + j]
        memcpy(w + p * dim, half, size * dim * sizeof(double))
        memset(bends, 0, size * size * sizeof(double))
        self.loading.add_bends(at.phi, slope, bends)
        for k in range(size):
            for l in range(size):
                w[(p + k) * dim + p + l] -= bends[k * size + l]
        return OK

    cdef int curvatures(self, const double *theta, const Batch *tile, Scratch *s,
                        double *w) except -1 nogil:
        cdef Place place = self.at(theta, s.work)
        cdef double *room = self.room(s.work)
        cdef Py_ssize_t i
        for i in range(tile.m):
            self.group_curvature(&place, row_of(tile, i), room, w + i * self.dim * self.dim)
        return OK
