"""Stochastic volatility with one state: a filter on a grid, and what data say from behind."""
import numpy as np

from libc.math cimport ceil, exp, fmax, fmin, log, sqrt, INFINITY, M_PI
from libc.string cimport memcpy, memset

from sgmc.core.numerics.simd cimport exponential
from sgmc.models.hmm.windows cimport Span, Windows

cdef enum:
    LANES = 8
    GRID_POINTS = 640             # at most; a multiple of LANES, as all sizes here
    ENTRIES = 15360               # of the table of moves, at most
    NEWTON = 20                   # steps of Newton's method for the upper end

cdef double EXTENT = 7.0          # stationary sds below zero, and at least above
cdef double STRIDE = 7.0          # of its sds that a move may be long, at least
cdef double MARGIN = 4.0          # beyond the mode of the largest outcome's z
cdef double COARSEST = 0.25       # distance of points, in stationary sds; and in sds of a move:
cdef double FINENESS = 1.0
cdef double VANISHING = 1e-150    # probabilities below are zero: products stay normal numbers


cdef class GridVolatility(Windows):
    """x_t = phi x_{t-1} + N(0, sigma^2) with x_1 ~ N(0, s^2), s^2 = sigma^2 / (1 - phi^2);
    y_t ~ N(0, beta^2 exp(x_t)).

    theta: phi, sigma, beta.  Integrals over the state are sums over equidistant points z = x / s
    (Kitagawa 1987, doi 10.1080/01621459.1987.10478534), which for smooth densities on the whole
    line converge faster than any power of the distance: with points no farther apart than one sd of
    a move, log densities have relative errors of about 1e-8 and less.  Forward messages are
    probabilities of the points given y up to t; those back are proportional to p(y after t | x_t).
    A missing y says nothing.

    Parameters
    ----------
    y, table, buffer
        See `Windows`; y has one column.
    """

    def __init__(self, y, table, Py_ssize_t buffer):
        self.dim, self.message, self.slot = 3, GRID_POINTS, 2 * GRID_POINTS
        self.prepared = sizeof(Grid) // sizeof(double) + 8 * GRID_POINTS + ENTRIES
        Windows.__init__(self, y, table, buffer)
        self.largest = np.nanmax(np.abs(y))

    @property
    def nanoseconds(self):
        """Of a window: few of the points are used, and few of the moves between them."""
        return 3.0 * self.message * len(self.y) / self.n

    @property
    def rest(self):
        return ()

    def points(self, theta):
        """The state at the grid's points, an array as long as the laws' part that is used."""
        cdef double[::1] at = np.array(theta, dtype=float), work = np.empty(self.size)
        self.open(&at[0], &work[0])
        cdef const Grid *g = <const Grid *> &work[0]
        return np.array([g.scale * g.z[j] for j in range(g.size)])

    def filtered(self, theta):
        """The law of the state at each step, given the outcomes up to it: (T, message)."""
        cdef double[::1] at = np.array(theta, dtype=float), work = np.empty(self.size)
        cdef double[:, ::1] kept = np.zeros((self.y.shape[0], self.message))
        cdef Py_ssize_t i
        with nogil:
            self.open(&at[0], &work[0])
            for i in range(self.sequences.shape[0]):
                self.pass_sequence(&at[0], i, 1, &work[0], NULL, False, &kept[0, 0])
        return np.asarray(kept)

    cdef double farthest(self, const double *theta, double s) noexcept nogil:
        """The largest outcome's z, whose sd is below 1, has a mode below this: the root of
        z exp(s z) = s r^2 / 2, r = |y| / beta.
        """
        cdef double r = self.largest / theta[2], goal = log(fmax(0.5 * s * r * r, 1e-300)), z = 1
        cdef Py_ssize_t k
        for k in range(NEWTON):                               # log z + s z is concave
            z = fmax(z - (log(z) + s * z - goal) / (1 / z + s), 0.1 * z)
        return z

    cdef void open(self, const double *theta, double *work) noexcept nogil:
        cdef Grid *g = <Grid *> work
        cdef double phi = theta[0], left = 1 - phi * phi, sd = sqrt(left)
        cdef double far, high, stride, h, place, e, total
        cdef Py_ssize_t i, k
        g.left, g.scale = left, theta[1] / sd
        memset(g.sums, 0, sizeof(g.sums))
        far = self.farthest(theta, g.scale)
        high, stride = fmax(EXTENT, far + MARGIN), fmax(STRIDE, far * sd + MARGIN + 1)
        h = fmin(COARSEST, FINENESS * sd)
        g.size = lanes((EXTENT + high) / h, GRID_POINTS)
        g.width = lanes(2 * stride * sd / h, min(g.size, ENTRIES // g.size))
        h = (EXTENT + high) / (g.size - 1)
        g.z = work + sizeof(Grid) // sizeof(double)
        g.fade, g.level, g.rest = g.z + GRID_POINTS, g.z + 2 * GRID_POINTS, g.z + 3 * GRID_POINTS
        g.first, g.ahead = g.z + 4 * GRID_POINTS, g.z + 5 * GRID_POINTS
        g.said, g.tilted = g.z + 6 * GRID_POINTS, g.z + 7 * GRID_POINTS
        g.moves = g.z + 8 * GRID_POINTS
        total = 0
        for i in range(g.size):
            g.z[i] = -EXTENT + h * i
            g.fade[i] = -g.scale * g.z[i]
            g.level[i] = 0.5 * g.fade[i] - log(theta[2]) - 0.5 * log(2 * M_PI)
            g.rest[i] = exp(-0.5 * g.z[i] * g.z[i])
            total += g.rest[i]
        exponential(g.size, g.fade, g.fade)
        for i in range(g.size):
            g.rest[i] /= total
            place = ceil((phi * g.z[i] + EXTENT) / h - 0.5 * g.width)
            g.first[i] = fmin(fmax(place, 0), g.size - g.width)
            for k in range(g.width):
                e = (g.z[<Py_ssize_t> g.first[i] + k] - phi * g.z[i]) / sd
                g.moves[i * g.width + k] = -0.5 * e * e
            exponential(g.width, g.moves + i * g.width, g.moves + i * g.width)
            for k in range(g.width):
                g.moves[i * g.width + k] *= h / (sd * sqrt(2 * M_PI))

    cdef void close(self, const double *theta, double *work, double *grad) noexcept nogil:
        cdef const Grid *g = <const Grid *> work
        grad[0] += (g.sums[0] + g.sums[2] * theta[0]) / g.left
        grad[1] += (g.sums[1] + g.sums[2]) / theta[1]
        grad[2] += g.sums[3] / theta[2]

    cdef void stationary(self, double *work, double *law) noexcept nogil:
        cdef const Grid *g = <const Grid *> work
        memcpy(law, g.rest, g.size * sizeof(double))

    cdef void nothing(self, double *back) noexcept nogil:
        cdef Py_ssize_t j
        for j in range(GRID_POINTS):
            back[j] = 1

    cdef double forward(self, const double *theta, const Span *s, double *law, double *store,
                        double *work) noexcept nogil:
        cdef Grid *g = <Grid *> work
        cdef Py_ssize_t t, j, G = g.size
        cdef double *likely
        cdef double density = 0, total, ratio
        for t in range(s.start, s.stop):
            likely = store + G
            if t == s.begin:
                memcpy(g.ahead, g.rest, G * sizeof(double))
            else:
                spread(g, law, g.ahead)
            ratio = self.y[t, 0] / theta[2]
            if ratio == ratio:
                for j in range(G):
                    likely[j] = g.level[j] - 0.5 * ratio * ratio * g.fade[j]
                exponential(G, likely, likely)
            else:
                for j in range(G):
                    likely[j] = 1
            total = 0
            for j in range(G):
                law[j] = g.ahead[j] * likely[j]
                total += law[j]
            for j in range(G):
                law[j] = law[j] / total if law[j] > VANISHING * total else 0
            if t >= s.low and t < s.high:
                density += log(total) if total > 0 else -INFINITY
            if s.kept != NULL:
                memcpy(s.kept + t * self.message, law, G * sizeof(double))
            memcpy(store, law, G * sizeof(double))
            store += 2 * G
        return density

    cdef void backward(self, const double *theta, const Span *s, const double *law, double *back,
                       double *store, double *work) noexcept nogil:
        cdef Grid *g = <Grid *> work
        cdef Py_ssize_t t, j, G = g.size
        cdef const double *now
        cdef const double *last
        cdef double total, squares, faded, before, both, p, ratio, phi = theta[0]
        cdef bint wanted
        for t in range(s.stop - 1, s.start - 1, -1):
            now = store + 2 * G * (t - s.start)
            last = law if t == s.start else now - 2 * G
            wanted = t >= s.low and t < s.high
            ratio, squares, faded = self.y[t, 0] / theta[2], 0, 0
            for j in range(G):
                p = now[j] * back[j]
                squares += p * g.z[j] * g.z[j]
                faded += p * g.fade[j]
                if s.kept != NULL:
                    s.kept[t * self.message + j] = p
                g.said[j] = now[G + j] * back[j]
            if wanted and ratio == ratio:
                g.sums[3] += s.scale * (ratio * ratio * faded - 1)
            if t == s.begin:
                if wanted:
                    g.sums[2] += s.scale * (squares - 1)
                continue
            gather(g, g.said, back)
            total = before = 0
            for j in range(G):
                p = last[j] * back[j]
                total += p
                before += p * g.z[j] * g.z[j]
            for j in range(G):
                back[j] /= total
            if wanted:
                before, both = before / total, product(g, last) / total
                g.sums[0] += s.scale * (both - phi * before)
                g.sums[1] += s.scale * ((squares - 2 * phi * both + phi * phi * before) / g.left
                                        - 1)


cdef Py_ssize_t lanes(double wanted, Py_ssize_t most) noexcept nogil:
    """The next multiple of LANES, up to `most`, or that rounded down."""
    return <Py_ssize_t> fmin(LANES * ceil(wanted / LANES), most // LANES * LANES)


cdef void spread(const Grid *g, const double *law, double *out) noexcept nogil:
    """out = the law one step on."""
    cdef Py_ssize_t i, k, width = g.width
    cdef const double *moves = g.moves
    cdef double *place
    cdef double p
    memset(out, 0, g.size * sizeof(double))
    for i in range(g.size):
        p, place = law[i], out + <Py_ssize_t> g.first[i]
        if p != 0:
            for k in range(width):
                place[k] += p * moves[k]
        moves += width


cdef double product(Grid *g, const double *law) noexcept nogil:
    """Sum of z_{t-1} z_t over a step from a law, times `said`."""
    cdef Py_ssize_t j
    cdef double total = 0
    for j in range(g.size):
        g.tilted[j] = law[j] * g.z[j]
    spread(g, g.tilted, g.ahead)
    for j in range(g.size):
        total += g.ahead[j] * g.z[j] * g.said[j]
    return total


cdef void gather(const Grid *g, const double *terms, double *out) noexcept nogil:
    """out = sums of terms over a step from each point."""
    cdef Py_ssize_t i, k
    cdef const double *m = g.moves
    cdef const double *v
    cdef double a, b, c, d            # four sums: none waits for another
    for i in range(g.size):
        v = terms + <Py_ssize_t> g.first[i]
        a = b = c = d = 0
        for k in range(g.width // 4):
            a += m[0] * v[0]
            b += m[1] * v[1]
            c += m[2] * v[2]
            d += m[3] * v[3]
            m, v = m + 4, v + 4
        out[i] = (a + c) + (b + d)
