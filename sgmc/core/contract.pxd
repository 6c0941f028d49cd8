# The contracts of sgmc.  Models, designs, priors, maps and anchors are immutable and shared by
# chains; everything else belongs to one chain.  Every virtual works on a batch, never on a row;
# `int ... except -1 nogil`; a non-negative return is a status.  Trouble with numbers is a status,
# not an exception.
#
# Notation: theta natural parameters, x what a sampler moves (theta = map(x)), N rows, g = gradient
# of log posterior.
from libc.stdint cimport int64_t

from sgmc.core.targets.anchor cimport Anchor
from sgmc.core.targets.bounds cimport Bounds
from sgmc.core.random.rng cimport (
    Rng, bitgen_t, next_below, next_exponential, next_uniform, normal_fill, partial_shuffle,
    uniform_fill,
)
from sgmc.core.targets.target cimport (
    OK, Batch, Design, Map, Metric, Model, Prior, Scratch, Subsampler, all_rows,
    apply_weights, fetch_rows, last_predictors, next_tile, row_of, scratch_size,
    subtract,
)

cdef enum:
    # out-of-tree modules compare it at import (sgmc.core.contract.abi()); new virtuals raise it
    ABI = 12
    DIVERGED = 1  # position or gradient not finite; State.diverged_index is its first coordinate
    FULL = 2                      # the recorder has its draws
    SPENT = 4                     # the rows that it may touch are used up
    BOUND = 3  # a thinning bound was exceeded (exact samplers: fatal; stochastic ones: counted)

cdef inline bint diverged(double x) noexcept nogil:
    """Whether a coordinate is not finite, or so far out that its square soon is not."""
    return not -1e100 < x < 1e100

cdef struct State:                # where a chain is; owned by the engine, moved by the sampler
    Py_ssize_t dim
    double *x                     # sampler coordinates; memory of the engine's Chain, as is v
    double *v                     # velocity of piecewise-deterministic samplers, else NULL
    double dt                     # path length of the last step (1 for step samplers)
    double weight                 # step size at a draw taken now
    int64_t t                     # steps or events made
    Py_ssize_t diverged_index     # coordinate that diverged, else -1

cdef class Schedule:              # the step size at step t
    cdef double at(self, int64_t t) except? -1 nogil

cdef class Gradient:  # estimator = model + prior + map + subsampler; all a sampler ever sees
    cdef readonly Model model
    cdef readonly Prior prior
    cdef readonly Map map                     # None: identity
    cdef readonly Subsampler rows
    cdef readonly Anchor anchor               # None for estimators without a centre
    cdef public Bounds bounds                 # None where nothing is thinned by them
    cdef readonly Py_ssize_t dim              # of x
    cdef readonly bint plain                  # there are no control values
    # rows are remembered: models without scores are gone through row by row
    cdef readonly bint by_row
    cdef readonly int64_t each                # row gradients computed for each row drawn
    cdef public int64_t touched               # row gradients so far (data passes)
    cdef readonly Rng rng                     # owner of scratch.bits
    cdef Scratch scratch  # its work and eta point into `work`, which is never replaced
    cdef double[::1] work, residual, natural, ahead, part, square, single, along
    cdef double[::1] many         # work of `full_many`
    cdef double[::1] kept         # weighed scores of the batch that the last `slope` drew
    cdef const Batch *runs        # and that batch, until the subsampler's next draw
    cdef Py_ssize_t n_runs
    # g = unbiased estimate of the gradient of log posterior at x; sd (or NULL) = its sd a
    # coordinate, prior excluded
    cdef int estimate(self, const double *x, Rng rng, double *g, double *sd) except -1 nogil
    # the directional derivative alone: estimate of v . g by one batch, and its variance by the
    # rows; scores are kept for `sloped` where `keep`
    cdef int slope(self, const double *x, const double *v, Rng rng, double *mean, double *var,
                   bint keep) except -1 nogil
    # g of the same batch, once after each kept `slope` at most, and at the same x
    cdef int sloped(self, const double *x, double *g) except -1 nogil
    # exact value and gradient (NULL: not wanted) from all rows (Metropolis, diagnostics)
    cdef int full(self, const double *x, double *value, double *g) except -1 nogil
    # the same at many points x (points x dim), by one pass over the rows
    cdef int full_many(self, const double *x, Py_ssize_t points, double *value,
                       double *g) except -1 nogil
    # the model's conditional update, between steps
    cdef int refresh(self, double *x) except -1 nogil
    # what an estimator leaf defines: known part (g += what needs no rows), correction of a tile's
    # scores, of a batch; these three change no memory, so that anyone may ask them
    cdef int known(self, const double *theta, double *g) except -1 nogil
    cdef void fetch(self, const Batch *b) noexcept nogil  # a hint: these rows are next
    cdef int correct(self, const double *theta, const Batch *tile, double *r) except -1 nogil
    cdef int correct_batch(self, const double *theta, const Batch *b, double *g) except -1 nogil
    # g += scale w_i (dlog p_i - c_i) of a tile of a model without scores
    cdef int corrected(self, const double *theta, const Batch *tile, double *g) except -1 nogil
    # memory of an estimator: changed before each estimate, with what was remembered of the last
    # one; and what the batch brings, raw scores of a tile (m x width) or, where `by_row` and
    # without scores, the gradient of one row
    cdef int prepare(self, const double *theta) except -1 nogil
    cdef int remember(self, const Batch *tile, const double *r) except -1 nogil

cdef class Sampler:               # one per chain; user-facing specs (sgmc.SGLD(...)) build these
    cdef public double step_size  # the engine sets it from the schedule before each step
    cdef public bint warming  # adapt only while true; by step numbers, never by the clock
    cdef readonly Py_ssize_t dim
    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil
    # one step, or one event (moves s.x by v dt)
    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil

cdef class Recorder:              # where draws go: kept draws, moments, path integrals
    # before the first step that is recorded, and again
    cdef int open(self, const State *s) except -1 nogil
    cdef int record(self, const State *s, Gradient g) except -1 nogil

# state() -> dict and set_state(dict) exist on Rng, Subsampler, Gradient, Sampler and Recorder:
# resume and checkpoints.
