# How a chain comes to its metrics, and comes back to them.
from sgmc.core.contract cimport Gradient, Metric

cdef class Settled:
    cdef object rows, saved
    cpdef Metric made(self, Gradient g, x)
