from sgmc.models.regression.bases.dispersed cimport Dispersed

cdef enum:
    OBSERVED, AFTER, BEFORE, BETWEEN, ANYWHERE

cdef struct Interval:
    # its ends on the scale of the predictor, and which of them there are
    double low, high
    Py_ssize_t code

cdef struct Place:
    # where a row's outcome lies, and where it could be seen
    Interval outcome, seen

cdef struct Parts:
    # log density or probability, scores and minus second derivatives in the predictor and in u
    double value, eta, u, eta_eta, eta_u, u_u

cdef class InPart(Dispersed):
    cdef Place *places
    cdef object room
    # of an outcome that was observed the log density, of others the log probability
    cdef Parts parts(self, Interval outcome, double eta, double u) noexcept nogil
    # of rows that were observed, and could be seen whatever they are
    cdef void expected_row(self, Interval outcome, double eta, double u, double *w) noexcept nogil
    cdef Parts of_row(self, Place row, double eta, double u) noexcept nogil
