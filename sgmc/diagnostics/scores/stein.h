/* Sums over coordinates behind the Stein kernel of one draw with a tile of others. */
#ifndef SGMC_STEIN_H
#define SGMC_STEIN_H
#include <stddef.h>

/* Of a draw x with score s and the draws begin <= b < end of a tile, coordinate j of which is at
   y[j stride + b], of their scores at t: r2 = |x - y_b|^2, st = s . t_b and cross = d +
   (s - t_b) . (x - y_b).  Draws are computed in blocks of 16: stride is a multiple of them, and
   numbers before begin and after end are written over. */
void vm_stein(ptrdiff_t d, ptrdiff_t stride, ptrdiff_t begin, ptrdiff_t end, const double *x,
              const double *s, const double *y, const double *t, double *r2, double *st,
              double *cross);
#endif
