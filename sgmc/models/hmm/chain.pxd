from sgmc.models.hmm.windows cimport Span, Windows

cdef class Hidden(Windows):
    cdef readonly Py_ssize_t states
    cdef const double[::1] initial                            # None: the stationary law
    cdef Py_ssize_t own  # in work: where the emissions' part begins
    # a leaf's: what theta alone determines, and sums set to zero; log densities of steps by state;
    # sums += scale times outcomes from s.low to s.high under weights w of the states; the sums as a
    # gradient.  theta and grad begin at the emissions' parameters
    cdef void prepare(self, const double *theta, double *own) noexcept nogil
    cdef void densities(self, const double *theta, const double *own, Py_ssize_t start,
                        Py_ssize_t stop, double *out) noexcept nogil
    cdef void gather(self, const double *theta, double *own, const Span *s,
                     const double *w) noexcept nogil
    cdef void settle(self, const double *theta, const double *own, double *grad) noexcept nogil
