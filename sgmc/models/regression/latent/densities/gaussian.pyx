"""Groups with normal errors: effects integrated out in closed form."""
import numpy as np

from libc.math cimport INFINITY, exp, log
from libc.string cimport memset

from sgmc.core.contract cimport OK, Batch, all_rows
from sgmc.models.regression.latent.densities.information cimport Informed
from sgmc.models.mixed.loading cimport MOST_EFFECTS, Loading
from sgmc.models.regression.latent.densities.marginal cimport Place
from sgmc.models.regression.latent.densities.nodes cimport EXACT_NODES, MOST_SQUARES, Frame, Room
from sgmc.models.regression.latent.densities.small cimport (
    multiply, multiply_transposed, root_of_inverse, times, transposed_times,
)
from sgmc.models.regression.bases.glm cimport Glm

cdef class GaussianMarginal(Informed):
    """y_g ~ N(X beta, sigma^2 W^-1 + Z Lambda Lambda' Z'), u = log sigma; the density without its
    constant.

    With e = y - X beta, t = 1 / sigma^2, S = Z'W Z, A = I + t Lambda'S Lambda, the posterior of z
    is N(c, A^-1), c = t A^-1 Lambda'Z'W e, and log p = -n u - (t f'W f + c'c + log |A|) / 2 with
    the residuals f = e - Z Lambda c, in which nothing cancels however small sigma is.
    Gradients are posterior means of those given z; second derivatives are by three nodes, which are
    exact here, see `Informed`.

    Parameters
    ----------
    glm, starts, Z, loading, unit
        See `Marginal`; glm is of the family `ols`, where sigma is known without a u.
    """

    cdef readonly double rounding             # see `Dispersed`; 0 where sigma is known
    cdef double known                         # u, where sigma is known
    cdef readonly double[:, ::1] S            # Z'W Z of each group

    closed = True

    def __init__(self, Glm glm, starts, Z, Loading loading, unit=None):
        Informed.__init__(self, glm, starts, Z, loading, unit, EXACT_NODES)
        self.known = 0.0 if self.auxiliary else log(glm.units(np.zeros(glm.dim))[0])
        self.S = np.zeros((self.n, self.q * self.q))
        self.rounding = glm.rounding if self.auxiliary else 0.0
        weight = np.asarray(glm.weight) if len(glm.weight) else np.ones(len(glm.y))
        z = np.asarray(self.Z)
        for a in range(self.q):
            for b in range(self.q):
                np.asarray(self.S)[:, a * self.q + b] = np.add.reduceat(
                    weight * z[:, a] * z[:, b], np.asarray(self.starts)[:-1])

    def precisions(self, theta):
        """Precision with which rows tell the effect of each group, of one effect, (groups,)."""
        return np.asarray(self.S)[:, 0] * self.row_precision(theta)

    def precision(self, theta, groups):
        """Mean precision with which rows tell each effect of their group, (q,)."""
        mean = np.asarray(self.S).mean(axis=0).reshape(self.q, self.q)
        return mean.diagonal() * self.row_precision(theta)

    def row_precision(self, theta):
        """1 / sigma^2."""
        return np.exp(-2 * (theta[self.dim - 1] if self.auxiliary else self.known))

    def anchored(self, theta, groups=0):
        """Itself: nodes follow theta."""
        return self

    cdef double log_sigma(self, const Place *at) noexcept nogil:
        """u."""
        return at.auxiliary[self.p] if self.auxiliary else self.known

    cdef double residuals(self, Py_ssize_t start, Py_ssize_t m, const double *eta,
                          double *e) noexcept nogil:
        """w_i (y_i - eta_i) into e; the sum of w_i."""
        cdef Py_ssize_t i
        cdef double weight = 1, total = 0
        for i in range(m):
            if self.glm.weight.shape[0]:
                weight = self.glm.weight[start + i]
            e[i] = weight * (self.glm.y[start + i] - eta[i])
            total += weight
        return total

    cdef bint frame(self, const Place *at, Py_ssize_t group, Room *room, Frame *f) noexcept nogil:
        """The posterior of z; room.mean has the weighed residuals, room.block the weights' sum."""
        cdef Py_ssize_t a, q = self.q, start = self.starts[group]
        cdef Py_ssize_t m = self.starts[group + 1] - start
        cdef double t = exp(-2 * self.log_sigma(at))
        cdef double[MOST_SQUARES] A
        cdef double[MOST_EFFECTS] pulled, half
        room.block[0] = self.residuals(start, m, room.eta, room.mean)
        self.collect(start, m, room.mean, 1, f.score)
        multiply(q, &self.S[group, 0], at.root, f.KL)
        for a in range(q * q):
            f.KL[a] *= t
        for a in range(q):
            f.score[a] *= t
        multiply_transposed(q, at.root, f.KL, A)
        for a in range(q):
            A[a * q + a] += 1
        if not root_of_inverse(q, A, f.B, &f.log_det):
            return False
        transposed_times(q, at.root, f.score, pulled)
        transposed_times(q, f.B, pulled, half)
        times(q, f.B, half, f.centre)
        return True

    cdef int of_group(self, const Place *at, Py_ssize_t group, double *work, double *value,
                      double *r) except -1 nogil:
        cdef Py_ssize_t start = self.starts[group], m = self.starts[group + 1] - start
        cdef Py_ssize_t a, b, e, i, k, q = self.q
        cdef Room room = self.divided(m, work)
        cdef Frame f
        cdef Batch rows = all_rows(m)
        cdef double u = self.log_sigma(at), t = exp(-2 * u), weight = 1, one, spread = 0, length = 0
        cdef double[MOST_SQUARES] spare, bent
        cdef double[MOST_EFFECTS] effects, pull
        memset(r, 0, self.dim * sizeof(double))
        value[0] = -INFINITY
        self.predict(at, start, m, room.eta, room.work)
        if not self.frame(at, group, &room, &f):
            return OK
        times(q, at.root, f.centre, effects)
        for i in range(m):                                # t W f, and t f'W f
            one = self.glm.y[start + i] - room.eta[i]
            for a in range(q):
                one -= self.Z[start + i, a] * effects[a]
            if self.glm.weight.shape[0]:
                weight = self.glm.weight[start + i]
            room.mean[i] = t * weight * one
            spread += t * weight * (one * one + self.rounding)
        self.collect(start, m, room.mean, 1, pull)
        for a in range(q):                                # the posterior covariance of z
            length += f.centre[a] * f.centre[a]
            for b in range(q):
                spare[a * q + b] = 0
                for k in range(q):
                    spare[a * q + b] += f.B[a * q + k] * f.B[b * q + k]
        multiply(q, f.KL, spare, bent)                    # t S Lambda A^-1
        value[0] = f.log_det - room.block[0] * u - 0.5 * (spread + length)
        for e in range(self.loading.size):
            a, b = self.loading.row[e], self.loading.column[e]
            r[self.p + e] = pull[a] * f.centre[b] - bent[a * q + b]
        for a in range(q):
            for b in range(a + 1):
                spread += at.root[a * q + b] * bent[a * q + b]
        if self.auxiliary:
            r[self.p + self.loading.size] = spread - room.block[0]
        rows.start = start
        self.glm.X.tdot(&rows, room.mean, r, room.work)
        return OK
