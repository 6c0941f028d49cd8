#include <math.h>  /* before vecmath.h: there MSVC has a macro of the name restrict */
#include <string.h>
#include "vecmath.h"

INLINE void fetch(const char *p, ptrdiff_t bytes) {
    for (ptrdiff_t b = 0; b < bytes; b += 64) PREFETCH(p + b);
}

void vm_fetch(const void *X, ptrdiff_t bytes, ptrdiff_t start, ptrdiff_t m, const ptrdiff_t *rows) {
    ptrdiff_t first = m < (rows ? AHEAD : FIRST) ? m : (rows ? AHEAD : FIRST);
    if (!rows)
        fetch((const char *)X + start * bytes, first * bytes < PAGE ? first * bytes : PAGE);
    else
        for (ptrdiff_t i = 0; i < first; i++) fetch((const char *)X + rows[i] * bytes, bytes);
}

CLONES void vm_scale(ptrdiff_t n, double c, double *restrict r) {
    for (ptrdiff_t i = 0; i < n; i++) r[i] *= c;
}

CLONES void vm_subtract(ptrdiff_t n, const double *restrict t, double *restrict r) {
    for (ptrdiff_t i = 0; i < n; i++) r[i] -= t[i];
}

CLONES void vm_exchange(ptrdiff_t n, double *restrict old, double *restrict new) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double value = new[i];
        new[i] = value - old[i];
        old[i] = value;
    }
}

/* exp by reduction to |r| <= log(2)/2 and a degree-12 Taylor polynomial (Estrin order: short
   dependency chains); relative error below 3e-16 on [-708, 708], clamped outside. */
INLINE double exp_(double x) {
    x = x < -708. ? -708. : x > 708. ? 708. : x;
    /* round to nearest: the integer sits in the low bits */
    double t = x * 1.4426950408889634 + 0x1.8p52;
    uint64_t k;
    memcpy(&k, &t, 8);
    t -= 0x1.8p52;
    double r = x - t * 6.93147180369123816490e-01; /* log 2 in two parts */
    r -= t * 1.90821492927058770002e-10;
    double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    double p = ((1 + r) + r2 * (0.5 + r * (1. / 6)))
             + r4 * ((1. / 24 + r * (1. / 120)) + r2 * (1. / 720 + r * (1. / 5040)))
             + r8 * ((1. / 40320 + r * (1. / 362880)) + r2 * (1. / 3628800 + r * (1. / 39916800))
                     + r4 * (1. / 479001600));
    uint64_t bits;
    memcpy(&bits, &p, 8);
    bits += k << 52; /* times 2^k */
    memcpy(&p, &bits, 8);
    return p;
}

/* log(1 + u) for u in [0, 1] by 2 atanh(u / (2 + u)); the argument is at most 1/3 */
INLINE double log1p_unit(double u) {
    double f = u / (2 + u), s = f * f;
    double p = 1. / 29;
    p = p * s + 1. / 27; p = p * s + 1. / 25; p = p * s + 1. / 23; p = p * s + 1. / 21;
    p = p * s + 1. / 19;
    p = p * s + 1. / 17; p = p * s + 1. / 15; p = p * s + 1. / 13;
    p = p * s + 1. / 11; p = p * s + 1. / 9;
    p = p * s + 1. / 7;  p = p * s + 1. / 5;  p = p * s + 1. / 3;
    return 2 * f * (1 + s * p);
}

CLONES void vm_narrow(ptrdiff_t n, const double *restrict x, float *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = (float) x[i];
}

CLONES void vm_widen(ptrdiff_t n, const float *restrict x, double *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = x[i];
}

CLONES void vm_add_single(ptrdiff_t n, const float *restrict x, double *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] += x[i];
}

CLONES void vm_exp(ptrdiff_t m, const double *restrict x, double *restrict out) {
    for (ptrdiff_t i = 0; i < m; i++) out[i] = exp_(x[i]);
}

