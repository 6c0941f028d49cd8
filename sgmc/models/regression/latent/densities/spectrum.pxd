# Ratios of the sds of a term's columns, as functions of parameters of their own

cdef enum:
    MOST_SPECTRAL = 2             # parameters of a term

cdef class Spectrum:
    cdef readonly Py_ssize_t size             # parameters of all terms
    cdef readonly list terms
    cdef Py_ssize_t[:, ::1] place             # of the parameters of a term, -1: it has no more
    cdef Py_ssize_t[::1] begin, form          # of a parameter: its numbers, and what f is
    # of the cosines of chains: of half their frequencies, and their values at the first time
    cdef double[::1] half_sine, half_cosine, end
    cdef double[::1] numbers, largest
    # f of level l of term t at eta (size,), and into slopes the derivatives of its log by the
    # term's own parameters
    cdef double ratio(self, const double *eta, Py_ssize_t t, Py_ssize_t l,
                      double *slopes) noexcept nogil
    cdef bint chain(self, Py_ssize_t t) noexcept nogil
    # what the density of an autoregression of effects b (levels,) has besides -|v|^2 / 2
    cdef double add_ends(self, const double *eta, Py_ssize_t t, const double *b, double sd,
                         double *slope, double *grad_eta, double *slope_sd) noexcept nogil
    cdef void add_slopes(self, Py_ssize_t t, const double *slopes, double weight,
                         double *grad) noexcept nogil
    cdef double along(self, Py_ssize_t t, const double *slopes, const double *v) noexcept nogil
