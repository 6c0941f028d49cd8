"""Random streams: one `Rng` a chain, never one a thread,
so that a seed fixes the draws for any number of threads.

From a seed to numbers: a fit's seed is the entropy of numpy's `SeedSequence`; each purpose and
index has the spawn key (PURPOSES[purpose], index), so that chain k is the same whatever else is
drawn, and however many chains there are.

==============  ==================================  ==============================================
spawn key       index                               what it is for
==============  ==================================  ==============================================
chain, k        the chain's number                  all that chain k draws after its start
permutation, 0  0                                   order of the rows (`Generator.permutation`)
start, k        the chain's number                  start of chain k
pilot, 0 or 1   0: draws of Laplace; 1: estimators  gradient noise and shape before the run
diagnostics, k  0, 1 or 2                           what diagnostics take: rows, places, directions
predict, 0      0                                   reserved for simulated outcomes
tune, 0         0                                   seed of a race's arms, with chains of their own
modes, k        the start's number                  starts of searches for other modes
scores, k       the part of the draws               batches of rows for scores at the draws
reservoir, k    the partition's number              keys of rows that are on a cluster
imputation, k   the data set's number               seed of the fit to an imputed data set
==============  ==================================  ==============================================

A stream has three sources.  Normals (all noise) and uniforms (acceptance, Barker signs) come from
two sets of eight xoshiro256+ lanes; the rows of batches from numpy's SFC64, seeded by the key
itself.  The 64 words of the lanes are `generate_state` of the key with one more 0 at its end:
points on a cycle of 2^256 - 1, of which a million have stretches of 2^64 numbers that overlap with
probability below 2^-150; two keys are mixed to one state with probability 2^-128.  Of each 64-bit
output the upper 52 bits are used, the lowest ones, which are linear, are not.  Uniforms are
multiples of 2^-52 on [0, 1).  Normals are by Box & Muller from multiples of 2^-52 on (0, 1]: none
is beyond 8.49, and fewer than there should be by 3e-8 of them are beyond 6 sd, by 2 % beyond 8.
Eight cosines are followed by the eight sines of the same radii and angles.  The n-th normal of a
chain is the same however the requests are cut, and on every machine with IEEE arithmetic:
logarithm, sine and cosine are polynomials of our own, compiled without fused operations.

What stays: raw streams (the numbers above for a key) are those of every version.  Draws of samplers
stay within a minor version.  Draws of a fit need the same versions of sgmc and numpy, and the same
machine, as its coordinates come from LAPACK.  tests/contracts/test_golden.py holds the first two to
it.
"""
import numpy as np

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.string cimport memcpy

from sgmc.core.numerics.simd cimport log_unit, normals, uniforms

PURPOSES = {"chain": 0, "permutation": 1, "start": 2, "pilot": 3, "diagnostics": 4, "predict": 5,
            "tune": 6, "modes": 7, "scores": 8, "reservoir": 9, "imputation": 10}


def seed_sequence(entropy, purpose, index=0):
    """The `SeedSequence` of one purpose (a key of `PURPOSES`) and index (the chain's number)."""
    return np.random.SeedSequence(entropy, spawn_key=(PURPOSES[purpose], index))


