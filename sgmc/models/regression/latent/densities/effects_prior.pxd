# Where effects and their covariance stand among the parameters (beta, effects, phi, eta, logs)
from sgmc.models.regression.latent.densities.spectrum cimport Spectrum
from sgmc.models.mixed.loading cimport Loading

cdef class Blocks:
    cdef readonly Loading loading             # of all effects, those of a term one after the other
    cdef readonly Spectrum spectrum           # of the terms
    cdef readonly Py_ssize_t d, effects, size # coefficients; effects of all levels; all parameters
    cdef readonly Py_ssize_t[::1] first       # where the effects of each term begin
    cdef readonly Py_ssize_t[::1] levels, width, start    # of each term; its first row of Lambda
    cdef readonly Py_ssize_t[::1] number      # of each effect of each level, among the q
    cdef readonly double[::1] centring, row_precision, estimate       # of each, see `Loaded`
    cdef readonly double[::1] typical                     # phi at the centre
    cdef double[::1] kept, fixed  # of correlations: kept * xi + fixed stands for xi; 1 and 0 of sds
    cdef void root(self, const double *theta, double *out) noexcept nogil     # Lambda
    cdef void slopes(self, const double *theta, double *J) noexcept nogil     # of its entries
    cdef void loaded_phi(self, const double *theta, double *phi) noexcept nogil
    cdef double ratio(self, const double *theta, Py_ssize_t t, Py_ssize_t l,
                      double *slopes) noexcept nogil      # f, see `Spectrum`
    cdef double shrink(self, Py_ssize_t place, double sd, double excess) noexcept nogil
    cdef double excess(self, double sd, Py_ssize_t i) noexcept nogil
    # Lambda and its slopes with these correlations: effects in chains are multiplied by it
    cdef void load(self, const double *theta, double *out) noexcept nogil
    cdef void load_slopes(self, const double *theta, double *J) noexcept nogil
    # grad += the gradient by phi of a function whose slopes by entries (q x q) are known
    cdef void chain(self, const double *J, const double *entries, double *grad) noexcept nogil
