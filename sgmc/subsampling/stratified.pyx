"""Simple samples of strata: groups of rows that are alike within."""
import numpy as np

from sgmc.core.random.rng import orders

from sgmc.core.contract cimport Batch, Rng, Subsampler, partial_shuffle

PROPORTIONAL_SHARE = 0.1  # share of a batch that is allocated in proportion to the rows


class Strata:
    """Groups of rows and how a batch is divided among them, immutable and shared by chains.

    n_h is proportional to (1 - floor) N_h S_h / sum N_h S_h + floor N_h / N, which for a floor near
    0 is the allocation with the least variance (Neyman 1934), S_h being the sd of the row terms
    within stratum h.  A stratum gives no more rows than it has; at least two, where the batch
    suffices for that, because one says nothing of the spread; else at least one.

    Parameters
    ----------
    strata : array (n,)
        A label for each row.
    spread : array (strata,), optional
        S_h, by sorted label; default all equal: n_h in proportion to N_h.
    floor : float, optional

    Attributes
    ----------
    groups : list of array
        Rows of each stratum.
    sizes : array of int
        N_h.
    weight : None
        Rows of a stratum count alike.
    fewest : int
        Rows that a batch must have: one a stratum.
    """

    weight = None

    def __init__(self, strata, spread=None, floor=PROPORTIONAL_SHARE):
        labels, place = np.unique(strata, return_inverse=True)
        self.sizes = np.bincount(place)
        self.first = np.cumsum(self.sizes) - self.sizes
        self.groups = np.split(np.argsort(place, kind="stable"), self.first[1:])
        self.n, self.fewest = len(place), len(labels)
        s = np.ones(len(labels)) if spread is None else np.array(spread, dtype=float)
        if not 0 < floor <= 1:
            raise ValueError(f"a floor of {floor}: it must be positive, at most 1")
        if s.shape != labels.shape or not np.isfinite(s).all() or (s < 0).any():
            raise ValueError(f"spread must be {len(labels)} finite numbers, zero or more, one a "
                             "stratum")
        best = self.sizes * (s if s.any() else np.ones(len(s)))
        self.shares = (1 - floor) * best / best.sum() + floor * self.sizes / self.n

    def allocation(self, m):
        """n_h for a batch of m rows, (strata,)."""
        if not self.fewest <= m <= self.n:
            raise ValueError(f"a batch of {m} of {self.n} rows in {self.fewest} strata")
        low = np.minimum(self.sizes, 2)
        low = low if low.sum() <= m else np.ones_like(low)
        a, b = 0.0, m / self.shares.min()
        for _ in range(60):  # the multiplier of the shares with which the bounds leave m
            middle = 0.5 * (a + b)
            a, b = ((middle, b) if np.clip(middle * self.shares, low, self.sizes).sum() < m
                    else (a, middle))
        exact = np.clip(b * self.shares, low, self.sizes)
        found = np.floor(exact + 1e-9).astype(np.intp)
        room = np.where(found < self.sizes, exact - found, -1.0)
        found[np.argsort(-room, kind="stable")[:m - found.sum()]] += 1
        return found

    def factors(self, m):
        """1/n_h - 1/N_h: over all strata, V = sum_h N_h^2 S_h^2 (1/n_h - 1/N_h)."""
        return 1 / self.allocation(m) - 1 / self.sizes


cdef class Stratified(Subsampler):
    """n_h different rows of each stratum, all sets equally likely:
    sum_h N_h/n_h sum over its rows of z_i.

    Unbiased for sum_i z_i, with variance sum_h N_h^2 S_h^2 (1/n_h - 1/N_h) (Cochran 1977, chapter
    5; Sen et al. 2020).  Each stratum is a run with a scale, a number and a finite-population
    factor (N_h - n_h)/N_h of its own; its order is kept between draws, as in `uniform`.  Fits
    stratify by the outcome: its levels, or groups by its quantiles where it has many.

    Parameters
    ----------
    n, m : int
        Rows in all and in a batch.
    shared : Strata
    """

    name = "stratified"
    needs = ("strata", "spread")
    share = Strata
    cdef Py_ssize_t[::1] order, first, size, places
    cdef object memory
    cdef Batch *runs              # in `memory`; they list rows in `order`

    def __init__(self, Py_ssize_t n, Py_ssize_t m, shared):
        cdef Py_ssize_t h
        if shared.n != n:
            raise ValueError(f"strata of {shared.n} rows for {n} rows")
        self.n, self.m = n, m
        self.order = np.concatenate(shared.groups).astype(np.intp)
        self.size = shared.sizes.astype(np.intp)
        self.first = shared.first.astype(np.intp)
        self.memory = bytearray(len(shared.sizes) * sizeof(Batch))
        self.runs = <Batch *> <char *> self.memory
        rows = shared.allocation(m)
        self.places = np.zeros(m, dtype=np.intp)
        for h in range(self.size.shape[0]):
            self.runs[h] = stratum_run(h, self.size[h], rows[h], &self.order[self.first[h]])

    cdef Py_ssize_t draw(self, Rng rng, const Batch **runs) except -1 nogil:
        cdef Py_ssize_t h
        for h in range(self.size.shape[0]):
            if self.runs[h].m < self.size[h]:
                partial_shuffle(rng, self.size[h], self.runs[h].m, &self.order[self.first[h]],
                                &self.places[0])
        runs[0] = self.runs
        return self.size.shape[0]

    def state(self):
        """The order that the next shuffles start from."""
        return {"order": np.array(self.order)}

    def set_state(self, state):
        """Continue from a `state()`."""
        orders(np.asarray(self.order), state["order"])


cdef Batch stratum_run(Py_ssize_t h, Py_ssize_t size, Py_ssize_t m, const Py_ssize_t *rows):
    """The run of m of the `size` rows of stratum h.

    The square of a single one stands for the spread around zero: without a factor it errs on the
    safe side.
    """
    cdef Batch run
    run.m, run.start, run.stratum = m, 0, h
    run.rows, run.weight = rows, NULL
    run.scale, run.fpc = <double> size / m, 1 if m == 1 < size else <double> (size - m) / size
    return run
