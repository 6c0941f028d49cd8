"""Base classes of estimators, samplers and recorders; the loop over a minibatch is here once."""
import numpy as np

from libc.math cimport sqrt
from libc.string cimport memcpy, memset

from sgmc.core.targets.points cimport at_point, at_points, points_size

# cimported types are no names of the module: give Python all contracts from one place
globals().update({cls.__name__: cls for cls in (Anchor, Bounds, Design, Map, Metric, Model, Prior,
                                                Subsampler)})


def abi():
    """The number that out-of-tree compiled leaves must have been built against."""
    return ABI


cdef class Schedule:
    """Step size as a function of the step's number."""

    cdef double at(self, int64_t t) except? -1 nogil:
        raise NotImplementedError("at")

    def __call__(self, int64_t t):
        return self.at(t)


cdef class Gradient:
    """An unbiased estimate of the gradient of the log posterior,
    from model, prior, map and subsampler.

    Leaves define `known`, `correct` and `correct_batch`; the loop over the batch is here once.
    With control values c_i the estimate is  sum_i c_i + sum_batch scale w_i (dlog p_i - c_i) + dlog
    prior.  Those whose control values follow the chain change them in `prepare` and nowhere else: a
    batch is read against the values from before it.

    Attributes
    ----------
    staleness : float
        Variance of the estimate in stationarity over that with control values at the mode.
    block_noise : float
        Noise, in posterior precisions, that blocks of rows add however long they are: times 1 -
        n/N.
    row_cost : float
        Row gradients computed for each row drawn, where the model has scores.
    recomputes : int
        Row gradients that control values need for each row drawn, of models without scores; of
        others they are kept.
    """

    room = "gradients"
    staleness = 1.0
    block_noise = 0.0
    row_cost = 1.0
    recomputes = 0

    def __init__(self, Model model not None, Prior prior not None, Subsampler rows not None,
                 Rng rng not None, *, Map map=None, Anchor anchor=None):
        if map is not None and model.refreshes:
            raise ValueError("a model with conditional updates takes no map")
        if rows.n != model.n:
            raise ValueError(f"the subsampler is made for {rows.n} rows, the model has {model.n}")
        self.model, self.prior, self.rows = model, prior, rows
        self.rng, self.map, self.anchor = rng, map, anchor
        self.dim = model.dim if map is None else map.dim
        self.each = 1 if model.width else 1 + type(self).recomputes
        self.work = np.zeros(scratch_size(model))
        self.residual = np.zeros(model.tile * max(model.width, 1))
        self.natural = np.zeros(model.dim)
        self.ahead, self.along = np.zeros(model.dim), np.zeros(model.dim)
        self.part, self.square = np.zeros(model.dim), np.zeros(model.dim)
        self.single = np.zeros(max(self.dim, model.dim))
        self.kept = self.many = np.empty(0)
        self.scratch.work = &self.work[0]
        self.scratch.bits, self.scratch.eta = rng.bits, NULL

    def replace_rows(self, Subsampler rows not None):
        """Draw batches by another subsampler of the same rows from now on."""
        self.rows, self.n_runs = rows, 0

    cdef int known(self, const double *theta, double *g) except -1 nogil:
        return OK

    cdef void fetch(self, const Batch *b) noexcept nogil:
        self.model.fetch(b)

    cdef int correct(self, const double *theta, const Batch *tile, double *r) except -1 nogil:
        return OK

    cdef int correct_batch(self, const double *theta, const Batch *b, double *g) except -1 nogil:
        return OK

    cdef int corrected(self, const double *theta, const Batch *tile, double *g) except -1 nogil:
        self.model.add(theta, tile, &self.scratch, NULL, g)
        return self.correct_batch(theta, tile, g)

    cdef int prepare(self, const double *theta) except -1 nogil:
        return OK

    cdef int remember(self, const Batch *tile, const double *r) except -1 nogil:
        return OK

    cdef int estimate(self, const double *x, Rng rng, double *g, double *sd) except -1 nogil:
        cdef const double *theta = x
        cdef double *grad = g
        cdef double *spread = sd
        if self.map is not None:
            self.map.forward(x, &self.natural[0], NULL)
            theta, grad = &self.natural[0], &self.ahead[0]
            spread = &self.along[0] if sd != NULL else NULL
        begin(self, rng, theta, grad)
        sample(self, theta, grad, spread)
        if self.map is not None:
            pulled(self, x, grad, g)
            if sd != NULL:
                self.map.pull_sd(x, spread, sd)
        return OK

    cdef int slope(self, const double *x, const double *v, Rng rng, double *mean, double *var,
                   bint keep) except -1 nogil:
        cdef Py_ssize_t j
        cdef const double *theta = x
        cdef const double *direction = v
        cdef double *sure = &self.ahead[0]
        if keep and self.kept.shape[0] < self.rows.m * self.model.width:
            with gil:
                self.kept = np.empty(self.rows.m * self.model.width)
        if self.map is not None:
            self.map.forward(x, &self.natural[0], NULL)
            self.map.jvp(x, v, &self.along[0])
            theta, direction = &self.natural[0], &self.along[0]
        begin(self, rng, theta, &self.ahead[0])
        mean[0] = 0
        if self.map is not None:  # pulled, not pushed: the Jacobian's own slope belongs to it
            sure = &self.single[0]
            pulled(self, x, &self.ahead[0], sure)
        for j in range(self.dim):
            mean[0] += v[j] * sure[j]
        return sample_slope(self, theta, direction, mean, var, keep)

    cdef int sloped(self, const double *x, double *g) except -1 nogil:
        cdef Py_ssize_t k, at, done = 0, w = self.model.width
        cdef Batch tile
        for k in range(self.n_runs if w else 0):
            at = 0
            while next_tile(&self.runs[k], self.model.tile, &at, &tile):
                self.model.add_scores(&tile, &self.scratch, &self.kept[done], &self.ahead[0])
                done += tile.m * w
        self.n_runs = 0
        if self.map is not None:
            return pulled(self, x, &self.ahead[0], g)
        memcpy(g, &self.ahead[0], self.dim * sizeof(double))
        return OK

    cdef int full(self, const double *x, double *value, double *g) except -1 nogil:
        self.touched += self.model.n
        return at_point(self.model, self.prior, self.map, &self.scratch, x, &self.natural[0],
                        &self.ahead[0], value, g)

    cdef int full_many(self, const double *x, Py_ssize_t points, double *value,
                       double *g) except -1 nogil:
        if self.many.shape[0] < points_size(self.model, points):
            with gil:
                self.many = np.empty(points_size(self.model, points))
        self.touched += points * self.model.n
        return at_points(self.model, self.prior, self.map, &self.scratch, x, points,
                         &self.many[0], value, g)

    cdef int refresh(self, double *x) except -1 nogil:
        return self.model.refresh(x, &self.scratch) if self.model.refreshes else OK

    def state(self):
        """What later estimates depend on besides the random stream."""
        return {"rows": self.rows.state(), "touched": self.touched}

    def set_state(self, state):
        """Continue from a `state()`."""
        self.rows.set_state(state["rows"])
        self.touched = state["touched"]


