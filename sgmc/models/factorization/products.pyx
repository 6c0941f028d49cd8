"""See products.pxd."""
cdef extern from "pairs.h" nogil:
    void vm_products(Py_ssize_t m, Py_ssize_t d, const Entry *table, const Py_ssize_t *rows,
                     const double *U, const double *V, double *out)
    void vm_add_products(Py_ssize_t m, Py_ssize_t d, const Entry *table, const Py_ssize_t *rows,
                         const double *r, const double *U,
                         const double *V, double *gU, double *gV)


cdef void products(Py_ssize_t m, Py_ssize_t d, const Entry *table, const Py_ssize_t *rows,
                   const double *U, const double *V, double *out) noexcept nogil:
    vm_products(m, d, table, rows, U, V, out)


cdef void add_products(Py_ssize_t m, Py_ssize_t d, const Entry *table, const Py_ssize_t *rows,
                       const double *r, const double *U, const double *V, double *gU,
                       double *gV) noexcept nogil:
    vm_add_products(m, d, table, rows, r, U, V, gU, gV)
