from sgmc.core.contract cimport Gradient, Rng

# one batch: g = estimate of the gradient of log posterior, var = variance of v . g by the rows of that batch
cdef int estimate_along(Gradient estimator, const double *x, const double *v, Rng rng, double *g, double *var) except -1 nogil
