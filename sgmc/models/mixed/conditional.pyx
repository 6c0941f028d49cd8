"""Effects of groups given parameters and outcomes: means, covariances and draws."""
import numpy as np

from libc.math cimport INFINITY, log, log1p
from libc.string cimport memset

from sgmc.models.mixed.loading cimport MOST_EFFECTS
from sgmc.models.mixed.marginal cimport Place
from sgmc.models.mixed.nodes cimport MOST_SQUARES, Frame, Nodes, Room
from sgmc.models.mixed.small cimport lower_root, times

cdef enum:
    T_DF = 7                      # degrees of freedom of proposals
cdef double WIDER = 0.05          # share of the rule's own spread that is added to proposals
DF = T_DF


cdef class Conditional:
    """p(b_g | theta, y) of some groups.

    Where the model is closed, it is normal.  Elsewhere draws are those of an independence sampler
    (Tierney 1994, section 2.3.2; doi:10.1214/aos/1176325750): its proposals have a t distribution
    with the mean and covariance that nodes tell.

    Parameters
    ----------
    model : Nodes
    """

    cdef Nodes model
    cdef readonly bint closed
    cdef double[::1] work

    def __init__(self, Nodes model):
        self.model, self.closed = model, model.closed
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
        cdef Py_ssize_t L = groups.shape[0], m = points.shape[0], q = self.model.q, k, g
        cdef double[:, :, ::1] draws = np.empty((L, m, q)), mean = np.empty((L, m, q))
        cdef double[:, :, :, ::1] covariance = np.empty((L, m, q, q))
        cdef Place place
        if L and m:
            with nogil:
                for k in range(m):
                    place = self.model.at(&points[k, 0], &self.work[0])
                    for g in range(L):
                        self.of_group(&place, groups[g], normals[g, k], radii[g, k],
                                      uniforms[g, k], &draws[g, k, 0], &mean[g, k, 0],
                                      &covariance[g, k, 0, 0])
        return np.asarray(draws), np.asarray(mean), np.asarray(covariance)

    cdef int of_group(self, const Place *at, Py_ssize_t group, const double[:, ::1] normals,
                      const double[::1] radii, const double[::1] uniforms, double *draw,
                      double *mean, double *covariance) except -1 nogil:
        cdef Py_ssize_t start = self.model.starts[group], q = self.model.q
        cdef Py_ssize_t m = self.model.starts[group + 1] - start, a, b, k, l
        cdef Room room = self.model.divided(m, self.model.room(&self.work[0]))
        cdef Frame f
        cdef double[MOST_SQUARES] second, root, mixed
        cdef double[MOST_EFFECTS] centre, z, now
        cdef double value, weight, last = -INFINITY
        self.model.visit(at, group, &f, &room, &value)
        memset(centre, 0, q * sizeof(double))
        memset(second, 0, q * q * sizeof(double))
        for k in range(self.model.count):
            for a in range(q):
                centre[a] += room.t[k] * room.z[k * q + a]
        for k in range(self.model.count):
            for a in range(q):
                for b in range(q):
                    second[a * q + b] += (room.t[k] * (room.z[k * q + a] - centre[a])
                                          * (room.z[k * q + b] - centre[b]))
        times(q, at.root, centre, mean)
        for a in range(q):                                # Lambda C Lambda'
            for b in range(q):
                mixed[a * q + b] = 0
                for k in range(q):
                    mixed[a * q + b] += at.root[a * q + k] * second[k * q + b]
        for a in range(q):
            for b in range(q):
                covariance[a * q + b] = 0
                for k in range(q):
                    covariance[a * q + b] += mixed[a * q + k] * at.root[b * q + k]
        if normals.shape[0] == 0:
            return 0
        if not self.closed:
            for a in range(q):
                for b in range(q):
                    for k in range(q):
                        second[a * q + b] += WIDER * f.B[a * q + k] * f.B[b * q + k]
        lower_root(q, second, root)
        for l in range(normals.shape[0]):
            times(q, root, &normals[l, 0], z)
            weight = 0
            for a in range(q):
                weight += normals[l, a] * normals[l, a]
                z[a] = centre[a] + z[a] * (1 if self.closed else radii[l])
            if self.closed:
                now = z
                break
            weight *= radii[l] * radii[l]
            weight = (0.5 * (T_DF + q) * log1p(weight / T_DF)
                      + self.log_density(at, start, m, &room, z))
            if l == 0 or log(uniforms[l]) < weight - last:
                now, last = z, weight
        times(q, at.root, now, draw)
        return 0

    cdef double log_density(self, const Place *at, Py_ssize_t start, Py_ssize_t m, Room *room,
                            const double *z) except? -1 nogil:
        """log p(y_g, z) without constants."""
        cdef double[MOST_EFFECTS] b
        cdef double total = 0, weight = 1
        cdef Py_ssize_t i, a
        times(self.model.q, at.root, z, b)
        self.model.shift(start, m, room.eta, b, room.block)
        self.model.glm.family(at.auxiliary, m, room.block, &self.model.glm.y[start], room.mean,
                              room.density)
        for i in range(m):
            if self.model.glm.weight.shape[0]:
                weight = self.model.glm.weight[start + i]
            total += weight * room.density[i]
        for a in range(self.model.q):
            total -= 0.5 * z[a] * z[a]
        return total
