from sgmc.models.hmm.windows cimport Windows

cdef struct Grid:                 # points z of the standardised state, and what theta makes of them
    Py_ssize_t size, width        # points; those that a step can lead to from one of them
    double scale                  # x = scale z: the stationary sd
    double left                   # 1 - phi^2
    double sums[4]                # of the terms for phi and sigma (moves), sigma (start), beta
    double *z
    double *fade                  # exp(-x)
    double *level                 # log density of y where y = 0
    double *rest                  # stationary law
    double *moves                 # size x width: law of the next z, from point `first` on
    double *first                 # whole numbers
    double *ahead                 # scratch: the law one step on
    double *said                  # density of y_t and what is after it
    double *tilted

cdef class GridVolatility(Windows):
    cdef double largest           # of |y|
    cdef double farthest(self, const double *theta, double s) noexcept nogil
