"""Exact sums over all rows, once a fit: second-order expansion of the log-likelihood, noise of an estimator, blocks."""
import numpy as np

from libc.string cimport memset

from sgmc.core.contract cimport Batch, Gradient, Model, Rng, Scratch, all_rows, next_tile, scratch_size


def expand(Model model, theta, Py_ssize_t rows=0):
    """Log-likelihood, its gradient and minus its Hessian at theta, from the first `rows` rows (0: all) scaled to all.

    Returns
    -------
    value : float
    gradient : array (dim,)
    hessian : array (dim, dim)
        sum_i J_i' w_i J_i, the curvature of -log p.
    """
    cdef Py_ssize_t at = 0, dim = model.dim, j
    cdef Batch everything = all_rows(rows if rows else model.n), tile
    cdef double[::1] x = np.array(theta, dtype=float), grad = np.zeros(dim), work = np.empty(scratch_size(model))
    cdef double[::1] curvature = np.empty(model.tile * model.width * model.width)
    cdef double[:, ::1] hessian = np.zeros((dim, dim))
    cdef Scratch s
    cdef double value = 0
    s.work, s.bits, s.eta = &work[0], NULL, NULL
    with nogil:
        while next_tile(&everything, model.tile, &at, &tile):
            model.add(&x[0], &tile, &s, &value, &grad[0])
            model.curvatures(&x[0], &tile, &s, &curvature[0])
            model.add_curvatures(&tile, &s, &curvature[0], &hessian[0, 0])
    scale = model.n / <double> everything.m
    full = np.asarray(hessian)
    full = full + np.triu(full, 1).T
    return value * scale, np.asarray(grad) * scale, full * scale


def row_noise(Gradient gradient, x, Py_ssize_t rows=0, bint noise=True):
    """The gradient at x (natural coordinates) and what a batch of one row would see of it, from the first `rows` rows.

    Returns
    -------
    gradient : array (dim,)
        Of the log posterior; exact where `rows` is 0 (all).
    covariance : array (dim, dim)
        N^2 Cov_i of the row terms, control values taken off, prior excluded: divided by n it is the noise of n rows drawn
        with replacement.  Zero, and not computed, without `noise`.
    """
    cdef Model model = gradient.model
    cdef Py_ssize_t at = 0, dim = model.dim, w = model.width, i, k, l
    cdef Batch part = all_rows(rows if rows else model.n), tile
    cdef double[::1] theta = np.array(x, dtype=float), total = np.zeros(dim), known = np.zeros(dim)
    cdef double[:, ::1] outer = np.zeros((dim, dim))
    cdef double[::1] residual = np.empty(model.tile * w), products = np.empty(model.tile * w * w)
    cdef double *r = &residual[0]
    if w == 0:
        raise NotImplementedError("row noise of a model without scores")
    with nogil:
        gradient.prior.add(&theta[0], NULL, &known[0])
        gradient.known(&theta[0], &known[0])
        while next_tile(&part, model.tile, &at, &tile):
            model.scores(&theta[0], &tile, &gradient.scratch, r, NULL)
            gradient.correct(&theta[0], &tile, r)
            model.add_scores(&tile, &gradient.scratch, r, &total[0])
            if not noise:
                continue
            for i in range(tile.m):
                for k in range(w):
                    for l in range(w):
                        products[(i * w + k) * w + l] = r[i * w + k] * r[i * w + l]
            model.add_curvatures(&tile, &gradient.scratch, &products[0], &outer[0, 0])
    mean, second = np.asarray(total) / part.m, (np.asarray(outer) + np.triu(outer, 1).T) / part.m
    scale = <double> model.n
    covariance = scale ** 2 * (second - np.outer(mean, mean)) if noise else np.zeros((dim, dim))
    return np.asarray(known) + scale * mean, covariance


def block_effect(Gradient gradient, x, Py_ssize_t m):
    """Design effect of circular blocks of m rows, a coordinate: variance of the N blocks' sums over that of simple samples.

    A running sum over the circle: the row that enters is added, the one that leaves taken off.
    """
    cdef Model model = gradient.model
    cdef Py_ssize_t n = model.n, dim = model.dim, w = model.width, at = 0, i, j, lead
    cdef Batch everything = all_rows(n), tile
    cdef double[::1] theta = np.array(x, dtype=float), residual = np.empty(n * w), minus = np.empty(w)
    cdef double[::1] window = np.zeros(dim), mean = np.zeros(dim), blocks = np.zeros(dim), rows = np.zeros(dim)
    with nogil:
        while next_tile(&everything, model.tile, &at, &tile):
            model.scores(&theta[0], &tile, &gradient.scratch, &residual[tile.start * w], NULL)
            gradient.correct(&theta[0], &tile, &residual[tile.start * w])
            model.add_scores(&tile, &gradient.scratch, &residual[tile.start * w], &mean[0])
            model.add_squares(&tile, &gradient.scratch, &residual[tile.start * w], &rows[0])
        tile = all_rows(1)
        for i in range(-m, n):
            lead = (i + m) % n
            tile.start = lead
            model.add_scores(&tile, &gradient.scratch, &residual[lead * w], &window[0])
            if i < 0:
                continue
            tile.start = i
            for j in range(w):
                minus[j] = -residual[i * w + j]
            model.add_scores(&tile, &gradient.scratch, &minus[0], &window[0])
            for j in range(dim):
                blocks[j] += (window[j] - m * mean[j] / n) * (window[j] - m * mean[j] / n)
    m_mean = np.asarray(mean) / n
    of_rows = np.asarray(rows) / n - m_mean ** 2
    simple = of_rows * m * (n - m) / (n - 1)
    return np.divide(np.asarray(blocks) / n, simple, out=np.ones(dim), where=simple > 0)


def leverages(Model model, white, anchor):
    """s_i^2 = |J_i W|^2 for W = `white` (None: identity) and the row curvatures of an anchor: (s, w), arrays (n,).

    s_i is the posterior sd of the row's linear predictor under the Laplace approximation W W'.
    """
    cdef Py_ssize_t at = 0, dim = model.dim, i, j
    cdef Batch everything = all_rows(model.n), tile
    cdef double[:, ::1] columns = np.ascontiguousarray(np.eye(dim) if white is None else np.asarray(white).T)
    cdef double[::1] eta = np.empty(model.tile), square = np.zeros(model.n), work = np.empty(scratch_size(model))
    cdef Scratch s
    if model.width != 1:
        raise NotImplementedError("leverages of a model with several scores a row")
    s.work, s.bits, s.eta = &work[0], NULL, NULL
    with nogil:
        while next_tile(&everything, model.tile, &at, &tile):
            for j in range(columns.shape[0]):
                model.predictors(&columns[j, 0], &tile, &s, &eta[0])
                for i in range(tile.m):
                    square[tile.start + i] += eta[i] * eta[i]
    return np.sqrt(np.asarray(square)), np.asarray(anchor.curvature)
