from sgmc.models.regression.bases.in_part cimport InPart

cdef class CountsInPart(InPart):
    cdef bint dispersed
