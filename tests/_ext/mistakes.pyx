"""Planted mistakes of exact samplers and of what they are given, for tests that must catch them;
see also probes.pyx.
"""
import numpy as np

from libc.math cimport exp, sqrt
from libc.string cimport memcpy, memmove

from sgmc.core.contract cimport (
    OK, Batch, Gradient, Map, Metric, Model, Rng, Sampler, Scratch, State, normal_fill,
)
from sgmc.samplers.bases.lockstep cimport Lockstep
from sgmc.samplers.bases.metropolis cimport Metropolis
from sgmc.samplers.bases.subsampled cimport SubsampledMetropolis
from sgmc.models.hmm.emissions cimport GaussianHidden
from sgmc.models.hmm.volatility.grid cimport Grid, GridVolatility
from sgmc.models.hmm.windows cimport Span

cdef enum:
    KEPT = 0
    INVERTED = 1
    ALL = 2
    ONE_SIDED = 3
    STALE = 4

cdef enum:
    NO_PRIOR = 5
    FIRST_ORDER = 6
    HALF_THE_ROWS = 7
    NEVER_THINNED = 8

SLIPS = {"right": KEPT, "prior left out": NO_PRIOR, "second-order term left out": FIRST_ORDER,
         "half the candidates": HALF_THE_ROWS, "candidates not thinned": NEVER_THINNED}
RULES = {"right": KEPT, "inverted": INVERTED, "all": ALL, "no hastings": ONE_SIDED, "stale": STALE}


cdef class Misjudged(Metropolis):
    """Proposals of any exact sampler, accepted by a `rule`.

    "right" leaves all as it is.  Planted: "inverted" (1/ratio), "all" (each one accepted), "no
    hastings" (the ratio of the log posteriors alone) and "stale" (the gradient in units of the
    metric is not replaced when a proposal is accepted).
    """

    cdef Metropolis inner
    cdef int rule

    def __init__(self, Metropolis inner, rule):
        Metropolis.__init__(self, inner.dim, inner.step_size, 0.5, "identity", inner.step_size)
        self.inner, self.rule, self.longest, self.y = inner, RULES[rule], inner.longest, inner.y

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        return self.inner.start(s, g, rng)

    cdef int propose(self, const State *s, Gradient g, Rng rng, double h,
                     double *log_ratio) except -1 nogil:
        self.inner.propose(s, g, rng, h, log_ratio)
        if self.rule == INVERTED:
            log_ratio[0] = -log_ratio[0]
        elif self.rule == ALL:
            log_ratio[0] = 0
        elif self.rule == ONE_SIDED:
            log_ratio[0] = self.inner.new_value - self.inner.value
        return OK

    cdef void accept(self) noexcept nogil:
        self.inner.accept()
        if self.rule == STALE:
            self.inner.w, self.inner.new_w = self.inner.new_w, self.inner.w


cdef class Louder(Lockstep):
    """Euler's Langevin step of many walkers, whose noise is `factor` times the one that acceptance
    reckons with: right at 1, planted mistakes elsewhere.
    """

    cdef double factor
    cdef double[::1] xi

    def __init__(self, Py_ssize_t walkers, Py_ssize_t each, double step_size, double factor):
        Lockstep.__init__(self, walkers, each, step_size, 0.5)
        self.factor, self.xi = factor, np.zeros(walkers * each)

    cdef int propose(self, const State *s, Gradient g, Rng rng, double h) except -1 nogil:
        cdef Py_ssize_t j, k
        cdef double back, root = sqrt(h)
        normal_fill(rng, s.dim, &self.xi[0])
        for j in range(s.dim):
            self.y[j] = s.x[j] + 0.5 * h * self.g[j] + self.factor * root * self.xi[j]
        self.evaluate(g)
        for k in range(self.walkers):
            self.log_ratio[k] = self.new_value[k] - self.value[k]
            for j in range(k * self.each, (k + 1) * self.each):
                back = (self.y[j] - s.x[j] + 0.5 * h * self.new_g[j]) / root
                self.log_ratio[k] += 0.5 * (self.xi[j] * self.xi[j] - back * back)
        return OK


cdef class Late(Gradient):
    """Planted: the gradient that acceptance and proposals see is that of the place asked for
    before.
    """

    cdef double[::1] held, fresh

    def __init__(self, *args, **options):
        Gradient.__init__(self, *args, **options)
        self.held, self.fresh = np.zeros(self.dim), np.zeros(self.dim)

    cdef int full(self, const double *x, double *value, double *g) except -1 nogil:
        Gradient.full(self, x, value, &self.fresh[0] if g != NULL else NULL)
        if g != NULL:
            memcpy(g, &self.held[0], self.dim * sizeof(double))
            self.held, self.fresh = self.fresh, self.held
        return OK


