"""Exact sums over all rows, once a fit: second-order expansion of the log-likelihood, noise of an
estimator, blocks.
"""
import numpy as np

from libc.string cimport memset

from sgmc.core.contract cimport (
    OK, Batch, Gradient, Model, Prior, Rng, Scratch, all_rows, next_tile, row_of, scratch_size,
)
from sgmc.core.system import deadline
from sgmc.core.system.blas import one_blas_thread
from sgmc.core.system.storage import vector
from sgmc.errors import NotSupported

cdef enum:
    ROWS_TOGETHER = 1024  # rows at once


def expand(Model model, theta, Py_ssize_t rows=0, bint expected=False):
    """Log-likelihood, its gradient and minus its Hessian at theta,
    from the first `rows` rows (0: all) scaled to all.

    Returns
    -------
    value : float
    gradient : array (dim,)
    hessian : array (dim, dim)
        sum_i J_i' w_i J_i, the curvature of -log p, or its expected value
        (`Model.expected_curvatures`).
    """
    cdef Py_ssize_t at = 0, inside, dim = model.dim, w = model.width
    cdef Py_ssize_t most = max(model.gram_rows, model.tile)
    cdef Batch everything = all_rows(rows if rows else model.n), block, tile
    cdef double[::1] x = np.array(theta, dtype=float), grad = np.zeros(dim)
    cdef double[::1] work = np.empty(scratch_size(model)), curvature = np.empty(most * w * w)
    cdef double[:, ::1] hessian = np.zeros((dim, dim))
    cdef Scratch s
    cdef double value = 0
    cdef double *here
    s.work, s.bits, s.eta = &work[0], NULL, NULL
    with one_blas_thread(), nogil:
        while next_tile(&everything, most, &at, &block):
            inside = 0
            while next_tile(&block, model.tile, &inside, &tile):
                here = &curvature[(tile.start - block.start) * w * w]
                model.add(&x[0], &tile, &s, &value, &grad[0])
                if expected:
                    model.expected_curvatures(&x[0], &tile, &s, here)
                else:
                    model.curvatures(&x[0], &tile, &s, here)
            model.add_curvatures(&block, &s, &curvature[0], &hessian[0, 0])
    scale = model.n / <double> everything.m
    full = np.asarray(hessian)
    full = full + np.triu(full, 1).T
    return value * scale, np.asarray(grad) * scale, full * scale


cdef int add_moments(Gradient gradient, const double *theta, const Batch *part, Py_ssize_t most,
                     const double *weight, double *r, double *products, double *total,
                     double *outer) except -1 nogil:
    """total += sum z_i and outer (upper triangle; NULL: not wanted) += sum weight_i z_i z_i', z_i
    the corrected row terms.

    `weight` (NULL: 1) holds all rows; r holds a tile, and products hold `most` rows.
    """
    cdef Py_ssize_t at = 0, inside, w = gradient.model.width, i, k, l
    cdef Batch block, tile
    cdef double c
    cdef double *here
    while next_tile(part, most, &at, &block):
        inside, here = 0, products
        while next_tile(&block, gradient.model.tile, &inside, &tile):
            gradient.model.scores(theta, &tile, &gradient.scratch, r, NULL)
            gradient.correct(theta, &tile, r)
            gradient.model.add_scores(&tile, &gradient.scratch, r, total)
            for i in range(tile.m if outer != NULL else 0):
                c = 1 if weight == NULL else weight[row_of(&tile, i)]
                for k in range(w):
                    for l in range(w):
                        here[(i * w + k) * w + l] = c * r[i * w + k] * r[i * w + l]
            here += tile.m * w * w
        if outer != NULL:
            gradient.model.add_curvatures(&block, &gradient.scratch, products, outer)
    return OK


