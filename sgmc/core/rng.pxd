from libc.stdint cimport uint64_t
from numpy.random cimport bitgen_t

cdef enum:
    BUFFER = 256                  # normals (or uniforms) made at a time for small requests

cdef struct Stream:               # eight xoshiro256+ lanes and the numbers already made from them
    uint64_t lanes[32]
    double ready[BUFFER]
    Py_ssize_t used

cdef class Rng:                   # the randomness of one chain
    cdef bitgen_t *bits  # integers, alias tables, models that simulate: a numpy bit generator
    cdef readonly object bit_generator
    cdef Stream normal, uniform

cdef void normal_fill(Rng rng, Py_ssize_t n, double *out) noexcept nogil
cdef void uniform_fill(Rng rng, Py_ssize_t n, double *out) noexcept nogil
cdef double next_uniform(Rng rng) noexcept nogil
cdef double next_exponential(Rng rng) noexcept nogil
cdef Py_ssize_t next_below(Rng rng, Py_ssize_t n) noexcept nogil
cdef void deal(Rng rng, Py_ssize_t n, Py_ssize_t m, Py_ssize_t *order,
               Py_ssize_t *work) noexcept nogil
