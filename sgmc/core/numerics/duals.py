"""Derivatives of functions written in numpy, in forward mode.

A `Dual` takes the place of an array: it has values, and along a first axis their derivatives by
each of d numbers.  Numpy passes it what its functions would do (NEP 13 and NEP 18), and gets both
back (Griewank & Walther 2008, section 3.1).  One evaluation gives the whole gradient, without the
error of differences.  What has no rule here raises `NoDerivative`: a conversion to an array or a
float, too, so that no derivative is lost unnoticed.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

PLAIN = (slice, int, np.integer, type(None))  # indices that keep the order of axes
MOST_SLOPES = 1 << 23  # numbers that derivatives of an array may be
Array = np.ndarray
Values = Any  # arrays, or duals


class NoDerivative(Exception):
    """A function was asked for that has no rule."""


class Dual(NDArrayOperatorsMixin):
    """Values and their derivatives.

    Parameters
    ----------
    value : array
    slope : array (d, *value.shape)
    """

    def __init__(self, value: Array, slope: Array) -> None:
        self.value, self.slope = value, slope
        if slope.size > MOST_SLOPES:
            raise NoDerivative

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the values."""
        return self.value.shape

    @property
    def ndim(self) -> int:
        """Axes of the values."""
        return self.value.ndim

    @property
    def size(self) -> int:
        """Number of the values."""
        return self.value.size

    @property
    def T(self) -> "Dual":
        """Transposed."""
        return self.transpose()

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, index: Any) -> "Dual":
        value = np.asarray(self.value[index])
        # with lists of numbers among several indices numpy moves axes: one after the other
        if isinstance(index, tuple) and not all(isinstance(one, PLAIN) for one in index):
            return Dual(value, np.stack([one[index] for one in self.slope]))
        rest = index if isinstance(index, tuple) else (index,)
        return Dual(value, self.slope[(slice(None), *rest)])

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise NoDerivative

    def __float__(self) -> float:
        raise NoDerivative

    __int__ = __index__ = __complex__ = __float__

    def __bool__(self) -> bool:
        return bool(self.value)

    def reshape(self, *shape: Any) -> "Dual":
        """The same numbers in another shape."""
        value = self.value.reshape(*shape)
        return Dual(value, self.slope.reshape(len(self.slope), *value.shape))

    def ravel(self) -> "Dual":
        """The same numbers along one axis."""
        return self.reshape(-1)

    def transpose(self, *axes: Any) -> "Dual":
        """Axes in another order."""
        order = tuple(range(self.ndim))[::-1] if not axes or axes[0] is None else np.ravel(axes)
        moved = (0, *(1 + int(k) % self.ndim for k in order))
        return Dual(self.value.transpose(order), self.slope.transpose(moved))

    def sum(self, axis: Any = None, keepdims: bool = False, **_: Any) -> "Dual":
        """Sums along axes."""
        axes = tuple(range(self.ndim)) if axis is None else tuple(np.ravel(axis))
        axes = tuple(int(k) % self.ndim for k in axes)
        behind = tuple(1 + k for k in axes)
        value = np.asarray(self.value.sum(axis=axes, keepdims=keepdims))
        return Dual(value, self.slope.sum(axis=behind, keepdims=keepdims))

    def mean(self, axis: Any = None, **how: Any) -> "Dual":
        """Means along axes."""
        total = self.sum(axis, **how)
        return total * (total.size / self.size)

    def dot(self, other: Values) -> "Dual":
        """Products of vectors and matrices."""
        return np.matmul(self, other) if self.ndim and np.ndim(value_of(other)) else self * other

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **how: Any) -> Any:
        if method == "reduce" and ufunc is np.add and "out" not in how:
            return given[0].sum(how.get("axis", 0), how.get("keepdims", False))
        if method != "__call__" or how:
            raise NoDerivative
        values = [value_of(one) for one in given]
        if ufunc in CONSTANT:
            return ufunc(*values)
        if ufunc is np.matmul:
            return product(*given)
        name = ufunc.__name__
        if name not in RULES:
            raise NoDerivative
        found = ufunc(*values)
        factors = RULES[name](*values, found)
        d = next(len(one.slope) for one in given if isinstance(one, Dual))
        slope = np.zeros((d, *np.shape(found)))
        for one, factor in zip(given, factors):
            if isinstance(one, Dual):
                slope += lifted(one, np.ndim(found)) * factor
        return Dual(np.asarray(found), slope)

    def __array_function__(self, function: Any, _: Any, given: Any, how: Any) -> Any:
        if function not in FUNCTIONS:
            raise NoDerivative
        return FUNCTIONS[function](*given, **how)


