"""Python-callable probes of the virtuals, scripted batches,
and planted mistakes that the tests must catch.
"""
import time
from collections import namedtuple

import numpy as np

from libc.math cimport sqrt
from libc.string cimport memcpy

from sgmc.core.contract cimport (
    OK, Anchor, Batch, Gradient, Map, Metric, Model, Rng, Sampler, Scratch, State, Subsampler,
    next_below, next_tile, normal_fill, scratch_size,
)
from sgmc.errors import NotSupported

Run = namedtuple("Run", "start m rows weight scale stratum fpc", defaults=(None, None, 1.0, 0, 0.0))


def block(start, m, **rest):
    """The Run of consecutive rows."""
    return Run(start, m, **rest)


def listed(rows, **rest):
    """The Run of a list of rows."""
    return Run(0, len(rows), tuple(rows), **rest)


cdef class Piece:
    """A Run as the struct that virtuals take, with the arrays it points to."""

    cdef Batch b
    cdef Py_ssize_t[::1] rows
    cdef double[::1] weight

    def __init__(self, run):
        self.b.start, self.b.m, self.b.scale = run.start, run.m, run.scale
        self.b.stratum, self.b.fpc = run.stratum, run.fpc
        self.b.rows, self.b.weight = NULL, NULL
        if run.rows is not None:
            self.rows = np.array(run.rows, dtype=np.intp)
            self.b.rows = &self.rows[0]
        if run.weight is not None:
            self.weight = np.array(run.weight, dtype=float)
            self.b.weight = &self.weight[0]


cdef class Probe:
    """The virtuals of a model on batches of any size, cut into its tiles.

    Parameters
    ----------
    model : Model
    rng : Rng, optional
        The stream of models that simulate.
    """

    cdef Model model
    cdef Rng rng
    cdef Scratch scratch          # points into `work` and into `rng`
    cdef double[::1] work

    def __init__(self, Model model, Rng rng=None):
        self.model, self.rng, self.work = model, rng, np.empty(scratch_size(model))
        self.scratch.work, self.scratch.eta = &self.work[0], NULL
        self.scratch.bits = rng.bits if rng is not None else NULL

    def value(self, theta, run):
        """scale sum log p_i."""
        cdef double[::1] x = np.array(theta, dtype=float)
        cdef Piece piece = Piece(run)
        cdef Batch tile
        cdef Py_ssize_t at = 0
        cdef double value = 0
        while next_tile(&piece.b, self.model.tile, &at, &tile):
            self.model.add(&x[0], &tile, &self.scratch, &value, NULL)
        return value

    def gradient(self, theta, run):
        """scale sum w_i dlog p_i, by `add`."""
        cdef double[::1] x = np.array(theta, dtype=float), grad = np.zeros(self.model.dim)
        cdef Piece piece = Piece(run)
        cdef Batch tile
        cdef Py_ssize_t at = 0
        while next_tile(&piece.b, self.model.tile, &at, &tile):
            self.model.add(&x[0], &tile, &self.scratch, NULL, &grad[0])
        return np.asarray(grad)

    def scores(self, theta, run):
        """Scores (m, width), without scale and weights, and sum log p_i."""
        cdef Py_ssize_t at = 0, w = self.model.width
        cdef double[::1] x = np.array(theta, dtype=float), r = np.empty(run.m * w)
        cdef Piece piece = Piece(run)
        cdef Batch tile
        cdef double value = 0
        while next_tile(&piece.b, self.model.tile, &at, &tile):
            self.model.scores(&x[0], &tile, &self.scratch, &r[(at - tile.m) * w], &value)
        return np.asarray(r).reshape(run.m, w), value

    def add_scores(self, run, scores, squares=False):
        """sum J_i' r_i, or the sum of its squares a row."""
        cdef Py_ssize_t at = 0, w = self.model.width
        cdef double[::1] r = np.array(scores, dtype=float).ravel(), out = np.zeros(self.model.dim)
        cdef Piece piece = Piece(run)
        cdef Batch tile
        cdef bint square = squares
        while next_tile(&piece.b, self.model.tile, &at, &tile):
            if square:
                self.model.add_squares(&tile, &self.scratch, &r[(at - tile.m) * w], &out[0])
            else:
                self.model.add_scores(&tile, &self.scratch, &r[(at - tile.m) * w], &out[0])
        return np.asarray(out)

    def predictors(self, delta, run):
        """J_i delta, (m, width)."""
        cdef Py_ssize_t at = 0, w = self.model.width
        cdef double[::1] x = np.array(delta, dtype=float), eta = np.empty(run.m * w)
        cdef Piece piece = Piece(run)
        cdef Batch tile
        while next_tile(&piece.b, self.model.tile, &at, &tile):
            self.model.predictors(&x[0], &tile, &self.scratch, &eta[(at - tile.m) * w])
        return np.asarray(eta).reshape(run.m, w)

    def curvatures(self, theta, run, bint expected=False):
        """w_i (m, width, width), or the `Model.expected_curvatures`."""
        cdef Py_ssize_t at = 0, w = self.model.width
        cdef double[::1] x = np.array(theta, dtype=float), curvature = np.empty(run.m * w * w)
        cdef Piece piece = Piece(run)
        cdef Batch tile
        while next_tile(&piece.b, self.model.tile, &at, &tile):
            if expected:
                self.model.expected_curvatures(&x[0], &tile, &self.scratch,
                                               &curvature[(at - tile.m) * w * w])
            else:
                self.model.curvatures(&x[0], &tile, &self.scratch,
                                      &curvature[(at - tile.m) * w * w])
        return np.asarray(curvature).reshape(run.m, w, w)

    def hessian(self, theta, run):
        """sum J_i' w_i J_i, without scale and weights."""
        cdef Py_ssize_t at = 0, w = self.model.width
        cdef double[::1] x = np.array(theta, dtype=float)
        cdef double[::1] curvature = np.empty(self.model.tile * w * w)
        cdef double[:, ::1] H = np.zeros((self.model.dim, self.model.dim))
        cdef Piece piece = Piece(run)
        cdef Batch tile
        while next_tile(&piece.b, self.model.tile, &at, &tile):
            self.model.curvatures(&x[0], &tile, &self.scratch, &curvature[0])
            self.model.add_curvatures(&tile, &self.scratch, &curvature[0], &H[0, 0])
        upper = np.triu(H)
        return upper + np.triu(upper, 1).T


