"""A log density that is a plain Python function of one row, compiled by numba."""

import inspect
import keyword
from collections import namedtuple
from typing import NamedTuple

import numpy as np

from sgmc.errors import ArgumentError, DataError, MissingExtra
from sgmc.models.bases.calls import owner, shown
from sgmc.models.bases.model import Model
from sgmc.models.user.model import say

ROWS_IN_PYTHON = (
    50  # rows that Python computes too, besides those where a column is least or largest
)
AS_IN_PYTHON = 1e-8  # relative difference of sums that are the same but for rounding
MOST_AXES = 2  # of parameters that have derivatives
# sums may be added up in another order, which lets loops use vector instructions
FAST = {"reassoc", "contract"}
DENSITY = """
def density(d, theta, m, rows, slope, data):
    flat, chosen = pointer_of(theta), carray(rows, (m,))
    {arrays}
    total, room = 0.0, new_room(d + TAPE_NODES, TAPE_WEIGHTS)
    tape = tape_of(room)
    k = 0
    while k < m:
        i = chosen[k]
        wipe(tape, d)
        found = as_var(log_lik(Theta({parameters}){row}))
        if not fits(tape):
            room = larger(room)
            tape = tape_of(room)
            continue
        total += found.value
        sweep(tape, d, found.node)
        k += 1
    for j in range(d):
        slope[j] += room.sensitivity[1 + j]
    return total
"""
VALUE = """
def density(d, theta, m, rows, slope, data):
    chosen = carray(rows, (m,))
    {arrays}
    total, at = 0.0, Theta({parameters})
    for i in chosen:
        total += log_lik(at{row})
    return total
"""
SLOPE = """
def density(d, theta, m, rows, slope, data):
    chosen = carray(rows, (m,))
    {arrays}
    at, out = Theta({parameters}), Theta({slopes})
    for i in chosen:
        grad(at{row}, out)
    return 0.0
"""


