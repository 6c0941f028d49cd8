"""Derivatives of functions that numba compiles, by reverse mode.

While a function of parameters runs, each operation on a `Var` writes a node to a tape: the nodes
that it came from, and its partial derivatives.  Backwards through the tape these give the gradient,
at a few times the cost of the function whatever the number of parameters, and whatever branches and
loops it took (Griewank & Walther 2008, chapter 3).  A tape is as long as one row's operations, and
is wiped after each row.

Node 0 stands for constants, 1 to d for the parameters, and what follows for the operations.  All of
it are extensions of numba's types, so that this module is imported by what needs numba alone.
"""

import math
import operator
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.typeconv import Conversion
from numba.extending import (
    intrinsic,
    lower_cast,
    make_attribute_wrapper,
    models,
    overload,
    register_model,
)

__all__ = (
    "TAPE_NODES",
    "TAPE_WEIGHTS",
    "as_var",
    "at_number",
    "fits",
    "larger",
    "load",
    "new_room",
    "offset",
    "pointer",
    "pointer_of",
    "sweep",
    "tape_of",
    "var",
    "var_array",
    "wipe",
)

REAL_NUMBER, WHOLE, ADDRESS = types.float64, types.int64, types.voidptr
TAPE_NODES, TAPE_WEIGHTS = 256, 256  # of a new tape; it grows
# a tape is some numbers of 64 bits: nodes and weights made and room for them, then addresses
MADE, ROOM, HEAVY, HEAVY_ROOM, NODE_AT, WEIGHT_AT, SENSITIVITY_AT = range(7)
HEAD_WORDS = 7
NODE_WORDS = 4  # a node: two partial derivatives, and the nodes that they are of
# in the place of the first: a sum of neighbouring parameters times weights of the tape
SUM_OF_MANY = -1


