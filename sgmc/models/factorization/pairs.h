/* Products of rows of two tables of factors, the pairs being listed: e.g. ratings of items by
   users. */
#ifndef SGMC_PAIRS_H
#define SGMC_PAIRS_H
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int32_t user, item;
    double value;
} vm_entry;

/* out_i = U[user] . V[item], rows of d numbers; rows == NULL means entries 0..m-1, otherwise entry
   rows[i] is the i-th wanted */
void vm_products(ptrdiff_t m, ptrdiff_t d, const vm_entry *table, const ptrdiff_t *rows,
                 const double *U, const double *V, double *out);
/* gU[user] += r_i V[item], gV[item] += r_i U[user] */
void vm_add_products(ptrdiff_t m, ptrdiff_t d, const vm_entry *table, const ptrdiff_t *rows,
                     const double *r, const double *U, const double *V, double *gU, double *gV);
#endif
