# Sums over nodes of a group's effects
from sgmc.models.mixed.loading cimport MOST_EFFECTS
from sgmc.models.regression.latent.densities.marginal cimport Marginal, Place

cdef enum:
    MOST_SQUARES = MOST_EFFECTS * MOST_EFFECTS
    EXACT_NODES = 3               # integrate the fourth moments of a normal law exactly
    TOGETHER = 4096               # rows times nodes that are given to the family at once

cdef double HALF_LOG_2PI

cdef struct Frame:                # nodes of a group: z_k = centre + B t_k
    double[MOST_EFFECTS] centre
    double[MOST_EFFECTS] score                # h + M (beta - beta_0)
    double[MOST_SQUARES] B
    double[MOST_SQUARES] KL                   # K Lambda
    double log_det

cdef struct NodeSums:             # means over nodes: R, R t', t and t t'
    double[MOST_EFFECTS] R
    double[MOST_SQUARES] RT
    double[MOST_EFFECTS] t
    double[MOST_SQUARES] TT

cdef struct Room:                 # a group's scratch
    double *eta                   # m
    double *block                 # linear predictors of rows and nodes, or of rows at one node
    double *y                     # outcomes of such a block
    double *density
    double *r                     # scores: node by node, rows, `width` numbers
    double *mean                  # scores averaged over nodes, score by score
    double *t                     # weights of nodes, then posterior probabilities
    double *z                     # nodes x q
    double *b                     # Lambda z
    double *R                     # nodes x q: sum_i z_i r_ik
    double *rest                  # for `information`
    double *work                  # of the design

cdef class Nodes(Marginal):
    cdef readonly Py_ssize_t nodes, count     # as the rule counts them, of a group
    cdef readonly Py_ssize_t sets             # of nodes, of which each group has one
    cdef readonly object rule
    cdef readonly double[:, :, ::1] t
    cdef readonly double[:, ::1] weight
    cdef readonly const signed char[::1] idle     # groups whose rows have no effects: Z is zero
    cdef Room divided(self, Py_ssize_t m, double *work) noexcept nogil
    # where the nodes of a group are, whose linear predictors without effects are in room.eta
    cdef bint frame(self, const Place *at, Py_ssize_t group, Room *room, Frame *f) noexcept nogil
    # probabilities and, if asked for, scores of all nodes into room; the log density of the group
    cdef int visit(self, const Place *at, Py_ssize_t group, Frame *f, Room *room,
                   double *value, bint scored=*) except -1 nogil
    cdef int place_nodes(self, const Place *at, Py_ssize_t group, const Frame *f,
                         Room *room) noexcept nogil
    cdef void shift(self, Py_ssize_t start, Py_ssize_t m, const double *eta, const double *b,
                    double *out) noexcept nogil
    cdef void shift_many(self, Py_ssize_t start, Py_ssize_t m, Py_ssize_t count,
                         const double *eta, const double *b, double *out) noexcept nogil
    cdef void collect(self, Py_ssize_t start, Py_ssize_t m, const double *r, Py_ssize_t width,
                      double *out) noexcept nogil
    # sums of the scores of each node into room.R
    cdef void collect_nodes(self, Py_ssize_t start, Py_ssize_t m, Room *room) noexcept nogil
    # scores of the first `count` effects of room.b into room.r, log densities added to `total`
    cdef int score_effects(self, const Place *at, Py_ssize_t start, Py_ssize_t m, Py_ssize_t count,
                           Room *room, double *total, bint scored=*) except -1 nogil
    cdef double normalise(self, Room *room) noexcept nogil
