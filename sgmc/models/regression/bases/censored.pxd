from sgmc.models.regression.bases.dispersed cimport Dispersed

cdef struct Place:
    # logs of a row's time and of the end of its interval, and what is known of it
    double time, end
    Py_ssize_t code

cdef struct Parts:
    # log density or probability, scores and minus second derivatives in the predictor and log sigma
    double value, eta, u, eta_eta, eta_u, u_u

cdef class Censored(Dispersed):
    cdef Py_ssize_t law
    cdef Place *places
    cdef object room
    cdef double[3] information             # of times observed, for sigma = 1

cdef Parts parts(Py_ssize_t law, Place row, double eta, double u) noexcept nogil
