# What is sampled: rows and their storage, model, prior, coordinates.  All of it is immutable and
# shared by chains, but for the subsampler, which is a chain's own.  See contract.pxd, which has
# these names too, for the rules of all contracts.
#
# Raw pointers.  A pointer that an object keeps beyond a call points into memory that the same
# object owns, or into that of an object that it holds in an attribute.  That memory is allocated
# once, when its owner is made, and is never resized, replaced or released while the owner lives.  A
# pointer passed to a function is valid until the function returns: copy what must last, and pass a
# copy, never a view of it, to Python.  There is no &a[0] of an empty array: pass NULL.
from sgmc.core.random.rng cimport Rng, bitgen_t

cdef enum:
    OK = 0

# some rows; a row is the model's exchangeable unit (observation, rating, document, window)
cdef struct Batch:
    Py_ssize_t m
    Py_ssize_t start  # rows start .. start+m-1 when rows == NULL (contiguous: the fast form)
    const Py_ssize_t *rows        # or a list, in memory of whoever made the batch; so is weight
    const double *weight  # per row (NULL: 1), on top of scale: unequal inclusion probabilities
    double scale                  # N/n; 1 for all data; negative to subtract
    Py_ssize_t stratum            # runs of one draw with the same number form one sample
    double fpc                    # finite-population factor of the variance of that sample's sum

cdef struct Scratch:              # one per chain: what a model may write to, and its randomness
    double *work                  # at least Model.work_size() doubles, of the caller
    # the chain's stream (an Rng's), for models that simulate;
    # NULL outside chains (anchors, expansions)
    bitgen_t *bits
    # the J_i theta that the last `scores` met, plus what is the row's own (an offset); NULL:
    # untold. It points into work
    const double *eta

cdef class Design:  # storage of a table: float64 or float32 dense, CSR.  theta has d numbers
    cdef readonly Py_ssize_t n, d
    cdef readonly Py_ssize_t tile             # rows a piece that keep X in the fast cache
    cdef Py_ssize_t work_size(self) noexcept nogil  # doubles of scratch
    # eta_i = x_i.theta
    cdef int dot(self, const Batch *b, const double *theta, double *eta,
                 double *work) except -1 nogil
    # out += sum r_i x_i
    cdef int tdot(self, const Batch *b, const double *r, double *out, double *work) except -1 nogil
    # out += sum r_i^2 x_i^2
    cdef int tdot_sq(self, const Batch *b, const double *r, double *out) except -1 nogil
    cdef void fetch(self, const Batch *b) noexcept nogil  # see Model.fetch
    # the same two for many points at once, rows of `theta` and `out` being `stride` apart: eta and
    # r are points x m; b is of neighbours, and work has work_many(b.m, points) doubles, which
    # `tdot_many` finds as `dot_many` of the same rows left them
    cdef Py_ssize_t work_many(self, Py_ssize_t m, Py_ssize_t points) noexcept nogil
    cdef int dot_many(self, const Batch *b, Py_ssize_t points, const double *theta,
                      Py_ssize_t stride, double *eta, double *work) except -1 nogil
    cdef int tdot_many(self, const Batch *b, Py_ssize_t points, const double *r, double *out,
                       Py_ssize_t stride, double *work) except -1 nogil
    # upper triangle of d x d numbers += sum w_i x_i x_i', rows of them `stride` apart; by BLAS in
    # wide tables, which then want as many rows as `gram_rows`
    cdef int gram(self, const Batch *b, const double *w, double *out,
                  Py_ssize_t stride) except -1 nogil