def inner(function):
    """Compile a function that compiled ones alone call, which saves a third of the time."""
    return njit(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


class VarType(types.Type):
    """A number that depends on parameters: its value, its node and the tape."""

    def __init__(self):
        super().__init__("Var")

    def can_convert_from(self, typingctx, other):
        """How numbers become one: safely."""
        return Conversion.safe if isinstance(other, types.Number | types.Boolean) else None

    def unify(self, typingctx, other):
        """The type of it and a number."""
        return self if isinstance(other, types.Number | types.Boolean) else None


class VarArrayType(types.Type):
    """Parameters of an array: values, the node of the first, the tape and the shape."""

    def __init__(self, ndim):
        self.ndim = ndim
        super().__init__(f"VarArray({ndim})")


Var = VarType()


@register_model(VarType)
class VarModel(models.StructModel):
    """How numba keeps a `Var`."""

    def __init__(self, manager, kind):
        super().__init__(
            manager, kind, [("value", REAL_NUMBER), ("node", WHOLE), ("tape", ADDRESS)]
        )


@register_model(VarArrayType)
class VarArrayModel(models.StructModel):
    """How numba keeps a `VarArray`."""

    def __init__(self, manager, kind):
        shape = types.UniTuple(WHOLE, kind.ndim)
        members = [
            ("values", types.CPointer(REAL_NUMBER)),
            ("first", WHOLE),
            ("tape", ADDRESS),
            ("shape", shape),
        ]
        super().__init__(manager, kind, members)


for owner, members in (
    (VarType, ("value", "node", "tape")),
    (VarArrayType, ("values", "first", "tape", "shape")),
):
    for member in members:
        make_attribute_wrapper(owner, member, member)


# ---- memory --------------------------------------------------------------------------------------


def word(builder, address, k, kind=None):
    """Pointer to the k-th number of 64 bits behind an address."""
    base = builder.bitcast(address, (kind or ir.IntType(64)).as_pointer())
    return builder.gep(base, [k if isinstance(k, ir.Value) else ir.Constant(ir.IntType(64), k)])


@intrinsic
def load(typingctx, address, k):
    """The k-th whole number behind an address."""

    def code(context, builder, signature, args):
        return builder.load(word(builder, *args))

    return WHOLE(ADDRESS, WHOLE), code


@intrinsic
def store(typingctx, address, k, value):
    """Write the k-th whole number behind an address."""

    def code(context, builder, signature, args):
        builder.store(args[2], word(builder, args[0], args[1]))
        return context.get_dummy_value()

    return types.none(ADDRESS, WHOLE, WHOLE), code


@intrinsic
def load_float(typingctx, address, k):
    """The k-th float behind an address."""

    def code(context, builder, signature, args):
        return builder.load(word(builder, *args, ir.DoubleType()))

    return REAL_NUMBER(ADDRESS, WHOLE), code


@intrinsic
def store_float(typingctx, address, k, value):
    """Write the k-th float behind an address."""

    def code(context, builder, signature, args):
        builder.store(args[2], word(builder, args[0], args[1], ir.DoubleType()))
        return context.get_dummy_value()

    return types.none(ADDRESS, WHOLE, REAL_NUMBER), code


@intrinsic
def pointer(typingctx, address):
    """A pointer of an address."""

    def code(context, builder, signature, args):
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return ADDRESS(WHOLE), code


@intrinsic
def pointer_of(typingctx, numbers):
    """An untyped pointer of one to floats."""

    def code(context, builder, signature, args):
        return builder.bitcast(args[0], cgutils.voidptr_t)

    return ADDRESS(numbers), code


@intrinsic
def at_number(typingctx, numbers, k):
    """An untyped pointer to the k-th of some floats."""

    def code(context, builder, signature, args):
        return builder.bitcast(builder.gep(args[0], [args[1]]), cgutils.voidptr_t)

    return ADDRESS(numbers, WHOLE), code


@intrinsic
def address_of(typingctx, array):
    """The address of an array's numbers."""

    def code(context, builder, signature, args):
        made = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.ptrtoint(made.data, ir.IntType(64))

    return WHOLE(array), code


@intrinsic
def var(typingctx, value, node, tape):
    """A `Var` of its parts."""

    def code(context, builder, signature, args):
        made = cgutils.create_struct_proxy(Var)(context, builder)
        made.value, made.node, made.tape = args
        return made._getvalue()

    return Var(REAL_NUMBER, WHOLE, ADDRESS), code


@intrinsic
def var_array(typingctx, values, first, tape, shape):
    """A `VarArray` of its parts; `values` is an address."""
    kind = VarArrayType(len(shape))

    def code(context, builder, signature, args):
        made = cgutils.create_struct_proxy(kind)(context, builder)
        made.values = builder.bitcast(args[0], ir.DoubleType().as_pointer())
        made.first, made.tape = args[1:3]
        made.shape = context.cast(
            builder, args[3], signature.args[3], types.UniTuple(WHOLE, kind.ndim)
        )
        return made._getvalue()

    return kind(ADDRESS, WHOLE, ADDRESS, shape), code


@intrinsic
def values_of(typingctx, array):
    """The address of a `VarArray`'s values."""

    def code(context, builder, signature, args):
        made = cgutils.create_struct_proxy(array)(context, builder, args[0])
        return builder.bitcast(made.values, cgutils.voidptr_t)

    return ADDRESS(array), code


@intrinsic
def offset(typingctx, address, k):
    """The address of the k-th float behind an address."""

    def code(context, builder, signature, args):
        return builder.bitcast(word(builder, *args, ir.DoubleType()), cgutils.voidptr_t)

    return ADDRESS(ADDRESS, WHOLE), code


@intrinsic
def is_null(typingctx, address):
    """Whether there is no tape, as behind constants."""

    def code(context, builder, signature, args):
        return builder.icmp_unsigned("==", args[0], args[0].type(None))

    return types.boolean(ADDRESS), code


@lower_cast(types.Integer, Var)
@lower_cast(types.Float, Var)
@lower_cast(types.Boolean, Var)
def constant(context, builder, given, kind, value):
    """A number that depends on nothing."""
    made = cgutils.create_struct_proxy(Var)(context, builder)
    made.value = context.cast(builder, value, given, REAL_NUMBER)
    made.node, made.tape = ir.Constant(ir.IntType(64), 0), cgutils.voidptr_t(None)
    return made._getvalue()


# ---- writing the tape ----------------------------------------------------------------------------


@inner
def pushed(tape, value, w1, n1, w2, n2):
    """A number with partial derivatives w1 and w2 by two nodes; beyond the tape's room it is only
    counted.
    """
    if is_null(tape):
        return var(value, 0, tape)
    node = load(tape, MADE)
    if node < load(tape, ROOM):
        at = pointer(load(tape, NODE_AT))
        k = NODE_WORDS * node
        store_float(at, k, w1)
        store_float(at, k + 1, w2)
        store(at, k + 2, n1)
        store(at, k + 3, n2)
    store(tape, MADE, node + 1)
    return var(value, node, tape)


@inner
def one(x, value, slope):
    """f(x), by its value and slope."""
    return pushed(x.tape, value, slope, x.node, 0.0, 0)


@inner
def two(x, y, value, slope, other):
    """f(x, y), by its value and slopes."""
    tape = y.tape if is_null(x.tape) else x.tape
    return pushed(tape, value, slope, x.node, other, y.node)


@inner
def block(array, total, m):
    """A new sum of m parameters of an array times weights, and the place of these in the tape; -1
    where it has no room for them, and they are only counted.
    """
    tape = array.tape
    start = load(tape, HEAVY)
    store(tape, HEAVY, start + m)
    node = pushed(tape, total, 0.0, SUM_OF_MANY, 0.0, m)
    fits = node.node < load(tape, ROOM) and start + m <= load(tape, HEAVY_ROOM)
    if fits:
        at = pointer(load(tape, NODE_AT))
        store(at, NODE_WORDS * node.node, array.first)
        store(at, NODE_WORDS * node.node + 1, start)
    return node, start if fits else -1


# ---- what functions may do with it ---------------------------------------------------------------


def real(kind):
    """Whether a type is a real number without derivatives."""
    return isinstance(kind, types.Integer | types.Float | types.Boolean)


def binary(function, value, slopes):
    """Let an operator or function of two numbers have derivatives.

    Parameters
    ----------
    function : callable
    value : callable
        Of two floats.
    slopes : callable
        (x, y, value) to both partial derivatives.
    """
    value, slopes = inner(value), inner(slopes)

    @overload(function)
    def of_two(x, y):
        if x is Var and y is Var:

            def found(x, y):
                f = value(x.value, y.value)
                a, b = slopes(x.value, y.value, f)
                return two(x, y, f, a, b)

        elif x is Var and real(y):

            def found(x, y):
                f = value(x.value, float(y))
                return one(x, f, slopes(x.value, float(y), f)[0])

        elif real(x) and y is Var:

            def found(x, y):
                f = value(float(x), y.value)
                return one(y, f, slopes(float(x), y.value, f)[1])

        else:
            return None
        return found


def in_place(function, plain):
    """Let ``x += y`` be ``x = x + y``, and so on."""

    @overload(function)
    def of_two(x, y):
        if x is Var and (y is Var or real(y)) or real(x) and y is Var:
            return lambda x, y: plain(x, y)
        return None


def unary(functions, value, slope):
    """Let functions of a number have derivatives; `slope` is of the number and of the value."""
    value, slope = inner(value), inner(slope)
    for function in functions:

        @overload(function)
        def of_one(x):
            if x is not Var:
                return None

            def found(x):
                f = value(x.value)
                return one(x, f, slope(x.value, f))

            return found


def compared(function):
    """Let a comparison take values alone."""

    @overload(function)
    def of_two(x, y):
        if x is Var and y is Var:
            return lambda x, y: function(x.value, y.value)
        if x is Var and real(y):
            return lambda x, y: function(x.value, y)
        if real(x) and y is Var:
            return lambda x, y: function(x, y.value)
        return None


def power_slopes(x, y, f):
    """Partial derivatives of x^y."""
    return y * x ** (y - 1.0), f * np.log(x) if x > 0.0 else 0.0


def log_sum_slopes(x, y, f):
    """Partial derivatives of log(e^x + e^y)."""
    share = 1.0 / (1.0 + np.exp(y - x))
    return share, 1.0 - share


def angle_slopes(x, y, f):
    """Partial derivatives of the angle of (y, x)."""
    square = x * x + y * y
    return y / square, -x / square


def larger_slopes(x, y, f):
    """Partial derivatives of the larger of two."""
    return (1.0, 0.0) if x >= y else (0.0, 1.0)


def smaller_slopes(x, y, f):
    """Partial derivatives of the smaller of two."""
    return (1.0, 0.0) if x <= y else (0.0, 1.0)


@inner
def digamma(x):
    """d log Gamma(x) / dx, by recurrence up to 8 and an asymptotic series (Abramowitz & Stegun
    1964, 6.3.5 and 6.3.18); reflected below 0.
    """
    shift = 0.0
    if x <= 0.0:
        if x == np.floor(x):
            return np.nan
        shift = -np.pi / np.tan(np.pi * x)
        x = 1.0 - x
    while x < 8.0:
        shift -= 1.0 / x
        x += 1.0
    z = 1.0 / (x * x)
    series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132)))))
    return shift + np.log(x) - 0.5 / x - series


