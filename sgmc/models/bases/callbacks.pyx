"""Models of users: a Python object, or the address of a compiled function."""
import numpy as np

from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from sgmc.core.contract cimport OK, Batch, Model, Prior, Scratch, row_of
from sgmc.errors import ArgumentError

cdef enum:
    MAX_CALL_ROWS = 65536                  # rows a call

ctypedef double (*Function)(int64_t d, const double *theta, int64_t m, const int64_t *rows,
                            double *grad, void *data) noexcept nogil


cdef class PythonKernel(Model):
    """Calls ``value(theta, rows)`` and ``slope(theta, rows)``, which hold the interpreter lock;
    theta is a fresh array (dim,).

    Parameters
    ----------
    dim, n : int
    value : callable
        A number.
    slope : callable
        An array (dim,).
    """

    cdef readonly object value, slope

    def __init__(self, Py_ssize_t dim, Py_ssize_t n, value, slope):
        self.dim, self.n, self.tile = dim, n, min(max(n, 1), MAX_CALL_ROWS)
        self.value, self.slope = value, slope

    @property
    def foreign(self):
        """Whether the density is computed by code of users: it is."""
        return True

    @property
    def undefined(self):
        """What the functions returned that is NaN: see `Problem.undefined`."""
        found = [getattr(call, "undefined", None) for call in (self.slope, self.value)]
        return [one for one in found if one is not None]

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        with gil:
            if b.weight != NULL:
                return self.add_weighted(theta, b, s, value, grad)
            return self.add_plain(theta, b, b.scale, value, grad)

    cdef int add_plain(self, const double *theta, const Batch *b, double c, double *value,
                       double *grad) except -1:
        cdef double[::1] place = np.empty(self.dim)
        cdef const double[::1] slope
        cdef Py_ssize_t j
        rows = listed_rows(b)
        memcpy(&place[0], theta, self.dim * sizeof(double))
        at = np.asarray(place)
        if value != NULL:
            value[0] += c * <double> self.value(at, rows)
        if grad != NULL:
            slope = self.slope(at, rows)
            if slope.shape[0] != self.dim:
                raise ArgumentError(f"grad returned {slope.shape[0]} numbers; it must be "
                                    f"{self.dim}, one a parameter")
            for j in range(self.dim):
                grad[j] += c * slope[j]
        return OK

    cdef int add_weighted(self, const double *theta, const Batch *b, Scratch *s, double *value,
                          double *grad) except -1:
        """Row by row: what a sum of rows is, the model says only for rows that count alike."""
        cdef Batch row = b[0]
        cdef Py_ssize_t i
        row.m, row.weight = 1, NULL
        for i in range(b.m):
            row.start = row_of(b, i)
            row.rows = NULL
            self.add_plain(theta, &row, b.scale * b.weight[i], value, grad)
        return OK


cdef class PairKernel(PythonKernel):
    """A `PythonKernel` whose log density and gradient come from one call, over any number of rows:
    ``slope(theta, rows)`` returns an array (1 + dim,), the log density first.  `rows` is None where
    it is all of them.  ``apart(theta, centre, rows)`` is the gradient at theta less that at a
    centre, an array (dim,): what control variates ask for.  Those of second order ask for
    ``expanded(places, share, rows)``, places theta, one near the centre at its share of the way,
    and the centre, (3, dim): that less the same of the second over its share.  ``each`` gives it of
    each row by itself, (rows, dim).
    """

    cdef readonly object apart, expanded, each

    def __init__(self, Py_ssize_t dim, Py_ssize_t n, value, pair, apart, expanded, each):
        PythonKernel.__init__(self, dim, n, value, pair)
        self.tile, self.apart, self.expanded, self.each = n, apart, expanded, each

    cdef int add_apart(self, const double *theta, const double *centre, const Batch *b, Scratch *s,
                       double *grad) except -1 nogil:
        cdef Py_ssize_t j
        cdef const double[::1] found
        if b.weight != NULL:
            return PythonKernel.add_apart(self, theta, centre, b, s, grad)
        with gil:
            found = self.apart(np.array(<const double[:self.dim]> <double *> theta),
                               np.array(<const double[:self.dim]> <double *> centre),
                               listed_rows(b))
            for j in range(self.dim):
                grad[j] += b.scale * found[j]
        return OK

    cdef int add_plain(self, const double *theta, const Batch *b, double c, double *value,
                       double *grad) except -1:
        cdef const double[::1] found
        cdef Py_ssize_t j
        at = np.array(<const double[:self.dim]> <double *> theta)
        rows = None if b.rows == NULL and b.m == self.n else listed_rows(b)
        if grad == NULL:
            if value != NULL:
                value[0] += c * <double> self.value(at, rows)
            return OK
        found = self.slope(at, rows)
        if value != NULL:
            value[0] += c * found[0]
        for j in range(self.dim):
            grad[j] += c * found[1 + j]
        return OK


cdef object listed_rows(const Batch *b):
    """Rows of a batch as Python has them: a slice, or an array of numbers."""
    if b.rows == NULL:
        return slice(b.start, b.start + b.m)
    return np.array(<const Py_ssize_t[:b.m]> <Py_ssize_t *> b.rows)