cdef class Rng:
    """The random stream of one chain.

    Parameters
    ----------
    seed : numpy.random.SeedSequence
    """

    def __cinit__(self, seed):
        self.bit_generator = np.random.SFC64(seed)
        self.bits = <bitgen_t *> PyCapsule_GetPointer(self.bit_generator.capsule, "BitGenerator")
        # apart from the bit generator's
        lanes = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 0))
        cdef uint64_t[::1] words = lanes.generate_state(64, np.uint64)
        memcpy(self.normal.lanes, &words[0], sizeof(self.normal.lanes))
        memcpy(self.uniform.lanes, &words[32], sizeof(self.uniform.lanes))
        self.normal.used = self.uniform.used = BUFFER

    def normals(self, Py_ssize_t n):
        """The next n standard normals of the stream, as an array."""
        cdef double[::1] out = np.empty(n)
        if n:
            normal_fill(self, n, &out[0])
        return np.asarray(out)

    def uniforms(self, Py_ssize_t n):
        """The next n uniforms on [0, 1) of the stream, as an array."""
        cdef double[::1] out = np.empty(n)
        if n:
            uniform_fill(self, n, &out[0])
        return np.asarray(out)

    def state(self):
        """Everything needed to continue the stream, as plain arrays and numbers."""
        return {"bit_generator": self.bit_generator.state,
                "normal": np.frombuffer((<char *> &self.normal)[:sizeof(Stream)],
                                        dtype=np.uint64).copy(),
                "uniform": np.frombuffer((<char *> &self.uniform)[:sizeof(Stream)],
                                         dtype=np.uint64).copy()}

    def set_state(self, state):
        """Continue from a `state()`."""
        cdef uint64_t[::1] normal = np.ascontiguousarray(state["normal"], np.uint64)
        cdef uint64_t[::1] uniform = np.ascontiguousarray(state["uniform"], np.uint64)
        if normal.shape[0] * 8 != sizeof(Stream) or uniform.shape[0] * 8 != sizeof(Stream):
            raise ValueError("this random state comes from another version of sgmc")
        # `used`, a place in memory, is the last word
        if max(normal[normal.shape[0] - 1], uniform[uniform.shape[0] - 1]) > <uint64_t> BUFFER:
            raise ValueError("a random state is of no stream")
        self.bit_generator.state = state["bit_generator"]
        memcpy(&self.normal, &normal[0], sizeof(Stream))
        memcpy(&self.uniform, &uniform[0], sizeof(Stream))


ctypedef void (*Source)(Py_ssize_t, uint64_t *, double *) noexcept nogil

cdef void fill(Stream *s, Source source, Py_ssize_t n, double *out) noexcept nogil:
    """Serve what is ready, make whole groups of 16 straight into `out`,
    and the rest through the buffer.
    """
    cdef Py_ssize_t take = min(n, BUFFER - s.used)
    memcpy(out, s.ready + s.used, take * sizeof(double))
    s.used += take
    out += take
    n -= take
    take = n & ~<Py_ssize_t> 15
    if take >= BUFFER:
        source(take, s.lanes, out)
        out += take
        n -= take
    while n > 0:
        source(BUFFER, s.lanes, s.ready)
        s.used = min(n, <Py_ssize_t> BUFFER)
        memcpy(out, s.ready, s.used * sizeof(double))
        out += s.used
        n -= s.used

cdef void normal_fill(Rng rng, Py_ssize_t n, double *out) noexcept nogil:
    fill(&rng.normal, normals, n, out)

cdef void uniform_fill(Rng rng, Py_ssize_t n, double *out) noexcept nogil:
    fill(&rng.uniform, uniforms, n, out)

cdef double next_uniform(Rng rng) noexcept nogil:
    if rng.uniform.used == BUFFER:
        uniforms(BUFFER, rng.uniform.lanes, rng.uniform.ready)
        rng.uniform.used = 0
    rng.uniform.used += 1
    return rng.uniform.ready[rng.uniform.used - 1]

cdef double next_exponential(Rng rng) noexcept nogil:
    """-log(1 - u): a standard exponential from the next uniform,
    by the logarithm that normals have too.
    """
    return -log_unit(1 - next_uniform(rng))

cdef Py_ssize_t next_below(Rng rng, Py_ssize_t n) noexcept nogil:
    """An integer uniform on 0..n-1 (bias below n / 2^53)."""
    return <Py_ssize_t> (rng.bits.next_double(rng.bits.state) * n)

def orders(own, saved):
    """Put a saved order of rows in the place of one's own; ValueError where it has others."""
    saved = np.asarray(saved)
    if saved.dtype.kind not in "iu" or not np.array_equal(np.sort(saved), np.sort(own)):
        raise ValueError("an order of rows has other rows")
    own[:] = saved


cdef void partial_shuffle(Rng rng, Py_ssize_t n, Py_ssize_t m, Py_ssize_t *order,
                          Py_ssize_t *work) noexcept nogil:
    """The first m places of a Fisher-Yates shuffle of n; `work` is m numbers of scratch.

    All places are drawn first: the look-ups, scattered over a long table, then run side by side.
    """
    cdef Py_ssize_t i, entry
    for i in range(m):
        work[i] = i + next_below(rng, n - i)
    for i in range(m):
        entry = order[work[i]]
        order[work[i]] = order[i]
        order[i] = entry
