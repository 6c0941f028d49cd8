"""Sequences with a hidden state, cut into windows:
the passes of messages that their likelihoods have in common.
"""
import numpy as np

from libc.string cimport memcpy

from sgmc.core.contract cimport OK, Batch, Model, Scratch, row_of

cdef enum:
    # doubles in the store, of sequences that need more: as much as a large cache holds
    ROOM = 524288


cdef class Windows(Model):
    """A row is a window: some steps of one sequence.

    All rows together are the sequences, and exact; fewer are windows with buffers.

    With y_W the outcomes of a window and y_B those of up to `buffer` steps on both sides of it, its
    term of the score is

        sum_{t in W} E[d log p(x_t, y_t | x_{t-1}) | y_W, y_B],

    where the state before the buffer has its stationary law (Ma, Foti & Fox 2017; Aicher, Ma,
    Foti & Fox 2019).  With buffers that reach the ends of the sequence these terms sum to the
    score, by Fisher's identity; others differ from that by what decays geometrically with the
    buffer.  The value of a window is log p(y_W | y_B), B the steps before it alone.

    Parameters
    ----------
    y : array (T, D)
    table : array (n, 4)
        First and last (exclusive) step of each window, and of its sequence; windows of a sequence
        follow each other.
    buffer : int
    """

    def __init__(self, y, table, Py_ssize_t buffer):
        self.y = np.array(y, dtype=float, order="C")
        self.table = np.array(table, dtype=np.intp, order="C")
        self.sequences = np.unique(np.asarray(self.table)[:, 2:], axis=0)
        self.buffer, self.n = buffer, len(table)
        self.tile = self.n
        self.longest = (np.asarray(self.sequences)[:, 1] - np.asarray(self.sequences)[:, 0]).max()
        window = int((np.asarray(self.table)[:, 1] - np.asarray(self.table)[:, 0]).max())
        self.chunk = min(self.longest, max(window + 2 * buffer, ROOM // self.slot))
        self.back_at, self.laws_at = self.prepared, self.prepared + self.message
        self.store_at = self.laws_at + (1 + (self.longest + self.chunk - 1)
                                        // self.chunk) * self.message
        self.size = self.store_at + self.chunk * self.slot

    @property
    def nanoseconds(self):
        """Of a window: each step takes a law forward and back; see `Model`."""
        return 20.0 * self.message * len(self.y) / self.n

    @property
    def rest(self):
        """What a leaf is made of besides y, table and buffer, a tuple."""
        raise NotImplementedError("rest")

    def buffered(self, buffer):
        """The same with another buffer."""
        return type(self)(np.asarray(self.y), np.asarray(self.table), buffer, *self.rest)

    @property
    def fingerprint(self):
        """What tells it from others with the same sequences."""
        return [np.asarray(self.table), np.array([self.buffer])]

    @property
    def row_cost(self):
        """Steps of a window with its buffers over those without, on average."""
        first, last, begin, end = np.asarray(self.table).T
        return (np.minimum(last + self.buffer, end) - np.maximum(first - self.buffer,
                                                                 begin)).sum() / len(self.y)

    @property
    def remarks(self):
        """What its rows are, for the summary."""
        return ["Rows are windows of "
                f"{int((np.asarray(self.table)[:, 1] - np.asarray(self.table)[:, 0]).max())} of "
                f"{self.y.shape[0]:,} steps; in minibatches with {self.buffer} steps on both "
                "sides."]

    def laws(self, theta):
        """The law of the state at each step, given all outcomes of its sequence: (T, message)."""
        cdef double[::1] at = np.array(theta, dtype=float), work = np.empty(self.size)
        cdef double[:, ::1] kept = np.empty((self.y.shape[0], self.message))
        cdef Py_ssize_t i
        with nogil:
            self.open(&at[0], &work[0])
            for i in range(self.sequences.shape[0]):
                self.pass_sequence(&at[0], i, 1, &work[0], NULL, True, &kept[0, 0])
        return np.asarray(kept)

    def last_laws(self, theta):
        """The law of the state at the end of each sequence: (sequences, message)."""
        cdef double[::1] at = np.array(theta, dtype=float), work = np.empty(self.size)
        cdef double[:, ::1] laws = np.empty((self.sequences.shape[0], self.message))
        cdef Py_ssize_t i, blocks
        with nogil:
            self.open(&at[0], &work[0])
            for i in range(self.sequences.shape[0]):
                blocks = self.pass_sequence(&at[0], i, 1, &work[0], NULL, False, NULL)
                memcpy(&laws[i, 0], &work[self.laws_at + blocks * self.message],
                       self.message * sizeof(double))
        return np.asarray(laws)

    cdef Py_ssize_t work_size(self) noexcept nogil:
        return self.size

    cdef int add(self, const double *theta, const Batch *b, Scratch *s, double *value,
                 double *grad) except -1 nogil:
        cdef Py_ssize_t i
        cdef double c
        self.open(theta, s.work)
        if b.rows == NULL and b.weight == NULL and b.m == self.n:
            for i in range(self.sequences.shape[0]):
                self.pass_sequence(theta, i, b.scale, s.work, value, grad != NULL, NULL)
        else:
            for i in range(b.m):
                c = b.scale * (b.weight[i] if b.weight != NULL else 1)
                self.pass_window(theta, row_of(b, i), c, s.work, value, grad != NULL)
        if grad != NULL:
            self.close(theta, s.work, grad)
        return OK

    cdef void pass_window(self, const double *theta, Py_ssize_t i, double scale, double *work,
                          double *value, bint wanted) noexcept nogil:
        """One window with its buffers."""
        cdef Span s
        cdef double *back = work + self.back_at
        cdef double *law = work + self.laws_at
        cdef double *store = work + self.store_at
        cdef double density
        cdef Py_ssize_t first = self.table[i, 0]
        s.low, s.high, s.begin = first, self.table[i, 1], self.table[i, 2]
        s.start = max(s.begin, first - self.buffer)
        s.stop = min(self.table[i, 3], s.high + self.buffer) if wanted else s.high
        s.scale, s.kept = scale, NULL
        self.stationary(work, law)
        memcpy(law + self.message, law, self.message * sizeof(double))
        density = self.forward(theta, &s, law + self.message, store, work)
        if value != NULL:
            value[0] += scale * density
        if not wanted:
            return
        self.nothing(back)
        self.backward(theta, &s, law, back, store, work)

    cdef Py_ssize_t pass_sequence(self, const double *theta, Py_ssize_t i, double scale,
                                  double *work, double *value, bint wanted,
                                  double *kept) noexcept nogil:
        """A whole sequence, in blocks: laws at their ends are kept, what is between is computed
        again on the way back.

        Returns the number of blocks.
        """
        cdef Span s
        cdef double *law = work + self.laws_at
        cdef double *back = work + self.back_at
        cdef double *store = work + self.store_at
        cdef double total = 0
        cdef Py_ssize_t end = self.sequences[i, 1], k, m = self.message, blocks
        s.begin, s.scale, s.kept = self.sequences[i, 0], scale, kept
        blocks = (end - s.begin + self.chunk - 1) // self.chunk
        self.stationary(work, law)
        for k in range(blocks):
            s.start = s.low = s.begin + k * self.chunk
            s.stop = s.high = min(s.start + self.chunk, end)
            memcpy(law + (k + 1) * m, law + k * m, m * sizeof(double))
            total += self.forward(theta, &s, law + (k + 1) * m, store, work)
        if value != NULL:
            value[0] += scale * total
        if not wanted:
            return blocks
        self.nothing(back)
        for k in range(blocks - 1, -1, -1):
            s.start = s.low = s.begin + k * self.chunk
            s.stop = s.high = min(s.start + self.chunk, end)
            if k < blocks - 1:
                memcpy(law + (k + 1) * m, law + k * m, m * sizeof(double))
                self.forward(theta, &s, law + (k + 1) * m, store, work)
            self.backward(theta, &s, law + k * m, back, store, work)
        return blocks

    cdef void open(self, const double *theta, double *work) noexcept nogil:
        pass

    cdef void close(self, const double *theta, double *work, double *grad) noexcept nogil:
        pass

    cdef void stationary(self, double *work, double *law) noexcept nogil:
        pass

    cdef void nothing(self, double *back) noexcept nogil:
        pass

    cdef double forward(self, const double *theta, const Span *s, double *law, double *store,
                        double *work) noexcept nogil:
        return 0

    cdef void backward(self, const double *theta, const Span *s, const double *law, double *back,
                       double *store, double *work) noexcept nogil:
        pass
