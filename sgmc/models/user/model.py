"""Models of users that are no subclass: a function in JAX, or a compiled one."""

import ctypes

import numpy as np

from sgmc.errors import ArgumentError, DataError, MissingExtra
from sgmc.models.bases.calls import Number, Vector, owner
from sgmc.models.bases.model import Model

SAID = ("constraints", "prior", "start", "scaled", "checked", "title")


class JaxModel(Model):
    """A model whose log density is written in `jax.numpy`; gradients are JAX's own, compiled once
    for each number of rows.

    >>> def log_lik(theta, batch):
    ...     X, y = batch
    ...     eta = X @ theta["b"]
    ...     return jnp.sum(y * eta - jnp.logaddexp(0.0, eta))
    >>> sgmc.JaxModel(log_lik, (X, y), parameters={"b": X.shape[1]}).fit(seed=1)

    Parameters
    ----------
    log_lik : callable
        ``log_lik(theta, batch)`` with theta a dict of arrays by name, and batch like `data`, but of
        some rows only.  It returns the log density of these rows together.  It is computed in
        double precision.
    data : array, or tuple, list or dict of arrays
        One row of each array is one row of the model.
    parameters : dict
        See `Model`.
    **said
        ``constraints prior start scaled checked title`` of `Model`.

    Raises
    ------
    MissingExtra
        If jax is not installed.
    """

    title = "JAX"
    checked = False  # gradients are JAX's, and rows are taken by `kernel`

    def __init__(self, log_lik, data, *, parameters, **said):
        try:
            import jax
        except ImportError as error:
            raise MissingExtra(
                "JaxModel needs jax, which is not installed: pip install 'sgmc[jax]'"
            ) from error
        say(self, parameters, said)
        lengths = {np.shape(array)[:1] for array in jax.tree.leaves(data)}
        if len(lengths) != 1 or lengths == {()}:
            raise DataError(
                f"data: arrays have {', '.join(str(length) for length in sorted(lengths))} rows; "
                "all must have as many"
            )
        self.n, self.log_lik_of_batch, self.data = lengths.pop()[0], log_lik, data

    def log_lik(self, theta, rows):
        """Return the log likelihood of some rows, by the compiled function."""
        return self.compiled_pair()[0](self.layout().pack(theta), rows)

    def kernel(self):
        from sgmc.models.bases.callbacks import PythonKernel

        layout, (value, slope) = self.layout(), self.compiled_pair()
        value = Number(owner(self), "log_lik", value, layout)
        slope = Vector(owner(self), "the gradient of log_lik", slope, layout)
        return PythonKernel(layout.size, self.rows(), value, slope)

    def compiled_pair(self):
        """``value(theta, rows)`` and ``slope(theta, rows)`` of vectors theta."""
        import jax
        import jax.numpy as jnp

        layout, every = self.layout(), np.arange(self.n)
        with jax.enable_x64(True):
            data = jax.tree.map(jnp.asarray, self.data)

        def density(theta, rows, data):
            return self.log_lik_of_batch(
                layout.unpack(theta), jax.tree.map(lambda array: array[rows], data)
            )

        value, slope = jax.jit(density), jax.jit(jax.grad(density))

        def call(function):
            def called(theta, rows):
                with jax.enable_x64(True):
                    return np.asarray(function(theta, every[rows], data))

            return called

        return call(value), call(slope)


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


def say(model, parameters, said):
    """Set attributes of a model, or refuse those that there are not."""
    for name in said:
        if name not in SAID:
            raise TypeError(
                f"{type(model).__name__}() got an unexpected keyword argument {name!r}; it has: "
                f"{', '.join(SAID)}"
            )
    model.parameters = parameters
    for name, value in said.items():
        setattr(model, name, value)


class KernelModel(Model):
    """A compiled model of `sgmc.core.contract` as it is, its parameters one vector ``theta``.

    Parameters
    ----------
    kernel : core Model
    """

    def __init__(self, kernel):
        self.compiled_model, self.n, self.parameters, self.title = (
            kernel,
            kernel.n,
            {"theta": kernel.dim},
            type(kernel).__name__,
        )

    def kernel(self):
        return self.compiled_model


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
