from sgmc.core.contract cimport Map, Recorder

cdef class SubsetRecorder(Recorder):
    cdef readonly double[:, ::1] draws
    cdef readonly double[::1] weights, mean, scatter
    cdef readonly double total
    cdef readonly Py_ssize_t thin, kept, since
    cdef readonly Map map
    cdef Py_ssize_t[::1] columns
    cdef double[::1] theta
    # what a subclass sums up of a draw, in parameters
    cdef int accumulate(self, const double *theta, double weight) except -1 nogil
