"""Planted mistakes, built with the flags of the package under test:
each stage of tests/sanitize must catch its own.
"""
import array

import numpy as np

from cpython.pycapsule cimport PyCapsule_GetPointer
from numpy.random cimport bitgen_t


cdef class Simulator:
    """Keeps the stream of a bit generator, and not the generator that owns it."""

    cdef bitgen_t *bits

    def __init__(self, bit_generator):
        self.bits = <bitgen_t *> PyCapsule_GetPointer(bit_generator.capsule, "BitGenerator")

    def uniform(self):
        """The next uniform of the stream."""
        return self.bits.next_double(self.bits.state)


def use_after_free():
    """Draw from a bit generator that nobody holds any more."""
    return Simulator(np.random.SFC64(1)).uniform()


def kept_address(Py_ssize_t n=4):
    """Read an array by the address of its first number after another array has taken its place."""
    cdef double[::1] place = np.arange(n, dtype=float)
    cdef double *first = &place[0]
    place = np.ones(n + 1)
    return first[0]


def off_by_one(Py_ssize_t n=100):
    """Write one number more than there is room for."""
    cdef double[::1] room = array.array("d", [0.0] * n)
    cdef Py_ssize_t i
    for i in range(n + 1):
        room[i] = i
    return np.sum(room)


def empty_array():
    """Take the address of the first number of an array without any."""
    cdef double[::1] none = np.empty(0)
    cdef double *first = &none[0]
    return first != NULL


def overflow(Py_ssize_t n=2**63 - 1):
    """Add one to the largest integer."""
    return n + 1


def not_a_number(double x=float("nan")):
    """Make an index of what is no number."""
    return <Py_ssize_t> x
