from libc.stdint cimport uint32_t, uint64_t

# numpy's own pxd files declare it too, but who cimports them compiles all of numpy's types with it
cdef extern from "numpy/random/bitgen.h":
    ctypedef struct bitgen_t:
        void *state
        uint64_t (*next_uint64)(void *state) noexcept nogil
        uint32_t (*next_uint32)(void *state) noexcept nogil
        double (*next_double)(void *state) noexcept nogil
        uint64_t (*next_raw)(void *state) noexcept nogil

cdef enum:
    BUFFER = 256                  # normals (or uniforms) made at a time for small requests

cdef struct Stream:               # eight xoshiro256+ lanes and the numbers already made from them
    uint64_t lanes[32]
    double ready[BUFFER]
    Py_ssize_t used

cdef class Rng:                   # the randomness of one chain
    cdef bitgen_t *bits  # integers, alias tables, models that simulate: part of bit_generator
    # a numpy one, set once: others, which hold this Rng, keep copies of `bits`
    cdef readonly object bit_generator
    cdef Stream normal, uniform

cdef void normal_fill(Rng rng, Py_ssize_t n, double *out) noexcept nogil
cdef void uniform_fill(Rng rng, Py_ssize_t n, double *out) noexcept nogil
cdef double next_uniform(Rng rng) noexcept nogil
cdef double next_exponential(Rng rng) noexcept nogil
cdef Py_ssize_t next_below(Rng rng, Py_ssize_t n) noexcept nogil
cdef void partial_shuffle(Rng rng, Py_ssize_t n, Py_ssize_t m, Py_ssize_t *order,
                          Py_ssize_t *work) noexcept nogil
