"""Gradients of stochastic volatility by particles: a bootstrap filter over windows with buffers."""
from libc.math cimport cos, exp, fmax, log, sin, sqrt, INFINITY, M_PI, NAN
from libc.string cimport memset

from sgmc.core.contract cimport OK, Batch, Scratch, row_of
from sgmc.core.random.rng cimport bitgen_t
from sgmc.core.numerics.simd cimport exponential
from sgmc.models.hmm.volatility.grid cimport GridVolatility

cdef enum:
    BACK = 2                      # draws of the state before, for each particle and step
    TERMS = 3

cdef struct Swarm:                # particles of one step
    Py_ssize_t n
    double *x
    double *weight
    double *up                    # cumulative weights
    double *guide                 # first particle of each n-th part of the weights, whole numbers
    double *terms                 # n x TERMS: expected sums of terms so far, given the particle


cdef class ParticleVolatility(GridVolatility):
    """The same model, with gradients of minibatches by particles (Aicher, Putcha, Nemeth, Fearnhead
    & Fox 2019, arXiv:1901.10568, algorithm 2).

    Over a window and its buffers a bootstrap filter moves `particles` states; with each goes the
    sum of the window's terms of the complete-data score, expected given the particle, by the
    backward draws of PaRIS (Olsson & Westerborn 2017, doi 10.3150/16-BEJ801, algorithm 2).  The
    weighted mean at the end is the gradient, with a bias of order 1 / particles besides that of the
    buffer.  Random numbers are the chain's.

    Densities, and gradients over all rows or outside chains, are those of the grid.

    Parameters
    ----------
    y, table, buffer
        See `Windows`.
    particles : int
    """

    cdef readonly Py_ssize_t particles
    cdef Py_ssize_t swarm_at      # of the scratch

    def __init__(self, y, table, Py_ssize_t buffer, Py_ssize_t particles):
        GridVolatility.__init__(self, y, table, buffer)
        self.particles, self.swarm_at = particles, self.size
        self.size += 2 * (4 + TERMS) * particles

    @property
    def rest(self):
        return self.particles,

    @property
    def remarks(self):
        return [*super().remarks, f"Gradients of minibatches are by {self.particles} particles."]

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef Py_ssize_t i
        cdef bint every = b.rows == NULL and b.weight == NULL and b.m == self.n
        if every or value != NULL or s.bits == NULL:
            return GridVolatility.add(self, theta, b, s, value, grad)
        for i in range(b.m):
            self.add_window(theta, row_of(b, i), b.scale * (b.weight[i] if b.weight != NULL else 1),
                            s.bits, s.work + self.swarm_at, grad)
        return OK

    cdef void add_window(self, const double *theta, Py_ssize_t i, double scale, bitgen_t *bits,
                         double *work, double *grad) noexcept nogil:
        """grad += scale times the score of a window, by particles."""
        cdef Swarm now, last
        cdef Py_ssize_t t, j, k, low = self.table[i, 0], high = self.table[i, 1]
        # before a window that begins within its sequence there is one more state, unobserved
        cdef Py_ssize_t start = max(self.table[i, 2], low - self.buffer - 1)
        cdef bint unseen = start == low - self.buffer - 1
        cdef double rest = theta[1] / sqrt(1 - theta[0] * theta[0]), share
        now = swarm(work, self.particles)
        last = swarm(work + (4 + TERMS) * self.particles, self.particles)
        for t in range(start, min(self.table[i, 3], high + self.buffer)):
            if t == start:
                normals(bits, now.n, now.x)
                for j in range(now.n):
                    now.x[j] *= rest
                memset(now.terms, 0, now.n * TERMS * sizeof(double))
                if t == self.table[i, 2] and t == low:
                    add_start(theta, &now)
            else:
                now, last = last, now
                move(theta, &last, &now, bits)
                if t >= low:
                    look_back(theta, &last, &now, t < high, bits)
                else:
                    memset(now.terms, 0, now.n * TERMS * sizeof(double))
            weigh(NAN if unseen and t == start else self.y[t, 0] / theta[2], theta[2], &now,
                  t >= low and t < high)
        for j in range(now.n):
            share = scale * now.weight[j] / now.up[now.n - 1]
            for k in range(TERMS):
                grad[k] += share * now.terms[j * TERMS + k]


cdef Swarm swarm(double *work, Py_ssize_t n) noexcept nogil:
    """A swarm in that memory."""
    cdef Swarm s
    s.n, s.x, s.weight, s.up, s.guide, s.terms = n, work, work + n, work + 2 * n, work + 3 * n, \
        work + 4 * n
    return s


cdef void normals(bitgen_t *bits, Py_ssize_t n, double *out) noexcept nogil:
    """Standard normals, by Box & Muller."""
    cdef Py_ssize_t j
    cdef double radius, angle
    for j in range(0, n, 2):
        radius = sqrt(-2 * log(1 - bits.next_double(bits.state)))
        angle = 2 * M_PI * bits.next_double(bits.state)
        out[j] = radius * cos(angle)
        if j + 1 < n:
            out[j + 1] = radius * sin(angle)


