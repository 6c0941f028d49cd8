"""The functions of a user's model, called with names: what they return is checked, and what they
raise, or NaN, is named by model, function, parameters and step of the chain.
"""

from dataclasses import dataclass

import numpy as np

from sgmc.core.numerics.duals import Dual, NoDerivative
from sgmc.core.numerics.limits import CENTRAL_DIFFERENCE
from sgmc.errors import ArgumentError, NotSupported
from sgmc.fit.chains import running

MAX_DIFFERENCED = 50  # numbers of theta: gradients by differences cost twice as many values
REAL = "biuf"  # kinds of arrays of real numbers
WAY_ON = "sgmc.check_model(model) calls it at several places"
AS_DIFFERENCES = 1e-4  # relative to the largest derivative, of one in forward mode
SAME_VALUE = 1e-9  # relative, of densities in forward mode
SHOWN = 4  # numbers of theta in a message


@dataclass
class UndefinedValues:
    """NaN that a function returned while chains ran.

    Attributes
    ----------
    text : str
        Function, step, chain and parameters of the first time.
    recorded : int
        Steps after warmup in which it did.
    last : (int, int) or None
        The last such chain and step.
    """

    text: str
    recorded: int = 0
    last: tuple | None = None


class Call:
    """A function of a user's model as one of vectors theta (and rows).

    Each call has a theta of its own, which the function may change.

    Parameters
    ----------
    owner, name : str
        What the user calls the model and the function.
    function : callable
        Of a vector theta.
    layout : Layout
    """

    def __init__(self, owner, name, function, layout):
        self.name, self.function, self.layout = f"{owner}.{name}", function, layout
        self.undefined = None

    def __call__(self, theta, *rows):
        try:
            found = self.function(theta.copy(), *rows)
        except Exception as error:  # the user's own surfaces as it is, with the place
            error.add_note(f"In {self.name}{place(self.layout, theta)}. {WAY_ON}.")
            raise
        return self.checked(found, theta, bool(rows))

    def checked(self, found, theta, of_rows):
        """What was returned, as numbers."""
        raise NotImplementedError

    def refuse(self, theta, returned, wanted):
        """Raise ArgumentError for what was returned."""
        raise ArgumentError(
            f"{self.name} returned {returned}{place(self.layout, theta)}; it must return {wanted}. "
            f"{WAY_ON}."
        )

    def notice(self, theta, number=""):
        """Remember NaN that a chain met."""
        task = running()
        if task is None:
            return
        if self.undefined is None:
            of = f" for {number!r}" if number else ""
            self.undefined = UndefinedValues(
                f"{self.name} returned NaN{of}{place(self.layout, theta)}"
            )
        now = task.k, task.step
        if not task.warming and now != self.undefined.last:
            self.undefined.recorded += 1
            self.undefined.last = now


class Number(Call):
    """A log density."""

    def checked(self, found, theta, of_rows):
        if type(found) is not float and not isinstance(found, np.floating):
            wanted = "one number" + (", the sum over its rows" if of_rows else "")
            if np.ndim(found) != 0:
                self.refuse(theta, f"an array of shape {np.shape(found)}", wanted)
            if found is None or np.asarray(found).dtype.kind not in REAL:
                self.refuse(theta, described(found), wanted)
            found = float(found)
        if found != found:
            self.notice(theta)
        return found


class Vector(Call):
    """A gradient, of a dict by name or a vector."""

    def checked(self, found, theta, of_rows):
        out = np.empty(self.layout.size)
        if isinstance(found, dict):
            if not self.filled(out, found):
                self.fill(out, found, theta)
        else:
            array = np.asarray(found)
            shape = (self.layout.size,)
            if found is None or array.dtype.kind not in REAL:
                self.refuse(theta, described(found), f"numbers of shape {shape}, or a dict by name")
            if array.shape != shape:
                self.refuse(
                    theta, f"an array of shape {array.shape}", f"{shape}, or a dict by name"
                )
            out[:] = array
        square = out @ out
        if square != square:
            self.notice(theta, self.layout.names[int(np.argmax(np.isnan(out)))])
        return out

    def filled(self, out, found):
        """Whether all parts of a dict were arrays of float64 of the right shapes, which are then in
        `out`: of these there is nothing to check.
        """
        shapes, slices = self.layout.shapes, self.layout.slices
        if found.keys() != shapes.keys():
            return False
        for name, part in found.items():
            plain = type(part) is np.ndarray and part.dtype == np.float64
            if not plain or part.shape != shapes[name] or part.ndim != 1:
                return False
            out[slices[name]] = part
        return True

    def fill(self, out, found, theta):
        """Write a dict by name into a vector."""
        shapes, slices = self.layout.shapes, self.layout.slices
        missing = [name for name in shapes if name not in found]
        if missing or len(found) > len(shapes):
            unknown = [str(name) for name in found if name not in shapes]
            self.refuse(
                theta,
                "a dict "
                + " and ".join(
                    f"{how} {', '.join(map(repr, names))}"
                    for how, names in (("without", missing), ("with", unknown))
                    if names
                ),
                f"{', '.join(shapes)}",
            )
        for name, shape in shapes.items():
            part = np.asarray(found[name])
            if found[name] is None or part.dtype.kind not in REAL:
                self.refuse(theta, f"{described(found[name])} for {name!r}", "numbers")
            if part.shape != shape:
                self.refuse(theta, f"{name!r} of shape {part.shape}", f"{shape}")
            out[slices[name]] = part.ravel()


