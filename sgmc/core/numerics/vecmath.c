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

/* exp(x) / (1 + exp(x)) is down / (down + up), with exp(-x) = 2^k (even + odd) / (even - odd) of
   |r| <= log(2)/2, the Pade approximant of order 6: one division in all.  Relative error below
   5e-16 on [-690, 690], clamped outside. */
INLINE void odds_(double x, double *up, double *down) {
    x = x < -690. ? -690. : x > 690. ? 690. : x;
    double t = 0x1.8p52 - x * 1.4426950408889634;
    uint64_t k;
    memcpy(&k, &t, 8);
    t -= 0x1.8p52;
    double r = -x - t * 6.93147180369123816490e-01;
    r -= t * 1.90821492927058770002e-10;
    double s = r * r;
    double even = 665280 + s * (75600 + s * (840 + s)), odd = r * (332640 + s * (10080 + s * 42));
    double sum = even + odd;
    uint64_t bits;
    memcpy(&bits, &sum, 8);
    bits += k << 52;
    memcpy(up, &bits, 8);
    *down = even - odd;
}

INLINE double expit_(double x) {
    double up, down;
    odds_(x, &up, &down);
    return down / (down + up);
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

CLONES void vm_log1p_unit(ptrdiff_t m, const double *restrict u, double *restrict out) {
    for (ptrdiff_t i = 0; i < m; i++) out[i] = log1p_unit(u[i]);
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
    for (ptrdiff_t i = 0; i < m; i++) p[i] = expit_(eta[i]);
}

CLONES void vm_logit_score(ptrdiff_t m, const double *restrict eta, const double *restrict y,
                           double *restrict r) {
    for (ptrdiff_t i = 0; i < m; i++) r[i] = y[i] - expit_(eta[i]);
}

CLONES void vm_logit_curvature(ptrdiff_t m, const double *restrict eta, double *restrict w) {
    for (ptrdiff_t i = 0; i < m; i++) {
        double up, down, both;
        odds_(eta[i], &up, &down);
        both = up + down;
        w[i] = down / both * (up / both);
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

/* log x for x in [1, inf), by its exponent and log1p_unit of what is left */
INLINE double log_(double x) {
    uint64_t bits, whole;
    double e;
    memcpy(&bits, &x, 8);
    whole = (bits >> 52) | 0x4330000000000000; /* 2^52 and the exponent, as a double */
    memcpy(&e, &whole, 8);
    bits = (bits & 0x000fffffffffffff) | 0x3ff0000000000000;
    memcpy(&x, &bits, 8);
    e -= 0x1p52 + 1023;
    return e * 6.93147180369123816490e-01 + (log1p_unit(x - 1) + e * 1.90821492927058770002e-10);
}

enum { FEW = 32 }; /* rows whose sums are taken node beside node */

CLONES void vm_logit_sums(ptrdiff_t nodes, ptrdiff_t m, const double *restrict linear,
                          const double *restrict odds, double *restrict total) {
    ptrdiff_t k = 0;
    for (; m <= FEW && k + SUMS <= nodes; k += SUMS) {
        double product[SUMS], sum[SUMS];
        for (int l = 0; l < SUMS; l++) product[l] = 1, sum[l] = 0;
        for (ptrdiff_t i = 0; i < m; i++)
            for (int l = 0; l < SUMS; l++) {
                sum[l] += linear[(k + l) * m + i];
                product[l] *= odds[(k + l) * m + i];
            }
        for (int l = 0; l < SUMS; l++) total[k + l] += sum[l] - log_(product[l]);
    }
    for (; k < nodes; k++) total[k] += vm_logit_sum(m, linear + k * m, odds + k * m);
}

/* exp(x) in float for x <= 0, clamped at -87: see exp_; relative error below 3e-7 */
INLINE float exp_single(float x) {
    x = x < -87.f ? -87.f : x;
    float t = x * 1.44269504f + 0x1.8p23f;
    uint32_t k;
    memcpy(&k, &t, 4);
    t -= 0x1.8p23f;
    float r = x - t * 0.693145752f; /* log 2 in two parts */
    r -= t * 1.42860677e-6f;
    float s = r * r;
    float p = ((1 + r) + s * (0.5f + r * (1.f / 6)))
            + (s * s) * ((1.f / 24 + r * (1.f / 120)) + s * (1.f / 720));
    uint32_t bits;
    memcpy(&bits, &p, 4);
    bits += k << 23;
    memcpy(&p, &bits, 4);
    return p;
}

enum { SINGLES = 512, FLOATS = 16 }; /* an odds is at most 2: products of 32 are finite */

/* A block's numbers in float, sums of blocks in double: the error is that of float linear
   predictors. */
CLONES double vm_logit_total_single(ptrdiff_t m, const double *restrict eta,
                                    const double *restrict y) {
    double total = 0;
    for (ptrdiff_t begin = 0; begin < m; begin += SINGLES) {
        ptrdiff_t n = m - begin < SINGLES ? m - begin : SINGLES;
        float linear[SINGLES], odds[SINGLES];
        for (ptrdiff_t i = 0; i < n; i++) {
            float x = (float)eta[begin + i];
            odds[i] = 1 + exp_single(-fabsf(x));
            linear[i] = (float)y[begin + i] * x - (x > 0 ? x : 0);
        }
        for (ptrdiff_t i = n; i % FLOATS; i++) odds[i] = 1, linear[i] = 0;
        float product[FLOATS], sum[FLOATS];
        for (int l = 0; l < FLOATS; l++) product[l] = odds[l], sum[l] = linear[l];
        for (ptrdiff_t i = FLOATS; i < n; i += FLOATS)
            ROLLED for (int l = 0; l < FLOATS; l++) {
                product[l] *= odds[i + l];
                sum[l] += linear[i + l];
            }
        double all = 1;
        for (int l = 0; l < FLOATS; l++) {
            all *= product[l];
            total += sum[l];
        }
        total -= log(all);
    }
    return total;
}

#define T double
#define PLACE int64_t
#define NAME(x) x##_f64
#define LANES 8
#include "dense.inc"
#undef T
#undef PLACE
#undef NAME
#undef LANES

#define T float
#define PLACE int32_t
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