def value_of(one: Values) -> Any:
    """Values without derivatives."""
    return one.value if isinstance(one, Dual) else one


def lifted(one: Dual, ndim: int) -> Array:
    """Derivatives that broadcast with an array of so many axes."""
    return one.slope.reshape(len(one.slope), *(1,) * (ndim - one.ndim), *one.shape)


def product(x: Values, y: Values) -> Dual:
    """Matrix product of vectors and matrices."""
    a, b = np.asarray(value_of(x)), np.asarray(value_of(y))
    if not (1 <= a.ndim <= 2 and 1 <= b.ndim <= 2):
        raise NoDerivative
    found = np.asarray(a @ b)
    slope = 0.0
    if isinstance(x, Dual):
        slope = slope + x.slope @ b
    if isinstance(y, Dual):
        slope = slope + (a @ y.slope if b.ndim == 2 else y.slope @ a.T)
    return Dual(found, np.asarray(slope))


def chosen(condition: Any, x: Values, y: Values) -> Dual:
    """Elements of x where a condition holds, else of y."""
    found = np.where(value_of(condition), value_of(x), value_of(y))
    slope: Any = 0.0
    for one, holds in ((x, True), (y, False)):
        if isinstance(one, Dual):
            here = np.asarray(value_of(condition)).astype(bool) == holds
            slope = slope + np.where(here, lifted(one, found.ndim), 0.0)
    return Dual(found, np.asarray(slope))


def joined(function: Callable[..., Array]) -> Callable[..., Dual]:
    """`numpy.concatenate` or `numpy.stack`, with derivatives."""

    def called(parts: Any, axis: int = 0) -> Dual:
        parts = list(parts)
        d = next(len(one.slope) for one in parts if isinstance(one, Dual))
        slopes = [
            one.slope if isinstance(one, Dual) else np.zeros((d, *np.shape(one))) for one in parts
        ]
        value = function([value_of(one) for one in parts], axis=axis)
        return Dual(value, function(slopes, axis=axis + 1 if axis >= 0 else axis))

    return called


def cumulated(one: Dual, axis: int | None = None) -> Dual:
    """Cumulative sums."""
    if axis is None:
        one, axis = one.reshape(-1), 0
    behind = 1 + axis % one.ndim
    return Dual(one.value.cumsum(axis=axis), one.slope.cumsum(axis=behind))


def stepwise(one: Dual) -> Dual:
    """Differences of neighbours."""
    return Dual(np.diff(one.value), np.diff(one.slope))


def digamma(x: Any) -> Any:
    """d log Gamma(x) / dx: an asymptotic series eight steps farther (Abramowitz & Stegun 1964,
    6.3.6 and 6.3.18), reflected below 0.
    """
    x = np.asarray(x, dtype=float)
    at = np.where(x > 0, x, 1.0 - x)
    below = sum(1.0 / (at + k) for k in range(8))
    z = 1.0 / (at + 8.0) ** 2
    series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132)))))
    found = np.log(at + 8.0) - 0.5 / (at + 8.0) - series - below
    return np.where(x > 0, found, found - np.pi / np.tan(np.pi * x))


def gaussian(x: Any) -> Any:
    """The standard normal density."""
    return np.exp(-0.5 * np.square(x)) / np.sqrt(2 * np.pi)