class Trusted(Call):
    """A gradient (size,), or a log density and its gradient (1 + size,), of a function that is
    trusted to return numbers of this shape.
    """

    def checked(self, found, theta, of_rows):
        total = found.sum()
        if total != total and np.isnan(found).any():
            first = int(np.argmax(np.isnan(found))) - len(found) + self.layout.size
            self.notice(theta, self.layout.names[first] if first >= 0 else "")
        return found


def described(found):
    """What a function returned that is no array of real numbers, in words."""
    kind = getattr(getattr(found, "dtype", None), "kind", "")
    if kind == "c" or isinstance(found, complex):
        return "complex numbers" if np.ndim(found) else f"the complex number {found}"
    return "None" if found is None else f"{str(found)[:40]!r}, of type {type(found).__name__}"


def place(layout, theta):
    """Step and chain, where a chain runs, and the parameters, in words."""
    task = running()
    return ("" if task is None else f" at step {task.step} of chain {task.k}") + (
        f" where {shown(layout, theta)}"
    )


def shown(layout, theta):
    """The first parameters, in words."""
    some = [f"{name}={value:.4g}" for name, value in zip(layout.names[:SHOWN], theta)]
    return ", ".join(some) + (", ..." if layout.size > SHOWN else "")


def owner(model):
    """What messages call a model."""
    return model.title or type(model).__name__


def functions(model, layout, names):
    """A log density of a model and its gradient, as functions of vectors theta (and rows);
    differences where there is no gradient.

    Parameters
    ----------
    model : Model
    layout : Layout
    names : (str, str)
        Of the model's methods, the second of which may be missing.
    """
    called, gradient = owner(model), getattr(model, names[1], None)
    if gradient is None and layout.size > MAX_DIFFERENCED:
        raise NotSupported(
            f"there is no {names[1]}, and {layout.size} parameters are too many to do without (at "
            f"most {MAX_DIFFERENCED}); write {names[1]}, or give {names[0]} of one row to "
            "sgmc.NumbaModel or of jax.numpy to sgmc.JaxModel, which compute its gradient",
            because="limit",
        )
    function = by_name(getattr(model, names[0]), layout)
    value = Number(called, names[0], function, layout)
    if gradient is None:
        return value, WithoutGradient(function, value, layout)
    return value, Vector(called, names[1], by_name(gradient, layout), layout)


def by_name(function, layout):
    """A function of a dict of arrays as one of vectors theta."""
    parts = [(name, where, layout.shapes[name]) for name, where in layout.slices.items()]

    def of_vector(theta, *rows):
        return function(
            {
                name: theta[where].reshape(shape) if shape else theta[where.start]
                for name, where, shape in parts
            },
            *rows,
        )

    return of_vector


class WithoutGradient:
    """The gradient of a log density that has none: in forward mode, where all that its function
    does has a rule and the first gradient is as differences have it; else by differences.

    Parameters
    ----------
    function : callable
        Of a vector theta (and rows).
    value : Number
        The same, checked.
    layout : Layout
    """

    def __init__(self, function, value, layout):
        self.function, self.value, self.layout = function, value, layout
        self.differenced = differences(value, layout)
        self.forward = None  # whether it is in forward mode; None: not known yet
        self.unit = np.eye(layout.size)

    def __call__(self, theta, *rows):
        if self.forward is False:
            return self.differenced(theta, *rows)
        try:
            found, slope = self.evaluate(theta, *rows)
        except Exception:  # whatever a user's function does with what is no array
            self.forward = False
            return self.differenced(theta, *rows)
        if self.forward is None:
            other = self.differenced(theta, *rows)
            same = np.allclose(slope, other, AS_DIFFERENCES, AS_DIFFERENCES * np.abs(other).max())
            self.forward = same and np.isclose(found, self.value(theta, *rows), rtol=SAME_VALUE)
            if not self.forward:
                return other
        if not np.isfinite(slope).all():  # also where a density is, or a rule is not
            return self.differenced(theta, *rows)
        return slope

    def evaluate(self, theta, *rows):
        """The log density and its gradient in forward mode."""
        with np.errstate(all="ignore"):
            found = self.function(Dual(theta, self.unit), *rows)
        if not isinstance(found, Dual):
            raise NoDerivative
        return float(found.value), found.slope.reshape(self.layout.size)


def differences(value, layout):
    """The gradient by central differences that stay within the parameters' bounds."""
    low, high = layout.bounds()

    def slope(theta, *rows):
        found = np.empty(len(theta))
        steps = CENTRAL_DIFFERENCE * np.minimum(
            np.maximum(1.0, np.abs(theta)), np.minimum(theta - low, high - theta)
        )
        for j, h in enumerate(steps):
            there, back = theta.copy(), theta.copy()
            there[j] += h
            back[j] -= h
            found[j] = (value(there, *rows) - value(back, *rows)) / (there[j] - back[j])
        return found

    return slope
