"""Standard deviations of a term's columns as functions of two parameters or three: sd_k = sd f_k,
the f_k depending on a length scale of each covariate, on the share of structured effects, or on the
correlation of neighbouring times.
"""
import numpy as np

from libc.math cimport exp, fabs, log

cdef enum:
    OF_WAVES = 0
    OF_MIXTURES = 1
    OF_CHAINS = 2

FORMS = {"waves": OF_WAVES, "mixture": OF_MIXTURES, "chain": OF_CHAINS}
# of log f: columns of less have no part in anything, and squares of their sds are numbers
cdef double SMALLEST_LOG = -150.0


cdef double chained(double eta, double half_sine, double half_cosine, double end,
                    double *slope) noexcept nogil:
    """log f of a cosine that begins with the value `end`, of which sin(w / 2) and cos(w / 2) are
    given, w being its frequency; and its slope by eta.

    Near the ends of rho all differences from one are exact: by the distance `near` of rho from its
    end, and `apart` of the cosine from the same one.
    """
    cdef bint up = eta >= 0
    cdef double small = exp(-2 * fabs(eta)), near = 2 * small / (1 + small), far = 2 / (1 + small)
    cdef double below = near if up else far, above = far if up else near  # 1 -+ rho
    cdef double rho = (above - below) / 2, half = half_sine if up else half_cosine
    cdef double apart = 2 * half * half, bent
    cdef double around = near * near + 2 * fabs(rho) * apart + 2 * rho * below * end * end
    bent = (apart - near if up else near - apart) + (below - rho) * end * end
    slope[0] = -rho - near * far * bent / around
    return 0.5 * log(near * far / around)


