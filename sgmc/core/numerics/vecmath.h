/* Vectorised loops: plain C that compilers turn into SIMD, the same bits on every x86-64 (no
   fused multiply-add, fixed order of every sum).  A table X is row-major, m rows of d numbers;
   rows == NULL means rows 0..m-1 of X, otherwise rows[i] is the i-th row wanted. */
#ifndef SGMC_VECMATH_H
#define SGMC_VECMATH_H
#include <stddef.h>
#include <stdint.h>

/* target_clones: one object, the best instruction set chosen at load time.  glibc's ifunc is
   needed, so include a libc header before testing __GLIBC__ (stddef.h alone does not define it).
   Tests define SGMC_ONE_TARGET. */
#include <limits.h>
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) \
    && !defined(SGMC_ONE_TARGET)
#define CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define CLONES
#endif
/* Loops over lanes stay loops until the vectoriser sees them: GCC unrolls them first otherwise, and
   leaves scalar code. */
#if defined(__GNUC__) && !defined(__clang__)
#define ROLLED _Pragma("GCC unroll 1")
#else
#define ROLLED
#endif
#if defined(_MSC_VER)
#define INLINE static __forceinline
#define restrict __restrict
#define PREFETCH(p)
#else
#define INLINE static inline __attribute__((always_inline))
#define PREFETCH(p) __builtin_prefetch(p)
#endif

#define PAGE 4096  /* bytes: no more are fetched before the first rows are wanted */
#define AHEAD 32  /* rows: listed ones are fetched that far ahead */
/* rows: of neighbours no more are fetched at first,
   so that short ones do not hold up what is wanted now */
#define FIRST 128

/* Fetch the first of some rows of so many bytes: neighbouring ones up to FIRST or a page, or as
   many listed ones as AHEAD. */
void vm_fetch(const void *X, ptrdiff_t bytes, ptrdiff_t start, ptrdiff_t m, const ptrdiff_t *rows);

/* eta_i = x_i . theta */
void vm_dot_f64(ptrdiff_t m, ptrdiff_t d, const double *X, const ptrdiff_t *rows,
                const double *theta, double *eta);
void vm_dot_f32(ptrdiff_t m, ptrdiff_t d, const float *X, const ptrdiff_t *rows, const float *theta,
                double *eta);
/* out += sum_i r_i x_i     (float32: acc is d floats of scratch, summed into out once a call) */
void vm_tdot_f64(ptrdiff_t m, ptrdiff_t d, const double *X, const ptrdiff_t *rows, const double *r,
                 double *out);
void vm_tdot_f32(ptrdiff_t m, ptrdiff_t d, const float *X, const ptrdiff_t *rows, const double *r,
                 double *out, float *acc);
/* out += sum_i r_i^2 x_i^2, elementwise */
void vm_tdot_sq_f64(ptrdiff_t m, ptrdiff_t d, const double *X, const ptrdiff_t *rows,
                    const double *r, double *out);
void vm_tdot_sq_f32(ptrdiff_t m, ptrdiff_t d, const float *X, const ptrdiff_t *rows,
                    const double *r, double *out);
/* upper triangle of out (d x d, row-major) += sum_i w_i x_i x_i' */
void vm_gram_f64(ptrdiff_t m, ptrdiff_t d, const double *X, const ptrdiff_t *rows, const double *w,
                 double *out, ptrdiff_t stride);
void vm_gram_f32(ptrdiff_t m, ptrdiff_t d, const float *X, const ptrdiff_t *rows, const double *w,
                 double *out, ptrdiff_t stride);
/* x_i <- x_i L in place for contiguous rows; L is d x d row-major, row is d doubles of scratch */
void vm_rotate_f64(ptrdiff_t m, ptrdiff_t d, double *X, const double *L, double *row);
void vm_rotate_f32(ptrdiff_t m, ptrdiff_t d, float *X, const double *L, double *row);

/* r *= c; r -= t; old <- new with the change left in new */
void vm_scale(ptrdiff_t n, double c, double *r);
void vm_subtract(ptrdiff_t n, const double *t, double *r);
void vm_exchange(ptrdiff_t n, double *old, double *new);

/* Bernoulli-logit: score r_i = y_i - p_i; curvature w_i = p_i (1 - p_i); log density y_i eta_i -
   log(1 + e^eta_i) */
void vm_logit_score(ptrdiff_t m, const double *eta, const double *y, double *r);
void vm_logit_curvature(ptrdiff_t m, const double *eta, double *w);
void vm_logit_density(ptrdiff_t m, const double *eta, const double *y, double *value);
void vm_logit_terms(ptrdiff_t m, double *eta, const double *y, double *r, double *odds);
double vm_logit_sum(ptrdiff_t m, const double *linear, const double *odds);
/* of m rows at each of some nodes, added to their totals */
void vm_logit_sums(ptrdiff_t nodes, ptrdiff_t m, const double *linear, const double *odds,
                   double *total);
/* the sum of all log densities, computed in float */
double vm_logit_total_single(ptrdiff_t m, const double *eta, const double *y);
/* log(1 + u) for u in [0, 1] */
void vm_log1p_unit(ptrdiff_t m, const double *u, double *out);
void vm_narrow(ptrdiff_t n, const double *x, float *out);
void vm_widen(ptrdiff_t n, const float *x, double *out);
void vm_add_single(ptrdiff_t n, const float *x, double *out);
/* out_i = exp(x_i), x_i clamped to [-708, 708] */
void vm_exp(ptrdiff_t m, const double *x, double *out);
/* p_i = 1 / (1 + exp(-eta_i)) */
void vm_expit(ptrdiff_t m, const double *eta, double *p);

/* Eight xoshiro256+ streams side by side (state: 32 words, word w of lane k at s[8 w + k]); n a
   multiple of 16 or 8. */
void vm_normals(ptrdiff_t n, uint64_t *s, double *out);
void vm_uniforms(ptrdiff_t n, uint64_t *s, double *out);
/* log x of one number in (0, 1] */
double vm_log_unit(double x);
#endif
