# A symmetric matrix that is diagonal but for a border; see bordered.pyx
cdef class Bordered:
    cdef readonly Py_ssize_t dim
    cdef readonly Py_ssize_t[::1] border, rest  # rows that are stored whole, and the others
    cdef const double[:, ::1] block, cross  # of the border alone, and of it with the rest
    cdef const double[::1] diagonal  # of the rest
    # out = the matrix times v
    cdef int times(self, const double *v, double *out) except -1 nogil