def row_noise(Gradient gradient, x, rows=0, bint noise=True, weight=None, groups=None):
    """The gradient at x (natural coordinates) and what a batch of one row would see of it,
    from some of the rows.

    Parameters
    ----------
    gradient : Gradient
    x : array (dim,)
    rows : int or array of int, optional
        The first so many, of each group; 0: all.  An array (without groups): these.
    noise : bool
    weight : array (n,), optional
        1/(N p_i) of rows drawn with probabilities p_i.
    groups : list of arrays of int, optional
        Strata: the rows of each.

    Returns
    -------
    gradient : array (dim,)
        Of the log posterior; exact where `rows` is 0 (all).
    covariance : array (dim, dim)
        N^2 Cov_i of the row terms, control values taken off, prior excluded: divided by n it is the
        noise of n rows drawn with replacement.  Zero, and not computed, without `noise`.  With
        weights, sum z_i z_i' / p_i - (sum z_i)(sum z_i)'.  With groups (groups, dim, dim): N_h^2
        times the covariance within each, with divisor N_h - 1.
    """
    cdef Model model = gradient.model
    cdef Py_ssize_t dim = model.dim, w = model.width, size
    cdef Batch part
    cdef double[::1] theta = np.array(x, dtype=float), total, known = np.zeros(dim)
    cdef double[:, ::1] outer
    cdef Py_ssize_t block = max(model.gram_rows, model.tile)
    cdef double[::1] residual = np.empty(model.tile * w), products = np.empty(block * w * w)
    cdef const double[::1] c = np.ones(1) if weight is None else weight
    cdef const Py_ssize_t[::1] listed
    if w == 0:
        if weight is not None or groups is not None:
            raise NotSupported("weighted or stratified rows of a model without scores; use "
                               "subsample='uniform' or 'replacement'", because="limit")
        return row_noise_by_row(gradient, theta, rows, noise)
    gradient.prior.add(&theta[0], NULL, &known[0])
    gradient.known(&theta[0], &known[0])
    sums, covariances = np.array(known), []
    cdef Py_ssize_t most = rows if np.ndim(rows) == 0 else len(rows)
    for group in [None] if groups is None else groups:
        size = model.n if group is None else len(group)
        part = all_rows(min(most, size) if most else size)
        chosen = rows if group is None and np.ndim(rows) else group
        if chosen is not None:
            listed = np.ascontiguousarray(chosen, dtype=np.intp)
            part.rows = &listed[0]
        total, outer = np.zeros(dim), np.zeros((dim, dim))
        with nogil:
            add_moments(gradient, &theta[0], &part, block, NULL if weight is None else &c[0],
                        &residual[0], &products[0], &total[0], &outer[0, 0] if noise else NULL)
        mean = np.asarray(total) / part.m
        second = (np.asarray(outer) + np.triu(outer, 1).T) / part.m
        scale = <double> size
        unbiased = 1.0 if group is None else part.m / max(part.m - 1.0, 1.0)
        covariances.append(scale ** 2 * unbiased * (second - np.outer(mean, mean)) if noise
                           else np.zeros((dim, dim)))
        sums = sums + scale * mean
    return sums, covariances[0] if groups is None else np.array(covariances)


cdef row_noise_by_row(Gradient gradient, double[::1] theta, rows, bint noise):
    """`row_noise` of a model without scores: the gradient from all rows,
    the covariance from single ones.
    """
    cdef Model model = gradient.model
    cdef Py_ssize_t at = 0, i
    cdef Batch part = all_rows(model.n), tile
    cdef double[::1] total = np.zeros(model.dim)
    gradient.prior.add(&theta[0], NULL, &total[0])
    while next_tile(&part, model.tile, &at, &tile):
        deadline.check()
        model.add(&theta[0], &tile, &gradient.scratch, NULL, &total[0])
    if not noise:
        return np.asarray(total), np.zeros((model.dim, model.dim))
    cdef const Py_ssize_t[::1] chosen = np.ascontiguousarray(np.arange(rows or model.n)
                                                             if np.ndim(rows) == 0 else rows,
                                                             dtype=np.intp)
    at_once = getattr(gradient, "each_row", None)
    known = None if at_once is None else at_once(np.array(theta), np.array(chosen))
    cdef double[:, ::1] terms = np.zeros((chosen.shape[0], model.dim))
    if known is not None:
        terms = np.array(known, dtype=float, order="C")
    tile = all_rows(1)
    for i in range(chosen.shape[0] if known is None else 0):
        deadline.check()
        tile.start = chosen[i]
        model.add(&theta[0], &tile, &gradient.scratch, NULL, &terms[i, 0])
        gradient.correct_batch(&theta[0], &tile, &terms[i, 0])
    each = np.asarray(terms) - np.asarray(terms).mean(axis=0)
    return np.asarray(total), <double> model.n * model.n / chosen.shape[0] * (each.T @ each)


