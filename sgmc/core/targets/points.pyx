"""Exact log posteriors and their gradients, by one pass over the rows for a point or for many."""
from libc.string cimport memcpy, memset

from sgmc.core.targets.target cimport OK, Batch, all_rows, next_tile


cdef int at_point(Model model, Prior prior, Map map, Scratch *s, const double *x, double *theta,
                  double *grad, double *value, double *g) except -1 nogil:
    """value and g (NULL: not wanted) at a point x of the sampler's coordinates, from which `map`
    (None: identity) leads to the model's; theta and grad are for it to write in.
    """
    cdef Batch everything = all_rows(model.n), tile
    cdef Py_ssize_t at = 0
    cdef const double *natural = x
    cdef double *out = g
    value[0] = 0
    if map is not None:
        map.forward(x, theta, value)
        natural, out = theta, grad if g != NULL else NULL
    if g != NULL:
        memset(out, 0, model.dim * sizeof(double))
    prior.add(natural, value, out)
    while next_tile(&everything, model.tile, &at, &tile):
        model.add(natural, &tile, s, value, out)
    if map is not None and g != NULL:
        memset(g, 0, map.dim * sizeof(double))
        map.vjp(x, grad, g)
    return OK


cdef Py_ssize_t points_size(Model model, Py_ssize_t points) noexcept nogil:
    """Doubles of work for `at_points`."""
    return 2 * points * model.dim + model.size_many(points) + 1


cdef int at_points(Model model, Prior prior, Map map, Scratch *s, const double *x,
                   Py_ssize_t points, double *work, double *value, double *g) except -1 nogil:
    """value (points,) and g (points x dim; NULL: not wanted) at points x of the sampler's
    coordinates, from which `map` (None: identity) leads to the model's.
    """
    cdef Py_ssize_t k, size = model.dim, dim = size if map is None else map.dim
    cdef double *theta = work
    cdef double *grad = work + points * size if g != NULL else NULL
    if g != NULL:
        memset(grad, 0, points * size * sizeof(double))
    memset(value, 0, points * sizeof(double))
    if map is None:
        memcpy(theta, x, points * size * sizeof(double))
    else:
        map.forward_many(x, points, theta, value)
    for k in range(points):
        prior.add(theta + k * size, value + k, grad + k * size if g != NULL else NULL)
    model.add_many(theta, points, s, work + 2 * points * size, value, grad)
    if g == NULL:
        return OK
    if map is None:
        memcpy(g, grad, points * size * sizeof(double))
        return OK
    memset(g, 0, points * dim * sizeof(double))
    return map.pull_many(x, points, grad, g)