cdef int begin(Gradient g, Rng rng, const double *theta, double *grad) except -1 nogil:
    """Draw a batch, and fetch its first rows while grad = what needs no rows is computed."""
    g.n_runs = g.rows.draw(rng, &g.runs)
    g.fetch(g.runs)
    memset(grad, 0, g.model.dim * sizeof(double))
    g.prior.add(theta, NULL, grad)
    g.prepare(theta)
    return g.known(theta, grad)


cdef int pulled(Gradient g, const double *x, const double *grad, double *out) except -1 nogil:
    """A gradient for sampler coordinates."""
    memset(out, 0, g.dim * sizeof(double))
    return g.map.vjp(x, grad, out)


cdef int sample(Gradient g, const double *theta, double *grad, double *sd) except -1 nogil:
    """grad += scaled, corrected row gradients of a batch; sd from their squares by stratum."""
    cdef Py_ssize_t k, j, seen = 0
    cdef double *part = grad
    cdef double *square = NULL
    if sd != NULL:
        part, square = &g.part[0], &g.square[0]
        memset(sd, 0, g.model.dim * sizeof(double))
        memset(part, 0, g.model.dim * sizeof(double))
        memset(square, 0, g.model.dim * sizeof(double))
    for k in range(g.n_runs):
        g.touched += g.each * g.runs[k].m
        seen += g.runs[k].m
        if g.model.width > 0:
            add_tiles(g, theta, &g.runs[k], part, square)
        else:
            add_rows(g, theta, &g.runs[k], part, square)
        if sd != NULL and (k + 1 == g.n_runs or g.runs[k + 1].stratum != g.runs[k].stratum):
            close_stratum(g, seen, g.runs[k].fpc, grad, sd)
            seen = 0
    if sd != NULL:
        for j in range(g.model.dim):
            sd[j] = sqrt(sd[j] * (1 if g.rows.design_effect is None else g.rows.design_effect[j]))
    return OK


