"""Effects of groups given parameters and outcomes: means, covariances and draws."""
import numpy as np

from libc.math cimport INFINITY, log, log1p
from libc.string cimport memcpy, memset

from sgmc.core.contract cimport OK, Batch, all_rows
from sgmc.models.regression.latent.densities.group_level cimport GroupLevel
from sgmc.models.mixed.loading cimport MOST_EFFECTS
from sgmc.models.regression.latent.densities.marginal cimport Marginal, Place
from sgmc.models.regression.latent.densities.nested cimport Nested, Space
from sgmc.models.regression.latent.densities.nodes cimport MOST_SQUARES, Frame, Nodes, Room
from sgmc.models.regression.latent.densities.small cimport lower_root, times

cdef enum:
    T_DF = 7                      # degrees of freedom of proposals
cdef double WIDER = 0.05          # share of the rule's own spread that is added to proposals
DF = T_DF


cdef class Conditional:
    """p(b_g | theta, y) of some groups, inner effects of nested ones integrated out.

    Where the model is closed, it is normal.  Elsewhere draws are those of an independence sampler
    (Tierney 1994, section 2.3.2; doi:10.1214/aos/1176325750): its proposals have a t distribution
    with the mean and covariance that nodes tell.

    Parameters
    ----------
    model : Nodes or Nested
    """

    cdef Marginal model
    cdef readonly bint closed
    cdef readonly Py_ssize_t q                # effects of a group
    cdef readonly Py_ssize_t cost             # how often rows are looked at for one density
    cdef readonly Py_ssize_t count            # nodes
    cdef double[::1] work
    cdef const double *root                   # Lambda at the point that is looked at
    cdef Frame frame                          # of the group that is looked at
    cdef Room room
    cdef double value                         # its log density, effects integrated out
    cdef double[::1] proposed, density        # a group's proposals, and their log densities

    def __init__(self, Marginal model, Py_ssize_t q, Py_ssize_t count):
        self.model, self.closed, self.q, self.count, self.cost = model, model.closed, q, count, 1
        self.work = np.empty(model.work_size())

    def __call__(self, const double[:, ::1] points, const Py_ssize_t[::1] groups,
                 const double[:, :, :, ::1] normals, const double[:, :, ::1] radii,
                 const double[:, :, ::1] uniforms):
        """Effects at m points (m, dim) of L groups.

        Parameters
        ----------
        points : array (m, dim)
            Natural coordinates of the model.
        groups : array (L,) of int
        normals : array (L, m, steps, q)
            Of no steps: draws are left out.
        radii, uniforms : array (L, m, steps)
            sqrt(DF / chi^2), and numbers in (0, 1); not used where the model is closed.

        Returns
        -------
        draws, mean : array (L, m, q)
        covariance : array (L, m, q, q)
        """
        cdef Py_ssize_t L = groups.shape[0], m = points.shape[0], q = self.q, k, g
        cdef double[:, :, ::1] draws = np.empty((L, m, q)), mean = np.empty((L, m, q))
        cdef double[:, :, :, ::1] covariance = np.empty((L, m, q, q))
        self.proposed = np.empty(normals.shape[2] * q)
        self.density = np.empty(normals.shape[2])
        if L and m:
            with nogil:
                for g in range(L):                        # whose numbers are neighbours
                    for k in range(m):
                        self.begin(&points[k, 0])
                        self.look(groups[g])
                        self.of_group(groups[g], normals[g, k], radii[g, k], uniforms[g, k],
                                      &draws[g, k, 0], &mean[g, k, 0], &covariance[g, k, 0, 0])
        return np.asarray(draws), np.asarray(mean), np.asarray(covariance)

    def nodes(self, const double[:, ::1] points, const Py_ssize_t[::1] groups):
        """Log densities (L, m) of L groups at m points, their effects integrated out, nodes of the
        standard effects (L, m, nodes, q) and their posterior probabilities (L, m, nodes).
        """
        cdef Py_ssize_t L = groups.shape[0], m = points.shape[0], q = self.q, k, g
        cdef double[:, ::1] value = np.empty((L, m))
        cdef double[:, :, :, ::1] z = np.empty((L, m, self.count, q))
        cdef double[:, :, ::1] probability = np.empty((L, m, self.count))
        with nogil:
            for k in range(m):
                self.begin(&points[k, 0])
                for g in range(L):
                    self.look(groups[g])
                    value[g, k] = self.value
                    memcpy(&z[g, k, 0, 0], self.room.z, self.count * q * sizeof(double))
                    memcpy(&probability[g, k, 0], self.room.t, self.count * sizeof(double))
        return np.asarray(value), np.asarray(z), np.asarray(probability)

    def without_effects(self, const double[::1] point, const Py_ssize_t[::1] groups):
        """Log densities (L,) of groups at effects of zero, as the kernel has them."""
        cdef double[::1] out = np.empty(groups.shape[0])
        cdef double[MOST_EFFECTS] zero
        cdef Py_ssize_t g
        memset(zero, 0, self.q * sizeof(double))
        self.begin(&point[0])
        for g in range(groups.shape[0]):
            self.look(groups[g])
            self.log_densities(groups[g], 1, zero, &out[g])
        return np.asarray(out)

    cdef void begin(self, const double *theta) noexcept nogil:
        """Set out from a point: `root`."""

    cdef int look(self, Py_ssize_t group) except -1 nogil:
        """Probabilities and places of a group's nodes into `room`, their `frame`, `value`."""
        raise NotImplementedError("look")

    cdef int log_densities(self, Py_ssize_t group, Py_ssize_t count, const double *z,
                           double *out) except -1 nogil:
        """log p(y_g | z) without constants of some z, of the group that is looked at; what `look`
        found of its nodes is lost, but for probabilities and places.
        """
        raise NotImplementedError("log_densities")

    cdef int of_group(self, Py_ssize_t group, const double[:, ::1] normals, const double[::1] radii,
                      const double[::1] uniforms, double *draw, double *mean,
                      double *covariance) except -1 nogil:
        cdef Py_ssize_t q = self.q, a, b, k, l
        cdef double[MOST_SQUARES] second, root, mixed
        cdef double[MOST_EFFECTS] centre
        cdef double weight, last = -INFINITY
        cdef const double *now
        cdef const double *z
        cdef Room *room = &self.room
        memset(centre, 0, q * sizeof(double))
        memset(second, 0, q * q * sizeof(double))
        for k in range(self.count):
            for a in range(q):
                centre[a] += room.t[k] * room.z[k * q + a]
        for k in range(self.count):
            for a in range(q):
                for b in range(q):
                    second[a * q + b] += (room.t[k] * (room.z[k * q + a] - centre[a])
                                          * (room.z[k * q + b] - centre[b]))
        if self.count == 1:                               # Laplace: the normal law at the mode
            for a in range(q):
                for b in range(q):
                    for k in range(q):
                        second[a * q + b] += self.frame.B[a * q + k] * self.frame.B[b * q + k]
        times(q, self.root, centre, mean)
        for a in range(q):                                # Lambda C Lambda'
            for b in range(q):
                mixed[a * q + b] = 0
                for k in range(q):
                    mixed[a * q + b] += self.root[a * q + k] * second[k * q + b]
        for a in range(q):
            for b in range(q):
                covariance[a * q + b] = 0
                for k in range(q):
                    covariance[a * q + b] += mixed[a * q + k] * self.root[b * q + k]
        if normals.shape[0] == 0:
            return 0
        if not self.closed:
            for a in range(q):
                for b in range(q):
                    for k in range(q):
                        second[a * q + b] += (WIDER * self.frame.B[a * q + k]
                                              * self.frame.B[b * q + k])
        lower_root(q, second, root)
        for l in range(normals.shape[0]):
            times(q, root, &normals[l, 0], &self.proposed[l * q])
            for a in range(q):
                self.proposed[l * q + a] *= 1 if self.closed else radii[l]
                self.proposed[l * q + a] += centre[a]
        now = &self.proposed[0]
        if not self.closed:
            self.log_densities(group, normals.shape[0], now, &self.density[0])
        for l in range(0 if self.closed else normals.shape[0]):
            z = &self.proposed[l * q]
            weight = 0
            for a in range(q):
                weight += normals[l, a] * normals[l, a]
            weight *= radii[l] * radii[l]
            weight = 0.5 * (T_DF + q) * log1p(weight / T_DF) + self.density[l]
            for a in range(q):
                weight -= 0.5 * z[a] * z[a]
            if l == 0 or log(uniforms[l]) < weight - last:
                now, last = z, weight
        times(q, self.root, now, draw)
        return 0