def slope(Gradient gradient, x, v, Rng rng):
    """One estimate of v . g at x, and of the variance of that estimate."""
    cdef double[::1] at = np.array(x, dtype=float), along = np.array(v, dtype=float)
    cdef double mean = 0, var = 0
    gradient.slope(&at[0], &along[0], rng, &mean, &var, False)
    return mean, var


def along(Gradient gradient, x, v, Rng rng):
    """One estimate of g at x with the variance of its slope along v, from one batch:
    (g, variance).
    """
    cdef double[::1] at = np.array(x, dtype=float)
    cdef double[::1] direction = np.array(v, dtype=float), g = np.empty(gradient.dim)
    cdef double mean = 0, variance = 0
    gradient.slope(&at[0], &direction[0], rng, &mean, &variance, True)
    gradient.sloped(&at[0], &g[0])
    return np.asarray(g), variance


def repeated_slope(Gradient gradient, x, v, Rng rng, Py_ssize_t times, bint whole=False):
    """Seconds of the processor that one estimate of v . g at x takes, of so many in a row; or the
    `whole` gradient by the same batch too.
    """
    cdef double[::1] at = np.array(x, dtype=float), along = np.array(v, dtype=float)
    cdef double[::1] g = np.empty(gradient.dim)
    cdef double mean = 0, variance = 0
    cdef Py_ssize_t k
    begun = time.process_time()
    with nogil:
        for k in range(times):
            gradient.slope(&at[0], &along[0], rng, &mean, &variance, whole)
            if whole:
                gradient.sloped(&at[0], &g[0])
    return (time.process_time() - begun) / times


