"""Second-order control variates around a fixed centre."""
from sgmc.core.contract cimport (
    OK, Batch, Gradient, all_rows, fetch_next, fetch_rows, next_tile, row_of, last_predictors,
)


cdef class Taylor(Gradient):
    """Control values are the row gradients' first-order expansions at the anchor:

    c_i = J_i' (r_i(centre) - w_i J_i (theta - centre)),  sum_i c_i = sum_i dlog p_i(centre) - H
    (theta - centre),

    with w_i = -dr_i/d eta_i.  What is left to the minibatch is of second order in theta - centre.
    (Taylor proxies: Bardenet, Doucet & Holmes 2017, section 7.3; here as a gradient estimator.)  A
    few rows of high leverage, for which no expansion serves, are always computed (`Anchor.exact`);
    the minibatch then has nothing to add for them.
    """

    name = "taylor"
    needs = ("anchor", "curvature")

    cdef void fetch(self, const Batch *b) noexcept nogil:
        cdef Py_ssize_t w = self.model.width
        self.model.fetch(b)
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
                if self.anchor.is_exact[tile.start + i if tile.rows == NULL else tile.rows[i]]:
                    for k in range(w):
                        r[i * w + k] = 0
        return OK

    cdef int subtract(self, const double *theta, const Batch *tile, double *r) except -1 nogil:
        """r_i -= r_i(centre) - w_i J_i (theta - centre)"""
        cdef Py_ssize_t i, k, l, row, w = self.model.width
        cdef const double *eta = last_predictors(self.model, theta, tile, &self.scratch)
        cdef const double *origin = &self.anchor.predictors[0]
        cdef const double *score = &self.anchor.scores[0]
        cdef const double *curvature = &self.anchor.curvature[0]
        cdef double control
        if w == 1 and tile.rows == NULL:  # the form of most models and steps, in one SIMD loop
            fetch_next(tile, origin, sizeof(double))
            fetch_next(tile, score, sizeof(double))
            fetch_next(tile, curvature, sizeof(double))
            origin += tile.start
            score += tile.start
            curvature += tile.start
            for i in range(tile.m):
                r[i] -= score[i] - curvature[i] * (eta[i] - origin[i])
            return OK
        for i in range(tile.m):
            row = row_of(tile, i)
            for k in range(w):
                control = score[row * w + k]
                for l in range(w):
                    control -= (curvature[(row * w + k) * w + l]
                                * (eta[i * w + l] - origin[row * w + l]))
                r[i * w + k] -= control
        return OK