class NumbaModel(Model):
    """A model whose log density of one row is a plain Python function, which numba compiles; chains
    run it without the interpreter.

    >>> def log_lik(theta, x, y):
    ...     eta = theta.a + theta.b * x
    ...     return y * eta - np.logaddexp(0.0, eta)
    >>> sgmc.NumbaModel(log_lik, (x, y), parameters={"a": (), "b": ()}).fit(seed=1)

    Without `grad` derivatives are computed in reverse mode: an evaluation and its gradient take
    some times as long as the function alone, whatever the number of parameters.  Functions may use
    loops, branches, arithmetic, comparisons, the functions of `math` and numpy on single numbers,
    ``x @ theta.b`` and ``np.sum(theta.b)``, and other functions that are compiled by `numba.njit`.

    Parameters
    ----------
    log_lik : callable
        ``log_lik(theta, *row)`` returns the log density of one row.  ``theta.name`` is a number
        where the parameter's shape is ``()``, else an array; `row` has one row of each array of
        `data`, in their order: numbers of vectors, vectors of matrices.
    data : tuple, list or dict of arrays
        One row of each is one row of the model.  Keys of a dict are the names of the arguments.
        Empty: the model has one row, ``log_lik(theta)``.
    parameters : dict
        See `Model`.
    grad : callable, optional
        ``grad(theta, *row, slope)`` adds the gradient of one row to ``slope.name``, arrays of the
        parameters' shapes, (1,) for a number: ``slope.b[j] += ...``, ``slope.a[0] += ...``.
    log_prior : callable, optional
        ``log_prior(theta)`` in the place of priors by name, where parameters depend on each other.
    **said
        ``constraints prior start scaled checked title dims coords`` of `Model`.

    Raises
    ------
    MissingExtra
        If numba is not installed.
    ArgumentError
        For functions that numba cannot compile, or computes otherwise than Python does.
    """

    title = "Numba"
    code = None  # what is compiled, with what it is of

    def __init__(self, log_lik, data, *, parameters, grad=None, log_prior=None, **said):
        require_numba()
        say(self, parameters, said)
        self.row_function, self.row_slope = plain(log_lik), plain(grad)
        self.prior_function = plain(log_prior)
        self.data = arrays_of(data, self.row_function)
        self.n = len(self.data[0]) if self.data else 1
        bad = [name for name in self.parameters if not is_field(name)]
        if bad:
            raise ArgumentError(
                f"parameters: {bad[0]!r} cannot be read as theta.{bad[0]}; give it a name of "
                "letters, digits and underscores that begins with a letter"
            )

    def log_lik(self, theta, rows):
        """Return the log likelihood of some rows, as it is compiled."""
        from sgmc.core.expansion import of_rows

        return of_rows(self.kernel(), self.layout().pack(theta), rows, False)[0]

    def kernel(self):
        from sgmc.models.bases.callbacks import AddressKernel, SplitKernel

        layout, code = self.layout(), self.compiled()
        addresses = np.array([one.ctypes.data for one in self.data] or [0], dtype=np.int64)
        rest = addresses.ctypes.data, (code, self.data, addresses)
        if self.row_slope is None:
            return AddressKernel(layout.size, self.n, code.density.address, *rest)
        split = code.value.address, code.density.address
        return SplitKernel(layout.size, self.n, *split, *rest)

    def prior_kernel(self):
        from sgmc.models.bases.callbacks import AddressPrior

        if self.prior_function is None:
            return None
        code = self.compiled()
        return AddressPrior(self.layout().size, code.prior.address, code)

    def compiled(self):
        """Return the `CompiledFunctions` of the model; they serve later fits of it, too."""
        layout = self.layout()
        functions = self.row_function, self.row_slope, self.prior_function
        key = *functions, layout.shapes, [(one.dtype, one.shape) for one in self.data]
        if self.code is None or self.code[0] != key:
            named = named_tuple(layout)
            theta = np.asarray(self.starts(np.random.default_rng(0)), dtype=float)
            rows = telling_rows(self.data, self.n)
            expected = self.in_python(layout, named, theta, rows)
            made = compiled_functions(owner(self), layout, named, functions, self.data)
            self.code = key, made
            self.compare(layout, theta, rows, expected)
        return self.code[1]

    def in_python(self, layout, named, theta, rows):
        """Return what Python computes at theta: the log density of rows, and the log prior or 0.

        It checks indices, as compiled code does not, and raises what the functions raise.
        """
        parts = layout.unpack(theta)
        at = named(*(one if layout.shapes[name] else one[()] for name, one in parts.items()))
        with np.errstate(all="ignore"):
            total = sum(self.row_function(at, *(one[i] for one in self.data)) for i in rows)
            return total, 0.0 if self.prior_function is None else self.prior_function(at)

    def compare(self, layout, theta, rows, expected):
        """Raise ArgumentError where compiled functions differ from what Python computes."""
        from sgmc.core.expansion import of_prior

        own = self.prior_kernel()
        found = self.log_lik(theta, rows), 0.0 if own is None else of_prior(own, theta, False)[0]
        for name, one, other in zip(("log_lik", "log_prior"), found, expected):
            if not np.isclose(one, other, AS_IN_PYTHON, AS_IN_PYTHON, equal_nan=True):
                self.code = None
                raise ArgumentError(
                    f"{owner(self)}: compiled, {name} is {one:.10g}, and in Python {other:.10g}, "
                    f"at {len(rows)} rows where {shown(layout, theta)}. Numba takes arrays outside "
                    "a function for constants; give what changes as data"
                )

    def __getstate__(self):
        return {**self.__dict__, "code": None}  # what is compiled cannot be pickled


class CompiledFunctions(NamedTuple):
    """Numba's cfuncs of a model."""

    density: object  # with the gradient; or the gradient alone, where that is by hand
    value: object  # None where `density` has it
    prior: object  # with the gradient; or None


def require_numba():
    """MissingExtra where numba is not installed."""
    try:
        import numba  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            "NumbaModel needs numba, which is not installed: pip install 'sgmc[numba]'"
        ) from error


def plain(function):
    """The Python function behind one that numba has compiled."""
    return getattr(function, "py_func", function)


def is_field(name):
    """Whether a name can be one of a named tuple."""
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")


def named_tuple(layout):
    """The class of theta."""
    return namedtuple("Theta", layout.shapes)


def arrays_of(data, log_lik):
    """Data as a list of arrays without gaps, in the order of a function's arguments."""
    if isinstance(data, dict):
        arguments = list(inspect.signature(log_lik).parameters)[1:]
        if sorted(arguments) != sorted(data):
            raise ArgumentError(
                f"data has {', '.join(data)}; log_lik takes {', '.join(arguments)} besides theta"
            )
        data = [data[name] for name in arguments]
    if not isinstance(data, tuple | list):
        raise ArgumentError("data must be a tuple, a list or a dict of arrays")
    found = [np.ascontiguousarray(one) for one in data]
    for k, one in enumerate(found):
        if one.ndim == 0 or one.dtype.kind not in "biuf":
            raise DataError(
                f"data[{k}] must be an array of numbers, not {one.dtype} of shape {one.shape}"
            )
    lengths = [len(one) for one in found]
    if len(set(lengths)) > 1 or 0 in lengths:
        raise DataError(
            f"data: arrays have {', '.join(map(str, lengths))} rows; all must have as many, and at "
            "least one"
        )
    return found


