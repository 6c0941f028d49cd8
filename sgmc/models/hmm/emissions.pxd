from sgmc.models.hmm.chain cimport Hidden

cdef class GaussianHidden(Hidden):
    pass

cdef class PoissonHidden(Hidden):
    cdef const double[:, ::1] factorial                        # log y!

cdef class CategoricalHidden(Hidden):
    cdef readonly list labels                                  # of the categories
    cdef Py_ssize_t categories
