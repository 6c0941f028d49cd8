# Groups whose rows have few of the coefficients
from sgmc.core.contract cimport Design, Model
from sgmc.models.regression.latent.densities.marginal cimport Marginal

cdef class GroupLevel(Model):
    cdef readonly Marginal inner              # theta_g = J_g theta in the place of theta
    cdef readonly Design X                    # of groups, all columns
    cdef readonly Py_ssize_t p                # columns
    # in theta, of the numbers of each theta_g after the first; -1: it has none
    cdef readonly const Py_ssize_t[:, ::1] place
    cdef readonly double[::1] unit            # see `Marginal`
    cdef readonly double level                # the same of x_g . beta
    # theta_g of a group, for x_g . beta
    cdef void locate(self, const double *theta, Py_ssize_t group, double eta,
                     double *local) noexcept nogil