def draw(Subsampler scheme, Rng rng):
    """The runs of one draw, as a tuple of Run."""
    cdef const Batch *runs = NULL
    cdef Py_ssize_t k, i, n = scheme.draw(rng, &runs)
    return tuple(Run(runs[k].start, runs[k].m,
                     tuple([runs[k].rows[i] for i in range(runs[k].m)]) if runs[k].rows
                     != NULL else None,
                     tuple([runs[k].weight[i] for i in range(runs[k].m)]) if runs[k].weight
                     != NULL else None,
                     runs[k].scale, runs[k].stratum, runs[k].fpc) for k in range(n))


def metric_at(Metric metric, x):
    """M, R, R', and the divergences of M and of R' (None where a metric has none), at a place,
    as arrays.
    """
    cdef double[::1] at = np.array(x, dtype=float)
    cdef Py_ssize_t j, d = at.shape[0]
    cdef double[:, ::1] unit = np.eye(d), M = np.empty((d, d))
    cdef double[:, ::1] R = np.empty((d, d)), back = np.empty((d, d))
    cdef double[::1] gamma = np.empty(d), root_gamma = np.empty(d)
    metric.move(&at[0])
    for j in range(d):                                        # columns as rows
        metric.apply(&unit[j, 0], &M[j, 0])
        metric.root(&unit[j, 0], &R[j, 0])
        metric.root_transposed(&unit[j, 0], &back[j, 0])
    metric.divergence(&gamma[0])
    try:
        metric.root_divergence(&root_gamma[0])
    except NotSupported:
        root_gamma = None
    roots = None if root_gamma is None else np.asarray(root_gamma)
    return np.asarray(M).T, np.asarray(R).T, np.asarray(back).T, np.asarray(gamma), roots


def metric_log_density(Metric metric, x, v, double h):
    """Log density of N(0, h M) at v, but for a constant, with M that of the place x."""
    cdef double[::1] at = np.array(x, dtype=float), along = np.array(v, dtype=float)
    cdef double value = 0
    metric.move(&at[0])
    metric.log_density(&along[0], h, &value)
    return value


def mapped(Map map, x, v):
    """theta, log |dtheta/dx| and J v at a place."""
    cdef double[::1] at = np.array(x, dtype=float), along = np.array(v, dtype=float)
    cdef double[::1] theta = np.empty(map.size), out = np.empty(map.size)
    cdef double log_jacobian = 0
    map.forward(&at[0], &theta[0], &log_jacobian)
    map.jvp(&at[0], &along[0], &out[0])
    return np.asarray(theta), log_jacobian, np.asarray(out)


def walk(Sampler sampler, Gradient gradient, Rng rng, double[:, ::1] path, double[::1] value,
         Py_ssize_t at):
    """Two chains from path[at], one filling the places before it, the other those after; value: log
    posterior at each place.
    """
    cdef Py_ssize_t k, d = path.shape[1], size = path.shape[1] * sizeof(double)
    cdef double[::1] x = np.zeros(d)
    cdef State s
    cdef int way
    s.dim, s.x, s.v, s.dt, s.weight, s.diverged_index, s.t = d, &x[0], NULL, 1, 1, -1, 0
    with nogil:
        for way in range(-1, 2, 2):
            memcpy(s.x, &path[at, 0], size)
            sampler.start(&s, gradient, rng)
            k = at + way
            while 0 <= k < path.shape[0]:
                sampler.step(&s, gradient, rng)
                memcpy(&path[k, 0], s.x, size)
                k += way
        for k in range(path.shape[0]):
            gradient.full(&path[k, 0], &value[k], NULL)


cdef class Scripted(Subsampler):
    """Draws that a test wrote: the k-th call gives the k-th tuple of runs,
    and the first again after the last.

    Parameters
    ----------
    n : int
        Rows in all.
    draws : sequence of sequences of Run
    """

    cdef Batch *runs              # in `memory`, copies of what `pieces` have
    cdef Py_ssize_t[::1] first
    cdef Py_ssize_t turn
    cdef object memory
    cdef list pieces

    def __init__(self, Py_ssize_t n, draws):
        cdef Piece piece
        self.n, self.m = n, max(sum(run.m for run in runs) for runs in draws)
        self.first = np.concatenate([[0], np.cumsum([len(runs) for runs in draws])]).astype(np.intp)
        self.pieces = [Piece(run) for runs in draws for run in runs]
        self.memory = bytearray(len(self.pieces) * sizeof(Batch))
        self.runs = <Batch *> <char *> self.memory
        for k, piece in enumerate(self.pieces):
            self.runs[<Py_ssize_t> k] = piece.b

    cdef Py_ssize_t draw(self, Rng rng, const Batch **runs) except -1 nogil:
        cdef Py_ssize_t k = self.turn
        self.turn = (k + 1) % (self.first.shape[0] - 1)
        runs[0] = &self.runs[self.first[k]]
        return self.first[k + 1] - self.first[k]


