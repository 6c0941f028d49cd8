from sgmc.core.partial cimport SubsetRecorder

cdef class ThinnedDraws(SubsetRecorder):
    cdef float[:, ::1] whole
    cdef double[::1] whole_weights
    cdef Py_ssize_t spacing, stored
