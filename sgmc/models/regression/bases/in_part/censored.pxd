from sgmc.models.regression.bases.in_part.interval cimport InPart

cdef class Censored(InPart):
    cdef Py_ssize_t law
    cdef double[3] information             # of outcomes observed, for sigma = 1

cdef class CensoredTimes(Censored):
    pass
