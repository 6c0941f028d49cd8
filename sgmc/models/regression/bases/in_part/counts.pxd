from sgmc.models.regression.bases.in_part.interval cimport InPart

cdef class CountsInPart(InPart):
    cdef bint dispersed
