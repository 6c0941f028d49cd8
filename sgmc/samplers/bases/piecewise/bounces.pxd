# Velocities v = A u with u on the sphere of radius sqrt(d) and A diagonal (NULL: identity).
from sgmc.core.contract cimport Rng

cdef void refreshed(Rng rng, Py_ssize_t dim, const double *scale, double *v) noexcept nogil
cdef void reflected(Py_ssize_t dim, const double *scale, const double *g, double *v,
                    double *u) noexcept nogil
