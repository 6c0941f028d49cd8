"""A log density that is a compiled function."""

import ctypes

import numpy as np

from sgmc.errors import ArgumentError
from sgmc.models.bases.model import Model
from sgmc.models.user.model import say


class CompiledModel(Model):
    """A model whose log density is a compiled function, called without the interpreter lock.

    ``double f(int64_t d, const double *theta, int64_t m, const int64_t *rows, double *grad, void
    *data)``

    returns the log density of m rows together, and fills grad, d numbers that are all zero, with
    its gradient.  theta is one vector, parameters in their order, each row-major.

    Parameters
    ----------
    function : numba cfunc, ctypes function, scipy.LowLevelCallable or int
        What has the address, or the address.  A function of this signature is not checked; another
        one crashes.  The model keeps objects alive, but not the code behind a bare address.
    n : int
        Rows.
    parameters : dict
        See `Model`.
    data : ndarray or int, optional
        What the function gets as `data`: an array's memory, or an address; default that of a
        LowLevelCallable, or none.  The model keeps an array alive, but not the memory behind a bare
        address.
    **said
        ``constraints prior start scaled checked title`` of `Model`.
    """

    title = "Compiled"

    def __init__(self, function, n, *, parameters, data=None, **said):
        say(self, parameters, said)
        self.n, self.function, self.data = n, function, data

    def kernel(self):
        from sgmc.models.bases.callbacks import AddressKernel

        address, own = address_of(self.function)
        data = (
            own
            if self.data is None
            else self.data.ctypes.data
            if isinstance(self.data, np.ndarray)
            else self.data
        )
        return AddressKernel(
            self.layout().size, self.rows(), address, data, (self.function, self.data)
        )


def address_of(function):
    """The address of a compiled function, and of the data it brings along (0: none)."""
    if isinstance(function, int) and not isinstance(function, bool) and function > 0:
        return function, 0
    if isinstance(getattr(function, "address", None), int):  # numba
        return function.address, 0
    if isinstance(function, ctypes._CFuncPtr):
        return ctypes.cast(function, ctypes.c_void_p).value, 0
    if type(function).__name__ == "LowLevelCallable":
        return capsule(
            tuple.__getitem__(function, 0)
        ), 0 if function.user_data is None else pointer(function.user_data)
    raise ArgumentError(
        f"function={function!r} has no address: give a numba cfunc, a ctypes function, a "
        "scipy.LowLevelCallable or a number"
    )


def capsule(one):
    """The pointer in a PyCapsule."""
    name, get = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(one, name(one))


def pointer(data):
    """The address of a LowLevelCallable's user data: of a capsule, or of a ctypes pointer."""
    return (
        capsule(data)
        if type(data).__name__ == "PyCapsule"
        else ctypes.cast(data, ctypes.c_void_p).value
    )
