# Groups within groups
from sgmc.models.regression.latent.densities.marginal cimport Marginal, Place
from sgmc.models.regression.latent.densities.nodes cimport Frame, Room
from sgmc.models.regression.latent.densities.quadrature cimport Quadrature

cdef struct Space:                # scratch of a group
    Place outer, inner            # what the two densities need of theta
    double *beta                  # inner.beta: (beta, b)
    Room room                     # of `places`
    double *scores                # gradients of the inner density, node by node
    double *one                   # the same of a subgroup
    double *H                     # the inner information, and that of a subgroup
    double *by_theta              # gradients by (beta, entries, auxiliary): of nodes, their mean
    double *rest

cdef class Nested(Marginal):
    cdef readonly Marginal inner
    cdef readonly Quadrature places           # of the outer nodes
    cdef Quadrature few                       # as many as gradients need
    cdef readonly object make
    cdef readonly Py_ssize_t[::1] subgroups
    cdef readonly double[:, ::1] away         # b of each group at which `inner` has its zero
    cdef readonly bint closed, at_nodes       # whether `inner` is of nodes around an anchor
    cdef readonly Py_ssize_t nodes, b         # effects of the outer level
    # the scratch of a group, with what both densities need of theta
    cdef Space divided(self, const Place *at, double *work) noexcept nogil
    # log density of a group's subgroups at its effects b, the gradient g, and minus the Hessian
    cdef double inside(self, Py_ssize_t group, const double *b, Space *s, double *g,
                       bint informed) except? -1 nogil
    # probabilities of a rule's nodes and their gradients into s; the log density of the group
    cdef double visit(self, Py_ssize_t group, Quadrature rule, Space *s,
                      Frame *f) except? -1 nogil
    cdef void curvature(self, const Space *s, double *K) noexcept nogil
    cdef bint frame(self, Py_ssize_t group, Space *s, Frame *f) except -1 nogil
    cdef void by_theta(self, const Space *s, Py_ssize_t k, double *out) noexcept nogil
    cdef void add_inner(self, const Space *s, Py_ssize_t k, double *w) noexcept nogil
    cdef Py_ssize_t place(self, Py_ssize_t j) noexcept nogil
    cdef double slope(self, const Space *s, Py_ssize_t k, Py_ssize_t j) noexcept nogil
    cdef int settle(self, Py_ssize_t group, Space *s, double *mode) except -1 nogil
