"""Effects of levels as parameters: their prior given standard deviations and correlations, and the
map from effects in units of their covariance.

Parameters are theta = (beta, b, phi, eta, u): coefficients; effects b_l = f_l Lambda v_l of each
level l of each term, level by level; phi, of which Lambda is made (`Loading`); eta, of which f is
made (`Spectrum`), one for most terms; logs of auxiliary parameters.
Chains move them partly centred: Papaspiliopoulos, Roberts & Skold (2007),
doi:10.1214/088342307000000014.
"""
import numpy as np

from libc.math cimport INFINITY, exp, fabs, log, sqrt
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from sgmc.core.contract cimport OK, Map, Prior
from sgmc.models.regression.latent.densities.spectrum cimport MOST_SPECTRAL, Spectrum
from sgmc.models.mixed.loading cimport MOST_SDS, Loading

cdef enum:
    MOST_SQUARES = MOST_SDS * MOST_SDS
    MOST_ENTRIES = MOST_SDS * (MOST_SDS + 1) // 2


cdef class Blocks:
    """Where effects stand.

    Parameters
    ----------
    loading : Loading
        Of all effects, term after term.
    d : int
        Coefficients.
    levels, width : array of int
        Levels of each term, and effects of a level.
    log_params : int
        Auxiliary parameters.
    centring, row_precision, estimate : array (effects of all levels,), optional
        See `Loaded`; by default zeros.
    typical : array (loading.size,), optional
        phi in the centre of the posterior; needed where effects have a row precision.
    spectrum : Spectrum, optional
        Of all terms; by default f = 1.
    """

    def __init__(self, Loading loading, Py_ssize_t d, levels, width, Py_ssize_t log_params,
                 centring=None, row_precision=None, estimate=None, typical=None,
                 Spectrum spectrum=None):
        counts = np.multiply(levels, width)
        self.loading, self.d, self.effects = loading, d, counts.sum()
        self.spectrum = Spectrum([()] * len(counts)) if spectrum is None else spectrum
        self.size = d + self.effects + loading.size + self.spectrum.size + log_params
        self.levels, self.width = np.array(levels, dtype=np.intp), np.array(width, dtype=np.intp)
        self.first = (d + np.cumsum(counts) - counts).astype(np.intp)
        self.start = (np.cumsum(width) - width).astype(np.intp)
        self.number = np.concatenate([
            np.tile(np.arange(k, k + n), m) for k, n, m in zip(self.start, self.width, self.levels)
        ]).astype(np.intp)
        zero = np.zeros(self.effects)
        self.centring = zero if centring is None else np.array(centring, dtype=float)
        self.row_precision = zero if row_precision is None else np.array(row_precision, dtype=float)
        self.estimate = zero if estimate is None else np.array(estimate, dtype=float)
        self.typical = np.ones(loading.size) if typical is None else np.array(typical, dtype=float)
        mean = np.bincount(self.number, self.centring) / np.bincount(self.number)
        pairs = [min(mean[i], mean[j]) for i, j in loading.correlations()]
        self.kept = np.concatenate([np.ones(loading.q), 1 - np.array(pairs)])
        self.fixed = (1 - np.asarray(self.kept)) * np.asarray(self.typical)

    def ratios(self, theta):
        """f of each effect, see `Spectrum`, at points theta (..., dim): an array (..., effects), or
        (effects,) where all are one.
        """
        if not self.spectrum.size:
            return np.ones(self.effects)
        counts = np.multiply(self.levels, self.width)
        flat = theta[..., self.eta].reshape(-1, self.spectrum.size)
        found = self.spectrum.ratios(flat, counts)
        return found.reshape(*theta.shape[:-1], self.effects)

    def bends(self, theta):
        """Derivatives of the logs of f by eta at a point theta (dim,), (eta, effects)."""
        return self.spectrum.at(theta[self.eta], np.multiply(self.levels, self.width))[1]

    def within(self, theta):
        """What `Loaded` multiplies by, and the mean given the sd, of each effect, (..., effects),
        at points theta (..., dim).
        """
        number, phi = np.asarray(self.number), theta[..., self.phi]
        row_precision = self.ratios(theta) ** 2 * np.asarray(self.row_precision)
        centring = np.asarray(self.centring)
        q = self.loading.q
        sds = np.asarray(self.loading.sds(phi[..., :q]))[..., number]
        typical = np.asarray(self.loading.sds(np.asarray(self.typical)[:q]))[number]
        shrink = 1 / np.sqrt(1 + sds**2 * row_precision)
        with np.errstate(divide="ignore"):
            excess = np.where(centring > 0, np.abs(sds / typical) ** -centring, 1.0)
        return shrink * excess, (1 - shrink**2) * np.asarray(self.estimate)

    @property
    def log_params(self):
        """Auxiliary parameters."""
        return self.size - self.d - self.effects - self.loading.size - self.spectrum.size

    def replaced(self, loading=None, centring=None, row_precision=None, estimate=None,
                 typical=None, more=0):
        """The same with another `Loading` of as many effects, or other coordinates of these; with
        so many parameters more before the auxiliary ones.
        """
        return Blocks(loading or self.loading, self.d, np.array(self.levels), np.array(self.width),
                      self.log_params + more, centring, row_precision, estimate, typical,
                      self.spectrum)

    @property
    def places(self):
        """Places of all parameters but the effects."""
        return np.r_[0:self.d, self.d + self.effects:self.size]

    @property
    def phi(self):
        """Places of phi, a slice."""
        begin = self.d + self.effects
        return slice(begin, begin + self.loading.size)

    @property
    def eta(self):
        """Places of eta, a slice."""
        return slice(self.phi.stop, self.phi.stop + self.spectrum.size)

    def of_term(self, Py_ssize_t t):
        """Places of the effects of a term, (levels, width)."""
        count = self.levels[t] * self.width[t]
        return (self.first[t] + np.arange(count)).reshape(self.levels[t], self.width[t])

    cdef void root(self, const double *theta, double *out) noexcept nogil:
        self.loading.fill(theta + self.d + self.effects, out)

    cdef void slopes(self, const double *theta, double *J) noexcept nogil:
        self.loading.slopes(theta + self.d + self.effects, J)

    cdef double ratio(self, const double *theta, Py_ssize_t t, Py_ssize_t l,
                      double *slopes) noexcept nogil:
        return self.spectrum.ratio(
            theta + self.d + self.effects + self.loading.size, t, l, slopes)

    cdef double shrink(self, Py_ssize_t place, double sd, double excess) noexcept nogil:
        """(1 + sd^2 row_precision)^-1/2 |sd / typical sd|^-centring of an effect of a level."""
        cdef double row_precision = self.row_precision[place - self.d]
        cdef double centring = self.centring[place - self.d]
        if centring > 0:
            return exp(-centring * excess)
        return 1 / sqrt(1 + sd * sd * row_precision) if row_precision > 0 else 1

    cdef double excess(self, double sd, Py_ssize_t i) noexcept nogil:
        """log |sd / typical sd| of an effect."""
        return log(fabs(sd / self.loading.sd(&self.typical[0], i)))

    cdef void loaded_phi(self, const double *theta, double *phi) noexcept nogil:
        """phi with correlations moved towards those of the centre."""
        cdef Py_ssize_t k
        for k in range(self.loading.size):
            phi[k] = self.kept[k] * theta[self.d + self.effects + k] + self.fixed[k]

    cdef void load(self, const double *theta, double *out) noexcept nogil:
        cdef double[MOST_ENTRIES] phi
        self.loaded_phi(theta, phi)
        self.loading.fill(phi, out)

    cdef void load_slopes(self, const double *theta, double *J) noexcept nogil:
        cdef Py_ssize_t e, f, n = self.loading.size
        cdef double[MOST_ENTRIES] phi
        self.loaded_phi(theta, phi)
        self.loading.slopes(phi, J)
        for e in range(n):
            for f in range(n):
                J[e * n + f] *= self.kept[f]

    cdef void chain(self, const double *J, const double *entries, double *grad) noexcept nogil:
        cdef Py_ssize_t e, f, n = self.loading.size
        cdef double one
        for e in range(n):
            one = entries[self.loading.row[e] * self.loading.q + self.loading.column[e]]
            for f in range(n):
                grad[self.d + self.effects + f] += one * J[e * n + f]

    def loads(self, theta):
        """What effects of points (..., dim) are multiplied by: arrays (..., q, q) for those of a
        level together, and (..., effects) for each; and what is added to them, (..., effects).
        """
        phi, (shrink, mean) = theta[..., self.phi], self.within(theta)
        root = self.loading.root(np.asarray(self.kept) * phi + np.asarray(self.fixed))
        return root, shrink * self.ratios(theta), mean


