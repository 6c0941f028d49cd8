#include "stein.h"
#include "vecmath.h"

enum { BLOCK = 16 };

CLONES void vm_stein(ptrdiff_t d, ptrdiff_t stride, ptrdiff_t begin, ptrdiff_t end,
                     const double *restrict x, const double *restrict s, const double *restrict y,
                     const double *restrict t, double *restrict r2, double *restrict st,
                     double *restrict cross) {
    for (ptrdiff_t b = begin / BLOCK * BLOCK; b < end; b += BLOCK) {
        double squares[BLOCK], products[BLOCK], both[BLOCK];
        ROLLED for (int k = 0; k < BLOCK; k++) {
            squares[k] = products[k] = 0;
            both[k] = (double)d;
        }
        for (ptrdiff_t j = 0; j < d; j++) {
            const double *restrict yj = y + j * stride + b, *restrict tj = t + j * stride + b;
            ROLLED for (int k = 0; k < BLOCK; k++) {
                double e = x[j] - yj[k];
                squares[k] += e * e;
                products[k] += s[j] * tj[k];
                both[k] += (s[j] - tj[k]) * e;
            }
        }
        ROLLED for (int k = 0; k < BLOCK; k++) {
            r2[b + k] = squares[k];
            st[b + k] = products[k];
            cross[b + k] = both[k];
        }
    }
}