cdef class OtherBatch(Gradient):
    """Planted: a bounce is off the gradient of another batch than the one that made it happen."""

    cdef int sloped(self, const double *x, double *g) except -1 nogil:
        return self.estimate(x, self.rng, g, NULL)


cdef class Unscaled(Map):
    """Planted: a map whose Jacobian is left out, of the log density and of its gradient."""

    cdef Map inner
    cdef double[::1] none, slope

    def __init__(self, Map inner):
        self.inner, self.dim = inner, inner.dim
        self.size, self.diagonal = inner.size, inner.diagonal
        self.none, self.slope = np.zeros(inner.size), np.zeros(inner.dim)

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        return self.inner.forward(x, theta, NULL)

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.dim):
            self.slope[j] = 0
        self.inner.vjp(x, &self.none[0], &self.slope[0])
        self.inner.vjp(x, grad_theta, grad_x)
        for j in range(self.dim):
            grad_x[j] -= self.slope[j]
        return OK


cdef class Misplaced(Metric):
    """Planted: a metric without its determinant (`behind` false),
    or of the place asked for before.
    """

    cdef Metric inner
    cdef bint behind, moved
    cdef double[::1] last, none

    def __init__(self, Metric inner, Py_ssize_t dim, bint behind):
        self.inner, self.behind, self.last, self.none = inner, behind, np.zeros(dim), np.zeros(dim)

    cdef int move(self, const double *x) except -1 nogil:
        if self.behind and self.moved:
            self.inner.move(&self.last[0])
        else:
            self.inner.move(x)
        memcpy(&self.last[0], x, self.last.shape[0] * sizeof(double))
        self.moved = True
        return OK

    cdef int apply(self, const double *g, double *out) except -1 nogil:
        return self.inner.apply(g, out)

    cdef int root(self, const double *z, double *out) except -1 nogil:
        return self.inner.root(z, out)

    cdef int log_density(self, const double *v, double h, double *value) except -1 nogil:
        cdef double constant = 0
        self.inner.log_density(v, h, value)
        if not self.behind:
            self.inner.log_density(&self.none[0], h, &constant)
            value[0] -= constant
        return OK


cdef class Astray(Sampler):
    """Planted: events of a piecewise-deterministic sampler, at which every velocity has the other
    sign than it should.
    """

    cdef Sampler inner
    cdef double[::1] before

    def __init__(self, Sampler inner):
        Sampler.__init__(self, inner.dim, inner.step_size)
        self.inner, self.before = inner, np.zeros(inner.dim)

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        return self.inner.start(s, g, rng)

    cdef int step(self, State *s, Gradient g, Rng rng) except -1 nogil:
        cdef Py_ssize_t j
        cdef int status
        cdef bint turned = False
        memcpy(&self.before[0], s.v, s.dim * sizeof(double))
        status = self.inner.step(s, g, rng)
        for j in range(s.dim):
            turned = turned or s.v[j] != self.before[j]
        for j in range(s.dim if turned else 0):
            s.v[j] = -s.v[j]
        return status


cdef class NoJacobian(Map):
    """Another map, but what it does to volumes is forgotten:
    densities of theta are taken for densities of x.

    Parameters
    ----------
    inner : Map
    """

    cdef readonly Map inner

    def __init__(self, Map inner):
        self.inner, self.dim = inner, inner.dim
        self.size, self.diagonal = inner.size, inner.diagonal

    def __call__(self, x):
        return self.inner(x)

    def __getattr__(self, name):
        return getattr(self.inner, name)

    cdef int forward(self, const double *x, double *theta, double *log_jacobian) except -1 nogil:
        return self.inner.forward(x, theta, NULL)

    cdef int jvp(self, const double *x, const double *v, double *v_theta) except -1 nogil:
        return self.inner.jvp(x, v, v_theta)

    cdef int vjp(self, const double *x, const double *grad_theta, double *grad_x) except -1 nogil:
        cdef Py_ssize_t j
        with gil:
            none = np.zeros(self.size)
            at = np.array([x[j] for j in range(self.dim)])
            own = self.inner.pulled(at, none)
            self.inner.vjp(x, grad_theta, grad_x)
            for j in range(self.dim):
                grad_x[j] -= own[j]
        return OK


