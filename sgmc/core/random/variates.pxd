# Random numbers from a chain's stream, for laws that `rng` has none of.
from sgmc.core.random.rng cimport bitgen_t

# one at a time; `rng.normal_fill` for many
cdef double normal_variate(bitgen_t *bits) noexcept nogil
cdef double gamma_variate(bitgen_t *bits, double shape) noexcept nogil         # scale one
cdef double poisson_variate(bitgen_t *bits, double mean) noexcept nogil
