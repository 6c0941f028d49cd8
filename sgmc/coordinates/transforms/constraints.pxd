# What a density has that cancels with the log-Jacobian of increments of one sign.
cdef double log_size(double total) noexcept nogil
cdef double slope_of_log(double total) noexcept nogil
