"""Independence Metropolis-Hastings: exact, proposals from the Laplace approximation."""
import numpy as np

from libc.math cimport INFINITY, exp, fmax, isfinite, log
from libc.string cimport memcpy

from sgmc.core.numerics.gram cimport BLAS_COLUMNS
from sgmc.core.contract cimport OK, Gradient, Rng, State, next_uniform, normal_fill
from sgmc.samplers.bases.metropolis cimport MAX_ENERGY_RISE, Metropolis
from sgmc.samplers.bases.metropolis import MetropolisSpec
from sgmc.core.spec import Parameter
from sgmc.errors import NotSupported

cdef enum:
    BLOCK = 64                   # densities computed by one pass over the rows
    WIDE_BLOCK = 256             # and of so many parameters that the rows do not fit the cache


cdef class IndependenceTransition(Metropolis):
    """Proposals do not depend on the position, so that a block of them is made and weighed at once.

    The i-th place of the block is z_i, or with `skew` one of z_i and -z_i.  `value` is log pi / q.

    Attributes
    ----------
    transport : WeightedTransport or None
        Where proposals come from instead.
    log_weights : array
        log pi / q of all proposals so far, up to one constant.
    """

    cdef public object transport
    cdef bint skew
    cdef Py_ssize_t size, next    # proposals of a block, and which of them comes next
    cdef double[:, ::1] points    # z, and with `skew` -z behind
    cdef double[::1] densities, weights       # log pi there, and log pi / q of the proposals
    cdef list seen

    def __init__(self, Py_ssize_t dim, double step_size, bint skew):
        Metropolis.__init__(self, dim, step_size, 0.5, "identity", step_size)
        cdef Py_ssize_t block = BLOCK if dim < BLAS_COLUMNS else WIDE_BLOCK
        self.skew, self.first_order, self.seen = skew, False, []
        self.size = self.next = block // 2 if skew else block
        self.points, self.densities = np.zeros((block, dim)), np.zeros(block)
        self.weights = np.zeros(self.size)

    @property
    def log_weights(self):
        """Log weights of the proposals so far."""
        return np.concatenate(self.seen) if self.seen else np.empty(0)

    cdef double weigh(self, const double *z, double here, double there) noexcept nogil:
        """log pi / q at z, where log pi is `here`, and `there` at -z."""
        cdef Py_ssize_t j
        cdef double square = 0
        for j in range(self.dim):
            square += z[j] * z[j]
        return (log_mean_exp(here, there) if self.skew else here) + 0.5 * square

    cdef int look(self, Gradient g, Py_ssize_t count) except -1 nogil:
        """log pi at the first `count` points, and with `skew` at those opposite to them."""
        cdef Py_ssize_t k, j, asked = 2 * count if self.skew else count
        for k in range(count, asked):
            for j in range(self.dim):
                self.points[k, j] = -self.points[k - count, j]
        g.full_many(&self.points[0, 0], asked, &self.densities[0], NULL)
        for k in range(asked):
            if not isfinite(self.densities[k]):
                self.densities[k] = -INFINITY
        return OK

    cdef int start(self, State *s, Gradient g, Rng rng) except -1 nogil:
        """Weigh where the chain is; proposals that were weighed before are left."""
        if self.transport is not None:        # which has no weight of it: the first one is taken
            with gil:
                self.widen()
            self.next, self.value = self.size, -1e300
            return OK
        self.next = self.size
        memcpy(&self.points[0, 0], s.x, s.dim * sizeof(double))
        self.look(g, 1)
        # finite, so that a proposal can be accepted wherever the chain was put
        self.value = fmax(self.weigh(s.x, self.densities[0], self.densities[1]), -1e300)
        return OK

    cdef int renew(self, Gradient g, Rng rng) except -1 nogil:
        """A block of proposals with their weights."""
        cdef Py_ssize_t k, j, n = self.size
        cdef double here, there = -INFINITY
        normal_fill(rng, n * self.dim, &self.points[0, 0])
        if self.transport is not None:
            return self.renew_by_transport(rng)
        self.look(g, n)
        for k in range(n):
            here = self.densities[k]
            if self.skew:
                there = self.densities[n + k]
                if next_uniform(rng) * (1 + exp(here - there)) < 1:
                    for j in range(self.dim):
                        self.points[k, j] = -self.points[k, j]
            self.weights[k] = self.weigh(&self.points[k, 0], here, there)
        self.next = 0
        with gil:
            self.seen.append(np.array(self.weights))
        return OK

    def widen(self):
        """Make room for a transport's proposals, which cost least many at once."""
        self.size = WIDE_BLOCK
        self.points, self.weights = np.zeros((WIDE_BLOCK, self.dim)), np.zeros(WIDE_BLOCK)

    cdef int renew_by_transport(self, Rng rng) except -1 nogil:
        """The same of the transport's."""
        cdef Py_ssize_t k
        for k in range(self.size):
            self.weights[k] = next_uniform(rng)
        with gil:
            x, weights = self.transport.weighted(np.array(self.points[:self.size]),
                                                 np.array(self.weights))
            np.asarray(self.points)[:self.size] = x
            np.asarray(self.weights)[:] = weights
            self.seen.append(np.array(weights))
        self.next = 0
        return OK

    cdef int propose(self, const State *s, Gradient g, Rng rng, double h,
                     double *log_ratio) except -1 nogil:
        if self.next == self.size:
            self.renew(g, rng)
        memcpy(&self.y[0], &self.points[self.next, 0], s.dim * sizeof(double))
        self.new_value = self.weights[self.next]
        self.next += 1
        # no error of a step makes a ratio small: none counts as divergent
        log_ratio[0] = fmax(self.new_value - self.value, 1. - MAX_ENERGY_RISE)
        return OK

    def state(self):
        """Also the proposals that are still to come, and the weights of all."""
        left = slice(self.next, self.size)
        return {**Metropolis.state(self), "log_weights": self.log_weights,
                "block": [np.array(one[left]) for one in map(np.asarray, (self.points,
                                                                          self.weights))]}

    def set_state(self, state):
        """Continue from a `state()`."""
        Metropolis.set_state(self, state)
        if self.transport is not None:
            self.widen()
        points, weights = state["block"]
        self.seen, self.next = [np.array(state["log_weights"])], self.size - len(weights)
        np.asarray(self.points)[self.next:self.size] = points
        np.asarray(self.weights)[self.next:self.size] = weights