def row_sizes(Gradient gradient, white, points):
    """Root mean square, over some points (natural coordinates), of |W' z_i| with z_i the corrected
    term of row i: array (n,).

    W = `white` (dim, k): of the term in whitened coordinates, where y's covariance is about W W'.
    """
    cdef Model model = gradient.model
    cdef Py_ssize_t at = 0, w = model.width, i, j, k, l, p
    cdef Batch everything = all_rows(model.n), tile
    cdef double[:, ::1] columns = np.ascontiguousarray(np.asarray(white).T)
    cdef double[:, ::1] thetas = np.array(points, dtype=float, ndmin=2)
    cdef double[::1] residual = np.empty(model.tile * w)
    cdef double[::1] eta = np.empty(model.tile * w), square = np.zeros(model.n)
    cdef double[::1] metric = np.empty(model.tile * w * w)
    cdef double *m
    if w == 0:
        raise NotImplementedError("row sizes of a model without scores")
    with nogil:
        while next_tile(&everything, model.tile, &at, &tile):
            memset(&metric[0], 0, tile.m * w * w * sizeof(double))
            for j in range(columns.shape[0]):                  # J_i W W' J_i'
                model.predictors(&columns[j, 0], &tile, &gradient.scratch, &eta[0])
                for i in range(tile.m):
                    for k in range(w):
                        for l in range(w):
                            metric[(i * w + k) * w + l] += eta[i * w + k] * eta[i * w + l]
            for p in range(thetas.shape[0]):
                model.scores(&thetas[p, 0], &tile, &gradient.scratch, &residual[0], NULL)
                gradient.correct(&thetas[p, 0], &tile, &residual[0])
                for i in range(tile.m):
                    m = &metric[i * w * w]
                    for k in range(w):
                        for l in range(w):
                            square[tile.start + i] += (residual[i * w + k] * m[k * w + l]
                                                       * residual[i * w + l])
    return np.sqrt(np.maximum(square, 0.0) / thetas.shape[0])


def block_effect(Gradient gradient, x, Py_ssize_t m):
    """Design effect of circular blocks of m rows, a coordinate: variance of the N blocks' sums over
    that of simple samples.

    A running sum over the circle: the row that enters is added, the one that leaves taken off.
    """
    cdef Model model = gradient.model
    table = getattr(getattr(model, "X", None), "table", None)
    cdef Py_ssize_t n = model.n, dim = model.dim, w = model.width, at = 0, i, j, lead
    cdef Batch everything = all_rows(n), tile
    cdef double[::1] theta = np.array(x, dtype=float)
    cdef double[::1] residual = vector(n * w, table), minus = np.empty(w)
    cdef double[::1] window = np.zeros(dim), mean = np.zeros(dim)
    cdef double[::1] blocks = np.zeros(dim), rows = np.zeros(dim)
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


cdef Batch neighbours(Model model, rows):
    """The batch of a slice of the rows."""
    start, stop, _ = rows.indices(model.n)
    cdef Batch part = all_rows(stop - start)
    part.start = start
    return part


