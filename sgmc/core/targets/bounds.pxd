from sgmc.core.targets.target cimport Map, Model, Prior

cdef class Bounds:  # immutable, shared by chains; in sampler coordinates, the rows' numbers times N
    cdef readonly Py_ssize_t dim
    cdef readonly double[::1] centre                           # x*
    cdef readonly double[::1] slope, prior_slope               # |dU/dx_i| and |dP/dx_i| at x*
    # N max_j of |z_ji| S_j, |z_ji s_j*|, |z_ji| |z_j| K_j
    cdef readonly double[::1] score, tilt, curvature
    # sum_j |z_ji s_j*|: twice the rate of flips that single rows cause
    cdef readonly double[::1] noise
    cdef readonly double[::1] whole  # the same three of whole rows: |z_j| in the place of |z_ji|
    # Lipschitz constants of dP/dx_i; what its kinks may add to it
    cdef readonly double[::1] prior_curvature, jump
    cdef readonly double prior_norm                            # largest eigenvalue of P's curvature
    cdef readonly double[:, ::1] hessian  # v' H v is at least |v' U'' v|; empty unless asked for
