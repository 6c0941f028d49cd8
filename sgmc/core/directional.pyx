"""A gradient estimate together with the variance of its slope along a line, from one batch.

A bouncing particle needs both: the slope, with its noise, to decide whether it bounces, and the gradient of the same rows to bounce off.
"""
import numpy as np

from libc.string cimport memset

from sgmc.core.contract cimport OK, Batch, Gradient, Rng, Scratch, next_tile, weigh


cdef int estimate_along(Gradient estimator, const double *x, const double *v, Rng rng, double *g, double *var) except -1 nogil:
    """The variance is N^2/n (1 - n/N) Var_i[v . grad log p_i] for a simple sample without replacement, stratum by stratum else."""
    cdef const double *theta = x
    cdef const double *direction = v
    cdef double *grad = g
    cdef const Batch *runs = NULL
    cdef Py_ssize_t n_runs = estimator.rows.draw(rng, &runs)
    estimator.fetch(runs)
    if estimator.map is not None:
        estimator.map.forward(x, &estimator.natural[0], NULL)
        estimator.map.push(x, v, &estimator.along[0])
        theta, direction, grad = &estimator.natural[0], &estimator.along[0], &estimator.ahead[0]
    memset(grad, 0, estimator.model.dim * sizeof(double))
    estimator.prior.add(theta, NULL, grad)
    estimator.prepare(theta)
    estimator.known(theta, grad)
    add_batch(estimator, theta, direction, runs, n_runs, grad, var)
    if estimator.map is not None:
        memset(g, 0, estimator.dim * sizeof(double))
        estimator.map.pull(x, grad, g)
    return OK


cdef int add_batch(Gradient e, const double *theta, const double *v, const Batch *runs, Py_ssize_t n_runs, double *grad,
                   double *var) except -1 nogil:
    """grad += scaled, corrected row gradients; var of their sum's slope along v."""
    cdef Batch tile
    cdef Py_ssize_t k, i, at, seen = 0
    cdef double total = 0, square = 0
    var[0] = 0
    for k in range(n_runs):
        at = 0
        e.touched += runs[k].m
        seen += runs[k].m
        while next_tile(&runs[k], e.model.tile if e.model.width else 1, &at, &tile):
            if e.model.width:
                add_tile(e, theta, v, &tile, grad)
            else:
                add_row(e, theta, v, &tile, grad)
            for i in range(tile.m):
                total += e.residual[i]
                square += e.residual[i] * e.residual[i]
        if k + 1 == n_runs or runs[k + 1].stratum != runs[k].stratum:
            var[0] += runs[k].fpc * (max(square - total * total / seen, 0.) * seen / (seen - 1) if seen > 1 else square)
            seen = 0
            total = square = 0
    return OK


cdef int add_tile(Gradient e, const double *theta, const double *v, const Batch *tile, double *grad) except -1 nogil:
    """Score path; residual_i becomes the slope of row i."""
    cdef Py_ssize_t i, k, w = e.model.width
    cdef double *r = &e.residual[0]
    cdef double *eta = &e.work[0]
    cdef Scratch inner = e.scratch
    cdef double slope
    e.model.scores(theta, tile, &e.scratch, r, NULL)
    e.remember(tile, r)
    e.correct(theta, tile, r)
    weigh(tile, w, r)
    e.model.add_scores(tile, &e.scratch, r, grad)
    inner.work += tile.m * w
    e.model.predictors(v, tile, &inner, eta)
    for i in range(tile.m):
        slope = 0
        for k in range(w):
            slope += r[i * w + k] * eta[i * w + k]
        r[i] = slope
    return OK


cdef int add_row(Gradient e, const double *theta, const double *v, const Batch *row, double *grad) except -1 nogil:
    """Models without scores, one row; residual_0 becomes its slope."""
    cdef Py_ssize_t j
    cdef Batch plain = row[0]
    cdef double slope = 0
    plain.scale, plain.weight = 1, NULL
    memset(&e.single[0], 0, e.model.dim * sizeof(double))
    e.model.add(theta, &plain, &e.scratch, NULL, &e.single[0])
    e.remember(&plain, &e.single[0])
    e.correct_batch(theta, &plain, &e.single[0])
    weigh(row, e.model.dim, &e.single[0])
    for j in range(e.model.dim):
        grad[j] += e.single[j]
        slope += v[j] * e.single[j]
    e.residual[0] = slope
    return OK


def along(Gradient gradient, x, v, Rng rng):
    """One estimate at x, and the variance of its slope along v: (g, var)."""
    cdef double[::1] at = np.array(x, dtype=float), direction = np.array(v, dtype=float), g = np.empty(gradient.dim)
    cdef double var = 0
    with nogil:
        estimate_along(gradient, &at[0], &direction[0], rng, &g[0], &var)
    return np.asarray(g), var
