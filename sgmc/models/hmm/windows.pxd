from sgmc.core.contract cimport Batch, Model, Scratch

cdef struct Span:                 # steps over which messages pass, of one sequence
    Py_ssize_t start, stop
    Py_ssize_t begin              # the sequence's first step
    Py_ssize_t low, high          # steps whose terms are summed
    double scale
    double *kept                  # smoothed laws by step, or NULL

cdef class Windows(Model):
    cdef readonly const double[:, ::1] y  # (T, D), NaN where nothing was observed
    # first, last, begin, end of each window, last and end exclusive
    cdef readonly const Py_ssize_t[:, ::1] table
    cdef readonly Py_ssize_t[:, ::1] sequences                # begin, end
    cdef readonly Py_ssize_t buffer
    # doubles: of a law; stored a step; of what `open` makes and sums (a leaf sets these three
    # before it calls __init__)
    cdef readonly Py_ssize_t message, slot, prepared
    cdef readonly Py_ssize_t longest                          # steps of a sequence
    cdef readonly Py_ssize_t chunk                            # most steps in the store
    # of the scratch: message back, laws at the ends of blocks, store
    cdef Py_ssize_t back_at, laws_at, store_at, size
    cdef void pass_window(self, const double *theta, Py_ssize_t i, double scale, double *work,
                          double *value, bint wanted) noexcept nogil
    cdef Py_ssize_t pass_sequence(self, const double *theta, Py_ssize_t i, double scale,
                                  double *work, double *value, bint wanted,
                                  double *kept) noexcept nogil
    # a leaf's: what theta alone determines, and sums set to zero; the sums as a gradient; the
    # stationary law; no more data
    cdef void open(self, const double *theta, double *work) noexcept nogil
    cdef void close(self, const double *theta, double *work, double *grad) noexcept nogil
    cdef void stationary(self, double *work, double *law) noexcept nogil
    cdef void nothing(self, double *back) noexcept nogil
    # law of the state before `start` -> before `stop`; returns the log density of the outcomes from
    # `low` to `high`
    cdef double forward(self, const double *theta, const Span *s, double *law, double *store,
                        double *work) noexcept nogil
    # what data after `stop` say of the state before it -> before `start`; sums terms
    cdef void backward(self, const double *theta, const Span *s, const double *law, double *back,
                       double *store, double *work) noexcept nogil