cdef int add_tiles(Gradient g, const double *theta, const Batch *run, double *part,
                   double *square) except -1 nogil:
    """Score path: scores minus control values, weighted, times X, which is read once per tile."""
    cdef Batch tile
    cdef Py_ssize_t at = 0, w = g.model.width
    cdef double *r = &g.residual[0]
    while next_tile(run, g.model.tile, &at, &tile):
        g.model.scores(theta, &tile, &g.scratch, r, NULL)
        fetch_listed(g, run, at)
        g.remember(&tile, r)
        g.correct(theta, &tile, r)
        apply_weights(&tile, w, r)
        g.model.add_scores(&tile, &g.scratch, r, part)
        if square != NULL:
            g.model.add_squares(&tile, &g.scratch, r, square)
    return OK


cdef void fetch_listed(Gradient g, const Batch *run, Py_ssize_t at) noexcept nogil:
    """Fetch the first rows of the next tile of a list; neighbours need no such hint."""
    cdef Batch tile
    if run.rows != NULL and next_tile(run, g.model.tile, &at, &tile):
        g.fetch(&tile)


cdef int add_rows(Gradient g, const double *theta, const Batch *run, double *part,
                  double *square) except -1 nogil:
    """Models without scores: the batch at once, or row by row where rows are remembered or squares
    wanted that it does not sum up."""
    cdef Batch row
    cdef Py_ssize_t at = 0, j
    while (square != NULL and g.plain and g.model.squares and next_tile(run, g.model.tile, &at,
                                                                        &row)):
        g.model.add_with_squares(theta, &row, &g.scratch, part, square)
    while square == NULL and not g.by_row and next_tile(run, g.model.tile, &at, &row):
        g.corrected(theta, &row, part)
    while next_tile(run, 1, &at, &row):
        one_row(g, theta, &row)
        for j in range(g.model.dim):
            part[j] += g.single[j]
            if square != NULL:
                square[j] += g.single[j] * g.single[j]
    return OK


cdef int one_row(Gradient g, const double *theta, const Batch *row) except -1 nogil:
    """single = scale w_i (dlog p_i - c_i) for a batch of one row; dlog p_i is remembered."""
    cdef Batch plain = row[0]
    plain.scale, plain.weight = 1, NULL
    memset(&g.single[0], 0, g.model.dim * sizeof(double))
    g.model.add(theta, &plain, &g.scratch, NULL, &g.single[0])
    g.remember(&plain, &g.single[0])
    g.correct_batch(theta, &plain, &g.single[0])
    apply_weights(row, g.model.dim, &g.single[0])
    return OK


