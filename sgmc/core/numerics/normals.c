/* Uniforms and standard normals from eight xoshiro256+ generators (Blackman & Vigna 2021) advanced
   side by side.  Normals by Box & Muller (1958): exact up to rounding, and without branches, hence
   SIMD. */
#include <math.h>  /* before vecmath.h: there MSVC has a macro of the name restrict */
#include <string.h>
#include "vecmath.h"
#define L 8

typedef struct { uint64_t a[L], b[L], c[L], d[L]; } Lanes;

INLINE void load(Lanes *s, const uint64_t *from) { memcpy(s, from, sizeof *s); }
INLINE void store(const Lanes *s, uint64_t *to) { memcpy(to, s, sizeof *s); }

/* one draw of every lane, as a double in [1, 2) made of the 52 best bits */
INLINE void advance(Lanes *s, double *unit) {
    ROLLED
    for (int k = 0; k < L; k++) {
        uint64_t sum = s->a[k] + s->d[k], t = s->b[k] << 17;
        s->c[k] ^= s->a[k];
        s->d[k] ^= s->b[k];
        s->b[k] ^= s->c[k];
        s->a[k] ^= s->d[k];
        s->c[k] ^= t;
        s->d[k] = (s->d[k] << 45) | (s->d[k] >> 19);
        uint64_t bits = (sum >> 12) | 0x3ff0000000000000ULL;
        memcpy(unit + k, &bits, 8);
    }
}

/* log x for x in (0, 1]: exponent and 2 atanh((m-1)/(m+1)), m in [1/sqrt 2, sqrt 2) */
INLINE double log_unit(double x) {
    uint64_t bits;
    memcpy(&bits, &x, 8);
    /* 2^52 + e, without an integer conversion */
    uint64_t exponent = (bits >> 52) | 0x4330000000000000ULL;
    double e, m;
    memcpy(&e, &exponent, 8);
    bits = (bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL;
    memcpy(&m, &bits, 8);
    double big = m > 1.4142135623730951;
    m = big > 0 ? m * 0.5 : m;
    e += big - (0x1p52 + 1023);
    double f = (m - 1) / (m + 1), s = f * f, p = 1. / 19;
    p = p * s + 1. / 17; p = p * s + 1. / 15; p = p * s + 1. / 13;
    p = p * s + 1. / 11; p = p * s + 1. / 9;
    p = p * s + 1. / 7;  p = p * s + 1. / 5;  p = p * s + 1. / 3;
    return e * 0.6931471805599453 + 2 * f * (1 + s * p);
}

double vm_log_unit(double x) { return log_unit(x); }

/* sine and cosine of 2 pi v for v in [-1/2, 1/2): quarter turns by rounding, Taylor within pi/4 */
INLINE void turn(double v, double *sine, double *cosine) {
    double quarter = (4 * v + 0x1.8p52) - 0x1.8p52;
    double a = (4 * v - quarter) * 1.5707963267948966, q = a * a;
    double s = a * (1 + q * (-1. / 6 + q * (1. / 120 + q * (-1. / 5040 + q * (1. / 362880
               + q * (-1. / 39916800 + q * (1. / 6227020800.)))))));
    double c = 1 + q * (-.5 + q * (1. / 24 + q * (-1. / 720 + q * (1. / 40320 + q * (-1. / 3628800
               + q * (1. / 479001600. + q * (-1. / 87178291200.)))))));
    double shifted = quarter + 0x1.8p52;
    uint64_t n, sb, cb;
    memcpy(&n, &shifted, 8);
    double s1 = (n & 1) ? c : s, c1 = (n & 1) ? s : c;
    memcpy(&sb, &s1, 8);
    memcpy(&cb, &c1, 8);
    sb ^= (n & 2) << 62;
    cb ^= ((n + 1) & 2) << 62;
    memcpy(sine, &sb, 8);
    memcpy(cosine, &cb, 8);
}

CLONES void vm_normals(ptrdiff_t n, uint64_t *state, double *restrict out) {
    Lanes s;
    double radius[L], angle[L];
    load(&s, state);
    for (ptrdiff_t i = 0; i + 2 * L <= n; i += 2 * L) {
        advance(&s, radius);
        advance(&s, angle);
        for (int k = 0; k < L; k++) {
            /* 2 - [1, 2) is (0, 1] */
            double r = sqrt(-2 * log_unit(2.0 - radius[k])), sine, cosine;
            turn(angle[k] - 1.5, &sine, &cosine);
            out[i + k] = r * cosine;
            out[i + L + k] = r * sine;
        }
    }
    store(&s, state);
}

CLONES void vm_uniforms(ptrdiff_t n, uint64_t *state, double *restrict out) {
    Lanes s;
    double unit[L];
    load(&s, state);
    for (ptrdiff_t i = 0; i + L <= n; i += L) {
        advance(&s, unit);
        for (int k = 0; k < L; k++) out[i + k] = unit[k] - 1.0;
    }
    store(&s, state);
}