# log p(y_i | theta), i < n.  Only `add` is required, or the score path instead of it
cdef class Model:
    cdef readonly Py_ssize_t dim, n
    # score numbers a row: 0 = no score path, 1 most GLMs, 2 ols, K-1 mnlogit
    cdef readonly Py_ssize_t width
    cdef readonly Py_ssize_t tile             # most rows of any call
    cdef readonly bint refreshes              # has a conditional update; such models take no map
    # has `add_with_squares`: models without scores that sum squares of rows at once
    cdef readonly bint squares
    cdef Py_ssize_t work_size(self) noexcept nogil  # doubles of scratch for a tile
    cdef void fetch(self, const Batch *b) noexcept nogil  # a hint: these rows are wanted soon
    # value += scale sum w_i log p_i ; grad += scale sum w_i dlog p_i ; NULL = not wanted
    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil
    # grad += scale sum w_i (dlog p_i at theta - dlog p_i at centre)
    cdef int add_apart(self, const double *theta, const double *centre, const Batch *b, Scratch *s,
                       double *grad) except -1 nogil
    # all rows at many points at once: value[k] += sum w_i log p_i(theta_k), grad_k += its gradient
    # (NULL: not wanted), theta and grad being points x dim; work has size_many(points) doubles
    cdef Py_ssize_t size_many(self, Py_ssize_t points) noexcept nogil
    cdef int add_many(self, const double *theta, Py_ssize_t points, Scratch *s, double *work,
                      double *value, double *grad) except -1 nogil
    # grad as in `add`, and square += sum (scale w_i dlog p_i)^2 a coordinate; where `squares`
    cdef int add_with_squares(self, const double *theta, const Batch *b, Scratch *s, double *grad,
                              double *square) except -1 nogil
    # Score path: dlog p_i = J_i' r_i with J_i free of theta.  r is m x width; value += sum log p_i,
    # without weights.
    cdef int scores(self, const double *theta, const Batch *tile, Scratch *s, double *r,
                    double *value) except -1 nogil
    cdef int add_scores(self, const Batch *tile, Scratch *s, const double *r,
                        double *grad) except -1 nogil
    cdef int add_squares(self, const Batch *tile, Scratch *s, const double *r,
                         double *square) except -1 nogil
    # eta_i = J_i delta: predictors, and (with r) slopes v . dlog p_i = r_i . J_i v
    cdef int predictors(self, const double *delta, const Batch *tile, Scratch *s,
                        double *eta) except -1 nogil
    # Curvature: w_i = - d r_i / d eta_i (m x width x width) and H (upper triangle) += sum J_i' w_i
    # J_i.  Newton, taylor, bounds
    cdef int curvatures(self, const double *theta, const Batch *tile, Scratch *s,
                        double *w) except -1 nogil
    # the same with expected values in the place of -dr/d eta, or whatever is positive definite: for
    # metrics
    cdef int expected_curvatures(self, const double *theta, const Batch *tile, Scratch *s,
                                 double *w) except -1 nogil
    cdef int add_curvatures(self, const Batch *tile, Scratch *s, const double *w,
                            double *H) except -1 nogil
    # conditional update of part of theta between steps (hyperparameters), where `refreshes`
    cdef int refresh(self, double *theta, Scratch *s) except -1 nogil

cdef class Prior:                 # value += log p(theta) ; grad += its gradient ; NULL = not wanted
    cdef readonly Py_ssize_t dim
    cdef int add(self, const double *theta, double *value, double *grad) except -1 nogil

cdef class Map:  # natural = map(sampler coordinates): affine whitening, positive, simplex, ordered
    cdef readonly Py_ssize_t dim              # of x; natural has size numbers
    cdef readonly Py_ssize_t size
    # dtheta_j/dx_k = 0 for j != k, so that per-coordinate noise has a meaning
    cdef readonly bint diagonal
    # log_jacobian (or NULL) += log |dtheta/dx|
    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil
    # v_theta = J v
    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil
    # grad_x += J' grad_theta + d log|J|
    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil
    # the first and the third for many points, one behind the other; by default one after the other
    cdef int forward_many(self, const double *x, Py_ssize_t points, double *theta,
                          double *log_jacobian) except -1 nogil
    cdef int pull_many(self, const double *x, Py_ssize_t points, const double *grad_theta,
                       double *grad_x) except -1 nogil
    # sd_x = |dtheta_j/dx_j| sd_theta (diagonal maps)
    cdef int pull_sd(self, const double *x, const double *sd_theta, double *sd_x) except -1 nogil

# position-dependent preconditioning M(x) = G(x)^-1; a chain's own, it refers to the last place
cdef class Metric:
    cdef int move(self, const double *x) except -1 nogil                       # to x
    cdef int apply(self, const double *g, double *out) except -1 nogil         # M g
    cdef int root(self, const double *z, double *out) except -1 nogil          # R z with R R' = M
    cdef int root_transposed(self, const double *g, double *out) except -1 nogil              # R' g
    cdef int divergence(self, double *out) except -1 nogil  # Gamma_i = sum_j dM_ij / dx_j
    cdef int root_divergence(self, double *out) except -1 nogil  # of R': sum_j dR_ji / dx_j
    cdef int fold(self, double *x) except -1 nogil  # back to where M is defined, if x has left it
    # of v under N(0, h M), but for 2 pi
    cdef int log_density(self, const double *v, double h, double *value) except -1 nogil

cdef class Subsampler:            # which rows; an exactly unbiased sum is its promise
    cdef readonly Py_ssize_t n, m             # rows in all; most rows in a batch
    # per coordinate, multiplies the variance of a sample's sum; None: 1
    cdef readonly double[::1] design_effect
    # number of runs; runs and what they point to belong to the subsampler, and hold until its next
    # draw
    cdef Py_ssize_t draw(self, Rng rng, const Batch **runs) except -1 nogil

cdef bint next_tile(const Batch *b, Py_ssize_t size, Py_ssize_t *at, Batch *tile) noexcept nogil
cdef void apply_weights(const Batch *tile, Py_ssize_t width, double *r) noexcept nogil
cdef void subtract(const Batch *tile, Py_ssize_t width, const double *table,
                   double *r) noexcept nogil
cdef Batch all_rows(Py_ssize_t n) noexcept nogil
cdef Py_ssize_t scratch_size(Model model) noexcept nogil
# `bytes` a row
cdef void fetch_rows(const Batch *b, const void *table, Py_ssize_t bytes) noexcept nogil
# after `scores`
cdef const double *last_predictors(Model model, const double *theta, const Batch *tile,
                        Scratch *s) except NULL nogil
cdef Py_ssize_t row_of(const Batch *b, Py_ssize_t i) noexcept nogil