# names of ufuncs, of numpy and of scipy.special, to derivatives by each argument: functions of the
# arguments and of what came out
RULES: dict[str, Callable[..., tuple[Any, ...]]] = {
    "add": lambda x, y, f: (1.0, 1.0),
    "subtract": lambda x, y, f: (1.0, -1.0),
    "multiply": lambda x, y, f: (y, x),
    "divide": lambda x, y, f: (1.0 / y, -f / y),
    "power": lambda x, y, f: (y * np.float_power(x, y - 1.0), f * np.log(np.where(x > 0, x, 1.0))),
    "maximum": lambda x, y, f: (np.greater_equal(x, y), np.less(x, y)),
    "minimum": lambda x, y, f: (np.less_equal(x, y), np.greater(x, y)),
    "logaddexp": lambda x, y, f: (np.exp(x - f), np.exp(y - f)),
    "arctan2": lambda x, y, f: (y / (x * x + y * y), -x / (x * x + y * y)),
    "negative": lambda x, f: (-1.0,),
    "positive": lambda x, f: (1.0,),
    "absolute": lambda x, f: (np.sign(x),),
    "fabs": lambda x, f: (np.sign(x),),
    "square": lambda x, f: (2.0 * x,),
    "sqrt": lambda x, f: (0.5 / f,),
    "reciprocal": lambda x, f: (-f * f,),
    "exp": lambda x, f: (f,),
    "expm1": lambda x, f: (f + 1.0,),
    "log": lambda x, f: (1.0 / x,),
    "log1p": lambda x, f: (1.0 / (1.0 + x),),
    "log2": lambda x, f: (1.0 / (x * np.log(2.0)),),
    "log10": lambda x, f: (1.0 / (x * np.log(10.0)),),
    "sin": lambda x, f: (np.cos(x),),
    "cos": lambda x, f: (-np.sin(x),),
    "tan": lambda x, f: (1.0 + f * f,),
    "sinh": lambda x, f: (np.cosh(x),),
    "cosh": lambda x, f: (np.sinh(x),),
    "tanh": lambda x, f: (1.0 - f * f,),
    "arctan": lambda x, f: (1.0 / (1.0 + x * x),),
    "arcsin": lambda x, f: (1.0 / np.sqrt(1.0 - x * x),),
    "arccos": lambda x, f: (-1.0 / np.sqrt(1.0 - x * x),),
    "expit": lambda x, f: (f * (1.0 - f),),
    "log_expit": lambda x, f: (-np.expm1(f),),
    "gammaln": lambda x, f: (digamma(x),),
    "erf": lambda x, f: (2.0 * np.exp(-x * x) / np.sqrt(np.pi),),
    "erfc": lambda x, f: (-2.0 * np.exp(-x * x) / np.sqrt(np.pi),),
    "ndtr": lambda x, f: (gaussian(x),),
    "log_ndtr": lambda x, f: (gaussian(x) / np.exp(f),),
}
CONSTANT = {
    *(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal, np.sign),
    *(np.isfinite, np.isnan, np.isinf, np.floor, np.ceil, np.rint),
}
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: lambda one, axis=None, **how: one.sum(axis, **how),
    np.mean: lambda one, axis=None, **how: one.mean(axis, **how),
    np.dot: lambda x, y: product(x, y) if np.ndim(x) and np.ndim(y) else x * y,
    np.where: chosen,
    np.concatenate: joined(np.concatenate),
    np.stack: joined(np.stack),
    np.reshape: lambda one, *shape: one.reshape(*shape),
    np.ravel: lambda one: one.ravel(),
    np.transpose: lambda one, axes=None: one.transpose(axes),
    np.cumsum: cumulated,
    np.diff: stepwise,
    np.outer: lambda x, y: x.reshape(-1)[:, None] * y.reshape(-1)[None],
    np.ndim: lambda one: one.ndim,
    np.shape: lambda one: one.shape,
    np.size: lambda one: one.size,
}
