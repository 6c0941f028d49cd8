# What chains share of a centre; see contract.pxd, which has this name too
from sgmc.core.targets.bordered cimport Bordered
from sgmc.core.targets.target cimport Model

# immutable, shared by chains: a centre, its scores (n x width), curvatures, full gradient
cdef class Anchor:
    cdef readonly Py_ssize_t n                # rows
    cdef readonly double[::1] centre, full    # natural coordinates; likelihood only
    cdef readonly double[::1] scores          # empty where width == 0
    # J_i centre, n x width, as `last_predictors` gives them; empty unless asked for
    cdef readonly double[::1] predictors
    # -d score/d eta a row (n x width x width), empty unless asked for
    cdef readonly double[::1] curvature
    cdef readonly double[:, ::1] hessian      # sum J_i' w_i J_i; empty unless asked for
    cdef readonly Bordered bend               # the same, for products
    # rows whose gradient is always computed: their control value is perfect
    cdef readonly Py_ssize_t[::1] exact
    cdef readonly char[::1] is_exact          # the same as a flag a row
