# Quadrature placed around an anchor
from sgmc.models.regression.latent.densities.information cimport Informed
from sgmc.models.regression.latent.densities.marginal cimport Place
from sgmc.models.regression.latent.densities.nodes cimport Frame, NodeSums, Room

cdef class Quadrature(Informed):
    cdef readonly const double[:, :] centre   # beta_0 of each group
    cdef readonly double[:, ::1] h, K, M
    # log densities of a group where some coefficients differ: see `values_at`
    cdef int values_at(self, const Place *at, Py_ssize_t group, Py_ssize_t first, Py_ssize_t moved,
                       const double *covariates, Py_ssize_t stride, Py_ssize_t points,
                       const double *moves, double *work, double *total) except -1 nogil
    cdef Py_ssize_t size_at(self, Py_ssize_t points) noexcept nogil
    cdef void shift_points(self, const Place *at, Py_ssize_t group, Py_ssize_t m, const Frame *f,
                           const double *eta, double *out, double *t) noexcept nogil
    cdef void recentre(self, const Place *at, Py_ssize_t group, Py_ssize_t first, Py_ssize_t moved,
                       const double *move, Frame *f) noexcept nogil
    cdef int score_many(self, const Place *at, Py_ssize_t start, Py_ssize_t m, Py_ssize_t count,
                        double *wide, double *t) except -1 nogil
    cdef void add_means(self, Py_ssize_t points, double *t, double *total) noexcept nogil
    # out = sum_k share_k r_k of the c-th number of each row
    cdef void average(self, Py_ssize_t m, Py_ssize_t width, Py_ssize_t c, const double *share,
                      const Room *room, double *out) noexcept nogil
    # means over nodes, by their scores or by their sums R
    cdef void mean_scores(self, Py_ssize_t group, Py_ssize_t start, Py_ssize_t m, Room *room,
                          NodeSums *sums) noexcept nogil
    cdef void mean_sums(self, Py_ssize_t group, const Room *room, NodeSums *sums) noexcept nogil
    cdef void mean_nodes(self, Py_ssize_t group, const double *share, NodeSums *sums) noexcept nogil
    # what the places of nodes add to the gradient r, with that by the entries of Lambda
    cdef int through_nodes(self, const Place *at, Py_ssize_t group, const Frame *f,
                           const NodeSums *sums, double *r) except -1 nogil
    # from standard normal effects z on
    cdef int settle(self, const Place *at, Py_ssize_t group, Room *room, double *z) except -1 nogil
    cdef double expand_group(self, const Place *at, Py_ssize_t start, Py_ssize_t m,
                             const double *b, Room *room, double *R, double *K) except? -1 nogil
    cdef int cross(self, Py_ssize_t start, Py_ssize_t m, Room *room, double *M) except -1 nogil