binary(operator.add, lambda x, y: x + y, lambda x, y, f: (1.0, 1.0))
binary(operator.sub, lambda x, y: x - y, lambda x, y, f: (1.0, -1.0))
binary(operator.mul, lambda x, y: x * y, lambda x, y, f: (y, x))
binary(operator.truediv, lambda x, y: x / y, lambda x, y, f: (1.0 / y, -f / y))
binary(operator.pow, lambda x, y: x**y, power_slopes)
binary(math.pow, lambda x, y: x**y, power_slopes)
binary(np.logaddexp, lambda x, y: np.logaddexp(x, y), log_sum_slopes)
binary(
    math.atan2,
    lambda x, y: math.atan2(x, y),
    lambda x, y, f: (y / (x * x + y * y), -x / (x * x + y * y)),
)
in_place(operator.iadd, operator.add)
in_place(operator.isub, operator.sub)
in_place(operator.imul, operator.mul)
in_place(operator.itruediv, operator.truediv)
in_place(operator.ipow, operator.pow)
for larger in (max, np.maximum, np.fmax):
    binary(larger, lambda x, y: max(x, y), larger_slopes)
for smaller in (min, np.minimum, np.fmin):
    binary(smaller, lambda x, y: min(x, y), smaller_slopes)
unary((operator.neg, np.negative), lambda x: -x, lambda x, f: -1.0)
unary((operator.pos,), lambda x: x, lambda x, f: 1.0)
unary((abs, np.abs, math.fabs), lambda x: abs(x), lambda x, f: np.sign(x))
unary((math.exp, np.exp), lambda x: np.exp(x), lambda x, f: f)
unary((math.log, np.log), lambda x: np.log(x), lambda x, f: 1.0 / x)
unary((math.log1p, np.log1p), lambda x: np.log1p(x), lambda x, f: 1.0 / (1.0 + x))
unary((math.expm1, np.expm1), lambda x: np.expm1(x), lambda x, f: f + 1.0)
unary((math.log2, np.log2), lambda x: np.log2(x), lambda x, f: 1.0 / (x * math.log(2.0)))
unary((math.log10, np.log10), lambda x: np.log10(x), lambda x, f: 1.0 / (x * math.log(10.0)))
unary((math.sqrt, np.sqrt), lambda x: np.sqrt(x), lambda x, f: 0.5 / f)
unary((np.square,), lambda x: x * x, lambda x, f: 2.0 * x)
unary((math.sin, np.sin), lambda x: np.sin(x), lambda x, f: np.cos(x))
unary((math.cos, np.cos), lambda x: np.cos(x), lambda x, f: -np.sin(x))
unary((math.tan, np.tan), lambda x: np.tan(x), lambda x, f: 1.0 + f * f)
unary((math.sinh, np.sinh), lambda x: np.sinh(x), lambda x, f: np.cosh(x))
unary((math.cosh, np.cosh), lambda x: np.cosh(x), lambda x, f: np.sinh(x))
unary((math.tanh, np.tanh), lambda x: np.tanh(x), lambda x, f: 1.0 - f * f)
unary((math.atan, np.arctan), lambda x: np.arctan(x), lambda x, f: 1.0 / (1.0 + x * x))
unary((math.asin, np.arcsin), lambda x: np.arcsin(x), lambda x, f: 1.0 / np.sqrt(1.0 - x * x))
unary((math.acos, np.arccos), lambda x: np.arccos(x), lambda x, f: -1.0 / np.sqrt(1.0 - x * x))
unary((math.lgamma,), lambda x: math.lgamma(x), lambda x, f: digamma(x))
unary((math.erf,), lambda x: math.erf(x), lambda x, f: 2.0 / math.sqrt(math.pi) * np.exp(-x * x))
unary((math.erfc,), lambda x: math.erfc(x), lambda x, f: -2.0 / math.sqrt(math.pi) * np.exp(-x * x))
for comparison in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
    compared(comparison)


