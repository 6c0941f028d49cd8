from sgmc.core.rng cimport Rng

cdef double gamma_variate(Rng rng, double shape) noexcept nogil          # scale one
cdef double poisson_variate(Rng rng, double mean) noexcept nogil