cdef class OfNodes(Conditional):
    """`Conditional` of a model without subgroups."""

    cdef Nodes of
    cdef Place place

    def __init__(self, Nodes model):
        Conditional.__init__(self, model, model.q, model.count)
        self.of = model

    cdef void begin(self, const double *theta) noexcept nogil:
        self.place = self.of.at(theta, &self.work[0])
        self.root = self.place.root

    cdef int look(self, Py_ssize_t group) except -1 nogil:
        cdef Py_ssize_t m = self.of.starts[group + 1] - self.of.starts[group]
        self.room = self.of.divided(m, self.of.room(&self.work[0]))
        return self.of.visit(&self.place, group, &self.frame, &self.room, &self.value)

    cdef int log_densities(self, Py_ssize_t group, Py_ssize_t count, const double *z,
                           double *out) except -1 nogil:
        cdef Py_ssize_t k, some, at = 0, q = self.q, start = self.of.starts[group]
        cdef Py_ssize_t m = self.of.starts[group + 1] - start
        memset(out, 0, count * sizeof(double))
        while at < count:
            some = min(self.count, count - at)            # as many as there is room for
            for k in range(some):
                times(q, self.root, z + (at + k) * q, self.room.b + k * q)
            self.of.score_effects(&self.place, start, m, some, &self.room, out + at)
            at += some
        return OK