cdef double log_mean_exp(double a, double b) noexcept nogil:
    """log((exp a + exp b) / 2), also where one is minus infinity."""
    cdef double most = fmax(a, b)
    return most if most == -INFINITY else most + log(0.5 * (exp(a - most) + exp(b - most)))


class IMH(MetropolisSpec):
    """Independence Metropolis-Hastings (Tierney 1994, section 2.3.3) with proposals from a Gaussian
    approximation: exact, all rows at each step.

    A proposal theta* from q is accepted with probability min(1, w(theta*) / w(theta)), w = pi / q.
    Proposals do not depend on the position, so that the densities of 64 or 256 points are computed
    at once, for regressions by products of matrices: on tables of many columns each costs a small
    part of a step of `mala`. There is no step to adapt.

    In whitened coordinates x q is N(0, I), or with ``skew=True`` its skew-symmetric form (Pozza,
    Durante & Szabo 2024, arXiv:2409.14167, eq. 4): z ~ N(0, I) becomes -z with probability pi(-z) /
    (pi(z) + pi(-z)), so that q(x) = 2 phi(x) pi(x) / (pi(x) + pi(-x)) and w = (pi(x) + pi(-x)) / (2
    phi(x)): what is odd in log pi, such as its third derivatives, leaves the weights.  It computes
    two densities a proposal.

    Coordinates are whitened at the mode (Laplace approximation).  Those of regressions of 64 and
    more numeric columns, with one linear predictor and no other parameters, are whitened by the
    Gaussian with the least Kullback-Leibler divergence from the posterior (Opper & Archambeau 2009,
    doi:10.1162/neco.2008.08-07-592), around which weights vary far less.

    It is for posteriors near their Gaussian approximation.  Where weights vary much, chains stay
    long at single places: the tail of the weights is estimated, and warned of where it is so heavy
    (Pareto k above 0.7) that draws are not to be trusted.
    """

    name = "imh"
    independent = True
    parameters = (
        Parameter("skew", True, "proposals with the posterior's skewness", choices=(False, True)),
    )

    def fitted_to(self, whitened, dim):
        """Proposals are from the Gaussian at the mode, which whitened coordinates know."""
        if not whitened:
            raise NotSupported("imh proposes from the Gaussian approximation at the mode: it needs "
                               "coordinates that are whitened there; leave precondition='mode', or "
                               "use sampler='mala'",
                               because="limit")
        return self

    def build(self, dim, step):
        return IndependenceTransition(dim, step, self.skew)

    def first_step(self, dim):
        """Independent draws: as with `mala` at h = 2."""
        return 2.0
