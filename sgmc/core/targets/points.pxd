# Log posteriors at a point, and at many at once: see points.pyx
from sgmc.core.targets.target cimport Map, Model, Prior, Scratch

cdef int at_point(Model model, Prior prior, Map map, Scratch *s, const double *x, double *theta,
                  double *grad, double *value, double *g) except -1 nogil
cdef Py_ssize_t points_size(Model model, Py_ssize_t points) noexcept nogil
cdef int at_points(Model model, Prior prior, Map map, Scratch *s, const double *x,
                   Py_ssize_t points, double *work, double *value, double *g) except -1 nogil
