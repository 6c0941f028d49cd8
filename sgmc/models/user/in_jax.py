"""A log density that is a function in JAX."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sgmc.errors import ArgumentError, DataError, MissingExtra
from sgmc.models.bases.calls import Number, Trusted, owner
from sgmc.models.bases.model import Model
from sgmc.models.user.model import say

ROWS_IN_PLACE = 64  # a loop takes 0.4 microseconds for each, and handing them to another thread 40
# floating point operations below which XLA computes a program in the thread that calls it; of a
# loop it counts one turn
FLOPS_IN_PLACE = 1000


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
    programs = None  # what is compiled, with what it is of

    def __init__(self, log_lik, data, *, parameters, **said):
        try:
            import jax
        except ImportError as error:
            raise MissingExtra(
                "JaxModel needs jax, which is not installed: pip install 'sgmc[jax]'"
            ) from error
        say(self, parameters, said)
        lengths = {np.shape(array)[:1] for array in jax.tree.leaves(data)}
        if not lengths:
            raise DataError(
                "data has no array: give at least one, whose first axis is that of rows; "
                "np.zeros(1) for a density without data"
            )
        if len(lengths) != 1 or lengths == {()}:
            raise DataError(
                f"data: arrays have {', '.join(str(length) for length in sorted(lengths))} rows; "
                "all must have as many"
            )
        self.n, self.log_lik_of_batch, self.data = lengths.pop()[0], log_lik, data

    def log_lik(self, theta, rows):
        """Return the log likelihood of some rows, by the compiled function."""
        return self.compiled().value(self.layout().pack(theta), rows)

    def kernel(self):
        from sgmc.models.bases.callbacks import PairKernel

        layout, called, compiled = self.layout(), owner(self), self.compiled()
        value = Number(called, "log_lik", compiled.value, layout)
        pair = Trusted(called, "log_lik", compiled.pair, layout)
        apart = Trusted(called, "log_lik", compiled.apart, layout)
        return PairKernel(
            layout.size, self.rows(), value, pair, apart, compiled.expanded, compiled.each
        )

    def compiled(self):
        """Return the `CompiledDensity` of the model; programs serve later fits of it too."""
        import jax
        import jax.numpy as jnp

        layout = self.layout()
        key = self.log_lik_of_batch, layout.shapes
        if self.programs is None or self.programs[0] != key:
            self.programs = key, programs_of(self.log_lik_of_batch, layout)
        parts = jax.tree.map(np.asarray, self.data)
        with jax.enable_x64(True):
            every = jax.tree.map(jnp.asarray, parts)
        return CompiledDensity(*(bound(*one, self.n, every, parts) for one in self.programs[1]))

    def __getstate__(self):
        return {**self.__dict__, "programs": None}  # what is compiled cannot be pickled


class CompiledDensity(NamedTuple):
    """Functions of a vector theta, and of rows: None for all, a slice, or row numbers."""

    value: Callable  # (theta, rows): the log density
    pair: Callable  # (theta, rows): the log density, then its gradient, (1 + size,)
    apart: Callable  # (theta, centre, rows): the gradient at theta less that at a centre, (size,)
    # (places, share, rows): places are theta, one near a centre at its share of the way, and the
    # centre, (3, size); that less the same of the second over its share, (size,)
    expanded: Callable
    each: Callable  # the same of each row by itself, (rows, size)


def programs_of(log_lik, layout):
    """The functions of a `CompiledDensity`, of data in the place of rows, which comes first; each
    with one of the same value that goes through the rows in a loop, or None.
    """
    import jax
    import jax.numpy as jnp

    def density(theta, data):
        found = log_lik(layout.unpack(theta), data)
        if jnp.shape(found) != ():
            raise ArgumentError(
                f"log_lik returned an array of shape {jnp.shape(found)}; it must return one "
                "number, the sum over its rows"
            )
        return jnp.asarray(found)

    def value(data, theta):
        return density(theta, data)

    def pair(data, theta):
        found, slope = jax.value_and_grad(density)(theta, data)
        return jnp.concatenate([found[None], slope])

    def apart(data, theta, centre):
        both = jnp.stack([theta, centre])
        here, there = jax.vmap(jax.grad(density), (0, None))(both, data)
        return here - there

    def expanded(data, places, share):
        here, close, there = jax.vmap(jax.grad(density), (0, None))(places, data)
        return (here - there) - (close - there) / share

    def each(data, places, share):
        def of_row(row):
            return expanded(jax.tree.map(lambda one: one[None], row), places, share)

        return jax.vmap(of_row)(data)

    def looped(function, size, **options):
        def by_row(data, *places):
            def add(total, row):
                one = jax.tree.map(lambda part: part[None], row)
                return total + function(one, *places), None

            return jax.lax.scan(add, jnp.zeros(size), data)[0]

        return jax.jit(function, **options), jax.jit(by_row, **options)

    # the share is the same at all calls: an argument less to hand over
    shared = {"static_argnums": 2}
    return [
        (jax.jit(value), None),
        looped(pair, 1 + layout.size),
        looped(apart, layout.size),
        looped(expanded, layout.size, **shared),
        (jax.jit(each, **shared), None),
    ]


def in_place(program, *arguments):
    """Whether XLA computes a program in the thread that calls it, as far as one can tell."""
    counted = program.lower(*arguments).cost_analysis() or {}
    return counted.get("flops", np.inf) < FLOPS_IN_PLACE


def bound(program, looped, n, every, parts):
    """A function of places and rows, the last of its arguments.

    Rows are taken by numpy, several times as fast as XLA's gathers of a few hundred.  Double
    precision is entered at each call, which takes 0.4 microseconds: it is a setting of threads, and
    some of these are the user's.

    Parameters
    ----------
    program, looped : callable
        Of data and places; `looped`, or None, gives the same of few rows.
    n : int
    every : array, or tuple, list or dict of arrays
        All rows, as JAX has them.
    parts : same
        As numpy has them.
    """
    import jax

    leaves, tree = jax.tree.flatten(parts)
    served = None if looped else False  # whether `looped` serves; None: not known yet

    def call(*arguments):
        nonlocal served
        *places, rows = arguments
        if isinstance(rows, slice) and rows.indices(n) == (0, n, 1):
            rows = None
        with jax.enable_x64(True):
            if rows is None:
                return np.asarray(program(every, *places))
            taken = [one[rows] for one in leaves]
            some = tree.unflatten(taken)
            if served is not False and 0 < len(taken[0]) <= ROWS_IN_PLACE:
                if served is None:
                    served = in_place(looped, some, *places)
                if served:
                    return np.asarray(looped(some, *places))
            return np.asarray(program(some, *places))

    return call
