#include "pairs.h"
#include "vecmath.h"

/* Four lanes, whatever the machine's vectors: the same order of every sum, hence the same bits. */
INLINE double dot(ptrdiff_t d, const double *restrict u, const double *restrict v) {
    double a[4] = {0, 0, 0, 0}, sum;
    ptrdiff_t k = 0;
    for (; k + 4 <= d; k += 4)
        ROLLED for (int j = 0; j < 4; j++) a[j] += u[k + j] * v[k + j];
    sum = (a[0] + a[1]) + (a[2] + a[3]);
    for (; k < d; k++) sum += u[k] * v[k];
    return sum;
}

CLONES void vm_products(ptrdiff_t m, ptrdiff_t d, const vm_entry *table, const ptrdiff_t *rows,
                        const double *U, const double *V, double *out) {
    for (ptrdiff_t i = 0; i < m; i++) {
        const vm_entry *y = table + (rows ? rows[i] : i);
        out[i] = dot(d, U + y->user * d, V + y->item * d);
    }
}

CLONES void vm_add_products(ptrdiff_t m, ptrdiff_t d, const vm_entry *table, const ptrdiff_t *rows,
                            const double *r, const double *U, const double *V, double *gU,
                            double *gV) {
    for (ptrdiff_t i = 0; i < m; i++) {
        const vm_entry *y = table + (rows ? rows[i] : i);
        const double *restrict u = U + y->user * d, *restrict v = V + y->item * d;
        double *restrict gu = gU + y->user * d, *restrict gv = gV + y->item * d;
        const double c = r[i];
        for (ptrdiff_t k = 0; k < d; k++) gu[k] += c * v[k];
        for (ptrdiff_t k = 0; k < d; k++) gv[k] += c * u[k];
    }
}