def squared_lengths(Model model, white, rows):
    """|J_i W|^2 of each of the rows of a slice, and each predictor, (rows width,)."""
    cdef Py_ssize_t at = 0, width = model.width, i, j
    cdef Batch some = neighbours(model, rows), tile
    cdef double[:, ::1] columns = np.ascontiguousarray(np.asarray(white).T)
    cdef double[::1] eta = np.empty(model.tile * width), square = np.zeros(some.m * width)
    cdef double[::1] work = np.empty(scratch_size(model))
    cdef Scratch s
    s.work, s.bits, s.eta = &work[0], NULL, NULL
    with nogil:
        while next_tile(&some, model.tile, &at, &tile):
            for j in range(columns.shape[0]):
                model.predictors(&columns[j, 0], &tile, &s, &eta[0])
                for i in range(tile.m * width):
                    square[(tile.start - some.start) * width + i] += eta[i] * eta[i]
    return np.asarray(square)


def predictor_covariances(Model model, white, rows):
    """J_i W W' J_i' of each of the rows of a slice, (rows, width, width)."""
    cdef Py_ssize_t at = 0, width = model.width, i, j, k, l
    cdef Batch some = neighbours(model, rows), tile
    cdef double[:, ::1] columns = np.ascontiguousarray(np.asarray(white).T)
    cdef double[::1] eta = np.empty(model.tile * width), work = np.empty(scratch_size(model))
    cdef double[:, :, ::1] out = np.zeros((some.m, width, width))
    cdef Scratch s
    s.work, s.bits, s.eta = &work[0], NULL, NULL
    with nogil:
        while next_tile(&some, model.tile, &at, &tile):
            for j in range(columns.shape[0]):
                model.predictors(&columns[j, 0], &tile, &s, &eta[0])
                for i in range(tile.m):
                    for k in range(width):
                        for l in range(width):
                            out[tile.start - some.start + i, k, l] += (eta[i * width + k]
                                                                       * eta[i * width + l])
    return np.asarray(out)


def score_products(Model model, theta, const double[:, :, ::1] turn, rows):
    """sum_i z_i z_i' over the rows of a slice, (dim, dim), with z_i = J_i' T_i r_i: scores whose
    residuals r_i are multiplied by matrices T_i, (rows, width, width).
    """
    cdef Py_ssize_t at = 0, inside, w = model.width, i, k, l, dim = model.dim
    cdef Py_ssize_t most = max(model.gram_rows, model.tile)
    cdef Batch some = neighbours(model, rows), block, tile
    cdef double[::1] x = np.array(theta, dtype=float), work = np.empty(scratch_size(model))
    cdef double[::1] r = np.empty(model.tile * w), turned = np.empty(w)
    cdef double[::1] products = np.empty(most * w * w)
    cdef double[:, ::1] out = np.zeros((dim, dim))
    cdef Scratch s
    cdef double *here
    s.work, s.bits, s.eta = &work[0], NULL, NULL
    with one_blas_thread(), nogil:
        while next_tile(&some, most, &at, &block):
            inside = 0
            while next_tile(&block, model.tile, &inside, &tile):
                here = &products[(tile.start - block.start) * w * w]
                model.scores(&x[0], &tile, &s, &r[0], NULL)
                for i in range(tile.m):
                    for k in range(w):
                        turned[k] = 0
                        for l in range(w):
                            turned[k] += turn[tile.start - some.start + i, k, l] * r[i * w + l]
                    for k in range(w):
                        for l in range(w):
                            here[(i * w + k) * w + l] = turned[k] * turned[l]
            model.add_curvatures(&block, &s, &products[0], &out[0, 0])
    return np.asarray(out) + np.triu(out, 1).T


