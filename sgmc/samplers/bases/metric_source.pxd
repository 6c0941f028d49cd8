# How a chain comes to its metrics, and comes back to them.
from sgmc.core.contract cimport Gradient, Metric

cdef class MetricSource:
    cdef object rows, saved
    cdef bint anchored
    cpdef Metric made(self, Gradient g, x)