cdef class Spectrum:
    """Ratios f of the sds of effects, those of levels or columns l of each term t, at parameters
    eta.

    With eta the log of a length scale, log f = (eta - exp(2 eta) w^2 / 2) / 2, w^2 being a column's
    number; with eta = atanh(2 rho - 1), f^2 = rho v + 1 - rho; and with eta = atanh(rho) 1 / f^2 is
    the precision of a cosine's coefficient in an autoregression, see `terms.autoregression`: (1 +
    rho^2 - 2 rho cos(pi k / m)) / (1 - rho^2) + 2 rho / (1 + rho) c_k^2, k being a column's number,
    m - 1 the largest, and c_k the cosine's value at an end.  Terms of several parameters have the
    product, and those of none f = 1.

    The latter coefficients are not independent: with the values a and z that their sum has at the
    first time and at the last, `add_ends` has what the density has besides, and the determinant of
    all in the place of the product of f.

    Parameters
    ----------
    terms : list of list of (int, str, array (levels,))
        Of each term its parameters: place in eta, a key of `FORMS`, and numbers of its levels.
    """

    def __init__(self, terms):
        self.terms = list(terms)
        own = {place: (form, numbers) for term in terms for place, form, numbers in term}
        self.size = len(own)
        if sorted(own) != list(range(self.size)) or max(map(len, terms), default=0) > MOST_SPECTRAL:
            raise ValueError("each parameter belongs to a term, of at most two")
        place = np.full((len(self.terms), MOST_SPECTRAL), -1, dtype=np.intp)
        for t, term in enumerate(self.terms):
            place[t, :len(term)] = [j for j, _, _ in term]
        self.place = place
        self.form = np.array([FORMS[own[j][0]] for j in range(self.size)], dtype=np.intp)
        counts = [len(own[j][1]) for j in range(self.size)]
        self.begin = (np.cumsum(counts) - counts).astype(np.intp)
        self.largest = np.array([max(own[j][1], default=0) for j in range(self.size)], dtype=float)
        self.numbers = np.concatenate([np.empty(0), *(own[j][1] for j in range(self.size))])
        # of chains: half the frequencies of their cosines, and values of these at the first time
        m = np.repeat(np.asarray(self.largest) + 1, counts)
        half = np.pi / 2 * np.asarray(self.numbers) / m
        self.half_sine, self.half_cosine = np.sin(half), np.cos(half)
        self.end = np.sqrt(np.where(np.asarray(self.numbers) > 0, 2, 1) / m) * np.cos(half)

    def __reduce__(self):
        return Spectrum, (self.terms,)

    cdef double ratio(self, const double *eta, Py_ssize_t t, Py_ssize_t l,
                      double *slopes) noexcept nogil:
        cdef Py_ssize_t a, j, at
        cdef double number, one, other, value, total = 0
        if self.place[t, 0] < 0:
            return 1
        for a in range(MOST_SPECTRAL):
            j = self.place[t, a]
            if j < 0:
                break
            at = self.begin[j] + l
            number = self.numbers[at]
            if self.form[j] == OF_WAVES:
                one = number * exp(2 * eta[j])
                value, slopes[a] = 0.5 * (eta[j] - 0.5 * one), 0.5 * (1 - one)
            elif self.form[j] == OF_CHAINS:
                value = chained(eta[j], self.half_sine[at], self.half_cosine[at], self.end[at],
                                slopes + a)
            else:
                one, other = 1 / (1 + exp(-2 * eta[j])), 1 / (1 + exp(2 * eta[j]))
                value = 0.5 * log(one * number + other)
                slopes[a] = (number - 1) * one * other / (one * number + other)
            if value < SMALLEST_LOG:
                value, slopes[a] = SMALLEST_LOG, 0
            total += value
        return exp(total)

    cdef bint chain(self, Py_ssize_t t) noexcept nogil:
        """Whether a term is an autoregression."""
        return self.place[t, 0] >= 0 and self.form[self.place[t, 0]] == OF_CHAINS

    cdef double add_ends(self, const double *eta, Py_ssize_t t, const double *b, double sd,
                         double *slope, double *grad_eta, double *slope_sd) noexcept nogil:
        """-rho / (1 + rho) (a^2 + z^2 - 2 sum_l c_l^2 b_l^2) / (2 sd^2) - (m - 1) log(1 - rho^2) /
        2, c_l being the cosine at an end; slopes are added to three places, unless these are NULL.
        """
        cdef Py_ssize_t l, j = self.place[t, 0]
        cdef double m = self.largest[j] + 1
        cdef double below = 2 / (1 + exp(2 * eta[j])), above = 2 / (1 + exp(-2 * eta[j]))
        cdef double rho = (above - below) / 2, weight = rho / (above * sd * sd)
        cdef double a = 0, z = 0, square = 0, end
        for l in range(<Py_ssize_t> m):
            end = self.end[self.begin[j] + l]
            a += b[l] * end
            z += b[l] * end if l % 2 == 0 else -b[l] * end
            square -= 2 * (b[l] * end) ** 2
        square += a * a + z * z
        if slope != NULL:
            for l in range(<Py_ssize_t> m):
                end = self.end[self.begin[j] + l]
                slope[l] -= weight * end * ((a + z if l % 2 == 0 else a - z) - 2 * end * b[l])
            grad_eta[j] += (m - 1) * rho - 0.5 * below * square / (above * sd * sd)
            slope_sd[0] += weight * square / sd
        return -0.5 * weight * square - 0.5 * (m - 1) * (log(below) + log(above))

    cdef void add_slopes(self, Py_ssize_t t, const double *slopes, double weight,
                         double *grad) noexcept nogil:
        """grad (size,) += weight d log f / d eta."""
        cdef Py_ssize_t a
        for a in range(MOST_SPECTRAL):
            if self.place[t, a] < 0:
                break
            grad[self.place[t, a]] += weight * slopes[a]

    cdef double along(self, Py_ssize_t t, const double *slopes, const double *v) noexcept nogil:
        """d log f along v (size,)."""
        cdef Py_ssize_t a
        cdef double total = 0
        for a in range(MOST_SPECTRAL):
            if self.place[t, a] < 0:
                break
            total += slopes[a] * v[self.place[t, a]]
        return total

    def ratios(self, eta, levels):
        """f of all levels of all terms, (m, levels of all), at points eta (m, size)."""
        cdef double[:, ::1] x = np.zeros((len(eta), self.size + 1))
        cdef double[:, ::1] f = np.ones((len(eta), sum(levels)))
        cdef double[MOST_SPECTRAL] slopes
        cdef Py_ssize_t i, t, l, k = 0, n
        np.asarray(x)[:, :self.size] = eta
        for t, count in enumerate(levels):
            n = count if self.place[t, 0] >= 0 else 0
            for i in range(len(eta)):
                for l in range(n):
                    f[i, k + l] = self.ratio(&x[i, 0], t, l, slopes)
            k += count
        return np.asarray(f)

    def at(self, eta, levels):
        """f of all levels of all terms at eta (size,), and derivatives of their logs, (size,
        levels of all).

        Parameters
        ----------
        eta : array (size,)
        levels : sequence of int
            Of each term.
        """
        cdef const double[::1] x = np.ascontiguousarray(np.append(eta, 0.0), dtype=float)
        cdef double[::1] f = np.ones(sum(levels))
        cdef double[:, ::1] J = np.zeros((self.size, sum(levels)))
        cdef double[MOST_SPECTRAL] slopes
        cdef Py_ssize_t t, l, a, k = 0
        for t, count in enumerate(levels):
            for l in range(count if self.place[t, 0] >= 0 else 0):
                f[k + l] = self.ratio(&x[0], t, l, slopes)
                for a in range(MOST_SPECTRAL):
                    if self.place[t, a] >= 0:
                        J[self.place[t, a], k + l] = slopes[a]
            k += count
        return np.asarray(f), np.asarray(J)