def leverages(Model model, white, anchor, rows=slice(None)):
    """s_i = |J_i W| for W = `white` (None: identity) and the row curvatures at an anchor:
    (s, w), arrays (n,), or of a slice of the rows.

    s_i is the posterior sd of the row's linear predictor under the Laplace approximation W W'.  A
    row with several predictors has the largest of their sds s_ik, and sum_kl |w_ikl| s_ik s_il /
    s_i^2 as its curvature; all in the model's units of them.
    """
    width, unit = model.width, model.units(anchor.centre)
    forms = getattr(getattr(model, "X", None), "forms", None)
    if width == 1 and forms is not None and model.dim == model.X.d:
        square = forms(None if white is None else white @ white.T, rows)
    else:
        square = squared_lengths(model, np.eye(model.dim) if white is None else white, rows)
    each = np.sqrt(square, out=np.asarray(square)).reshape(-1, width)
    each /= unit
    if len(anchor.curvature):
        curvature = np.asarray(anchor.curvature).reshape(-1, width, width)[rows]
    else:
        curvature = row_curvatures(model, anchor.centre, rows=rows)
    if width == 1:
        curvature = np.abs(curvature[:, 0, 0])
        curvature *= unit[..., 0] ** 2
        return each[:, 0], curvature
    largest = each.max(axis=1)
    each /= np.where(largest > 0, largest, 1.0)[:, None]
    each *= unit
    found = np.empty(len(each))
    for a in range(0, len(each), ROWS_TOGETHER):  # of many predictors a row's curvatures are large
        share = each[a:a + ROWS_TOGETHER]
        found[a:a + ROWS_TOGETHER] = np.einsum("ik,ikl,il->i", share,
                                           np.abs(curvature[a:a + ROWS_TOGETHER]), share)
    return largest, found


def row_curvatures(Model model, theta, bint expected=False, rows=slice(None)):
    """w_i = -d r_i / d eta_i of each row at theta, or its expected value, (n, width, width); or of
    a slice of the rows.
    """
    cdef Py_ssize_t size = model.width * model.width, place = 0
    cdef Batch part = neighbours(model, rows), tile
    cdef double[::1] at = np.array(theta, dtype=float), out = np.empty(part.m * size)
    cdef double[::1] work = np.empty(scratch_size(model))
    cdef Scratch s
    s.work, s.bits, s.eta = &work[0], NULL, NULL
    with nogil:
        while next_tile(&part, model.tile, &place, &tile):
            if expected:
                model.expected_curvatures(&at[0], &tile, &s,
                                          &out[(tile.start - part.start) * size])
            else:
                model.curvatures(&at[0], &tile, &s, &out[(tile.start - part.start) * size])
    return np.asarray(out).reshape(part.m, model.width, model.width)


def of_rows(Model model, theta, rows=None, bint slope=True):
    """Log density of some rows together and its gradient, of any model.

    Parameters
    ----------
    model : Model
    theta : array (dim,)
    rows : slice or array of int, optional
        Default all; a slice has no step.
    slope : bool
        Whether the gradient is computed; it is zero where not.

    Returns
    -------
    value : float
    gradient : array (dim,)
    """
    cdef double[::1] at = np.array(theta, dtype=float), grad = np.zeros(model.dim)
    cdef double[::1] work = np.empty(scratch_size(model))
    cdef Batch part = all_rows(model.n), tile
    cdef Py_ssize_t place = 0
    cdef const Py_ssize_t[::1] listed
    cdef Scratch s
    cdef double value = 0
    s.work, s.bits, s.eta = &work[0], NULL, NULL
    if isinstance(rows, slice):
        part.start, part.m = rows.start, rows.stop - rows.start
    elif rows is not None:
        listed = np.ascontiguousarray(rows, dtype=np.intp)
        part.m = listed.shape[0]
        part.rows = &listed[0]
    with nogil:
        while next_tile(&part, model.tile, &place, &tile):
            model.add(&at[0], &tile, &s, &value, &grad[0] if slope else NULL)
    return value, np.asarray(grad)


def of_prior(Prior prior, theta, bint slope=True):
    """Log density of a prior and its gradient at theta (dim,); see `of_rows`."""
    cdef double[::1] at = np.array(theta, dtype=float), grad = np.zeros(prior.dim)
    cdef double value = 0
    with nogil:
        prior.add(&at[0], &value, &grad[0] if slope else NULL)
    return value, np.asarray(grad)


def of_priors(Prior prior, points):
    """Log densities of a prior at points (n, dim)."""
    cdef double[:, ::1] at = np.array(points, dtype=float, order="C")
    cdef double[::1] value = np.zeros(at.shape[0])
    cdef Py_ssize_t i
    with nogil:
        for i in range(at.shape[0]):
            prior.add(&at[i, 0], &value[i], NULL)
    return np.asarray(value)
