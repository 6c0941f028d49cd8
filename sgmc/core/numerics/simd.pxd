"""The C loops of vecmath.c and normals.c as cimportable functions,
so that one module alone links them.
"""
from libc.stdint cimport uint64_t

cdef void fetch(const void *X, Py_ssize_t bytes, Py_ssize_t start, Py_ssize_t m,
                const Py_ssize_t *rows) noexcept nogil
cdef void dot_f64(Py_ssize_t m, Py_ssize_t d, const double *X, const Py_ssize_t *rows,
                  const double *theta, double *eta) noexcept nogil
cdef void dot_f32(Py_ssize_t m, Py_ssize_t d, const float *X, const Py_ssize_t *rows,
                  const float *theta, double *eta) noexcept nogil
cdef void tdot_f64(Py_ssize_t m, Py_ssize_t d, const double *X, const Py_ssize_t *rows,
                   const double *r, double *out) noexcept nogil
cdef void tdot_f32(Py_ssize_t m, Py_ssize_t d, const float *X, const Py_ssize_t *rows,
                   const double *r, double *out, float *acc) noexcept nogil
cdef void tdot_sq_f64(Py_ssize_t m, Py_ssize_t d, const double *X, const Py_ssize_t *rows,
                      const double *r, double *out) noexcept nogil
cdef void tdot_sq_f32(Py_ssize_t m, Py_ssize_t d, const float *X, const Py_ssize_t *rows,
                      const double *r, double *out) noexcept nogil
cdef void gram_f64(Py_ssize_t m, Py_ssize_t d, const double *X,
                   const Py_ssize_t *rows, const double *w, double *out,
                   Py_ssize_t stride) noexcept nogil
cdef void gram_f32(Py_ssize_t m, Py_ssize_t d, const float *X,
                   const Py_ssize_t *rows, const double *w, double *out,
                   Py_ssize_t stride) noexcept nogil
cdef void rotate_f64(Py_ssize_t m, Py_ssize_t d, double *X, const double *L,
                     double *row) noexcept nogil
cdef void rotate_f32(Py_ssize_t m, Py_ssize_t d, float *X, const double *L,
                     double *row) noexcept nogil
cdef void scale(Py_ssize_t n, double c, double *r) noexcept nogil
cdef void subtract(Py_ssize_t n, const double *t, double *r) noexcept nogil
cdef void exchange(Py_ssize_t n, double *old, double *new) noexcept nogil
cdef void logit_score(Py_ssize_t m, const double *eta, const double *y, double *r) noexcept nogil
cdef void logit_curvature(Py_ssize_t m, const double *eta, double *w) noexcept nogil
cdef void logit_density(Py_ssize_t m, const double *eta, const double *y,
                        double *value) noexcept nogil
# log densities in two parts: linear - log odds, the first in the place of eta; their sum
cdef void logit_terms(Py_ssize_t m, double *eta, const double *y, double *r,
                      double *odds) noexcept nogil
cdef double logit_sum(Py_ssize_t m, const double *linear, const double *odds) noexcept nogil
# of m rows at each of some nodes, added to their totals
cdef void logit_sums(Py_ssize_t nodes, Py_ssize_t m, const double *linear, const double *odds,
                     double *total) noexcept nogil
# the sum of log densities, in float
cdef double logit_total_single(Py_ssize_t m, const double *eta, const double *y) noexcept nogil
cdef void log1p_unit(Py_ssize_t m, const double *u, double *out) noexcept nogil   # u in [0, 1]
cdef void narrow(Py_ssize_t n, const double *x, float *out) noexcept nogil
cdef void widen(Py_ssize_t n, const float *x, double *out) noexcept nogil
cdef void add_single(Py_ssize_t n, const float *x, double *out) noexcept nogil     # out += x
cdef void exponential(Py_ssize_t m, const double *x, double *out) noexcept nogil
cdef void expit(Py_ssize_t m, const double *eta, double *p) noexcept nogil
cdef void normals(Py_ssize_t n, uint64_t *state, double *out) noexcept nogil
cdef void uniforms(Py_ssize_t n, uint64_t *state, double *out) noexcept nogil
cdef double log_unit(double x) noexcept nogil                  # log x for x in (0, 1]