cdef class EffectsPrior(Prior):
    """b_l ~ N(0, f_l^2 Lambda Lambda') for each level, with what autoregressions have besides, see
    `Spectrum`; beta, phi, eta and u by a prior of their own.

    Parameters
    ----------
    blocks : Blocks
    fixed : Prior
        Of (beta, phi, eta, u).
    """

    cdef readonly Blocks blocks
    cdef readonly Prior fixed

    def __init__(self, Blocks blocks, Prior fixed):
        Prior.__init__(self, blocks.size)
        self.blocks, self.fixed = blocks, fixed

    cdef int add(self, const double *theta, double *value, double *grad) except -1 nogil:
        cdef double[MOST_SQUARES] root, entries
        cdef double[MOST_ENTRIES * MOST_ENTRIES] J
        cdef Py_ssize_t t, a, q = self.blocks.loading.q
        self.add_fixed(theta, value, grad)
        self.blocks.root(theta, root)
        memset(entries, 0, q * q * sizeof(double))
        for t in range(self.blocks.levels.shape[0]):
            for a in range(self.blocks.start[t], self.blocks.start[t] + self.blocks.width[t]):
                if root[a * q + a] == 0:                  # no density: effects have to be zero
                    if value != NULL:
                        value[0] = -INFINITY
                    return OK
                if value != NULL:
                    value[0] -= self.blocks.levels[t] * log(fabs(root[a * q + a]))
                entries[a * q + a] -= self.blocks.levels[t] / root[a * q + a]
            self.add_term(t, theta, root, value, grad, entries)
        if grad != NULL:
            self.blocks.slopes(theta, J)
            self.blocks.chain(J, entries, grad)
        return OK

    cdef int add_fixed(self, const double *theta, double *value, double *grad) except -1 nogil:
        """The prior of all else, whose places are around those of the effects."""
        cdef Py_ssize_t d = self.blocks.d, rest = self.fixed.dim - d
        cdef double *own = <double *> calloc(2 * self.fixed.dim, sizeof(double))
        cdef double *slope = own + self.fixed.dim
        cdef Py_ssize_t j, end = d + self.blocks.effects
        if own == NULL:
            with gil:
                raise MemoryError
        try:
            memcpy(own, theta, d * sizeof(double))
            memcpy(own + d, theta + end, rest * sizeof(double))
            self.fixed.add(own, value, slope if grad != NULL else NULL)
            if grad != NULL:
                for j in range(d):
                    grad[j] += slope[j]
                for j in range(rest):
                    grad[end + j] += slope[d + j]
        finally:
            free(own)
        return OK

    cdef void add_term(self, Py_ssize_t t, const double *theta, const double *root, double *value,
                       double *grad, double *entries) noexcept nogil:
        """-|v_l|^2 / 2 - n log f of each level, v = (f Lambda)^-1 b; with w = Lambda'^-1 v the
        slope by b is -w / f, that by Lambda w v', that by log f |v|^2 - n.
        """
        cdef Py_ssize_t l, a, c, q = self.blocks.loading.q, n = self.blocks.width[t]
        cdef Py_ssize_t eta = self.blocks.d + self.blocks.effects + self.blocks.loading.size
        cdef const double *L = root + self.blocks.start[t] * (q + 1)
        cdef double *own = entries + self.blocks.start[t] * (q + 1)
        cdef double[MOST_SDS] v, w
        cdef double[MOST_SPECTRAL] slopes
        cdef const double *b
        cdef double ratio, square, total = 0
        # of autoregressions the determinant is known in closed form
        cdef bint chain = self.blocks.spectrum.chain(t)
        for l in range(self.blocks.levels[t]):
            b = theta + self.blocks.first[t] + l * n
            ratio, square = self.blocks.ratio(theta, t, l, slopes), 0
            if value != NULL and ratio != 1 and not chain:
                value[0] -= n * log(ratio)
            for a in range(n):
                v[a] = b[a] / ratio
                for c in range(a):
                    v[a] -= L[a * q + c] * v[c]
                v[a] /= L[a * q + a]
                total += v[a] * v[a]
                square += v[a] * v[a]
            if grad == NULL:
                continue
            self.blocks.spectrum.add_slopes(t, slopes, square if chain else square - n, grad + eta)
            for a in range(n - 1, -1, -1):
                w[a] = v[a]
                for c in range(a + 1, n):
                    w[a] -= L[c * q + a] * w[c]
                w[a] /= L[a * q + a]
                grad[self.blocks.first[t] + l * n + a] -= w[a] / ratio
                for c in range(a + 1):
                    own[a * q + c] += w[a] * v[c]
        if value != NULL:
            value[0] -= 0.5 * total
        if chain:
            ratio = self.blocks.spectrum.add_ends(
                theta + eta, t, theta + self.blocks.first[t], L[0],
                NULL if grad == NULL else grad + self.blocks.first[t], grad + eta, own)
            if value != NULL:
                value[0] += ratio