cdef class OfGroupLevel(OfNodes):
    """`Conditional` of a model with group-level predictors."""

    cdef GroupLevel whole
    cdef const double *theta
    cdef double[::1] local                    # theta_g, and scratch of the groups' design

    def __init__(self, GroupLevel model):
        OfNodes.__init__(self, model.inner)
        self.whole = model
        self.local = np.empty(model.width + model.X.work_size() + 1)

    cdef void begin(self, const double *theta) noexcept nogil:
        self.theta = theta

    cdef int look(self, Py_ssize_t group) except -1 nogil:
        cdef Batch one = all_rows(1)
        cdef double eta
        one.start = group
        self.whole.X.dot(&one, self.theta, &eta, &self.local[self.whole.width])
        self.whole.locate(self.theta, group, eta, &self.local[0])
        OfNodes.begin(self, &self.local[0])
        return OfNodes.look(self, group)


cdef class OfNested(Conditional):
    """`Conditional` of the outer effects of groups with subgroups."""

    cdef Nested nested
    cdef Place place
    cdef Space space

    def __init__(self, Nested model):
        Conditional.__init__(self, model, model.b, model.places.count)
        self.nested, self.cost = model, 1 if model.closed else model.inner.count

    cdef void begin(self, const double *theta) noexcept nogil:
        self.place = self.nested.at(theta, &self.work[0])
        self.space = self.nested.divided(&self.place, self.nested.room(&self.work[0]))
        self.root = self.space.outer.root

    cdef int look(self, Py_ssize_t group) except -1 nogil:
        self.value = self.nested.visit(group, self.nested.places, &self.space, &self.frame)
        self.room = self.space.room
        return OK

    cdef int log_densities(self, Py_ssize_t group, Py_ssize_t count, const double *z,
                           double *out) except -1 nogil:
        cdef double[MOST_EFFECTS] b
        cdef Py_ssize_t k
        for k in range(count):
            times(self.q, self.root, z + k * self.q, b)
            out[k] = self.nested.inside(group, b, &self.space, self.space.scores, False)
        return OK


def conditional(model):
    """The `Conditional` of a compiled model of groups."""
    for kind, made in ((Nested, OfNested), (GroupLevel, OfGroupLevel)):
        if isinstance(model, kind):
            return made(model)
    return OfNodes(model)
