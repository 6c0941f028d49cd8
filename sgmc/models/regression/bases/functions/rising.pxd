from libc.string cimport memset

cdef struct Rising:               # log Gamma(a + y) / Gamma(a) and its first two derivatives in a
    double value, slope, curvature

cdef enum:
    KEPT_COUNTS = 64

cdef struct Risings:              # those of one a at the counts that came before
    double a
    char[KEPT_COUNTS] known
    Rising[KEPT_COUNTS] of

cdef Rising rising(double a, double y) noexcept nogil


cdef inline void begin(Risings *kept, double a) noexcept nogil:
    """Keep those of a."""
    kept.a = a
    memset(kept.known, 0, KEPT_COUNTS)


cdef inline Rising risen(Risings *kept, double y) noexcept nogil:
    """`rising(a, y)`: small counts are those of many rows, and nodes share them."""
    cdef Py_ssize_t k
    if not 0 <= y < KEPT_COUNTS:
        return rising(kept.a, y)
    k = <Py_ssize_t> y
    if k != y:
        return rising(kept.a, y)
    if not kept.known[k]:
        kept.known[k], kept.of[k] = 1, rising(kept.a, y)
    return kept.of[k]
