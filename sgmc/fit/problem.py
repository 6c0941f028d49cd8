"""A posterior in sampler coordinates: everything that the chains of a fit share."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from sgmc import registry
from sgmc.coordinates.approximations.laplace import SECOND_DIFFERENCE, differenced
from sgmc.coordinates.approximations.modes import ModeSearch, finite_at
from sgmc.coordinates.independent.transport import Transport
from sgmc.coordinates.priors.conditionals import Conditionals
from sgmc.coordinates.transforms.maps import Scaling
from sgmc.core.contract import Anchor
from sgmc.core.expansion import of_prior, of_rows
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.core.system import deadline
from sgmc.core.system.blas import one_blas_thread
from sgmc.core.system.deadline import RateEstimator
from sgmc.core.targets.bounds import Bounds
from sgmc.core.targets.remainders import Remainders
from sgmc.fit.noise import high_leverage
from sgmc.fit.parts import (
    Defaults,
    Evidence,
    Forms,
    Functionals,
    Observations,
    Record,
    Shape,
    Signs,
    Starts,
    is_foreign,
)
from sgmc.subsampling.uniform import FullBatch

ANY_MAP = Scaling([0.0], [1.0])  # stands for any map where only its being there matters
SEARCH, CURVATURE = "the search for the mode", "the analysis of the curvature at the mode"


@dataclass
class Workspace:
    """What is computed once for all chains, of a density in coordinates.

    Attributes
    ----------
    model, prior, coordinates
        What it is of: a `Problem` with others has a workspace of its own.
    known : Anchor or None
        What the search for the mode has left of it, in the model's coordinates.
    anchors : dict
        At the mode, with and without curvature.
    shared : dict
        What subsamplers share (`sgmc.fit.noise.shared_rows`).
    limits : dict
        Bounds, with and without their matrix and for schemes with probabilities of their own.
    """

    model: object
    prior: object
    coordinates: object
    known: Anchor | None = None
    anchors: dict = field(default_factory=dict)
    shared: dict = field(default_factory=dict)
    limits: dict = field(default_factory=dict)

    def is_of(self, problem):
        """Whether it is of a problem's density and coordinates."""
        return (
            self.model is problem.model
            and self.prior is problem.prior
            and self.coordinates is problem.coordinates
        )

    def forget_rows(self):
        """Keep sums alone of the anchors: what a batch needs of its rows is computed."""
        self.anchors = {key: anchor.sums() for key, anchor in self.anchors.items()}
        self.known = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """A posterior and its coordinates.

    Attributes
    ----------
    model : Model
    prior : Prior
        On the model's natural coordinates.
    coordinates : Coordinates, FreeCoordinates or WholeCoordinates
    priors : PriorTable
    free_names : list of str
        Of the axes of `coordinates.white`.
    rows : Observations
    defaults : Defaults
    searched : ModeSearch
        The modes that were looked for and found.
    stopped : str
        During what the time of the call was up, and empty where it was not: coordinates are then of
        what is known of the mode.
    warnings : list of SGMCWarning
    starts : Starts
    record : Record
    forms : Forms
    shape : Shape
    signs : Signs
    evidence : tuple of Evidence
    functionals : Functionals or None
        What the verdict is about where single parameters mean nothing.
    stand_in_rows : StandInRows or None
        What rows that stand for others cost in accuracy.
    prior_alone : bool
        Draws are of the prior: no rows say anything.
    differenced : bool
        Whether gradients are differences of the density.
    products : bool
        Whether densities at many points are computed by products of matrices.
    single : Model or None
        The compiled model with these products in float32, where the table is in whitened
        coordinates.
    summed : Model or None
        A compiled model of few rows with the same log density, up to a constant: sums over all rows
        are all that it depends on.  What uses all rows at each step uses these.
    transport : Transport or None
        To independent draws, where the settings leave room for them.
    conditionals : Conditionals or None
        Of which parameters can be drawn in turn, where the settings leave room for that.
    laplace : Coordinates or None
        Those whitened at the mode, where `coordinates` are of another Gaussian.
    table : Table or None
        Rows of a regression as the compiled model reads them.
    mode : Mode or None
        Of a regression without effects among its parameters.
    own : object
        What the results of one kind of model read.
    workspace : Workspace
    """

    model: object
    prior: object
    coordinates: object
    priors: object
    free_names: list
    rows: Observations
    defaults: Defaults
    searched: ModeSearch = ModeSearch()
    stopped: str = ""
    warnings: list = field(default_factory=list)
    starts: Starts = Starts()
    record: Record = Record()
    forms: Forms = Forms()
    shape: Shape = Shape()
    signs: Signs = Signs()
    evidence: tuple[Evidence, ...] = ()
    functionals: Functionals | None = None
    stand_in_rows: object = None
    prior_alone: bool = False
    differenced: bool = False
    products: bool = False
    single: object = None
    summed: object = None
    transport: Transport | None = None
    conditionals: Conditionals | None = None
    laplace: object = None
    table: object = None
    mode: object = None
    own: object = None
    workspace: Workspace | None = field(default=None, repr=False)

    def __post_init__(self):
        # caches of other coordinates would bias silently
        if self.workspace is None or not self.workspace.is_of(self):
            new = Workspace(self.model, self.prior, self.coordinates)
            object.__setattr__(self, "workspace", new)

    @property
    def dim(self):
        """Number of sampler coordinates."""
        return self.model.dim if self.coordinates.map is None else self.coordinates.map.dim

    @property
    def partial(self):
        """Whether draws of only some parameters are kept."""
        return self.record.columns is not None

    @property
    def approximation(self):
        """Coordinates whitened at the mode, where the fit's own may be others."""
        return self.laplace or self.coordinates

    @cached_property
    def nearest(self):
        """This posterior in coordinates of the nearest Gaussian: see `Forms`."""
        return self.forms.nearest(self)

    @cached_property
    def few(self):
        """This posterior by the few rows that have its log density; itself where there are none."""
        if self.summed is None:
            return self
        cells = self.summed.n * self.dim
        return replace(self, model=self.summed, summed=None, rows=replace(self.rows, cells=cells))

    @property
    def foreign(self):
        """Whether the density is computed by code from outside the package."""
        return is_foreign(self.model) or is_foreign(self.prior)

    @property
    def plain(self):
        """Whether what is from outside is compiled, and a few operations for each row and
        parameter.
        """
        parts = [one for one in (self.model, self.prior) if is_foreign(one)]
        return all(getattr(one, "plain", False) for one in parts)

    @property
    def undefined(self):
        """What functions of a user returned NaN while chains ran: a list, each with a ``text`` and
        the number of steps after warmup, ``recorded``.
        """
        return [one for part in (self.model, self.prior) for one in getattr(part, "undefined", ())]

    @property
    def fingerprint(self):
        """Arrays that tell this posterior from others, for checkpoints."""
        return [*self.rows.identity(self), *self.coordinates.arrays]

    @property
    def curvature_covariance(self):
        """Covariance of what is printed of a regression by the curvature at the mode alone:
        D T H^-1 T' D', D the slopes of what is printed of theta.
        """
        white, where = self.mode.axes[0], self.coordinates
        with one_blas_thread():
            half, theta = where.back @ white, where.back @ self.mode.theta
            slopes = where.report.slopes(theta)
            return slopes @ (half @ half.T) @ slopes.T

    def extra_checks(self, fit):
        """Warnings about the posterior itself that its draws give rise to."""
        return [warning for one in self.evidence for warning in one.extra_checks(fit)]

    def error_allowance(self, fit):
        """How far the density is off, (posterior sds, in words); None if exact."""
        found = (one.error_allowance(fit) for one in self.evidence)
        return next((one for one in found if one is not None), None)

    def begin(self, settings, k):
        """Where chain k starts, in the sampler's coordinates."""
        return self.starts.begin(self, settings, k)

    def kept(self, x):
        """Draws (chain, draw, parameter) as they are reported, and their names, of what a recorder
        kept.
        """
        return self.record.kept(self, x)

    def settled(self, settings):
        """The problem with the record that settings ask for; ArgumentError where draws would not
        fit into memory.
        """
        record = self.record.settled(self, settings)
        return self if record is self.record else replace(self, record=record)

    def kept_whole(self, settings):
        """The problem with draws of all parameters; see `settled`."""
        return replace(self, record=Record()).settled(settings)

    def all_rows(self):
        """The exact gradient."""
        if self.summed is not None:
            return self.few.all_rows()
        return self.gradient("simple", FullBatch(self.model.n), Rng(seed_sequence(0, "pilot")))

    def computed(self, single):
        """Itself, or with the products of matrices in float32 that sampling had."""
        return replace(self, model=self.single) if single else self

    def is_finite(self, x):
        """Whether log posterior and gradient are finite at x."""
        return finite_at(self.all_rows(), x)

    def gradient(self, name, rows, rng):
        """A gradient estimator of that name over a subsampler, private to one chain."""
        cls = registry.lookup("gradients", name, "gradient")
        return cls(
            self.model,
            self.prior,
            rows,
            rng,
            map=self.coordinates.map,
            anchor=self.anchor(cls.needs),
        )

    def always_computed(self, gradient):
        """Rows that an estimator of that name computes at every step."""
        anchor = self.anchor(registry.lookup("gradients", gradient, "gradient").needs)
        return 0 if anchor is None else len(anchor.exact)

    def bounds(self, hessian, scheme="", weight=None):
        """The bounds of slopes and curvatures, with or without the matrix for all rows at once.

        `weight` is 1 / (N p_j) of a scheme of that name that draws rows with unequal probabilities.
        """
        return self.limit(
            (hessian, scheme),
            lambda centre: Bounds(
                self.model, self.prior, self.coordinates.map, centre, hessian, weight
            ),
        )

    def remainders(self, order):
        """The bounds of remainders of the rows' Taylor polynomials at the mode."""
        return self.limit(
            ("remainders", order),
            lambda centre: Remainders(self.model, self.coordinates.map, centre, order),
        )

    def limit(self, key, made: Callable):
        """Bounds around the mode, made at first use."""
        limits = self.workspace.limits
        if key not in limits:
            deadline.check(operations=2.0 * self.rows.cells)
            centre = self.coordinates.from_white(np.zeros(self.model.dim))
            with one_blas_thread():
                limits[key] = made(centre)
        return limits[key]

    def anchor(self, needs):
        """The anchor at the mode that an estimator needs, or None."""
        if "anchor" not in needs:
            return None
        key, kept = "curvature" in needs, self.workspace
        if key not in kept.anchors:
            centre = self.coordinates.natural(self.coordinates.from_white(np.zeros(self.dim)))
            at_mode = kept.known is not None and np.array_equal(kept.known.centre, centre)
            bend = self.bend(centre) if key and not self.model.width else None
            kept.anchors[key] = (
                kept.known if at_mode else Anchor(self.model, centre, key, hessian=bend)
            )
            if key and self.model.width:
                deadline.check(operations=2.0 * self.model.n * self.dim**2)
                # an effect is moved by rows of its level alone: a bound of what one parameter is
                # moved by, where it takes all that each row has, would be many times too large
                local = bool(self.defaults.unsurveyed)
                exact = high_leverage(self.model, self.coordinates, kept.anchors[key], local)
                kept.anchors[key] = kept.anchors[key].with_exact(exact)
        return kept.anchors[key]

    def bend(self, centre):
        """Minus the Hessian of the log likelihood at the mode, of a model without curvatures, (dim,
        dim): what the search for the mode has found, less the prior's, or, behind constraints,
        differences of gradients.
        """
        where, pace = self.coordinates, RateEstimator(2.0 * self.rows.cells)
        steps = SECOND_DIFFERENCE * np.sqrt((where.inner**2).sum(axis=1))
        if where.constraints is None:
            return where.precision - differenced(lambda at: of_prior(self.prior, at), centre, steps)
        with one_blas_thread():
            return differenced(lambda at: pace.run(lambda: of_rows(self.model, at)), centre, steps)
