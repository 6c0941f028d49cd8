"""Storage of a table whose factors stay codes: a product gathers, its transpose scatters."""
import numpy as np

from libc.stdint cimport int16_t, int32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from sgmc.core.contract cimport OK, Batch, Design, fetch_rows, row_of

ctypedef fused code_t:
    int16_t
    int32_t


cdef class Terms(Design):
    """A dense block, and for each categorical term of a row a cell of a table.

    Parameters
    ----------
    table : object
        With the attributes of `sgmc.formula.designs.coded.CodedTable`.
    inner : Design
        The dense block.
    """

    cdef readonly object table
    cdef readonly Design inner                    # the block of numbers
    cdef const double[:, ::1] wide                # the same numbers, in their precision
    cdef const float[:, ::1] narrow
    cdef bint single
    cdef Py_ssize_t p, terms, ones                # ones: the column that is 1 in each row, or -1
    cdef const Py_ssize_t[::1] places
    cdef const int16_t[:, ::1] short_codes        # codes of two bytes, or of four
    cdef const int32_t[:, ::1] long_codes
    cdef bint short
    cdef const double[:, ::1] factors
    cdef const int32_t[::1] by, ends, columns     # of cells: where their entries end, and these
    cdef const double[::1] values
    cdef Py_ssize_t widest                        # entries of a row, numbers aside
    # of cells with at most one entry, under no multiplier: its column and value, else 0 and 0
    cdef bint plain
    cdef const int32_t[::1] column_of
    cdef const double[::1] value_of

    def __init__(self, table, Design inner):
        cells = table.cells
        self.table, self.inner = table, inner
        self.n, self.d = table.shape
        self.p, self.terms, self.ones = len(table.places), len(table.by), table.ones
        self.single = table.numbers.dtype == np.float32
        if self.single:
            self.narrow = table.numbers
        else:
            self.wide = table.numbers
        self.places = np.ascontiguousarray(table.places, dtype=np.intp)
        self.short = table.codes.dtype == np.int16
        if self.short:
            self.short_codes = np.ascontiguousarray(table.codes)
        else:
            self.long_codes = np.ascontiguousarray(table.codes, dtype=np.int32)
        self.factors = np.ascontiguousarray(table.factors, dtype=np.float64)
        self.by = np.ascontiguousarray(table.by, dtype=np.int32)
        self.ends = np.ascontiguousarray(cells.indptr, dtype=np.int32)
        self.columns = np.ascontiguousarray(cells.indices, dtype=np.int32)
        self.values = np.ascontiguousarray(cells.data, dtype=np.float64)
        self.widest = self.terms * int(np.diff(cells.indptr).max(initial=0)) + 1
        self.tile = inner.tile
        entries = np.diff(cells.indptr)
        self.plain = self.terms > 0 and entries.max(initial=0) <= 1 and (table.by < 0).all()
        column, value = np.zeros(len(entries), dtype=np.int32), np.zeros(len(entries))
        if self.plain:
            column[entries == 1], value[entries == 1] = cells.indices, cells.data
        self.column_of, self.value_of = column, value

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return 2 * self.p + self.inner.work_size()

    cdef void fetch(self, const Batch *b) noexcept nogil:
        if self.short:
            fetch_rows(b, &self.short_codes[0, 0], self.terms * sizeof(int16_t))
        else:
            fetch_rows(b, &self.long_codes[0, 0], self.terms * sizeof(int32_t))
        if self.p:
            self.inner.fetch(b)

    cdef Py_ssize_t cell(self, Py_ssize_t row, Py_ssize_t t) noexcept nogil:
        return self.short_codes[row, t] if self.short else self.long_codes[row, t]

    cdef double number(self, Py_ssize_t row, Py_ssize_t q) noexcept nogil:
        return self.narrow[row, q] if self.single else self.wide[row, q]

    cdef double multiplier(self, Py_ssize_t row, Py_ssize_t t) noexcept nogil:
        return 1 if self.by[t] < 0 else self.factors[row, self.by[t]]

    cdef int dot(self, const Batch *b, const double *theta, double *eta,
                 double *work) except -1 nogil:
        cdef Py_ssize_t i, t, q, row
        cdef Py_ssize_t cell
        cdef double total, part
        memset(eta, 0, b.m * sizeof(double))
        if self.p:
            for q in range(self.p):
                work[q] = theta[self.places[q]]
            self.inner.dot(b, work, eta, work + self.p)
        for i in range(b.m if self.ones >= 0 else 0):
            eta[i] += theta[self.ones]
        if self.plain:
            if self.short:
                self.gather(b, &self.short_codes[0, 0], theta, eta)
            else:
                self.gather(b, &self.long_codes[0, 0], theta, eta)
            return OK
        for i in range(b.m):
            row = row_of(b, i)
            total = eta[i]
            for t in range(self.terms):
                cell = self.cell(row, t)
                part = 0
                for q in range(self.ends[cell], self.ends[cell + 1]):
                    part += self.values[q] * theta[self.columns[q]]
                total += part if self.by[t] < 0 else part * self.factors[row, self.by[t]]
            eta[i] = total
        return OK

    cdef int tdot(self, const Batch *b, const double *r, double *out, double *work) except -1 nogil:
        cdef Py_ssize_t i, t, q, row
        cdef Py_ssize_t cell
        cdef double pull
        if self.p:
            memset(work, 0, self.p * sizeof(double))
            self.inner.tdot(b, r, work, work + self.p)
            for q in range(self.p):
                out[self.places[q]] += work[q]
        pull = 0
        for i in range(b.m if self.ones >= 0 else 0):
            pull += r[i]
        if self.ones >= 0:
            out[self.ones] += pull
        if self.plain:
            if self.short:
                self.scatter(b, &self.short_codes[0, 0], r, out)
            else:
                self.scatter(b, &self.long_codes[0, 0], r, out)
            return OK
        for i in range(b.m):
            row = row_of(b, i)
            for t in range(self.terms):
                cell = self.cell(row, t)
                pull = r[i] * self.multiplier(row, t)
                for q in range(self.ends[cell], self.ends[cell + 1]):
                    out[self.columns[q]] += pull * self.values[q]
        return OK

    cdef int tdot_sq(self, const Batch *b, const double *r, double *out) except -1 nogil:
        cdef Py_ssize_t i, t, q, row
        cdef Py_ssize_t cell
        cdef double term
        for i in range(b.m):
            row = row_of(b, i)
            for q in range(self.p):
                term = r[i] * self.number(row, q)
                out[self.places[q]] += term * term
            if self.ones >= 0:
                out[self.ones] += r[i] * r[i]
            for t in range(self.terms):
                cell = self.cell(row, t)
                for q in range(self.ends[cell], self.ends[cell + 1]):
                    term = r[i] * self.multiplier(row, t) * self.values[q]
                    out[self.columns[q]] += term * term
        return OK

    cdef int gram(self, const Batch *b, const double *w, double *out,
                  Py_ssize_t stride) except -1 nogil:
        cdef Py_ssize_t i, j, k, row, count
        cdef double pull
        cdef double *block = <double *> calloc(self.p * self.p + 1, sizeof(double))
        cdef double *value = <double *> malloc((self.widest + 1) * sizeof(double))
        cdef Py_ssize_t *column = <Py_ssize_t *> malloc((self.widest + 1) * sizeof(Py_ssize_t))
        try:
            if block == NULL or value == NULL or column == NULL:
                with gil:
                    raise MemoryError
            if self.p:
                self.inner.gram(b, w, block, self.p)
            for j in range(self.p):
                for k in range(j, self.p):
                    add(out, stride, self.places[j], self.places[k], block[j * self.p + k])
            if self.plain:
                if self.short:
                    self.tabulate(b, &self.short_codes[0, 0], w, out, stride)
                else:
                    self.tabulate(b, &self.long_codes[0, 0], w, out, stride)
                return OK
            for i in range(b.m):
                row = row_of(b, i)
                count = self.entries(row, column, value)
                for j in range(count):
                    pull = w[i] * value[j]
                    for k in range(j, count):
                        add(out, stride, column[j], column[k], pull * value[k])
                    for k in range(self.p):
                        add(out, stride, column[j], self.places[k], pull * self.number(row, k))
        finally:
            free(block)
            free(value)
            free(column)
        return OK

    cdef void gather(self, const Batch *b, const code_t *table, const double *theta,
                     double *eta) noexcept nogil:
        """eta_i += the coefficients of a row's cells, where these are plain."""
        cdef Py_ssize_t i, t
        cdef const code_t *codes
        cdef double total
        for i in range(b.m):
            codes = table + row_of(b, i) * self.terms
            total = eta[i]
            for t in range(self.terms):
                total += self.value_of[codes[t]] * theta[self.column_of[codes[t]]]
            eta[i] = total

    cdef void scatter(self, const Batch *b, const code_t *table, const double *r,
                      double *out) noexcept nogil:
        """out += r_i at the columns of a row's cells, where these are plain."""
        cdef Py_ssize_t i, t
        cdef const code_t *codes
        for i in range(b.m):
            codes = table + row_of(b, i) * self.terms
            for t in range(self.terms):
                out[self.column_of[codes[t]]] += r[i] * self.value_of[codes[t]]

    cdef void tabulate(self, const Batch *b, const code_t *table, const double *w, double *out,
                       Py_ssize_t stride) noexcept nogil:
        """Weighted products of a row's cells with each other, its numbers and the column of ones,
        and of the latter with itself and the numbers, where cells are plain.
        """
        cdef Py_ssize_t i, t, u, q, row, j
        cdef const code_t *codes
        cdef double pull
        for i in range(b.m):
            row = row_of(b, i)
            codes = table + row * self.terms
            for t in range(self.terms):
                pull = w[i] * self.value_of[codes[t]]
                if pull == 0:
                    continue
                j = self.column_of[codes[t]]
                for u in range(t + 1):
                    add(out, stride, self.column_of[codes[u]], j, pull * self.value_of[codes[u]])
                for q in range(self.p):
                    add(out, stride, j, self.places[q], pull * self.number(row, q))
                if self.ones >= 0:
                    add(out, stride, j, self.ones, pull)
            if self.ones < 0:
                continue
            for q in range(self.p):
                add(out, stride, self.ones, self.places[q], w[i] * self.number(row, q))
            add(out, stride, self.ones, self.ones, w[i])

    def forms(self, S, rows=slice(None)):
        """x' S x of each row, or of a slice of them, an array, for S (d, d) or None, the identity.
        """
        cdef const double[:, ::1] form = np.ascontiguousarray(np.eye(self.d) if S is None else S)
        cdef Py_ssize_t first = rows.indices(self.n)[0], last = rows.indices(self.n)[1]
        cdef double[::1] out = np.zeros(last - first), value = np.empty(self.widest + self.p + 1)
        cdef Py_ssize_t[::1] column = np.empty(self.widest + self.p + 1, dtype=np.intp)
        cdef Py_ssize_t i, j, k, q, count
        cdef double pull
        with nogil:
            for i in range(first, last):
                count = self.entries(i, &column[0], &value[0])
                for q in range(self.p):
                    column[count], value[count] = self.places[q], self.number(i, q)
                    count += 1
                for j in range(count):
                    pull = 0.5 * form[column[j], column[j]] * value[j]
                    for k in range(j):
                        pull += form[column[j], column[k]] * value[k]
                    out[i - first] += 2 * pull * value[j]
        return np.asarray(out)

    cdef Py_ssize_t entries(self, Py_ssize_t row, Py_ssize_t *column, double *value) noexcept nogil:
        """Columns and values of a row's cells and of the column of ones; how many they are."""
        cdef Py_ssize_t t, q, count = 0
        cdef Py_ssize_t cell
        if self.ones >= 0:
            column[0], value[0] = self.ones, 1
            count = 1
        for t in range(self.terms):
            cell = self.cell(row, t)
            for q in range(self.ends[cell], self.ends[cell + 1]):
                column[count] = self.columns[q]
                value[count] = self.multiplier(row, t) * self.values[q]
                count += 1
        return count


cdef inline void add(double *out, Py_ssize_t stride, Py_ssize_t j, Py_ssize_t k,
                     double value) noexcept nogil:
    """The upper triangle's place of (j, k) += value."""
    out[min(j, k) * stride + max(j, k)] += value