cdef class Untied(Model):
    """A model of two means whose gradient forgets, in the first,
    that the second component moves with it.
    """

    cdef Model inner

    def __init__(self, Model inner):
        self.inner, self.dim, self.n, self.tile = inner, inner.dim, inner.n, inner.tile

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef double[2] own
        own[0] = own[1] = 0
        self.inner.add(theta, b, s, value, own)
        if grad != NULL:
            grad[0] += own[0] - own[1]
            grad[1] += own[1]
        return OK


cdef class Heavy(Model):
    """Another model whose minibatches count `factor` times: N/n is wrong,
    but not for all rows together.
    """

    cdef Model inner
    cdef double factor

    def __init__(self, Model inner, double factor):
        self.inner, self.factor = inner, factor
        self.dim, self.n, self.tile = inner.dim, inner.n, inner.tile

    def __getattr__(self, name):
        return getattr(self.inner, name)

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return self.inner.work_size()

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef Batch heavy = b[0]
        if b.rows != NULL or b.m < self.n:
            heavy.scale *= self.factor
        return self.inner.add(theta, &heavy, s, value, grad)


cdef class Belated(GaussianHidden):
    """Hidden states whose forward messages are those of one step before, on the way back."""

    cdef void backward(self, const double *theta, const Span *s, const double *law, double *back,
                       double *store, double *work) noexcept nogil:
        memmove(store + self.states, store, (s.stop - s.start - 1) * self.states * sizeof(double))
        GaussianHidden.backward(self, theta, s, law, back, store, work)


cdef class Unsettled(GridVolatility):
    """Planted: stochastic volatility of which a sequence's first state has the law of a single move
    from zero in the place of the stationary one.
    """

    cdef void open(self, const double *theta, double *work) noexcept nogil:
        cdef Grid *g = <Grid *> work
        cdef double total = 0
        cdef Py_ssize_t j
        GridVolatility.open(self, theta, work)
        for j in range(g.size):
            g.rest[j] = exp(-0.5 * g.z[j] * g.z[j] / g.left)
            total += g.rest[j]
        for j in range(g.size):
            g.rest[j] /= total


cdef class Bent(Model):
    """Planted: `factor` times the right gradient of the first so many parameters, as where a
    layer's slope is left out.
    """

    cdef Model inner
    cdef Py_ssize_t first
    cdef double factor
    cdef double[::1] own

    def __init__(self, Model inner, Py_ssize_t first, double factor):
        self.inner, self.dim, self.n, self.tile = inner, inner.dim, inner.n, inner.tile
        self.first, self.factor, self.own = first, factor, np.zeros(inner.dim)

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return self.inner.work_size()

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.dim):
            self.own[j] = 0
        self.inner.add(theta, b, s, value, &self.own[0] if grad != NULL else NULL)
        for j in range(self.dim if grad != NULL else 0):
            grad[j] += self.own[j] * (self.factor if j < self.first else 1)
        return OK


cdef class Slipped(SubsampledMetropolis):
    """mhss at a fixed step, with a slip."""

    cdef int slip

    def __init__(self, Py_ssize_t dim, double step_size, bint walks, slip):
        SubsampledMetropolis.__init__(self, dim, step_size, 0.5, walks)
        self.slip = SLIPS[slip]

    cdef double expanded(self, Gradient g, const double *x, double *theta) except? -1 nogil:
        cdef double value = SubsampledMetropolis.expanded(self, g, x, theta), prior = 0
        cdef Py_ssize_t j
        if self.slip == NO_PRIOR:
            g.prior.add(theta, &prior, NULL)
            return value - prior
        if self.slip == FIRST_ORDER and self.limits.order == 2:
            for j in range(g.model.dim):
                value += 0.5 * self.part[j] * self.bent[j]
        return value

    cdef int subsample(self, Gradient g, Rng rng, double candidates, double size,
                       double *log_ratio) except -1 nogil:
        if self.slip == HALF_THE_ROWS:
            candidates *= 0.5
        return SubsampledMetropolis.subsample(self, g, rng, candidates, size, log_ratio)

    cdef bint share(self, Gradient g, Py_ssize_t i, double most, double *out) except -1 nogil:
        cdef bint fine = SubsampledMetropolis.share(self, g, i, most, out)
        if self.slip == NEVER_THINNED and out[0] > 0:    # a factor above one, drawn with phi = c m
            out[0] = -out[0] / (1 - out[0])
        return fine