# ---- arrays of parameters ------------------------------------------------------------------------


@overload(operator.getitem)
def of_index(array, k):
    """A number of a vector, a row of a matrix, or with two indices a number of it."""
    if not isinstance(array, VarArrayType):
        return None
    if array.ndim == 1 and isinstance(k, types.Integer):

        def found(array, k):
            j = k + array.shape[0] if k < 0 else k
            return var(load_float(values_of(array), j), array.first + j, array.tape)

    elif array.ndim == 2 and isinstance(k, types.Integer):

        def found(array, k):
            j = (k + array.shape[0] if k < 0 else k) * array.shape[1]
            values = offset(values_of(array), j)
            return var_array(values, array.first + j, array.tape, (array.shape[1],))

    elif array.ndim == 2 and isinstance(k, types.UniTuple) and k.count == 2:

        def found(array, k):
            return array[k[0]][k[1]]

    else:
        return None
    return found


@overload(len)
def length(array):
    """Numbers of a vector, rows of a matrix."""
    if isinstance(array, VarArrayType):
        return lambda array: array.shape[0]
    return None


def product(weights, array):
    """A sum of parameters times weights, as one node."""
    m = array.shape[0]
    values, total = values_of(array), 0.0
    for j in range(m):
        total += weights[j] * load_float(values, j)
    made, start = block(array, total, m)
    if start >= 0:
        at = offset(pointer(load(array.tape, WEIGHT_AT)), start)
        for j in range(m):
            store_float(at, j, weights[j])
    return made


