"""See simd.pxd."""
cdef extern from "vecmath.h" nogil:
    void vm_fetch(const void *X, Py_ssize_t bytes, Py_ssize_t start, Py_ssize_t m,
                  const Py_ssize_t *rows)
    void vm_dot_f64(Py_ssize_t m, Py_ssize_t d, const double *X, const Py_ssize_t *rows,
                    const double *theta, double *eta)
    void vm_dot_f32(Py_ssize_t m, Py_ssize_t d, const float *X, const Py_ssize_t *rows,
                    const float *theta, double *eta)
    void vm_tdot_f64(Py_ssize_t m, Py_ssize_t d, const double *X, const Py_ssize_t *rows,
                     const double *r, double *out)
    void vm_tdot_f32(Py_ssize_t m, Py_ssize_t d, const float *X, const Py_ssize_t *rows,
                     const double *r, double *out, float *acc)
    void vm_tdot_sq_f64(Py_ssize_t m, Py_ssize_t d, const double *X, const Py_ssize_t *rows,
                        const double *r, double *out)
    void vm_tdot_sq_f32(Py_ssize_t m, Py_ssize_t d, const float *X, const Py_ssize_t *rows,
                        const double *r, double *out)
    void vm_gram_f64(Py_ssize_t m, Py_ssize_t d, const double *X,
                     const Py_ssize_t *rows, const double *w, double *out, Py_ssize_t stride)
    void vm_gram_f32(Py_ssize_t m, Py_ssize_t d, const float *X,
                     const Py_ssize_t *rows, const double *w, double *out, Py_ssize_t stride)
    void vm_rotate_f64(Py_ssize_t m, Py_ssize_t d, double *X, const double *L, double *row)
    void vm_rotate_f32(Py_ssize_t m, Py_ssize_t d, float *X, const double *L, double *row)
    void vm_scale(Py_ssize_t n, double c, double *r)
    void vm_subtract(Py_ssize_t n, const double *t, double *r)
    void vm_exchange(Py_ssize_t n, double *old, double *new)
    void vm_logit_score(Py_ssize_t m, const double *eta, const double *y, double *r)
    void vm_logit_curvature(Py_ssize_t m, const double *eta, double *w)
    void vm_logit_density(Py_ssize_t m, const double *eta, const double *y, double *value)
    void vm_logit_terms(Py_ssize_t m, double *eta, const double *y, double *r, double *odds)
    double vm_logit_sum(Py_ssize_t m, const double *linear, const double *odds)
    void vm_logit_sums(Py_ssize_t nodes, Py_ssize_t m, const double *linear, const double *odds,
                       double *total)
    double vm_logit_total_single(Py_ssize_t m, const double *eta, const double *y)
    void vm_log1p_unit(Py_ssize_t m, const double *u, double *out)
    void vm_narrow(Py_ssize_t n, const double *x, float *out)
    void vm_widen(Py_ssize_t n, const float *x, double *out)
    void vm_add_single(Py_ssize_t n, const float *x, double *out)
    void vm_exp(Py_ssize_t m, const double *x, double *out)
    void vm_expit(Py_ssize_t m, const double *eta, double *p)
    void vm_normals(Py_ssize_t n, uint64_t *state, double *out)
    void vm_uniforms(Py_ssize_t n, uint64_t *state, double *out)
    double vm_log_unit(double x)


cdef void fetch(const void *X, Py_ssize_t bytes, Py_ssize_t start, Py_ssize_t m,
                const Py_ssize_t *rows) noexcept nogil:
    vm_fetch(X, bytes, start, m, rows)

cdef void dot_f64(Py_ssize_t m, Py_ssize_t d, const double *X, const Py_ssize_t *rows,
                  const double *theta, double *eta) noexcept nogil:
    vm_dot_f64(m, d, X, rows, theta, eta)

cdef void dot_f32(Py_ssize_t m, Py_ssize_t d, const float *X, const Py_ssize_t *rows,
                  const float *theta, double *eta) noexcept nogil:
    vm_dot_f32(m, d, X, rows, theta, eta)

cdef void tdot_f64(Py_ssize_t m, Py_ssize_t d, const double *X, const Py_ssize_t *rows,
                   const double *r, double *out) noexcept nogil:
    vm_tdot_f64(m, d, X, rows, r, out)

