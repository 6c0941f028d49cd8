# Groups whose rows agree in most columns of the design
from sgmc.core.contract cimport Design, Model
from sgmc.models.mixed.marginal cimport Marginal

cdef class GroupLevel(Model):
    cdef readonly Marginal inner              # theta_g = J_g theta in the place of theta
    cdef readonly Design X                    # of groups, all columns
    cdef readonly Py_ssize_t p                # columns
    cdef readonly Py_ssize_t[::1] place       # in theta, of all but the first number of theta_g
    # theta_g of a tile's groups (m x width); eta has room for a tile
    cdef void locate(self, const double *theta, Py_ssize_t m, const double *eta,
                     double *local) noexcept nogil