weighted = inner(product)


@overload(operator.matmul)
@overload(np.dot)
def dot(x, y):
    """Of a vector of numbers and one of parameters."""
    if not (isinstance(x, VarArrayType) ^ isinstance(y, VarArrayType)):
        return None
    array, other = (x, y) if isinstance(x, VarArrayType) else (y, x)
    if array.ndim != 1 or not isinstance(other, types.Array) or other.ndim != 1:
        return None
    if array is x:
        return lambda x, y: weighted(y, x)
    return lambda x, y: weighted(x, y)


@overload(np.sum)
def summed(array):
    """Of a vector of parameters."""
    if not isinstance(array, VarArrayType) or array.ndim != 1:
        return None

    def found(array):
        return weighted(np.ones(array.shape[0]), array)

    return found


# ---- a tape's life -------------------------------------------------------------------------------


class Room(NamedTuple):
    """What a tape, its nodes, its weights and sensitivities of the nodes are written to; arrays."""

    head: np.ndarray
    nodes: np.ndarray
    weights: np.ndarray
    sensitivity: np.ndarray


@inner
def new_room(nodes, weights):
    """Memory of a tape with so many nodes and weights; `tape_of` lives as long as it."""
    room = Room(
        np.zeros(HEAD_WORDS, dtype=np.int64),
        np.empty(NODE_WORDS * nodes),
        np.empty(weights),
        np.zeros(nodes),
    )
    room.head[ROOM], room.head[HEAVY_ROOM] = nodes, weights
    room.head[NODE_AT] = address_of(room.nodes)
    room.head[WEIGHT_AT] = address_of(room.weights)
    room.head[SENSITIVITY_AT] = address_of(room.sensitivity)
    return room


@inner
def larger(room):
    """Room for twice as much as was wanted, with the same sensitivities of the parameters."""
    made = new_room(2 * room.head[MADE], 2 * room.head[HEAVY] + TAPE_WEIGHTS)
    kept = min(len(room.sensitivity), len(made.sensitivity))
    made.sensitivity[:kept] = room.sensitivity[:kept]
    return made


@inner
def tape_of(room):
    """The address of a tape in some room: rows read and write it without counting references."""
    return pointer(address_of(room.head))


@inner
def wipe(tape, d):
    """Leave nothing on a tape behind d parameters."""
    store(tape, MADE, d + 1)
    store(tape, HEAVY, 0)


@inner
def fits(tape):
    """Whether all that was written to a tape had room there."""
    nodes = load(tape, MADE) <= load(tape, ROOM)
    return nodes and load(tape, HEAVY) <= load(tape, HEAVY_ROOM)


@inner
def sweep(tape, d, node):
    """Add the derivatives of a node to the sensitivities of the parameters, 1 to d."""
    nodes, weights = pointer(load(tape, NODE_AT)), pointer(load(tape, WEIGHT_AT))
    size = pointer(load(tape, SENSITIVITY_AT))
    add_to(size, node, 1.0)
    for k in range(node, d, -1):
        change = load_float(size, k)
        if change == 0.0:  # nothing came from here, whatever its slopes
            continue
        store_float(size, k, 0.0)
        at = NODE_WORDS * k
        n1, n2 = load(nodes, at + 2), load(nodes, at + 3)
        if n1 == SUM_OF_MANY:
            first, start = load(nodes, at), load(nodes, at + 1)
            for j in range(n2):
                add_to(size, first + j, change * load_float(weights, start + j))
        else:
            add_to(size, n1, change * load_float(nodes, at))
            add_to(size, n2, change * load_float(nodes, at + 1))


@inner
def add_to(numbers, k, value):
    """Add to the k-th float behind an address."""
    store_float(numbers, k, load_float(numbers, k) + value)


@overload(float)
def value_alone(x):
    """A number without its derivatives is none."""
    if x is Var:
        raise TypingError("float() of a number that depends on parameters loses its derivatives")
    return


@intrinsic
def as_var(typingctx, x):
    """A returned number, whether it depends on parameters or not."""

    def code(context, builder, signature, args):
        return context.cast(builder, args[0], signature.args[0], Var)

    return Var(x), code
