"""Draws of a linear regression with normal errors and learned prior scales from conditional
distributions in turn.

With the scales s_j of `shrinking`, sigma = exp(u) and all other coefficients given, rows leave
N(place_j, h_j) to b_j.  One sweep draws

- each coefficient with its local scale: v_j by the density with b_j integrated out, p(v_j)
  N(place_j; 0, s_j^2 + h_j), then b_j;
- each global parameter g, some times along two lines: with v_j + share g and all b_j as they are;
  and with some of the coefficients left as they are, those that rows tell, while the others are
  multiplied by what g adds to their scale;
- u with share g + u as it is, so that scales stay.

Columns are read once.
"""
import numpy as np

from libc.math cimport exp, log, sqrt
from libc.string cimport memcpy, memset
from scipy.linalg.cython_blas cimport daxpy, ddot, dgemv

from sgmc.core.contract cimport Prior, Rng, next_exponential, next_uniform, normal_fill
from sgmc.models.regression.latent.shrunk.shrinking cimport ROOT_GAMMA, Shrunk
from sgmc.models.regression.latent.shrunk.shrinking import SMALLEST_SHRUNK

cdef enum:
    SLICE_STEPS = 100                # steps out of a slice to either side, at most
    PRODUCTS_APART = 4               # products that do not wait for each other
    MOVING_WIDTH = 5                 # of a row of `moving`

cdef enum:                        # what moves along a line
    LOCAL = 0
    RATIO = 1
    PARTLY = 2
    NOISE = 3

cdef double FLOOR = SMALLEST_SHRUNK**2
# first intervals of slices: of logs of local scales, which are not widened, of others
cdef double LOCAL_WIDTH = 8, GLOBAL_WIDTH = 0.4, NOISE_WIDTH = 3.0
cdef double SLICE_END = 1e-14     # of an interval, beside the number itself
cdef double LEAST = 1e-200, MOST = 1e200   # of products before their log is taken
cdef double LEAST_SQUARE = 1e-30  # in units of coefficients
cdef int ONE = <int> 1             # for BLAS


def told_by_rows(square, Shrunk shrunk):
    """Sums of squares of columns with learned scales, (k,), none of them zero: far below the
    precision of any prior, they are as good as zero.
    """
    return np.maximum(square, LEAST_SQUARE / np.asarray(shrunk.unit)**2)


cdef double settled(double *product) noexcept nogil:
    """Logs of products that may soon be beyond what numbers can hold, which then begin anew."""
    cdef double value = 0
    cdef Py_ssize_t i
    for i in range(PRODUCTS_APART):
        if not LEAST < product[i] < MOST:
            value += log(product[i])
            product[i] = 1
    return value


cdef double log_of(const double *product) noexcept nogil:
    cdef double value = 0
    cdef Py_ssize_t i
    for i in range(PRODUCTS_APART):
        value += log(product[i])
    return value


cdef inline void without_local(const double *one, double wider, double factor, double *product,
                               double *squares) noexcept nogil:
    """A coefficient's part of `ScaleSweeps.of_moving` without a local scale: `one` is a row of
    `moving`, s^2 = wide / slabbed.
    """
    cdef double wide = one[0] * wider + one[1], over = factor * (1 + wide * one[2]) / wide
    squares[0] += one[4] * over
    product[0] *= over


cdef inline void with_local(const double *one, double wider, double factor, double *product,
                            double *squares) noexcept nogil:
    """The same with a local scale, s^2 + h = both / slabbed."""
    cdef double wide = one[0] * wider + one[1], slabbed = 1 + wide * one[2]
    cdef double both = wide + one[3] * slabbed, over = 1 / (both * wide)
    squares[0] += one[4] * factor * slabbed * both * over
    product[0] *= (factor * one[3] * wide * slabbed) * (slabbed * over) * (slabbed * over)