cdef void close_stratum(Gradient g, Py_ssize_t m, double fpc, double *grad,
                        double *variance) noexcept nogil:
    """Move a stratum's sum to grad and its variance, fpc m/(m-1) (sum of squares - sum^2/m),
    to variance.

    One row says nothing of the spread around the mean: then the mean is taken as zero, which errs
    on the safe side.
    """
    cdef Py_ssize_t j
    cdef double deviation
    for j in range(g.model.dim):
        deviation = g.square[j] - g.part[j] * g.part[j] / m if m > 1 else g.square[j]
        variance[j] += fpc * max(deviation, 0.) * (<double> m / (m - 1) if m > 1 else 1.)
        grad[j] += g.part[j]
        g.part[j] = g.square[j] = 0


cdef int sample_slope(Gradient g, const double *theta, const double *v, double *mean, double *var,
                      bint keep) except -1 nogil:
    """mean += v . (scaled, corrected row gradients of a batch); var of that sum by stratum."""
    cdef Batch tile
    cdef Py_ssize_t k, i, at, seen = 0, done = 0
    cdef double total = 0, square = 0, slope
    var[0] = 0
    for k in range(g.n_runs):
        at = 0
        g.touched += g.each * g.runs[k].m
        seen += g.runs[k].m
        while next_tile(&g.runs[k], g.model.tile if g.model.width else 1, &at, &tile):
            tile_slopes(g, theta, v, &tile, &g.kept[done] if keep and g.model.width else NULL)
            done += tile.m * g.model.width
            for i in range(tile.m):
                slope = g.residual[i]
                total += slope
                square += slope * slope
        if k + 1 == g.n_runs or g.runs[k + 1].stratum != g.runs[k].stratum:
            mean[0] += total
            var[0] += g.runs[k].fpc * (max(square - total * total / seen, 0.) * seen / (seen - 1)
                                       if seen > 1 else square)
            seen = 0
            total = square = 0
    return OK


cdef int tile_slopes(Gradient g, const double *theta, const double *v, const Batch *tile,
                     double *kept) except -1 nogil:
    """residual_i = scale w_i v . (dlog p_i - c_i) for a tile, whose scores are `kept` (or NULL); of
    models without scores the tile is one row, whose gradient is added to `ahead`."""
    cdef Py_ssize_t i, k, j, w = g.model.width
    cdef double *r = &g.residual[0]
    cdef double *eta = &g.work[0]
    cdef Scratch inner = g.scratch
    cdef double slope
    if w == 0:
        one_row(g, theta, tile)
        r[0] = 0
        for j in range(g.model.dim):
            r[0] += v[j] * g.single[j]
            g.ahead[j] += g.single[j]
        return OK
    g.model.scores(theta, tile, &g.scratch, r, NULL)
    g.remember(tile, r)
    g.correct(theta, tile, r)
    apply_weights(tile, w, r)
    if kept != NULL:
        memcpy(kept, r, tile.m * w * sizeof(double))
    inner.work += tile.m * w
    g.model.predictors(v, tile, &inner, eta)
    for i in range(tile.m):
        slope = 0
        for k in range(w):
            slope += r[i * w + k] * eta[i * w + k]
        r[i] = slope
    return OK


cdef class Sampler:
    """A transition of one chain; see contract.pxd."""

    def __init__(self, Py_ssize_t dim, double step_size):
        self.dim = dim
        self.step_size = step_size

    def plan_warmup(self, steps):
        """Set the number of warmup steps, before the first, for samplers that learn in windows."""

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        return OK

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        raise NotImplementedError("step")

    def state(self):
        """What the next step depends on besides position and random stream."""
        return {"step_size": self.step_size, "warming": self.warming}

    def set_state(self, state):
        """Continue from a `state()`."""
        self.step_size = state["step_size"]
        self.warming = state["warming"]


cdef class Recorder:
    """Where draws go; see contract.pxd.

    Attributes
    ----------
    full : bool
        Whether it has its draws.
    """

    full = False

    cdef int open(self, const State *s) except -1 nogil:
        return OK

    cdef int record(self, const State *s, Gradient g) except -1 nogil:
        raise NotImplementedError("record")
