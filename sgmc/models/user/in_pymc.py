"""A PyMC model as it is, compiled by PyTensor and numba."""

from typing import NamedTuple

import numpy as np

from sgmc.coordinates.priors.prior_table import density_of
from sgmc.errors import ArgumentError, MissingExtra
from sgmc.models.bases.model import Model
from sgmc.models.bases.priors import named_priors
from sgmc.models.user.model import say

# PyMC's transforms whose inverse sgmc has as a constraint
CONSTRAINTS = {
    "LogTransform": "positive",
    "LogOddsTransform": ("interval", 0.0, 1.0),
    "Ordered": "ordered",
    "SimplexTransform": "simplex",
}


class PyMCModel(Model):
    """A PyMC model, whose log density and gradient PyTensor compiles by its numba backend; chains
    run it without the interpreter.

    >>> with pm.Model() as model:
    ...     mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
    ...     pm.Normal("y", mu, tau, observed=y)
    >>> sgmc.PyMCModel(model).fit(seed=1)

    Parameters are the free variables under their names, in their own units: draws and summaries are
    of these, and dims and coords those of the model.  Variables with transforms that sgmc does not
    have, such as Cholesky factors, are sampled as PyMC transforms them, under the name that PyMC
    gives to the transformed variable; `deterministics` gives them as they are.  Data are those at
    the time of the call.  All of it is one row: exact samplers apply.

    Parameters
    ----------
    model : pymc.Model
    **said
        ``start scaled title`` of `Model`.

    Raises
    ------
    MissingExtra
        If pymc or numba is not installed.
    ArgumentError
        For free variables that are discrete.
    """

    title = "PyMC"
    n = 1
    code = None

    def __init__(self, model, **said):
        pymc = require_pymc()
        refused = [name for name in said if name not in ("start", "scaled", "title")]
        if refused:
            raise ArgumentError(
                f"PyMCModel: {refused[0]} is the PyMC model's own; give start, scaled or title"
            )
        if not isinstance(model, pymc.Model):
            raise ArgumentError(f"model must be a pymc.Model, not {type(model).__name__}")
        discrete = [one.name for one in model.discrete_value_vars]
        if discrete:
            raise ArgumentError(
                f"model: {discrete[0]!r} is discrete, and there is no gradient by it; sum its "
                "values out, as pymc.Mixture does"
            )
        self.source, self.variables = model, variables_of(model)
        self.given = constants_of(model)
        shapes = {one.name: one.shape for one in self.variables}
        limits = {one.name: one.constraint for one in self.variables if one.constraint}
        own = self.source.named_vars_to_dims
        dims = {one.name: list(own[one.name]) for one in self.variables if own.get(one.name)}
        used = {dim for named in dims.values() for dim in named}
        coords = {dim: list(at) for dim, at in model.coords.items() if dim in used and at}
        say(self, shapes, {"constraints": limits, "dims": dims, "coords": coords, **said})

    def kernel(self):
        from sgmc.models.bases.callbacks import AddressKernel

        code = self.compiled()
        kernel = AddressKernel(self.layout().size, 1, code.address, 0, code)
        kernel.plain = False
        return kernel

    def prior_kernel(self):
        layout = self.layout()  # priors are part of the density
        return density_of(named_priors("flat", layout))

    def log_lik(self, theta, rows):
        """Return the log density with its priors, without Jacobians."""
        from sgmc.core.expansion import of_rows

        return of_rows(self.kernel(), self.layout().pack(theta), slice(0, 1), False)[0]

    def compiled(self):
        """Return numba's cfunc of log density and gradient; it serves later fits, too."""
        if self.code is None:
            self.code = compiled_density(self.source, self.variables, self.layout(), self.given)
        return self.code

    def deterministics(self, results):
        """Return draws of the model's deterministic variables, and of free ones that were sampled
        as PyMC transforms them.

        Parameters
        ----------
        results : ModelResults
            Of a fit of this model.

        Returns
        -------
        dict
            Name -> array (chain, draw, *shape).
        """
        import pytensor

        flat, at = places(self.variables, self.layout())
        free = [one.variable for one in self.variables if one.name != one.variable.name]
        wanted = [*self.source.deterministics, *free]
        wanted = [one for one in wanted if one.name not in self.parameters]
        outputs = self.source.replace_rvs_by_values(wanted)
        graphs = replaced(outputs, {**at, **self.given})
        function = pytensor.function([flat], graphs, on_unused_input="ignore")
        draws = np.concatenate(
            [
                results.draws_of(name).reshape(*results.draws.shape[:2], -1)
                for name in self.parameters
            ],
            axis=-1,
        )
        found = [function(theta) for theta in draws.reshape(-1, draws.shape[-1])]
        return {
            one.name: np.array([values[k] for values in found]).reshape(
                *draws.shape[:2], *np.shape(found[0][k])
            )
            for k, one in enumerate(wanted)
        }

    def __getstate__(self):
        return {**self.__dict__, "code": None}  # what is compiled cannot be pickled


