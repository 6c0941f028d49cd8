"""User-facing specifications: small picklable objects with one declarative table of parameters.

Validation, `describe()`, `repr` and the command line all read that table.  A specification holds no
arrays and no state; compiled objects are built from it for each fit, one set a chain.
"""

import inspect
import math
from typing import Any

from sgmc.arguments.choices import nearest
from sgmc.arguments.declared.parameter import Derivable, Parameter
from sgmc.arguments.declared.signatures import filled
from sgmc.arguments.types import Floats
from sgmc.core.stationary import LinearLaw, SpectralLaw
from sgmc.errors import ArgumentError, NotSupported

__all__ = ["Derivable", "Parameter", "SamplerSpec", "Spec", "langevin_variance"]


class Spec:
    """Base of named specifications; keyword arguments are the rows of `parameters`."""

    name: str
    __signature__: inspect.Signature
    parameters: tuple[Parameter, ...] = ()

    def __init_subclass__(cls, **how: Any) -> None:
        """Give the class a signature and documentation of its parameters."""
        super().__init_subclass__(**how)
        text = inspect.cleandoc(vars(cls).get("__doc__") or "")
        if text and cls.parameters and "\nParameters\n" not in text:
            entries = [line for row in cls.parameters for line in row.lines()]
            cls.__doc__ = "\n".join([text, "", "Parameters", "----------", *entries])
        own = list(filled(cls.__init__, cls.parameters).parameters.values())
        cls.__signature__ = inspect.Signature(own[1:])

    def __init__(self, **values: Any) -> None:
        known = {p.name: p for p in self.parameters}
        for name in values:
            if name not in known:
                hint = nearest(name, known, "it has") or "; it has: none"
                raise ArgumentError(f"{type(self).__name__} has no parameter {name!r}{hint}")
        for name, p in known.items():
            setattr(
                self,
                name,
                p.check(values[name], type(self).__name__) if name in values else p.default,
            )

    def values(self) -> dict[str, Any]:
        """Parameters and their values, as a dict."""
        return {p.name: getattr(self, p.name) for p in self.parameters}

    def __repr__(self) -> str:
        changed = (
            f"{p.name}={p.shown(getattr(self, p.name))}"
            for p in self.parameters
            if getattr(self, p.name) != p.default
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.values() == other.values()

    def __hash__(self) -> int:
        return hash((type(self), *self.values().items()))

    @classmethod
    def describe(cls) -> str:
        """What it is and what its parameters are, as text."""
        summary = " ".join((cls.__doc__ or "").strip().split("\n\n")[0].split())
        lines = [f"{cls.name}: {summary}"]
        rows = (f"    {p.name} = {p.default!r}  ({p.span})  {p.doc}" for p in cls.parameters)
        return "\n".join([*lines, *rows])


class SamplerSpec(Spec):
    """Base of sampler specifications.

    Class attributes say what the sampler is; `sgmc.fit` derives defaults and warnings from them and
    never asks for a name.

    Attributes
    ----------
    name : str
        As in ``sampler="sgld"``.
    exact : bool
        Leaves the posterior invariant.
    all_rows : bool
        Uses all rows at each step.
    uses_gradient : bool
        False where draws need no gradient at all.
    integrates : bool
        Proposals are steps of an integrator, which may diverge; one of a random walk that goes far
        out is no failure, but where its step was given.
    largest_step : float
        Largest default step, in whitened coordinates.
    distortion : str
        Why the spread of the draws is not the posterior's by construction; empty where it is meant
        to be.
    needs_noise : bool
        Estimates the noise of single coordinates.
    by_name : bool
        Is found by its name; False where it is nothing without arguments.
    own_units : bool
        Steps in units of a metric of its own, which are whitened ones in all coordinates.
    own_preconditioner : bool
        Scales each coordinate by the gradients that the chain met.
    continuous : bool
        Is piecewise deterministic: steps are events in continuous time, and what is recorded is the
        path between them.
    needs_bounds : bool
        Thins events below `sgmc.core.targets.bounds`, which not all models have.
    remainder : int
        Order of the Taylor polynomials of rows whose remainders it thins by bounds
        (`sgmc.core.targets.remainders`); 0 where it bounds slopes and curvatures.
    holds : bool
        Holds the rates of its events for a step of time, which has a size.
    sticky : bool
        Coordinates stay at zero for a while: its draws are those of a spike-and-slab prior.
    independent : bool
        Its proposals do not depend on the position: there is no step, and nothing adapts.
    direct : bool
        Its draws are independent ones of the posterior itself, which a problem offers as a
        `Transport`: there is no step, and no chain.
    conditional : bool
        Its steps draw parameters in turn from conditional distributions, which a problem offers as
        `Conditionals`: there is no step size, and nothing adapts.
    turning : bool
        A step is a path that ends where it turns back: what "auto" keeps is not thinned.
    walkers : int
        Positions that each chain moves together; each of them is recorded.
    simplex : str
        The coordinates of `coordinates.transforms.simplices` that it wants where all parameters are
        probabilities; empty where any will do.
    probabilities : bool
        Moves parameters on simplices alone.
    estimator : str
        The only gradient that it takes; empty where it takes any.
    hidden_error : float
        Factor of the error bounds that scores at the draws give, for errors that they see in part.
    """

    room = "samplers"
    exact = False
    all_rows = False
    uses_gradient = True
    integrates = True
    largest_step = 1.0
    distortion = ""
    needs_noise = False
    by_name = True
    own_units = False
    own_preconditioner = False
    continuous = False
    needs_bounds = False
    remainder = 0
    holds = False
    sticky = False
    independent = False
    direct = False
    conditional = False
    turning = False
    walkers = 1
    simplex = ""
    probabilities = False
    estimator = ""
    hidden_error = 1.0

    @property
    def minibatches(self) -> bool:
        """Whether its gradients are estimated from minibatches."""
        return self.uses_gradient and not self.all_rows

    @property
    def noisy(self) -> bool:
        """Whether the noise of its gradients shows in the law of its draws."""
        return self.minibatches and not self.exact

    def refusal(self, map: Any) -> str:
        """Why it cannot move coordinates from which `map` (or None) leads to the model's;
        empty where it can.
        """
        return self.noise_refusal(map) if self.needs_noise else ""

    def noise_refusal(self, map: Any) -> str:
        """Why the noise of single coordinates is not to be had behind `map`; empty where it is."""
        return (
            ""
            if map is None or map.diagonal
            else (
                f"{self.name} needs the noise of single coordinates, which a dense preconditioner "
                "mixes where the table is not rotated (sparse, memory-mapped or read-only ones; "
                "families with auxiliary parameters or several equations)"
            )
        )

    def fitted_to(self, whitened: bool, dim: int) -> "SamplerSpec":
        """This specification, or what stands for it where `dim` coordinates are,
        or are not, whitened at the mode.
        """
        return self

    def implied_time(self, noise: float) -> float | None:
        """Langevin time of the steps that gradient noise of that variance settles; None where a
        step is chosen.
        """
        return None

    @property
    def needs_step(self) -> bool:
        """Whether no default step can be derived."""
        return math.isnan(self.inflation(self.largest_step, 0.0))

    def at_step(self, step: Any) -> "SamplerSpec":
        """This specification, or what stands for it at a `step_size` as the user gave it."""
        return self

    def build(self, dim: int, step: Any) -> Any:
        """The compiled sampler of one chain."""
        raise NotImplementedError

    def langevin_time(self, step: Any) -> float:
        """h of the Langevin step with increments of the same size:
        chains forget on the scale of 2/h steps.
        """
        return step

    def from_langevin(self, h: float) -> float:
        """The step whose `langevin_time` is h."""
        return h

    def noise_ratio(self, h: float, noise: float) -> float:
        """Variance that gradient noise adds to a step over that of the noise injected: alpha = hV/4
        (Welling & Teh 2011, eq. 10).
        """
        return h * noise / 4

    def noise_left(self, h: float, parts: int) -> float:
        """Share of the gradient noise's part of `inflation` that is left where batches go forward
        and backward through a random partition of the rows in so many parts
        (``subsample="symmetric"``); NaN where nobody knows: then these do not go together.

        See `sweep_noise` for Langevin steps.
        """
        return math.nan

    def breaking_point(self, step: Any) -> float:
        """The largest sd of a coordinate's gradient noise that the sampler can undo; infinite where
        there is no such limit.
        """
        return math.inf

    def made_at_once(self, dim: int) -> int:
        """Return how many draws of so many numbers the first step makes, for those to come."""
        return 1

    def rows_besides(self, n: int, dim: int) -> int:
        """Rows that a step touches besides its minibatch, of n."""
        return 0

    def first_step(self, dim: int) -> float:
        """Langevin time at which the search for a step begins, on a whitened Gaussian (exact
        samplers).
        """
        return self.largest_step

    def inflation(self, h: float, noise: float) -> float:
        """Relative error of the variance of a standard normal target, for Langevin time h and
        gradient noise variance.

        Used to derive the default step and batch size, and to warn where a chosen one is too large.
        NaN where nobody knows: then the step must be given.  This is a formula that costs nothing;
        `law` is the law that it is checked against.
        """
        raise NotImplementedError

    def recursion(self, h: float, noise: float) -> tuple[Floats, Floats] | None:
        """(A, Q) of its step z' = A z + w, w of covariance Q, on a standard normal with gradient
        noise of that variance, the position first in z; None where the step is not linear.
        """
        return None

    def law(self, h: float, noise: float) -> LinearLaw | SpectralLaw:
        """The stationary law of its draws in the same case: variance, autocorrelation and time to
        forget (`sgmc.core.stationary`).

        With noise of covariance C in whitened coordinates, linear steps leave a parameter whose
        noise is V_j = a' C a / a' a (`Pilot.noise`) the variance of ``law(h, V_j)``, a its row of
        the whitening: they move all directions alike.

        Raises
        ------
        NotSupported
            Where it has none: exact samplers, bounces, one sign for all coordinates, steps on
            simplices, users' recipes.
        """
        steps = self.recursion(h, noise)
        if steps is None:
            raise NotSupported(
                f"{self.name} has no stationary law in one coordinate; run it and look at its "
                "draws",
                because="mathematics",
            )
        return LinearLaw(*steps)


def langevin_variance(noise: float, h: float) -> float:
    """Stationary variance of x <- (1 - h/2) x + N(0, h `noise`), a Langevin step on a standard
    normal; infinite from h = 4.
    """
    return noise / (1 - h / 4) if h < 4 else math.inf


def sweep_noise(h: float, parts: int) -> float:
    """`SamplerSpec.noise_left` of Langevin steps, x <- (1 - h/2) x + h/2 (error) + ...

    Errors of the k batches of a sweep add up to zero: their sums are a Brownian bridge of mean
    variance V k/6, times h^2/4, where independent errors leave h V/4.  The share is h k/6, with
    k + 1 in the place of k for sweeps of few batches.
    """
    return min(1.0, h * (parts + 1) / 6)