cdef void add_start(const double *theta, Swarm *now) noexcept nogil:
    """terms += those of the stationary law of a sequence's first state."""
    cdef Py_ssize_t j
    cdef double left = 1 - theta[0] * theta[0], e
    for j in range(now.n):
        e = now.x[j] * now.x[j] * left / (theta[1] * theta[1]) - 1
        now.terms[j * TERMS] += e * theta[0] / left
        now.terms[j * TERMS + 1] += e / theta[1]


cdef void move(const double *theta, const Swarm *last, Swarm *now, bitgen_t *bits) noexcept nogil:
    """Systematic resampling, and a step of each particle."""
    cdef Py_ssize_t j, parent = 0, n = now.n
    cdef double unit = last.up[n - 1] / n, aim = unit * bits.next_double(bits.state)
    normals(bits, n, now.x)
    for j in range(n):
        while parent < n - 1 and last.up[parent] <= aim:
            parent += 1
        now.x[j] = theta[0] * last.x[parent] + theta[1] * now.x[j]
        aim += unit


cdef void weigh(double ratio, double beta, Swarm *now, bint wanted) noexcept nogil:
    """Weights by what was observed, ratio = y / beta, and, where `wanted`, terms += those of y."""
    cdef Py_ssize_t j, at = 0
    cdef double most = -INFINITY, total = 0, square = ratio * ratio
    if ratio == ratio:
        for j in range(now.n):
            now.up[j] = -now.x[j]
        exponential(now.n, now.up, now.up)
        for j in range(now.n):
            if wanted:
                now.terms[j * TERMS + 2] += (square * now.up[j] - 1) / beta
            now.weight[j] = -0.5 * (now.x[j] + square * now.up[j])
            most = fmax(most, now.weight[j])
        for j in range(now.n):
            now.weight[j] -= most
        exponential(now.n, now.weight, now.weight)
    else:
        for j in range(now.n):
            now.weight[j] = 1
    for j in range(now.n):
        total += now.weight[j]
        now.up[j] = total
    for j in range(now.n):
        while now.up[at] * now.n <= j * total:
            at += 1
        now.guide[j] = at


cdef void look_back(const double *theta, const Swarm *last, Swarm *now, bint wanted,
                    bitgen_t *bits) noexcept nogil:
    """terms = means, over draws of the state before given each particle, of the terms there and,
    where `wanted`, of those of the step.
    """
    cdef Py_ssize_t i, j, k, draw
    cdef double phi = theta[0], sigma = theta[1], e
    cdef double[TERMS] sums
    for i in range(now.n):
        for k in range(TERMS):
            sums[k] = 0
        for draw in range(BACK):
            j = before(phi, sigma, last, now.x[i], bits)
            for k in range(TERMS):
                sums[k] += last.terms[j * TERMS + k]
            if wanted:
                e = (now.x[i] - phi * last.x[j]) / sigma
                sums[0] += e * last.x[j] / sigma
                sums[1] += (e * e - 1) / sigma
        for k in range(TERMS):
            now.terms[i * TERMS + k] = sums[k] / BACK


cdef Py_ssize_t before(double phi, double sigma, const Swarm *last, double x,
                       bitgen_t *bits) noexcept nogil:
    """A particle of the step before, with probability proportional to its weight times the density
    of x: by rejection, or, after as many tries as there are particles, by all of their weights.
    """
    cdef Py_ssize_t j, n = last.n
    cdef double u, e
    for _ in range(n):
        u = bits.next_double(bits.state)
        j = <Py_ssize_t> last.guide[<Py_ssize_t> (u * n)]
        while j < n - 1 and last.up[j] <= u * last.up[n - 1]:
            j += 1
        e = (x - phi * last.x[j]) / sigma
        if bits.next_double(bits.state) < exp(-0.5 * e * e):
            return j
    return slowly(phi, sigma, last, x, bits.next_double(bits.state))


cdef Py_ssize_t slowly(double phi, double sigma, const Swarm *last, double x,
                       double u) noexcept nogil:
    """`before`, from one uniform number: the largest of log weights is taken off first."""
    cdef Py_ssize_t j
    cdef double e, most = -INFINITY, total = 0, aim
    for j in range(last.n):
        e = (x - phi * last.x[j]) / sigma
        most = fmax(most, log(last.weight[j]) - 0.5 * e * e)
    for j in range(last.n):
        e = (x - phi * last.x[j]) / sigma
        total += exp(log(last.weight[j]) - 0.5 * e * e - most)
    aim = u * total
    for j in range(last.n - 1):
        e = (x - phi * last.x[j]) / sigma
        aim -= exp(log(last.weight[j]) - 0.5 * e * e - most)
        if aim < 0:
            return j
    return last.n - 1
