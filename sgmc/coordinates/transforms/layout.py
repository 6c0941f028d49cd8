"""Named and shaped parameters as one vector, and the edges that they have."""

import numpy as np

from sgmc.arguments.messages import must_be
from sgmc.arguments.names import parameter
from sgmc.arguments.numbers import is_number, sizes
from sgmc.coordinates.transforms.constraints import KINDS, Constrained
from sgmc.errors import ArgumentError

LOW = {"positive": 0.0, "positive_ordered": 0.0, "simplex": 0.0, "mirrored": 0.0}
HIGH = {"simplex": 1.0, "mirrored": 1.0}
ROW_BLOCKS = ("ordered", "positive_ordered", "simplex", "mirrored")  # along the last axis
SUM_BLOCKS = ("simplex", "mirrored")  # of one: a number less is free


class Layout:
    """Where each parameter is in the vector theta, in row-major order,
    and what it is constrained to.

    Parameters
    ----------
    parameters : dict
        Name -> shape: ``()`` for a number, a whole number, or a tuple.
    constraints : dict, optional
        Name -> ``"positive"``, ``("interval", low, high)`` with at least one finite end,
        ``"ascending"`` (the rows of a matrix by their first number), or along the last axis
        ``"ordered"``, ``"positive_ordered"`` (0 < theta_0 < theta_1 < ...), ``"simplex"`` or
        ``"mirrored"`` (the simplex too, in the coordinates of mirrored Langevin dynamics).

    Raises
    ------
    ArgumentError
        Naming the parameter.
    """

    def __init__(self, parameters, constraints=None):
        if not isinstance(parameters, dict) or not parameters:
            wanted = "a dict of names and shapes, such as {'W': (3, 4), 'b': ()}"
            raise must_be("parameters", parameters, wanted)
        self.shapes = {name: shape_of(name, shape) for name, shape in parameters.items()}
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes.values()])
        self.slices = {
            name: slice(int(end) - int(np.prod(shape)), int(end))
            for (name, shape), end in zip(self.shapes.items(), ends)
        }
        self.size = int(ends[-1])
        self.constraints = {
            self.known(name, "constraints"): self.constraint(name, c)
            for name, c in (constraints or {}).items()
        }
        self.names = [label for name, shape in self.shapes.items() for label in labels(name, shape)]

    def known(self, name, argument):
        """`name` if it is a parameter."""
        return parameter(argument, name, self.shapes)

    def constraint(self, name, wanted):
        """(kind, low, high) of a parameter's constraint."""
        kind, *ends = (
            (wanted,)
            if isinstance(wanted, str)
            else tuple(wanted)
            if isinstance(wanted, (tuple, list))
            else ("",)
        )
        right = (
            kind in (*KINDS, "ascending")
            and kind not in ("free", "monotone")  # which no density of a user's is made for
            and len(ends) == (2 if kind == "interval" else 0)
        )
        if (
            not right
            or not all(is_number(e) for e in ends)
            or ends
            and not (ends[0] < ends[1] and np.isfinite(ends).any())
        ):
            raise must_be(
                f"constraints[{name!r}]",
                wanted,
                "'positive', 'ordered', 'positive_ordered', 'ascending', 'simplex', 'mirrored' or "
                "('interval', low, high), of which one may be infinite",
            )
        if kind in ROW_BLOCKS and (not self.shapes[name] or self.shapes[name][-1] < 2):
            raise ArgumentError(
                f"constraints[{name!r}]: a parameter of shape {self.shapes[name]} has no two "
                f"numbers that could be {kind}"
            )
        if kind == "ascending" and (len(self.shapes[name]) != 2 or self.shapes[name][0] < 2):
            raise ArgumentError(
                f"constraints[{name!r}]: a parameter of shape {self.shapes[name]} has no two rows "
                "that could be ascending"
            )
        return (
            (kind, *map(float, ends))
            if ends
            else (kind, LOW.get(kind, -np.inf), HIGH.get(kind, np.inf))
        )

    def blocks(self):
        """Blocks of `Constrained`: rows along the last axis where these are ordered or sum to
        one.
        """
        found = []
        for name, shape in self.shapes.items():
            kind, low, high = self.constraints.get(name, ("free", 0.0, 0.0))
            size = int(np.prod(shape))
            length = shape[-1] if kind in ROW_BLOCKS else size
            if kind == "ascending":
                kind, low = "ordered", float(shape[1])
            found += [(name, (kind, length, low, high))] * (size // length if length else 0)
        return found

    @property
    def map(self):
        """From free numbers to theta; None where nothing is constrained."""
        return Constrained([block for _, block in self.blocks()]) if self.constraints else None

    def map_for(self, spec):
        """The map that suits a sampler best (None: any); `map`, where a model has no other."""
        return self.map

    @property
    def free_names(self):
        """Names of the free numbers: those of the parameters,
        but for the last of each row on a simplex.
        """
        dropped, at = set(), 0
        for _, (kind, length, *_) in self.blocks():
            at += length
            dropped |= {at - 1} if kind in SUM_BLOCKS else set()
        return [name for j, name in enumerate(self.names) if j not in dropped]

    @property
    def kinds(self):
        """The kind of constraint of each number of theta, a list."""
        return [kind for _, (kind, length, *_) in self.blocks() for _ in range(length)]

    @property
    def log_params(self):
        """Which free numbers are logs of distances from the only end, a boolean array."""
        found = []
        for _, (kind, length, low, high) in self.blocks():
            every = kind == "positive" or kind == "interval" and np.isinf(high - low)
            first = kind == "positive_ordered"
            found += [every or first and k == 0 for k in range(length - (kind in SUM_BLOCKS))]
        return np.array(found, dtype=bool)

    def bounds(self):
        """The least and the largest value of each number of theta, arrays (size,)."""
        low, high = np.full(self.size, -np.inf), np.full(self.size, np.inf)
        for name, (_, least, most) in self.constraints.items():
            low[self.slices[name]], high[self.slices[name]] = least, most
        return low, high

    def unpack(self, theta):
        """Name -> array (..., *shape) of vectors theta (..., size)."""
        return {
            name: theta[..., where].reshape((*theta.shape[:-1], *self.shapes[name]))
            for name, where in self.slices.items()
        }

    def pack(self, values, argument="theta"):
        """The vector of a dict of arrays by name, or of a vector; leading axes (chains) are kept.

        Raises
        ------
        ArgumentError
            Naming what is missing, unknown or of another shape.
        """
        if not isinstance(values, dict):
            return values
        for name in values:
            self.known(name, argument)
        parts = []
        for name, shape in self.shapes.items():
            if name not in values:
                raise ArgumentError(
                    f"{argument}: {name!r} is missing; give {', '.join(self.shapes)}"
                )
            array = np.asarray(values[name], dtype=float)
            if array.shape[array.ndim - len(shape) :] != shape or array.ndim - len(shape) not in (
                0,
                1,
            ):
                raise ArgumentError(
                    f"{argument}[{name!r}] has shape {array.shape}; it must be {shape}"
                )
            parts.append(array.reshape(*array.shape[: array.ndim - len(shape)], -1))
        chains = max((part.shape[:-1] for part in parts), key=len)
        return np.concatenate(
            [np.broadcast_to(part, (*chains, part.shape[-1])) for part in parts], axis=-1
        )


def shape_of(name, shape):
    """A shape as a tuple."""
    if not isinstance(name, str) or not name:
        raise ArgumentError(f"parameters: the name {name!r} must be text")
    wanted = "a shape: (), a whole number, or a tuple of whole numbers, each at least 1"
    return sizes(f"parameters[{name!r}]", shape, wanted)


def labels(name, shape):
    """Names of single numbers: ``W[0,1]``; the name itself where there is one."""
    return [f"{name}[{','.join(map(str, at))}]" for at in np.ndindex(*shape)] if shape else [name]