cdef class ScaleSweeps:
    """The sweeps of one chain.

    Parameters
    ----------
    shrunk : Shrunk
        With sigma as its one auxiliary parameter.
    above : Prior
        Of (g, u).
    columns : array (d, m)
        Rows of products with the design's columns, by weights: see `direct.reduced`.
    y : array (m,)
    weight, rounding : float
        The sum of the weights, and what each adds to the squares of residuals.
    location, precision : array (d,)
        Of normal priors of the other coefficients; a precision of zero is a flat one.
    pivot : int
        Place of an intercept whose prior is that of b_0 + shift'b, which is b_0 of `columns`; -1
        where there is none.
    shift : array (d,)
    """

    cdef readonly Shrunk shrunk
    cdef readonly Prior above
    cdef Py_ssize_t m, first, pivot, j, i
    cdef readonly double weight
    cdef const double[:, ::1] columns
    cdef const double[::1] y, location, precision, shift
    cdef double[::1] square, told         # of columns, and of those with learned scales, not 0
    cdef double[::1] unit, slab           # squares of units, and 1 / slab^2
    cdef Py_ssize_t[::1] at               # of coefficients in `shrunk`, -1 of others
    # of a sweep: exp v_j, s_j^2 without slab and floor, whether b_j stays; the part of the fit that
    # moves, by group
    cdef double[::1] theta, trial, residual, up, wide
    cdef int[::1] stays
    cdef double[:, ::1] along
    # of a turn of one group: of coefficients that move `wide`, the square of the floor, 1 / slab^2,
    # h_j, b_j^2; exp v_j and its inverse of those that stay, and from the end on of the others
    cdef double[:, ::1] moving, locals
    cdef Py_ssize_t movers, stayers
    cdef double squares_moving, squares_staying
    cdef double place, h, base, share, rr, rf, ff, rounding

    def __init__(self, Shrunk shrunk, Prior above, *, columns, y, double weight, double rounding,
                 location, precision, Py_ssize_t pivot, shift):
        self.shrunk, self.above, self.weight, self.pivot = shrunk, above, weight, pivot
        self.rounding = rounding
        self.columns, self.y, self.shift = columns, y, shift
        self.location, self.precision = location, precision
        self.m, self.first = len(y), shrunk.d + shrunk.locals
        self.square = np.einsum("ji,ji->j", columns, columns)
        self.unit = np.asarray(shrunk.unit)**2
        self.told = told_by_rows(np.asarray(self.square)[np.asarray(shrunk.where)], shrunk)
        self.slab = 1 / np.asarray(shrunk.slab)**2
        at = np.full(shrunk.d, -1, dtype=np.intp)
        at[np.asarray(shrunk.where)] = np.arange(shrunk.k)
        self.at = at
        self.theta, self.trial = np.zeros(shrunk.size), np.zeros(shrunk.size)
        self.residual, self.along = np.zeros(self.m), np.zeros((shrunk.groups, self.m))
        self.up, self.wide = np.ones(shrunk.k), np.zeros(shrunk.k)
        self.stays = np.zeros(shrunk.k, dtype=np.intc)
        self.moving, self.locals = np.zeros((shrunk.k, MOVING_WIDTH)), np.zeros((shrunk.k, 2))

    def sweep(self, double[::1] theta, Rng rng, int times=1):
        """Change theta (size,) by so many sweeps."""
        cdef Py_ssize_t t
        with nogil:
            memcpy(&self.theta[0], &theta[0], self.shrunk.size * sizeof(double))
            self.centre(1)
            self.subtract_all()
            for t in range(times):
                self.scan(rng)
                self.turn(rng)
            self.centre(-1)
            memcpy(&theta[0], &self.theta[0], self.shrunk.size * sizeof(double))

    cdef void centre(self, double sign) noexcept nogil:
        """From the intercept to that of `columns`, or back."""
        cdef Py_ssize_t j
        if self.pivot >= 0:
            for j in range(self.shrunk.d):
                self.theta[self.pivot] += sign * self.shift[j] * self.theta[j]

    cdef void subtract_all(self) noexcept nogil:
        """The residuals of theta."""
        cdef int m = <int> self.m, d = <int> self.shrunk.d
        cdef double less = -1, one = 1
        memcpy(&self.residual[0], &self.y[0], self.m * sizeof(double))
        dgemv("N", &m, &d, &less, &self.columns[0, 0], &m, &self.theta[0], &ONE, &one,
              &self.residual[0], &ONE)

    cdef void add(self, double times, Py_ssize_t j, double *out) noexcept nogil:
        """Add a multiple of the j-th column."""
        cdef int m = <int> self.m
        daxpy(&m, &times, &self.columns[j, 0], &ONE, out, &ONE)

    cdef double dot(self, const double *a, const double *b) noexcept nogil:
        cdef int m = <int> self.m
        return ddot(&m, a, &ONE, b, &ONE)

    # ---- coefficients and local scales -----------------------------------------------------------

    cdef void scan(self, Rng rng) noexcept nogil:
        """Each coefficient with its local scale, given all else."""
        cdef Py_ssize_t j, l
        cdef double sigma2 = exp(2 * self.theta[self.shrunk.size - 1]), slope, old, z
        # of a single group what moves is the fit less all that stays, which few do
        cdef bint rest = self.shrunk.groups == 1
        memset(&self.along[0, 0], 0, self.shrunk.groups * self.m * sizeof(double))
        for j in range(self.shrunk.d):
            old, l = self.theta[j], self.at[j]
            slope = self.dot(&self.columns[j, 0], &self.residual[0]) + old * self.square[j]
            normal_fill(rng, 1, &z)
            if l < 0:
                self.theta[j] = self.plain(j, slope / sigma2, self.square[j] / sigma2, z)
            else:
                self.theta[j] = self.shrunken(l, slope, sigma2, z, rng)
            if rest:
                if l < 0 or self.stays[l]:
                    self.add(-self.theta[j], j, &self.along[0, 0])
            elif l >= 0 and not self.stays[l]:
                self.add(self.theta[j], j, &self.along[self.shrunk.group[l], 0])
            self.add(old - self.theta[j], j, &self.residual[0])
        for j in range(self.m if rest else 0):
            self.along[0, j] += self.y[j] - self.residual[j]

    cdef double plain(self, Py_ssize_t j, double slope, double curvature,
                      double z) noexcept nogil:
        """A coefficient whose prior is known."""
        cdef double precision = curvature + self.precision[j]
        return (slope + self.precision[j] * self.location[j]) / precision + z / sqrt(precision)

    cdef double shrunken(self, Py_ssize_t l, double slope, double sigma2, double z,
                         Rng rng) noexcept nogil:
        """The l-th of those with learned scales, after its local scale, and whether it stays."""
        cdef double square = self.told[l], share, width = LOCAL_WIDTH
        cdef Py_ssize_t v = self.shrunk.own[l]
        self.base, self.j = self.global_part(l), l
        self.place, self.h = slope / square, sigma2 / square
        if v >= 0:
            if self.shrunk.local[l] == ROOT_GAMMA:
                width += 1 / self.shrunk.shape[l]
                self.theta[v] = self.slice(LOCAL, self.theta[v], width, 0, rng)
            else:
                self.theta[v] = self.slice_cauchy(self.theta[v], rng)
            self.up[l] = exp(self.theta[v])
        self.wide[l] = self.base * self.up[l] * self.up[l] * self.unit[l]
        share = 1 / (1 + self.h * (1 / (self.wide[l] + FLOOR * self.unit[l]) + self.slab[l]))
        # with this probability, which is then part of the density; without local scales all move
        self.stays[l] = v >= 0 and next_uniform(rng) < share
        return self.place * share + sqrt(share * self.h) * z

    cdef double global_part(self, Py_ssize_t l) noexcept nogil:
        """exp(2 (A_l - v_l)) but for the unit."""
        cdef double a = self.shrunk.share[l] * self.theta[self.first + self.shrunk.group[l]]
        return exp(2 * (a + self.shrunk.noise[l] * self.theta[self.shrunk.size - 1]))

    cdef double told_at(self, double e) noexcept nogil:
        """s_j^2 + h_j at e = exp(2 v_j)."""
        cdef double wide = (e * self.base + FLOOR) * self.unit[self.j]
        return wide / (1 + wide * self.slab[self.j]) + self.h

    cdef double of_local(self, double v) noexcept nogil:
        """Log density of v_j, b_j integrated out, where the local scale is the root of a gamma."""
        cdef double e = exp(2 * v), total = self.told_at(e)
        cdef double value = -0.5 * self.place * self.place / total
        return value + 2 * self.shrunk.shape[self.j] * v - e - 0.5 * log(total)

    cdef double slice_cauchy(self, double now, Rng rng) noexcept nogil:
        """`slice` of v_j, b_j integrated out, where the local scale is half-Cauchy: squares of
        densities in the place of their logs, which takes half the time.  That of v_j alone is
        proportional to 1 / (2 + e + 1/e), e = exp(2 v_j).
        """
        cdef double e = exp(2 * now), total = self.told_at(e), u = next_uniform(rng), at
        cdef double square = self.place * self.place, first = square / total
        cdef double level = u * u / ((2 + e + 1 / e) * total)
        cdef double low = now - LOCAL_WIDTH * next_uniform(rng), high = low + LOCAL_WIDTH
        while high - low > SLICE_END * max(1.0, abs(now)):
            at = low + (high - low) * next_uniform(rng)
            e = exp(2 * at)
            total = self.told_at(e)
            if exp(first - square / total) > level * ((2 + e + 1 / e) * total):
                return at
            if at < now:
                low = at
            else:
                high = at
        return now

    # ---- global parameters and sigma -------------------------------------------------------------

    cdef void turn(self, Rng rng) noexcept nogil:
        """Global parameters, and sigma."""
        for self.i in range(self.shrunk.groups):
            self.turn_partly(rng)
            self.turn_ratio(rng)
        self.turn_noise(rng)

    cdef double above_at(self, double t) noexcept nogil:
        """Log prior of (g, u) at g_i + t."""
        cdef double value = 0
        cdef Py_ssize_t at = self.first
        memcpy(&self.trial[at], &self.theta[at], (self.shrunk.groups + 1) * sizeof(double))
        self.trial[at + self.i] += t
        self.above.add(&self.trial[at], &value, NULL)
        return value

    cdef void gather(self) noexcept nogil:
        """What the densities of a group's turn are made of."""
        cdef Py_ssize_t l, b, at
        cdef double sigma2 = exp(2 * self.theta[self.shrunk.size - 1])
        self.movers = self.stayers = 0
        self.squares_moving = self.squares_staying = 0
        for l in range(self.shrunk.k):
            if self.shrunk.group[l] != self.i:
                continue
            b, self.j, self.share = self.shrunk.where[l], l, self.shrunk.share[l]
            if self.stays[l]:
                at = self.stayers
                self.stayers += 1
                self.squares_staying += self.up[l] * self.up[l]
            else:
                at = self.shrunk.k - 1 - self.movers
                self.moving[self.movers, 0] = self.wide[l]
                self.moving[self.movers, 1] = FLOOR * self.unit[l]
                self.moving[self.movers, 2] = self.slab[l]
                self.moving[self.movers, 3] = sigma2 / self.told[l]
                self.moving[self.movers, 4] = self.theta[b] * self.theta[b]
                self.movers += 1
                self.squares_moving += self.up[l] * self.up[l]
            self.locals[at, 0], self.locals[at, 1] = self.up[l], 1 / self.up[l]

    cdef double of_locals(self, double t, Py_ssize_t first, Py_ssize_t count,
                          double squares) noexcept nogil:
        """Log prior of v_j - t of some of the group, whose squares exp(2 v_j) have that sum."""
        cdef double value = 0, e = exp(t), less = 1 / e
        cdef double[PRODUCTS_APART] product
        cdef const double *pair = &self.locals[0, 0] + 2 * first
        cdef Py_ssize_t j, i
        if self.shrunk.local[self.j] == ROOT_GAMMA:
            return -2 * self.shrunk.shape[self.j] * t * count - squares / (e * e)
        for i in range(PRODUCTS_APART):
            product[i] = 1
        for j in range(count // PRODUCTS_APART):
            for i in range(PRODUCTS_APART):
                product[i] *= pair[2 * i] * less + pair[2 * i + 1] * e
            pair += 2 * PRODUCTS_APART
            value += settled(product)
        for i in range(count % PRODUCTS_APART):
            product[i] *= pair[2 * i] * less + pair[2 * i + 1] * e
        return -(value + log_of(product))

    cdef double of_moving(self, double e, double factor) noexcept nogil:
        """Log prior of the coefficients that move, times sqrt(factor), where g multiplies scales by
        e; and the log of the probability that they do, where they have local scales.
        """
        cdef double value = 0, squares = 0
        cdef double[PRODUCTS_APART] product
        cdef const double *one = &self.moving[0, 0]
        cdef Py_ssize_t j, i
        for i in range(PRODUCTS_APART):
            product[i] = 1
        if self.shrunk.own[self.j] < 0:
            for j in range(self.movers // PRODUCTS_APART):
                for i in range(PRODUCTS_APART):
                    without_local(one + MOVING_WIDTH * i, e * e, factor, product + i, &squares)
                one += MOVING_WIDTH * PRODUCTS_APART
                value += settled(product)
            for i in range(self.movers % PRODUCTS_APART):
                without_local(one + MOVING_WIDTH * i, e * e, factor, product + i, &squares)
        else:
            for j in range(self.movers // PRODUCTS_APART):
                for i in range(PRODUCTS_APART):
                    with_local(one + MOVING_WIDTH * i, e * e, factor, product + i, &squares)
                one += MOVING_WIDTH * PRODUCTS_APART
                value += settled(product)
            for i in range(self.movers % PRODUCTS_APART):
                with_local(one + MOVING_WIDTH * i, e * e, factor, product + i, &squares)
        return 0.5 * (value + log_of(product) - squares)

    cdef void turn_ratio(self, Rng rng) noexcept nogil:
        """g_i, coefficients and scales as they are; without local scales these change with it."""
        cdef double t
        self.gather()
        t = self.slice(RATIO, 0, GLOBAL_WIDTH, SLICE_STEPS, rng)
        if self.shrunk.own[self.j] < 0:
            self.widen(exp(self.share * t), 1)
        self.move(t, True)

    cdef double of_ratio(self, double t) noexcept nogil:
        cdef double away = self.share * t
        if self.shrunk.own[self.j] < 0:
            return self.above_at(t) + self.of_moving(exp(away), 1)
        return (self.above_at(t) + self.of_locals(away, 0, self.stayers, self.squares_staying)
                + self.of_locals(away, self.shrunk.k - self.movers, self.movers,
                                 self.squares_moving))

    cdef void widen(self, double e, double factor) noexcept nogil:
        """Multiply scales of coefficients that move, and these."""
        cdef Py_ssize_t l
        for l in range(self.shrunk.k):
            if self.shrunk.group[l] == self.i and not self.stays[l]:
                self.theta[self.shrunk.where[l]] *= factor
                self.wide[l] *= e * e

    cdef void move(self, double t, bint all) noexcept nogil:
        """g_i + t, with the local scales of all, or of coefficients that stay."""
        cdef double away = self.share * t, e = exp(-away)
        cdef Py_ssize_t j
        self.theta[self.first + self.i] += t
        for j in range(self.shrunk.k):
            if self.shrunk.group[j] != self.i or self.shrunk.own[j] < 0:
                continue
            if all or self.stays[j]:
                self.theta[self.shrunk.own[j]] -= away
                self.up[j] *= e

    cdef void turn_partly(self, Rng rng) noexcept nogil:
        """g_i, coefficients along that do not stay."""
        cdef double t, e, sigma2 = exp(2 * self.theta[self.shrunk.size - 1])
        cdef double *along = &self.along[self.i, 0]
        cdef Py_ssize_t j
        self.gather()
        self.rf = self.dot(&self.residual[0], along) / sigma2
        self.ff = self.dot(along, along) / sigma2
        t = self.slice(PARTLY, 0, GLOBAL_WIDTH, SLICE_STEPS, rng)
        e = exp(self.share * t)
        for j in range(self.m):
            self.residual[j] -= (e - 1) * along[j]
            along[j] *= e
        self.move(t, False)
        self.widen(e, e)

    cdef double of_partly(self, double t) noexcept nogil:
        cdef double away = self.share * t, e = exp(away)
        return (self.above_at(t) + self.of_moving(e, e * e) + 0.5 * (e - 1)
                * (2 * self.rf - (e - 1) * self.ff)
                + self.of_locals(away, 0, self.stayers, self.squares_staying))

    cdef void turn_noise(self, Rng rng) noexcept nogil:
        """u, scales as they are."""
        cdef Py_ssize_t j, last = self.shrunk.size - 1
        cdef double u
        self.rr = self.dot(&self.residual[0], &self.residual[0]) + self.weight * self.rounding
        u = self.slice(NOISE, self.theta[last], NOISE_WIDTH / sqrt(self.weight), SLICE_STEPS, rng)
        self.of_noise(u)
        memcpy(&self.theta[self.first], &self.trial[self.first],
               (self.shrunk.groups + 1) * sizeof(double))

    cdef double of_noise(self, double u) noexcept nogil:
        cdef Py_ssize_t j, at, last = self.shrunk.size - 1
        cdef double value = 0
        memcpy(&self.trial[self.first], &self.theta[self.first],
               (self.shrunk.groups + 1) * sizeof(double))
        for j in range(self.shrunk.k):
            at = self.first + self.shrunk.group[j]
            self.trial[at] = self.theta[at] - (self.shrunk.noise[j] / self.shrunk.share[j]
                                               * (u - self.theta[last]))
        self.trial[last] = u
        self.above.add(&self.trial[self.first], &value, NULL)
        return value - self.weight * u - 0.5 * self.rr * exp(-2 * u)

    # ---- slices ----------------------------------------------------------------------------------

    cdef double density(self, int what, double at) noexcept nogil:
        if what == LOCAL:
            return self.of_local(at)
        if what == RATIO:
            return self.of_ratio(at)
        if what == PARTLY:
            return self.of_partly(at)
        return self.of_noise(at)

    cdef double slice(self, int what, double now, double width, int steps,
                      Rng rng) noexcept nogil:
        """A draw that leaves a density invariant (Neal 2003, doi:10.1214/aos/1056562461): within a
        slice, from an interval of that width around where it is, which takes at most so many
        `steps` to either side.
        """
        cdef double level = self.density(what, now) - next_exponential(rng), at
        cdef double low = now - width * next_uniform(rng), high = low + width
        cdef Py_ssize_t k
        for k in range(steps):
            if not self.density(what, low) > level:
                break
            low -= width
        for k in range(steps):
            if not self.density(what, high) > level:
                break
            high += width
        while high - low > SLICE_END * max(1.0, abs(now)):
            at = low + (high - low) * next_uniform(rng)
            if self.density(what, at) > level:
                return at
            if at < now:
                low = at
            else:
                high = at
        return now