def telling_rows(data, n):
    """Some rows, those among them at which a column of the data is least or largest."""
    rows = set(np.random.default_rng(0).choice(n, min(n, ROWS_IN_PYTHON), replace=False))
    for one in data:
        flat = one.reshape(n, -1)
        rows |= (
            {*flat.argmin(axis=0), *flat.argmax(axis=0)}
            if flat.shape[1] <= ROWS_IN_PYTHON
            else set()
        )
    return np.array(sorted(rows), dtype=np.intp)


def compiled_functions(called, layout, named, functions, data):
    """The `CompiledFunctions` of a log density, its gradient or None, and a log prior or None."""
    log_lik, grad, log_prior = functions
    read = data_lines(data), "".join(f", data{k}[i]" for k in range(len(data)))
    plainly = {"parameters": entries(layout, "theta"), "slopes": entries(layout, "slope", True)}
    value = density = prior = None
    if grad is None:
        density = differentiated(called, "log_lik", log_lik, layout, named, read)
    else:
        names = {"log_lik": log_lik, "grad": grad}
        value = made(called, "log_lik", VALUE, plainly, names, named, read)
        density = made(called, "grad", SLOPE, plainly, names, named, read)
    if log_prior is not None:
        prior = differentiated(called, "log_prior", log_prior, layout, named, ("pass", ""))
    return CompiledFunctions(density, value, prior)


def data_lines(data):
    """Lines that read the arrays of the data."""
    return (
        "\n    ".join(
            f"data{k} = carray(pointer(load(data, {k})), {one.shape}, np.{one.dtype.name})"
            for k, one in enumerate(data)
        ).replace("np.bool)", "np.bool_)")
        or "pass"
    )


def entries(layout, vector, written=False):
    """The parameters in a vector, numbers and arrays."""
    found = []
    for name, shape in layout.shapes.items():
        start = layout.slices[name].start
        if shape or written:
            found.append(f"carray(at_number({vector}, {start}), {shape or (1,)}, np.float64)")
        else:
            found.append(f"{vector}[{start}]")
    return ", ".join(found) + ","


def differentiated(called, name, function, layout, named, read):
    """The cfunc of a function and of its gradient in reverse mode."""
    deep = [name for name, shape in layout.shapes.items() if len(shape) > MOST_AXES]
    if deep:
        raise ArgumentError(
            f"{called}: parameter {deep[0]!r} has {len(layout.shapes[deep[0]])} axes; derivatives "
            f"are of numbers, vectors and matrices; give grad, or use JaxModel"
        )
    found = []
    for one, shape in layout.shapes.items():
        start = layout.slices[one].start
        found.append(
            f"var_array(offset(flat, {start}), {start + 1}, tape, {shape})"
            if shape
            else f"var(theta[{start}], {start + 1}, tape)"
        )
    lines = {"parameters": ", ".join(found) + ","}
    return made(called, name, DENSITY, lines, {"log_lik": function}, named, read)


def made(called, name, template, lines, functions, named, read):
    """The cfunc of a template.

    Parameters
    ----------
    called, name : str
        The model and its function, for messages.
    template : str
    lines : dict
        What is filled into it.
    functions : dict
        The user's functions in it, by name.
    named : class
        Of theta.
    read : (str, str)
        Lines that read the data, and the arguments of a row.
    """
    from numba import carray, cfunc, njit, types
    from numba.core.errors import NumbaError

    from sgmc.models.user import tape

    numbers, whole = types.CPointer(types.double), types.CPointer(types.int64)
    signature = types.double(types.int64, numbers, types.int64, whole, numbers, types.voidptr)
    given = {
        **{one: getattr(tape, one) for one in tape.__all__},
        **{one: njit(function, **INNER) for one, function in functions.items()},
        "Theta": named,
        "carray": carray,
        "np": np,
    }
    text = template.format(arrays=read[0], row=read[1], **lines)
    exec(compile(text, f"<{called}.{name}>", "exec"), given)  # shapes are constants of the code
    try:
        return cfunc(signature, **OPTIONS)(given["density"])
    except NumbaError as error:
        raise ArgumentError(
            f"{called}.{name} cannot be compiled by numba: {first_reason(error)}. Write it with "
            "loops over single numbers, give grad, or use JaxModel"
        ) from error


OPTIONS = {"error_model": "numpy", "fastmath": FAST}
INNER = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def first_reason(error):
    """What numba says is wrong, in a line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [one for one in lines if not one.startswith(("Failed in nopython", "During", "-"))]
    return (telling or lines)[0].rstrip(".")