# ---- planted mistakes ----------------------------------------------------------------------------

cdef class FlatBlock(Subsampler):
    """Planted: a block that starts on 0..N-n, so that rows near the ends come too seldom."""

    cdef Batch run

    def __init__(self, Py_ssize_t n, Py_ssize_t m):
        self.n, self.m = n, m
        self.run.m, self.run.stratum, self.run.rows, self.run.weight = m, 0, NULL, NULL
        self.run.scale, self.run.fpc = <double> n / m, <double> (n - m) / n

    cdef Py_ssize_t draw(self, Rng rng, const Batch **runs) except -1 nogil:
        self.run.start = next_below(rng, self.n - self.m + 1)
        runs[0] = &self.run
        return 1


cdef class Misscaled(Subsampler):
    """Planted: a scheme whose sums are scaled by `factor` N/n, or that tells `variance` times the
    variance that they have.
    """

    cdef Subsampler inner
    cdef double factor, variance
    cdef object memory
    cdef Batch *copy              # in `memory`; lists of rows are those of `inner`

    def __init__(self, Subsampler inner, double factor=1, double variance=1):
        self.inner, self.factor = inner, factor
        self.variance, self.n, self.m = variance, inner.n, inner.m
        self.memory = bytearray(inner.m * sizeof(Batch))
        self.copy = <Batch *> <char *> self.memory

    cdef Py_ssize_t draw(self, Rng rng, const Batch **runs) except -1 nogil:
        cdef const Batch *right = NULL
        cdef Py_ssize_t k, n = self.inner.draw(rng, &right)
        for k in range(n):
            self.copy[k] = right[k]
            self.copy[k].scale *= self.factor
            self.copy[k].fpc *= self.variance
        runs[0] = self.copy
        return n


cdef class StaleAnchor(Anchor):
    """Planted: an anchor whose full gradient was left behind at another centre."""

    def __init__(self, Model model, centre, elsewhere, bint curvature=False):
        Anchor.__init__(self, model, centre, curvature)
        self.full = Anchor(model, elsewhere).full


cdef class Shaken(Sampler):
    """Planted: a sampler that injects noise of that variance once more a step (noise x sqrt 2 for
    variance h).
    """

    cdef readonly Sampler inner
    cdef double scale
    cdef double[::1] xi

    def __init__(self, Sampler inner, double variance):
        Sampler.__init__(self, inner.dim, inner.step_size)
        self.inner, self.scale, self.xi = inner, sqrt(variance), np.zeros(inner.dim)

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        return self.inner.start(s, g, rng)

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j
        cdef int status
        self.inner.step_size, self.inner.warming = self.step_size, self.warming
        status = self.inner.step(s, g, rng)
        normal_fill(rng, s.dim, &self.xi[0])
        for j in range(s.dim):
            s.x[j] += self.scale * self.xi[j]
        return status


cdef class Tempered(Gradient):
    """Planted: the log posterior that acceptance sees is `factor` times the one that the gradient
    belongs to.
    """

    cdef public double factor

    cdef int full(self, const double *x, double *value, double *g) except -1 nogil:
        Gradient.full(self, x, value, g)
        value[0] *= self.factor
        return OK

    cdef int full_many(self, const double *x, Py_ssize_t points, double *value,
                       double *g) except -1 nogil:
        cdef Py_ssize_t k
        Gradient.full_many(self, x, points, value, g)
        for k in range(points):
            value[k] *= self.factor
        return OK