cdef void tdot_f32(Py_ssize_t m, Py_ssize_t d, const float *X, const Py_ssize_t *rows,
                   const double *r, double *out, float *acc) noexcept nogil:
    vm_tdot_f32(m, d, X, rows, r, out, acc)

cdef void tdot_sq_f64(Py_ssize_t m, Py_ssize_t d, const double *X, const Py_ssize_t *rows,
                      const double *r, double *out) noexcept nogil:
    vm_tdot_sq_f64(m, d, X, rows, r, out)

cdef void tdot_sq_f32(Py_ssize_t m, Py_ssize_t d, const float *X, const Py_ssize_t *rows,
                      const double *r, double *out) noexcept nogil:
    vm_tdot_sq_f32(m, d, X, rows, r, out)

cdef void gram_f64(Py_ssize_t m, Py_ssize_t d, const double *X,
                   const Py_ssize_t *rows, const double *w, double *out,
                   Py_ssize_t stride) noexcept nogil:
    vm_gram_f64(m, d, X, rows, w, out, stride)

cdef void gram_f32(Py_ssize_t m, Py_ssize_t d, const float *X,
                   const Py_ssize_t *rows, const double *w, double *out,
                   Py_ssize_t stride) noexcept nogil:
    vm_gram_f32(m, d, X, rows, w, out, stride)

cdef void rotate_f64(Py_ssize_t m, Py_ssize_t d, double *X, const double *L,
                     double *row) noexcept nogil:
    vm_rotate_f64(m, d, X, L, row)

cdef void rotate_f32(Py_ssize_t m, Py_ssize_t d, float *X, const double *L,
                     double *row) noexcept nogil:
    vm_rotate_f32(m, d, X, L, row)

cdef void scale(Py_ssize_t n, double c, double *r) noexcept nogil:
    vm_scale(n, c, r)

cdef void subtract(Py_ssize_t n, const double *t, double *r) noexcept nogil:
    vm_subtract(n, t, r)

cdef void exchange(Py_ssize_t n, double *old, double *new) noexcept nogil:
    vm_exchange(n, old, new)

cdef void logit_score(Py_ssize_t m, const double *eta, const double *y, double *r) noexcept nogil:
    vm_logit_score(m, eta, y, r)

cdef void logit_curvature(Py_ssize_t m, const double *eta, double *w) noexcept nogil:
    vm_logit_curvature(m, eta, w)

cdef void logit_density(Py_ssize_t m, const double *eta, const double *y,
                        double *value) noexcept nogil:
    vm_logit_density(m, eta, y, value)

cdef void logit_terms(Py_ssize_t m, double *eta, const double *y, double *r,
                      double *odds) noexcept nogil:
    vm_logit_terms(m, eta, y, r, odds)

cdef double logit_sum(Py_ssize_t m, const double *linear, const double *odds) noexcept nogil:
    return vm_logit_sum(m, linear, odds)

cdef void logit_sums(Py_ssize_t nodes, Py_ssize_t m, const double *linear, const double *odds,
                     double *total) noexcept nogil:
    vm_logit_sums(nodes, m, linear, odds, total)

cdef double logit_total_single(Py_ssize_t m, const double *eta, const double *y) noexcept nogil:
    return vm_logit_total_single(m, eta, y)

cdef void log1p_unit(Py_ssize_t m, const double *u, double *out) noexcept nogil:
    vm_log1p_unit(m, u, out)

cdef void narrow(Py_ssize_t n, const double *x, float *out) noexcept nogil:
    vm_narrow(n, x, out)

cdef void widen(Py_ssize_t n, const float *x, double *out) noexcept nogil:
    vm_widen(n, x, out)

cdef void add_single(Py_ssize_t n, const float *x, double *out) noexcept nogil:
    vm_add_single(n, x, out)

cdef void exponential(Py_ssize_t m, const double *x, double *out) noexcept nogil:
    vm_exp(m, x, out)

cdef void expit(Py_ssize_t m, const double *eta, double *p) noexcept nogil:
    vm_expit(m, eta, p)

cdef void normals(Py_ssize_t n, uint64_t *state, double *out) noexcept nogil:
    vm_normals(n, state, out)

cdef void uniforms(Py_ssize_t n, uint64_t *state, double *out) noexcept nogil:
    vm_uniforms(n, state, out)

cdef double log_unit(double x) noexcept nogil:
    return vm_log_unit(x)