cdef class Loaded(Map):
    """(beta, v, phi, eta, u) to (beta, b, phi, eta, u), effect by effect in one of two ways.

    With a centring weight c, b_l = |sd / sd0|^-c_l f_l Lambda v_l, the coordinates xi of
    correlations in Lambda being (1 - c) xi + c xi0 with the mean c.  With a weight of 0 v has its
    prior's law; with 1 b_l = Lambda0 v_l, and the prior alone depends on phi.  That suits effects
    of levels, which other parameters can take up.

    With a row precision r: b_l = k_l estimate_l + (1 + sd_l^2 r_l)^-1/2 sd_l v_l, k = sd_l^2 r /
    (1 + sd_l^2 r) and sd_l = f_l sd.  Where the rows tell each of them as N(estimate, 1 / r), as
    they nearly do of the orthogonal columns of a smooth, v is standard normal whatever the sd.

    Parameters
    ----------
    blocks : Blocks
    """

    cdef readonly Blocks blocks

    def __init__(self, Blocks blocks):
        self.blocks, self.dim, self.size = blocks, blocks.size, blocks.size

    def __call__(self, x):
        """theta for points x (..., dim)."""
        theta = np.array(x, dtype=float)
        root, shrink, mean = self.blocks.loads(theta)
        for t in range(len(self.blocks.levels)):
            places, begin = self.blocks.of_term(t), self.blocks.start[t]
            end, own = begin + self.blocks.width[t], places - self.blocks.d
            found = theta[..., places] @ np.swapaxes(root[..., begin:end, begin:end], -1, -2)
            theta[..., places] = mean[..., own] + shrink[..., own] * found
        return theta

    def inverse(self, theta):
        """x for points theta (..., dim)."""
        x = np.array(theta, dtype=float)
        root, shrink, mean = self.blocks.loads(x)
        for t in range(len(self.blocks.levels)):
            places, begin = self.blocks.of_term(t), self.blocks.start[t]
            end, own = begin + self.blocks.width[t], places - self.blocks.d
            found = np.swapaxes((x[..., places] - mean[..., own]) / shrink[..., own], -1, -2)
            found = np.linalg.solve(root[..., begin:end, begin:end], found)
            x[..., places] = np.swapaxes(found, -1, -2)
        return x

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        cdef double[MOST_SQUARES] root
        cdef Py_ssize_t t, l, a, c, at, i, n, q = self.blocks.loading.q
        cdef const double *L
        cdef double[MOST_SPECTRAL] slopes
        cdef double sd, excess, shrink, total, ratio
        memcpy(theta, x, self.dim * sizeof(double))
        self.blocks.load(x, root)
        for t in range(self.blocks.levels.shape[0]):
            n = self.blocks.width[t]
            L = root + self.blocks.start[t] * (q + 1)
            for a in range(n):
                i = self.blocks.start[t] + a
                sd = self.blocks.loading.sd(x + self.blocks.d + self.blocks.effects, i)
                excess = self.blocks.excess(sd, i)
                if log_jacobian != NULL:
                    log_jacobian[0] += self.blocks.levels[t] * log(fabs(L[a * q + a]))
                for l in range(self.blocks.levels[t]):
                    at = self.blocks.first[t] + l * n
                    ratio, total = self.blocks.ratio(x, t, l, slopes), 0
                    shrink = self.blocks.shrink(at + a, ratio * sd, excess)
                    for c in range(a + 1):
                        total += L[a * q + c] * x[at + c]
                    theta[at + a] = (shrink * ratio * total + (1 - shrink * shrink)
                                     * self.blocks.estimate[at + a - self.blocks.d])
                    if log_jacobian != NULL and shrink * ratio != 1:
                        log_jacobian[0] += log(shrink * ratio)
        return OK

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        cdef double[MOST_SQUARES] root, moved
        cdef double[MOST_ENTRIES * MOST_ENTRIES] J
        cdef Py_ssize_t t, l, a, c, e, f, at, i, q = self.blocks.loading.q
        cdef Py_ssize_t n = self.blocks.loading.size, end = self.blocks.d + self.blocks.effects
        cdef const double *along = v + end
        cdef double[MOST_SPECTRAL] slopes
        cdef double sd, excess, shrink, turn, own, slope, ratio, bent
        memcpy(v_theta, v, self.dim * sizeof(double))
        self.blocks.load(x, root)
        self.blocks.load_slopes(x, J)
        memset(moved, 0, q * q * sizeof(double))
        for e in range(n):
            for f in range(n):
                at = self.blocks.loading.row[e] * q + self.blocks.loading.column[e]
                moved[at] += J[e * n + f] * along[f]
        for t in range(self.blocks.levels.shape[0]):
            for a in range(self.blocks.width[t]):
                i = self.blocks.start[t] + a
                sd = self.blocks.loading.sd(x + end, i)
                excess = self.blocks.excess(sd, i)
                for l in range(self.blocks.levels[t]):
                    at = self.blocks.first[t] + l * self.blocks.width[t]
                    ratio = self.blocks.ratio(x, t, l, slopes)
                    bent = self.blocks.spectrum.along(t, slopes, along + n)
                    shrink = self.blocks.shrink(at + a, ratio * sd, excess)
                    turn, own, slope = self.turned(at + a, i, x, sd, ratio, shrink) * along[i], 0, 0
                    turn += self.turned_by_ratio(at + a, ratio * sd, shrink) * bent
                    for c in range(a + 1):
                        own += x[at + c] * root[i * q + self.blocks.start[t] + c]
                        slope += x[at + c] * moved[i * q + self.blocks.start[t] + c]
                        slope += v[at + c] * root[i * q + self.blocks.start[t] + c]
                    v_theta[at + a] = shrink * ratio * (slope + (bent - turn) * own) + (
                        2 * turn * shrink * shrink * self.blocks.estimate[at + a - self.blocks.d])
        return OK

    cdef double turned_by_ratio(self, Py_ssize_t place, double sd, double shrink) noexcept nogil:
        """-d log shrink / d log f."""
        return sd * sd * self.blocks.row_precision[place - self.blocks.d] * shrink * shrink

    cdef double turned(self, Py_ssize_t place, Py_ssize_t i, const double *x, double sd,
                       double ratio, double shrink) noexcept nogil:
        """-d log shrink / dphi_i."""
        cdef double row_precision = ratio * ratio * self.blocks.row_precision[place - self.blocks.d]
        cdef double centring = self.blocks.centring[place - self.blocks.d]
        cdef const double *phi = x + self.blocks.d + self.blocks.effects
        cdef double slope = centring / sd if centring > 0 else sd * row_precision * shrink * shrink
        return self.blocks.loading.stretch(phi, i) * slope

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef double[MOST_SQUARES] root, entries
        cdef double[MOST_ENTRIES * MOST_ENTRIES] J
        cdef Py_ssize_t t, l, a, c, j, at, i, q = self.blocks.loading.q, n
        cdef Py_ssize_t end = self.blocks.d + self.blocks.effects
        cdef double *own
        cdef const double *L
        cdef double[MOST_SPECTRAL] slopes
        cdef double sd, excess, shrink, pulled, along, ratio, narrowed
        self.blocks.load(x, root)
        memset(entries, 0, q * q * sizeof(double))
        for j in range(self.blocks.d):
            grad_x[j] += grad_theta[j]
        for j in range(end, self.dim):
            grad_x[j] += grad_theta[j]
        for t in range(self.blocks.levels.shape[0]):
            n = self.blocks.width[t]
            L = root + self.blocks.start[t] * (q + 1)
            own = entries + self.blocks.start[t] * (q + 1)
            for a in range(n):
                i = self.blocks.start[t] + a
                sd = self.blocks.loading.sd(x + end, i)
                excess = self.blocks.excess(sd, i)
                own[a * q + a] += self.blocks.levels[t] / L[a * q + a]
                for l in range(self.blocks.levels[t]):
                    at = self.blocks.first[t] + l * n
                    ratio, along = self.blocks.ratio(x, t, l, slopes), 0
                    shrink = self.blocks.shrink(at + a, ratio * sd, excess)
                    pulled = grad_theta[at + a] * shrink * ratio
                    for c in range(a + 1):
                        grad_x[at + c] += L[a * q + c] * pulled
                        own[a * q + c] += pulled * x[at + c]
                        along += L[a * q + c] * x[at + c]
                    narrowed = (2 * shrink / ratio * pulled     # slope by -log shrink
                                * self.blocks.estimate[at + a - self.blocks.d]
                                - pulled * along - 1)
                    if shrink != 1:
                        grad_x[end + i] += self.turned(at + a, i, x, sd, ratio, shrink) * narrowed
                    self.blocks.spectrum.add_slopes(
                        t, slopes, pulled * along + 1
                        + self.turned_by_ratio(at + a, ratio * sd, shrink) * narrowed,
                        grad_x + end + self.blocks.loading.size)
        self.blocks.load_slopes(x, J)
        self.blocks.chain(J, entries, grad_x)
        return OK
