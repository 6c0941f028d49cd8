"""What the levels of a term share, which a coefficient takes up: rows tell the sum of both alone.

With levels b_l = a + (b_l - a), a their mean, rows tell beta + a, and the prior of a is N(0, sd^2 /
n).  Effects that rows tell have coordinates in which a has about one size whatever the sd, see
`Loaded`.  Here a has the sd's size, and beta is what the sum leaves.
"""
import numpy as np

from libc.math cimport exp, fabs, log, sqrt
from libc.string cimport memcpy

from sgmc.core.contract cimport OK, Map
from sgmc.models.regression.latent.densities.effects_prior cimport Blocks


cdef class Shared(Map):
    """(beta, v, psi), in which v_l = x_l + (r - 1) m, m being the mean of the x_l, and beta = x + D
    (1 - r) m: D = w sd is what `Loaded` multiplies by, w = |sd / sd0|^-c or (1 + sd^2 p)^-1/2, and
    r = w0 / w, w0 that of sd0.  Where the sd is clear of zero, x has the same sense on either side
    of it: v and beta of a negative sd are those of -x and -D, so that effects stay as they are.

    Parameters
    ----------
    blocks : Blocks
        c and p are means of the levels' centring and row precision, sd0 is the typical sd.
    term : int
        With one effect a level.
    coefficient : int
        The place of beta.
    mirrored : bool
        Whether the sd is clear of zero.
    """

    cdef readonly Blocks blocks
    cdef readonly Py_ssize_t first, levels, sd_place, effect, coefficient
    cdef readonly double centring, row_precision, typical
    cdef readonly bint mirrored

    def __init__(self, Blocks blocks, Py_ssize_t term, Py_ssize_t coefficient, bint mirrored):
        if blocks.width[term] != 1:
            raise ValueError("effects of a level are several")
        self.blocks, self.dim, self.size = blocks, blocks.size, blocks.size
        self.first, self.levels = blocks.first[term], blocks.levels[term]
        self.effect, self.coefficient = blocks.start[term], coefficient
        self.mirrored = mirrored
        self.sd_place = blocks.d + blocks.effects + self.effect
        own = slice(self.first - blocks.d, self.first - blocks.d + self.levels)
        self.centring = np.mean(np.asarray(blocks.centring)[own])
        self.row_precision = np.mean(np.asarray(blocks.row_precision)[own])
        self.typical = fabs(blocks.loading.sd(&blocks.typical[0], self.effect))

    @property
    def places(self):
        """Of what its derivatives at the centre are not those of the identity: none."""
        return np.empty(0, dtype=np.intp)

    def root(self, theta):
        """Derivatives there."""
        return np.eye(0)

    cdef double bend(self, double sd) noexcept nogil:
        """-d log w / d sd."""
        if self.centring > 0:
            return self.centring / sd
        return sd * self.row_precision / (1 + sd * sd * self.row_precision)

    cdef double factors(self, const double *x, double *w, double *sd) noexcept nogil:
        """r, and w and the sd."""
        cdef double p = self.row_precision
        sd[0] = self.blocks.loading.sd(x + self.blocks.d + self.blocks.effects, self.effect)
        if self.centring > 0:
            w[0] = exp(-self.centring * log(fabs(sd[0] / self.typical)))
            return 1 / w[0]
        w[0] = 1 / sqrt(1 + sd[0] * sd[0] * p)
        return 1 / (w[0] * sqrt(1 + self.typical * self.typical * p))

    cdef double sense(self, double sd) noexcept nogil:
        """The sign that v has beyond x."""
        return -1 if self.mirrored and sd < 0 else 1

    cdef double mean(self, const double *x) noexcept nogil:
        """Of the levels."""
        cdef Py_ssize_t l
        cdef double total = 0
        for l in range(self.levels):
            total += x[self.first + l]
        return total / self.levels

    def inverse(self, theta):
        """x of points (..., dim)."""
        out = np.array(theta, dtype=float, order="C")
        cdef double[:, ::1] made = out.reshape(-1, self.dim)
        cdef Py_ssize_t i, l
        cdef double r, w, sd, m, sense
        for i in range(made.shape[0]):
            r = self.factors(&made[i, 0], &w, &sd)
            sense = self.sense(sd)
            m = sense * self.mean(&made[i, 0]) / r
            for l in range(self.levels):
                made[i, self.first + l] = sense * made[i, self.first + l] - (r - 1) * m
            made[i, self.coefficient] -= w * sense * sd * (1 - r) * m
        return out

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        cdef Py_ssize_t l
        cdef double w, sd, r = self.factors(x, &w, &sd), m = self.mean(x)
        cdef double sense = self.sense(sd)
        memcpy(theta, x, self.dim * sizeof(double))
        for l in range(self.levels):
            theta[self.first + l] = sense * (x[self.first + l] + (r - 1) * m)
        theta[self.coefficient] += w * sense * sd * (1 - r) * m
        if log_jacobian != NULL:
            log_jacobian[0] += log(r)
        return OK

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef Py_ssize_t l
        cdef double w, sd, r = self.factors(x, &w, &sd), m = self.mean(x), v_m = self.mean(v)
        cdef double sense = self.sense(sd), bend = self.bend(sd), v_sd, v_r
        v_sd = v[self.sd_place] * self.blocks.loading.stretch(
            x + self.blocks.d + self.blocks.effects, self.effect)
        v_r = r * bend * v_sd
        memcpy(v_theta, v, self.dim * sizeof(double))
        for l in range(self.levels):
            v_theta[self.first + l] = sense * (v[self.first + l] + (r - 1) * v_m + v_r * m)
        v_theta[self.coefficient] += sense * w * (
            v_sd * (1 - sd * bend) * (1 - r) * m + sd * ((1 - r) * v_m - v_r * m))
        return OK

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef Py_ssize_t j, l
        cdef double w, sd, r = self.factors(x, &w, &sd), m = self.mean(x)
        cdef double total = 0, g = grad_theta[self.coefficient], bend = self.bend(sd), by_sd
        cdef double sense = self.sense(sd)
        for j in range(self.dim):
            grad_x[j] += grad_theta[j]
        for l in range(self.levels):
            grad_x[self.first + l] += (sense - 1) * grad_theta[self.first + l]
            total += sense * grad_theta[self.first + l]
        g *= sense
        total -= w * sd * g
        for l in range(self.levels):
            grad_x[self.first + l] += (r - 1) * total / self.levels
        by_sd = bend * (r * m * total + 1) + w * (1 - sd * bend) * (1 - r) * m * g
        grad_x[self.sd_place] += by_sd * self.blocks.loading.stretch(
            x + self.blocks.d + self.blocks.effects, self.effect)
        return OK