class FreeVariable(NamedTuple):
    """A free variable of a PyMC model."""

    name: str  # its own, or where sgmc lacks its transform that of its value
    variable: object
    value: object  # what PyMC samples
    transform: object  # where `constraint` has its inverse, else None
    constraint: object
    shape: tuple


def require_pymc():
    """PyMC, or MissingExtra."""
    try:
        import numba  # noqa: F401
        import pymc
    except ImportError as error:
        raise MissingExtra(
            "PyMCModel needs pymc and numba, which are not installed: pip install 'sgmc[pymc]'"
        ) from error
    return pymc


def variables_of(model):
    """The `FreeVariable`s of a model."""
    start = model.initial_point()
    found = []
    for variable in model.free_RVs:
        value, transform = model.rvs_to_values[variable], model.rvs_to_transforms[variable]
        constraint = None if transform is None else constraint_of(transform, variable, model)
        shape = np.shape(start[value.name])
        if transform is None:
            found.append(FreeVariable(variable.name, variable, value, None, None, shape))
        elif constraint is None:
            found.append(FreeVariable(value.name, variable, value, None, None, shape))
        else:
            whole = tuple(int(k) for k in variable.shape.eval())
            one = FreeVariable(variable.name, variable, value, transform, constraint, whole)
            found.append(one)
    return found


def constants_of(model):
    """Data and lengths of dims, which may be set anew, as constants by what holds them."""
    import pytensor.tensor as pt
    from pytensor.compile.sharedvalue import SharedVariable

    held = [*model.data_vars, *model.dim_lengths.values()]
    return {one: pt.constant(one.get_value()) for one in held if isinstance(one, SharedVariable)}


def constraint_of(transform, variable, model):
    """The constraint whose free numbers are as good as those of a transform; None for none, as
    where ends depend on other variables.
    """
    kind = type(transform).__name__
    if kind != "Interval":
        return CONSTRAINTS.get(kind)
    from pytensor.graph.traversal import ancestors

    ends = transform.args_fn(*variable.owner.inputs)
    if set(ancestors([one for one in ends if one is not None])) & set(model.free_RVs):
        return None
    low, high = (
        np.unique(side if one is None else one.eval()) for one, side in zip(ends, (-np.inf, np.inf))
    )
    return ("interval", float(low[0]), float(high[0])) if len(low) == len(high) == 1 else None


def places(variables, layout):
    """The vector theta, and PyMC's values as functions of it, by value."""
    import pytensor.tensor as pt

    flat, at = pt.vector("theta", dtype="float64"), {}
    for one in variables:
        part = flat[layout.slices[one.name]].reshape(one.shape)
        inputs = one.variable.owner.inputs
        here = part if one.transform is None else one.transform.forward(part, *inputs)
        at[one.value] = pt.cast(here, one.value.dtype)
    return flat, at


def replaced(outputs, at):
    """Graphs of values as graphs of the vector theta."""
    from pytensor.graph.replace import graph_replace

    return graph_replace(outputs, at, strict=False)


def compiled_density(model, variables, layout, given):
    """The cfunc of the log density and its gradient, in the signature of `AddressKernel`."""
    import pytensor
    import pytensor.tensor as pt
    from numba import carray, cfunc, types

    flat, at = places(variables, layout)
    density = model.logp(jacobian=True)
    for one in variables:
        if one.transform is not None:  # sgmc adds Jacobians itself
            inputs = one.variable.owner.inputs
            density = density - pt.sum(one.transform.log_jac_det(one.value, *inputs))
    (density,) = replaced(model.replace_rvs_by_values([density]), {**at, **given})
    slope = pt.grad(density, flat)
    inner = pytensor.function([flat], [density, slope], mode="NUMBA").vm.jit_fn
    numbers, whole = types.CPointer(types.double), types.CPointer(types.int64)

    @cfunc(types.double(types.int64, numbers, types.int64, whole, numbers, types.voidptr))
    def called(d, theta, m, rows, grad, data):
        value, found = inner(carray(theta, (d,)).copy())
        for j in range(d):
            grad[j] += found[j]
        return value.item()

    return called
