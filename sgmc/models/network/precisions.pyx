"""Normal priors whose precisions are parameters too."""
import numpy as np

from libc.math cimport exp

from sgmc.core.contract cimport OK, Prior


cdef class Precisions(Prior):
    """theta = (w_1, .., w_P, rest, log lambda_1, .., log lambda_P): w_p ~ N(0, 1/lambda_p),
    lambda_p ~ Gamma(alpha, rate beta).

    The rest has standard normal priors (half of them, where it is positive).  The density is that
    of log lambda.  Where precisions are `held` by a conditional update of the model's, they have no
    gradient.

    Parameters
    ----------
    sizes : list of int
        Of w_1, .., w_P.
    rest : int
    alpha, beta : float
    held : bool
    """

    cdef Py_ssize_t[::1] ends
    cdef double alpha, beta
    cdef bint held

    def __init__(self, sizes, Py_ssize_t rest, double alpha, double beta, bint held):
        self.ends = np.cumsum(np.array(sizes, dtype=np.intp))
        Prior.__init__(self, sum(sizes) + rest + len(sizes))
        self.alpha, self.beta, self.held = alpha, beta, held

    cdef int add(self, const double *theta, double *value, double *grad) except -1 nogil:
        cdef Py_ssize_t p, j, first = 0, parts = self.ends.shape[0]
        cdef const double *log_precision = theta + self.dim - parts
        cdef double precision, total
        for p in range(parts):
            precision, total = exp(log_precision[p]), 0
            for j in range(first, self.ends[p]):
                total += theta[j] * theta[j]
            if value != NULL:
                value[0] += ((self.alpha + 0.5 * (self.ends[p] - first)) * log_precision[p]
                             - precision * (self.beta + 0.5 * total))
            if grad != NULL:
                for j in range(first, self.ends[p]):
                    grad[j] -= precision * theta[j]
                if not self.held:
                    grad[self.dim - parts + p] += (self.alpha + 0.5 * (self.ends[p] - first)
                                                   - precision * (self.beta + 0.5 * total))
            first = self.ends[p]
        for j in range(first, self.dim - parts):
            if value != NULL:
                value[0] -= 0.5 * theta[j] * theta[j]
            if grad != NULL:
                grad[j] -= theta[j]
        return OK
