"""Regressions whose scale, dispersion or precision has a linear predictor of its own."""
from sgmc.core.contract cimport OK, Design
from sgmc.models.regression.bases.dispersed cimport Dispersed
from sgmc.models.regression.bases.predictors.two_designs cimport TwoDesignsModel


cdef class Columnless(Design):
    """A design of n rows and no columns: parameters of a `Dispersed` model are then its auxiliary
    ones alone.
    """

    def __init__(self, Py_ssize_t n):
        self.n, self.d, self.tile = n, 0, 1


cdef class Varying(TwoDesignsModel):
    """y_i ~ family(eta_i, exp(zeta_i)): the rows of a model with auxiliary parameters, the log of
    the first of which is a linear predictor zeta_i = z_i . gamma; a second one stays a number.

    Densities, scores and curvatures are those of the whole model, a row at a time: the chain rule
    from (eta, log of the auxiliary parameter) to (eta, zeta) is the identity.

    Parameters
    ----------
    whole : Dispersed
        The model with one number for all rows, of a `Columnless` design, and with the offset.
    X, offset, weight, predictor
        As in `TwoDesignsModel`.
    """

    def __init__(self, Dispersed whole, Design X, offset=None, weight=None,
                 predictor=None):
        TwoDesignsModel.__init__(self, X, whole.y, offset, weight, predictor,
                                 whole.width == 3)
        self.whole = whole

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        return self.whole.family_by_row(m, eta, y, r, density)

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i, k = self.width
        for i in range(m):
            self.whole.observed_information(eta + k * i + 1, 1, eta + k * i, y + i, w + k * k * i)
        return OK

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i, k = self.width
        for i in range(m):
            self.whole.expected_information(eta + k * i + 1, 1, eta + k * i, y + i, w + k * k * i)
        return OK