CLONES void vm_expit(ptrdiff_t m, const double *restrict eta, double *restrict p) {
    for (ptrdiff_t i = 0; i < m; i++) p[i] = 1 / (1 + exp_(-eta[i]));
}

CLONES void vm_logit_score(ptrdiff_t m, const double *restrict eta, const double *restrict y,
                           double *restrict r) {
    for (ptrdiff_t i = 0; i < m; i++) r[i] = y[i] - 1 / (1 + exp_(-eta[i]));
}

CLONES void vm_logit_curvature(ptrdiff_t m, const double *restrict eta, double *restrict w) {
    for (ptrdiff_t i = 0; i < m; i++) {
        double e = exp_(-fabs(eta[i]));
        w[i] = e / ((1 + e) * (1 + e));
    }
}

CLONES void vm_logit_density(ptrdiff_t m, const double *restrict eta, const double *restrict y,
                             double *restrict value) {
    for (ptrdiff_t i = 0; i < m; i++) {
        double positive = eta[i] > 0 ? eta[i] : 0;
        value[i] = y[i] * eta[i] - positive - log1p_unit(exp_(-fabs(eta[i])));
    }
}

CLONES void vm_logit_terms(ptrdiff_t m, double *restrict eta, const double *restrict y,
                           double *restrict r, double *restrict odds) {
    if (!r)
        for (ptrdiff_t i = 0; i < m; i++) {
            double x = eta[i];
            odds[i] = 1 + exp_(-fabs(x));
            eta[i] = y[i] * x - (x > 0 ? x : 0);
        }
    else for (ptrdiff_t i = 0; i < m; i++) {
        double x = eta[i], e = exp_(-fabs(x)), share = 1 / (1 + e);
        r[i] = y[i] - (x > 0 ? share : e * share);
        odds[i] = 1 + e;
        eta[i] = y[i] * x - (x > 0 ? x : 0);
    }
}

enum { SUMS = 8 };

/* An odds is at most 2: the product of a thousand is finite. */
CLONES double vm_logit_sum(ptrdiff_t m, const double *linear, const double *odds) {
    double total = 0;
    for (ptrdiff_t begin = 0; begin < m; begin += 1000) {
        ptrdiff_t end = begin + 1000 < m ? begin + 1000 : m;
        double product[SUMS], sum[SUMS];
        for (int l = 0; l < SUMS; l++) product[l] = 1, sum[l] = 0;
        ptrdiff_t i = begin;
        for (; i + SUMS <= end; i += SUMS) {
            for (int l = 0; l < SUMS; l++) {
                sum[l] += linear[i + l];
                product[l] *= odds[i + l];
            }
        }
        for (; i < end; i++) {
            sum[0] += linear[i];
            product[0] *= odds[i];
        }
        for (int l = 1; l < SUMS; l++) {
            sum[0] += sum[l];
            product[0] *= product[l];
        }
        total += sum[0] - log(product[0]);
    }
    return total;
}

#define T double
#define NAME(x) x##_f64
#define LANES 8
#include "dense.inc"
#undef T
#undef NAME
#undef LANES

#define T float
#define NAME(x) x##_f32
#define LANES 16
#include "dense.inc"

/* Sums of single rows: double accumulates in place, float in a scratch row that is added once a
   call. */
CLONES void vm_tdot_f64(ptrdiff_t m, ptrdiff_t d, const double *restrict X, const ptrdiff_t *rows,
                        const double *restrict r, double *restrict out) {
    if (tdot_small_f64(1, m, d, X, rows, r, out)) return;
    tdot_wide_f64(m, d, X, rows, r, out);
}

CLONES void vm_tdot_f32(ptrdiff_t m, ptrdiff_t d, const float *restrict X, const ptrdiff_t *rows,
                        const double *restrict r, double *restrict out, float *restrict acc) {
    if (tdot_small_f32(1, m, d, X, rows, r, out)) return;
    for (ptrdiff_t j = 0; j < d; j++) acc[j] = 0;
    tdot_wide_f32(m, d, X, rows, r, acc);
    for (ptrdiff_t j = 0; j < d; j++) out[j] += acc[j];
}
