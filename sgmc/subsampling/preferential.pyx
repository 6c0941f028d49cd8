"""Rows drawn with probabilities of their own: those that have more to say, more often."""
import numpy as np

from sgmc.core.contract cimport Batch, Rng, Subsampler, next_below, uniform_fill

# share of draws that are uniform: no row counts more than 1 / FLOOR times as in a simple sample
FLOOR = 0.1


class Alias:
    """Probabilities and their alias table, immutable and shared by chains: a draw costs two
    numbers, whatever N.

    p_i = (1 - floor) s_i / sum s + floor / N.  Column k of the table is drawn uniformly; it gives
    row k with probability keep_k, else row other_k (Walker 1977; built by Vose 1991).

    Parameters
    ----------
    sizes : array (n,)
        s_i >= 0: how large a row's term of the sum usually is.
    floor : float, optional

    Attributes
    ----------
    p, weight : array (n,)
        Probabilities, and 1 / (N p_i).
    groups : None
        No strata.
    fewest : int
        Rows that a batch must have.
    """

    groups, fewest = None, 1

    def __init__(self, sizes, floor=FLOOR):
        s = np.array(sizes, dtype=float)
        if s.ndim != 1 or not len(s) or not np.isfinite(s).all() or (s < 0).any():
            raise ValueError("sizes of rows must be finite numbers, zero or more, at least one")
        if not 0 < floor <= 1:
            raise ValueError(f"a floor of {floor}: it must be positive, at most 1")
        n, largest = len(s), s.max()
        s = s / largest if largest > 0 else np.ones(n)
        self.p = (1 - floor) * s / s.sum() + floor / n
        self.p /= self.p.sum()
        self.weight = 1 / (n * self.p)
        self.keep, self.other = vose(self.p)
        for array in (self.p, self.weight, self.keep, self.other):
            array.setflags(write=False)

    def factors(self, m):
        """Noise of m rows over that of one, for each stratum: (1,)."""
        return np.array([1 / m])


def vose(const double[::1] p):
    """keep (n,) and other (n,) of an alias table:
    n p_i = keep_i + sum over k with other_k = i of 1 - keep_k.
    """
    cdef Py_ssize_t n = p.shape[0], i, small = 0, large = n, low, high
    cdef double[::1] keep = np.ones(n), left = np.array(p) * n
    # small ones from the left, large: right
    cdef Py_ssize_t[::1] other = np.arange(n), todo = np.empty(n, dtype=np.intp)
    for i in range(n):
        if left[i] < 1:
            todo[small] = i
            small += 1
        else:
            large -= 1
            todo[large] = i
    while small > 0 and large < n:
        low, high = todo[small - 1], todo[large]
        keep[low], other[low] = left[low], high
        left[high] -= 1 - left[low]
        small -= 1
        if left[high] < 1:
            large += 1
            todo[small] = high
            small += 1
    return np.asarray(keep), np.asarray(other)


cdef class Preferential(Subsampler):
    """n independent rows, row i with probability p_i and weight 1 / p_i:
    sum over the batch of z_i / (n p_i).

    Unbiased for sum_i z_i, with variance (sum_i z_i^2 / p_i - (sum_i z_i)^2) / n, least for p_i
    proportional to |z_i| (Hansen & Hurwitz 1943; Nemeth & Fearnhead 2021, section 2.3).  Fits take
    for |z_i| the root mean square size of a row's term, control value taken off, at draws of the
    Laplace approximation, in whitened coordinates.

    Parameters
    ----------
    n, m : int
        Rows in all and in a batch.
    shared : Alias
    """

    name = "preferential"
    needs = ("sizes",)
    replaces = True
    share = Alias
    cdef Batch run
    cdef Py_ssize_t[::1] rows
    cdef double[::1] weights
    cdef const double[::1] keep, weight
    cdef const Py_ssize_t[::1] other

    def __init__(self, Py_ssize_t n, Py_ssize_t m, shared):
        if m < 1:
            raise ValueError(f"a batch of {m} of {n} rows")
        if len(shared.p) != n:
            raise ValueError(f"probabilities of {len(shared.p)} rows for {n} rows")
        self.n, self.m = n, m
        self.keep, self.other, self.weight = shared.keep, shared.other, shared.weight
        self.rows, self.weights = np.zeros(m, dtype=np.intp), np.zeros(m)
        self.run.m, self.run.start, self.run.stratum, self.run.fpc = m, 0, 0, 1
        self.run.rows, self.run.weight = &self.rows[0], &self.weights[0]
        self.run.scale = <double> n / m

    cdef Py_ssize_t draw(self, Rng rng, const Batch **runs) except -1 nogil:
        cdef Py_ssize_t i, k, other
        for i in range(self.m):  # one table after the other, so that look-ups run side by side
            self.rows[i] = next_below(rng, self.n)
        uniform_fill(rng, self.m, &self.weights[0])
        for i in range(self.m):
            k = self.rows[i]
            other = self.other[k]
            self.rows[i] = k if self.weights[i] < self.keep[k] else other
        for i in range(self.m):
            self.weights[i] = self.weight[self.rows[i]]
        runs[0] = &self.run
        return 1
