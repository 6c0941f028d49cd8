"""Second-order control variates around a fixed centre."""
import numpy as np

from sgmc.core.targets.centre cimport Centre
from sgmc.core.contract cimport (
    OK, Anchor, Batch, Gradient, Map, Model, Prior, Rng, Subsampler, all_rows, fetch_rows,
    next_tile, row_of, last_predictors,
)

# share of the way from the anchor at which a row's gradient is expanded by a difference: rounding,
# also of single precision, divided by it stays below what is left to the batch
cdef double NEAR_SHARE = 1e-3


cdef bint found(const Py_ssize_t[::1] rows, Py_ssize_t row) noexcept nogil:
    """Whether a row is in a list in ascending order."""
    cdef Py_ssize_t low = 0, high = rows.shape[0], middle
    while low < high:
        middle = (low + high) // 2
        if rows[middle] < row:
            low = middle + 1
        else:
            high = middle
    return low < rows.shape[0] and rows[low] == row


cdef class Taylor(Gradient):
    """Control values are the row gradients' first-order expansions at the anchor:

    c_i = J_i' (r_i(centre) - w_i J_i (theta - centre)),  sum_i c_i = sum_i dlog p_i(centre) - H
    (theta - centre),

    with w_i = -dr_i/d eta_i.  What is left to the minibatch is of second order in theta - centre.
    (Taylor proxies: Bardenet, Doucet & Holmes 2017, section 7.3; here as a gradient estimator.)  A
    few rows of high leverage, for which no expansion serves, are always computed (`Anchor.exact`);
    the minibatch then has nothing to add for them.

    Of models without scores the expansion of a row is a difference of its gradients close to the
    anchor: c_i = g_i(centre) + (g_i(centre + e delta) - g_i(centre)) / e with delta = theta -
    centre, whose sum is that of H but for a share `NEAR_SHARE` = e of the terms of second order.
    """

    name = "taylor"
    needs = ("anchor", "curvature")
    recomputes = 2
    cdef Centre centre
    cdef double[::1] near
    cdef bint paired  # differences of gradients cost one call
    cdef object expanded  # or all three gradients do; else None

    def __init__(self, Model model, Prior prior, Subsampler rows, Rng rng, *, Map map=None,
                 Anchor anchor not None):
        Gradient.__init__(self, model, prior, rows, rng, map=map, anchor=anchor)
        self.centre = Centre(model, anchor.centre, anchor.scores, True)
        self.near, self.paired = np.empty(model.dim), hasattr(model, "apart")
        self.expanded = getattr(model, "expanded", None)

    cdef void fetch(self, const Batch *b) noexcept nogil:
        cdef Py_ssize_t w = self.model.width
        self.model.fetch(b)
        if self.centre.computed or w == 0:
            return
        fetch_rows(b, &self.anchor.predictors[0], w * sizeof(double))
        fetch_rows(b, &self.anchor.scores[0], w * sizeof(double))
        fetch_rows(b, &self.anchor.curvature[0], w * w * sizeof(double))
        if self.anchor.exact.shape[0]:
            fetch_rows(b, &self.anchor.is_exact[0], 1)

    cdef int known(self, const double *theta, double *g) except -1 nogil:
        cdef Py_ssize_t j, at = 0
        cdef Batch rows, tile
        for j in range(self.model.dim):
            self.single[j] = theta[j] - self.anchor.centre[j]
        self.anchor.bend.times(&self.single[0], &self.part[0])
        for j in range(self.model.dim):
            g[j] += self.anchor.full[j] - self.part[j]
            self.part[j] = 0
        if self.anchor.exact.shape[0] == 0:
            return OK
        rows = all_rows(self.anchor.exact.shape[0])
        rows.rows = &self.anchor.exact[0]
        self.touched += rows.m
        while next_tile(&rows, self.model.tile, &at, &tile):
            self.model.scores(theta, &tile, &self.scratch, &self.residual[0], NULL)
            self.subtract(theta, &tile, &self.residual[0])
            self.model.add_scores(&tile, &self.scratch, &self.residual[0], g)
        return OK

    cdef int correct(self, const double *theta, const Batch *tile, double *r) except -1 nogil:
        cdef Py_ssize_t i, k, w = self.model.width
        self.subtract(theta, tile, r)
        if self.anchor.exact.shape[0]:
            for i in range(tile.m):
                # a call a row is slow
                if self.is_exact(tile.start + i if tile.rows == NULL else tile.rows[i]):
                    for k in range(w):
                        r[i * w + k] = 0
        return OK

    cdef int correct_batch(self, const double *theta, const Batch *b, double *g) except -1 nogil:
        cdef Batch minus = b[0]
        self.draw_near(theta)
        minus.scale = -b.scale / NEAR_SHARE
        self.model.add(&self.near[0], &minus, &self.scratch, NULL, g)
        minus.scale = b.scale * (1 / NEAR_SHARE - 1)
        return self.model.add(&self.anchor.centre[0], &minus, &self.scratch, NULL, g)

    cdef int corrected(self, const double *theta, const Batch *tile, double *g) except -1 nogil:
        cdef Batch minus = tile[0]
        if not self.paired:
            return Gradient.corrected(self, theta, tile, g)
        if self.expanded is not None and tile.weight == NULL:
            with gil:
                return self.at_once(theta, tile, g)
        self.model.add_apart(theta, &self.anchor.centre[0], tile, &self.scratch, g)
        self.draw_near(theta)
        minus.scale = -tile.scale / NEAR_SHARE
        return self.model.add_apart(&self.near[0], &self.anchor.centre[0], &minus, &self.scratch, g)

    cdef int at_once(self, const double *theta, const Batch *tile, double *g) except -1:
        """The same by one call of the model."""
        cdef const double[::1] found
        cdef Py_ssize_t j, d = self.model.dim
        rows = (slice(tile.start, tile.start + tile.m) if tile.rows == NULL
                else np.array(<const Py_ssize_t[:tile.m]> <Py_ssize_t *> tile.rows))
        found = self.expanded(self.places(theta), NEAR_SHARE, rows)
        for j in range(d):
            g[j] += tile.scale * found[j]
        return OK

    def each_row(self, theta, rows):
        """Corrected gradients of some rows, (rows, dim), where the model has them at once; else
        None.
        """
        cdef double[::1] place = np.array(theta)
        each = getattr(self.model, "each", None)
        if each is None:
            return None
        return each(self.places(&place[0]), NEAR_SHARE, rows)

    cdef places(self, const double *theta):
        """theta, the place near the anchor and the anchor, (3, dim)."""
        cdef Py_ssize_t j
        cdef double[:, ::1] out = np.empty((3, self.model.dim))
        self.draw_near(theta)
        for j in range(self.model.dim):
            out[0, j], out[1, j], out[2, j] = theta[j], self.near[j], self.anchor.centre[j]
        return np.asarray(out)

    cdef void draw_near(self, const double *theta) noexcept nogil:
        """The place between the anchor and theta."""
        cdef Py_ssize_t j
        for j in range(self.model.dim):
            self.near[j] = self.anchor.centre[j] + NEAR_SHARE * (theta[j] - self.anchor.centre[j])

    cdef bint is_exact(self, Py_ssize_t row) noexcept nogil:
        if self.centre.computed:
            return found(self.anchor.exact, row)
        return self.anchor.is_exact[row] != 0

    cdef int subtract(self, const double *theta, const Batch *tile, double *r) except -1 nogil:
        """r_i -= r_i(centre) - w_i J_i (theta - centre)"""
        cdef Py_ssize_t i, k, l, row, w = self.model.width
        cdef const double *eta = last_predictors(self.model, theta, tile, &self.scratch)
        cdef const double *origin
        cdef const double *score
        cdef const double *curvature
        cdef double control
        cdef bint computed = self.centre.computed
        if computed:  # of the tile's rows alone, one behind the other
            self.centre.look(tile, True)
            score, origin = &self.centre.score[0], &self.centre.predictors[0]
            curvature = &self.centre.curvature[0]
        else:
            score, origin = &self.anchor.scores[0], &self.anchor.predictors[0]
            curvature = &self.anchor.curvature[0]
        if w == 1 and (computed or tile.rows == NULL):  # of most steps, in one SIMD loop
            if not computed:
                origin += tile.start
                score += tile.start
                curvature += tile.start
            for i in range(tile.m):
                r[i] -= score[i] - curvature[i] * (eta[i] - origin[i])
            return OK
        for i in range(tile.m):
            row = i if computed else row_of(tile, i)
            for k in range(w):
                control = score[row * w + k]
                for l in range(w):
                    control -= (curvature[(row * w + k) * w + l]
                                * (eta[i * w + l] - origin[row * w + l]))
                r[i * w + k] -= control
        return OK