cdef class PythonPrior(Prior):
    """Calls ``value(theta)`` and ``slope(theta)``; see `PythonKernel`."""

    cdef readonly object value, slope

    def __init__(self, Py_ssize_t dim, value, slope):
        Prior.__init__(self, dim)
        self.value, self.slope = value, slope

    @property
    def foreign(self):
        """Whether the density is computed by code of users: it is."""
        return True

    @property
    def undefined(self):
        """What the functions returned that is NaN: see `Problem.undefined`."""
        found = [getattr(call, "undefined", None) for call in (self.slope, self.value)]
        return [one for one in found if one is not None]

    cdef int add(self, const double *theta, double *value, double *grad) except -1 nogil:
        cdef Py_ssize_t j
        cdef const double[::1] slope
        with gil:
            at = np.array(<const double[:self.dim]> <double *> theta)
            if value != NULL:
                value[0] += <double> self.value(at)
            if grad != NULL:
                slope = self.slope(at)
                if slope.shape[0] != self.dim:
                    raise ArgumentError(f"grad_log_prior returned {slope.shape[0]} numbers; it "
                                        f"must be {self.dim}, one per parameter")
                for j in range(self.dim):
                    grad[j] += slope[j]
        return OK


cdef class AddressKernel(Model):
    """Calls a compiled function, without the interpreter lock:

    ``double f(int64_t d, const double *theta, int64_t m, const int64_t *rows, double *grad, void
    *data)``

    returns the log density of m rows together and fills grad (d numbers, all zero) with its
    gradient.

    Parameters
    ----------
    dim, n : int
    address, data : int
        Of the function and of what it is given as `data`.
    keep : object
        What must live as long as the model.

    Attributes
    ----------
    plain : bool
        Whether a row is a few operations for each parameter; False where it stands for data of
        unknown size.
    """

    # code and data belong to the user: `keep` holds them, except behind bare addresses
    cdef Function function
    cdef void *data
    cdef object keep
    cdef public bint plain

    def __init__(self, Py_ssize_t dim, Py_ssize_t n, uintptr_t address, uintptr_t data=0,
                 keep=None):
        self.dim, self.n, self.tile, self.plain = dim, n, min(max(n, 1), 1024), True
        self.function, self.data, self.keep = <Function> <void *> address, <void *> data, keep

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return self.dim + self.tile

    @property
    def foreign(self):
        """Whether the density is computed by code of users: it is."""
        return True

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef double *slope = s.work
        cdef int64_t *rows = <int64_t *> (s.work + self.dim)
        cdef Py_ssize_t i, j
        cdef double c, density
        for i in range(b.m):
            rows[i] = row_of(b, i)
        if b.weight == NULL:
            return self.call(theta, b.m, rows, b.scale, slope, value, grad)
        for i in range(b.m):
            self.call(theta, 1, rows + i, b.scale * b.weight[i], slope, value, grad)
        return OK

    cdef int call(self, const double *theta, int64_t m, const int64_t *rows, double c,
                  double *slope, double *value, double *grad) except -1 nogil:
        cdef Py_ssize_t j
        cdef double density
        memset(slope, 0, self.dim * sizeof(double))
        density = self.function(self.dim, theta, m, rows, slope, self.data)
        if value != NULL:
            value[0] += c * density
        if grad != NULL:
            for j in range(self.dim):
                grad[j] += c * slope[j]
        return OK


cdef class SplitKernel(AddressKernel):
    """An `AddressKernel` with a function for the log density, and another for its gradient."""

    cdef Function value_alone

    def __init__(self, Py_ssize_t dim, Py_ssize_t n, uintptr_t value, uintptr_t slope,
                 uintptr_t data=0, keep=None):
        AddressKernel.__init__(self, dim, n, slope, data, keep)
        self.value_alone = <Function> <void *> value

    cdef int call(self, const double *theta, int64_t m, const int64_t *rows, double c,
                  double *slope, double *value, double *grad) except -1 nogil:
        if value != NULL:
            value[0] += c * self.value_alone(self.dim, theta, m, rows, slope, self.data)
        if grad != NULL:
            AddressKernel.call(self, theta, m, rows, c, slope, NULL, grad)
        return OK


cdef class AddressPrior(Prior):
    """Calls a compiled log prior of the signature of `AddressKernel`, with one row that it does not
    read; it adds to the gradient.

    Parameters
    ----------
    dim : int
    address : int
    keep : object
        What must live as long as the prior.
    """

    cdef Function function
    cdef object keep

    def __init__(self, Py_ssize_t dim, uintptr_t address, keep):
        Prior.__init__(self, dim)
        self.function, self.keep = <Function> <void *> address, keep

    @property
    def plain(self):
        """See `AddressKernel`: it is."""
        return True

    @property
    def foreign(self):
        """Whether the density is computed by code of users: it is."""
        return True

    cdef int add(self, const double *theta, double *value, double *grad) except -1 nogil:
        cdef int64_t row = 0
        cdef double density
        cdef double *unused = NULL
        if grad == NULL:
            unused = grad = <double *> calloc(self.dim, sizeof(double))
            if grad == NULL:
                with gil:
                    raise MemoryError
        density = self.function(self.dim, theta, 1, &row, grad, NULL)
        free(unused)
        if value != NULL:
            value[0] += density
        return OK
