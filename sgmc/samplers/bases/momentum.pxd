# The base of samplers with a momentum.
from sgmc.core.contract cimport Sampler

cdef class Momentum(Sampler):
    cdef double[::1] p, g, xi                 # momentum, gradient estimate, normals
