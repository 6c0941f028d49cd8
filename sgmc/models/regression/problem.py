"""The posterior of a regression in sampler coordinates:
everything that the chains of a fit share.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from sgmc import registry
from sgmc.core.bounds import Bounds
from sgmc.core.contract import Anchor
from sgmc.coordinates.densities import FAMILIES, LONGEST_PULLED, Pulled, Quadratic, Separable
from sgmc.core.design import design, rotate
from sgmc.coordinates.maps import Affine, Scaling
from sgmc.core.recorders import Keep
from sgmc.core.rng import Rng, seed_sequence
from sgmc.errors import ArgumentError, NotSupported
from sgmc.core.blas import one_blas_thread
from sgmc.coordinates.whitening import collinearity, coordinates, undo_centring, whitener
from sgmc.coordinates.dispersion import dispersed_coordinates
from sgmc.models.regression.leverage import high_leverage
from sgmc.coordinates.mode import PriorTerms
from sgmc.fit.paths import refuse_unbounded
from sgmc.fit.plan import GRADIENT
from sgmc.models.regression.prepare import as_given, prepare, stays
from sgmc.coordinates.sandwich import sandwich_coordinates, score_covariance
from sgmc.models.regression.search import searched
from sgmc.coordinates.separation import (
    complete_separation,
    linear_predictor,
    refuse_flat,
    separation,
    separation_of_kinds,
)
from sgmc.coordinates.shrinkage import shrunk_coordinates
from sgmc.coordinates.walls import walled_coordinates

ANY_MAP = Scaling([0.0], [1.0])
MEMORY_LIMIT = 1 << 30  # bytes of kept draws


@dataclass
class Problem:
    """A posterior, with its mode and coordinates.

    Attributes
    ----------
    model : Model
    prior : Prior
        On the model's natural coordinates.
    coordinates : Coordinates
    mode : Mode
    priors : PriorTable
    table : Table
    concerns : list of SGMCWarning
    anchors : dict
        Shared anchors at the mode, made at first use.
    shared : dict
        What subsamplers share (`fitting.rows`), made at first use.
    limits : dict
        Bounds, with and without their matrix and for schemes of their own probabilities, made at
        first use.
    """

    model: object
    prior: object
    coordinates: object
    mode: object
    priors: object
    table: object
    concerns: list
    anchors: dict = field(default_factory=dict)
    shared: dict = field(default_factory=dict)
    limits: dict = field(default_factory=dict)

    @property
    def partial(self):
        """Whether draws of some parameters are kept and not of all."""
        return False

    @property
    def dim(self):
        """Coordinates of the sampler."""
        return self.model.dim if self.coordinates.map is None else self.coordinates.map.dim

    @property
    def least_noise(self):
        """Name of the estimator that is taken where none is given."""
        return GRADIENT

    @property
    def free_names(self):
        """Names of what `Coordinates.white` speaks of: the parameters, own ones as their logs."""
        return self.priors.names

    @property
    def marks(self):
        """Arrays that tell this posterior from others: the table, strata included, in the sampler's
        coordinates, and these.
        """
        table, where, mode = self.table, self.coordinates, self.mode
        X = (
            [table.X.data, table.X.indices, table.X.indptr]
            if hasattr(table.X, "indptr")
            else [table.X]
        )
        return [
            *X,
            table.y,
            table.trials,
            table.offset,
            table.weight,
            table.strata,
            mode.theta,
            mode.precision,
            where.L,
            where.origin,
            where.to_theta,
        ]

    def begin(self, settings, k):
        """Where chain k starts, in the sampler's coordinates."""
        if settings.init is None:
            return self.coordinates.from_white(
                Rng(seed_sequence(settings.seed, "start", k)).normals(self.dim)
            )
        given = np.broadcast_to(settings.init, (settings.chains, len(self.priors.names)))[k]
        return self.coordinates.from_reported(given)

    def kept(self, x):
        """Draws (chain, draw, parameter) as they are reported, and their names,
        of what a recorder kept.
        """
        return self.coordinates.reported(x), self.priors.names

    def recorder(self, draws, plan):
        """What keeps the draws of one chain."""
        return Keep(draws, self.dim, plan.thin)

    def check_draws(self, settings):
        """Refuse more draws than memory should hold."""
        if settings.keep is not None:
            raise ArgumentError(
                "keep does not apply here: it is for models of so many parameters that draws of "
                "all are too many"
            )
        size = 8 * settings.draws * settings.chains * self.dim
        if size > MEMORY_LIMIT:
            raise ArgumentError(
                f"draws={settings.draws} in {settings.chains} chains of {self.dim} parameters are "
                f"{size / 2**30:.1f} GB, over the limit of 1 GB; keep fewer and thin more"
            )

    @property
    def curvature_covariance(self):
        """Covariance of what is reported by the curvature at the mode alone: D T H^-1 T' D, D the
        slopes of the logs' exp.
        """
        white, where = whitener(self.mode)[0], self.coordinates
        with one_blas_thread():
            half, theta = where.back @ white, where.back @ self.mode.theta
            slope = np.where(
                self.priors.logged, np.exp(np.where(self.priors.logged, theta, 0.0)), 1.0
            )
            return slope[:, None] * (half @ half.T) * slope

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
        key = hessian, scheme
        if key not in self.limits:
            centre = self.coordinates.from_white(np.zeros(self.model.dim))
            with one_blas_thread():
                self.limits[key] = Bounds(
                    self.model, self.prior, self.coordinates.map, centre, hessian, weight
                )
        return self.limits[key]

    def anchor(self, needs):
        """The anchor at the mode that an estimator needs, or None."""
        if "anchor" not in needs:
            return None
        key = "curvature" in needs
        if key not in self.anchors:
            centre = self.coordinates.natural(self.coordinates.from_white(np.zeros(self.dim)))
            self.anchors[key] = Anchor(self.model, centre, key)
            if key:
                exact = high_leverage(self.model, self.coordinates, self.anchors[key])
                self.anchors[key] = self.anchors[key].with_exact(exact)
        return self.anchors[key]


def regression_problem(data, family, prior, settings):
    """Table, mode, coordinates, model and prior of a regression.

    Parameters
    ----------
    data : RegressionData
    family : Family
    prior : None, str, PriorSpec or dict
    settings : Settings
    """
    refuse_unbounded(settings.sampler, family)
    precondition = preconditioner(len(data.parameter_names(family)), settings)
    kept = stays(data, settings, precondition)
    table = (
        as_given(data)
        if kept
        else prepare(data, settings.seed, settings.dtype, centre=precondition is not None)
    )
    found = searched(table, data, family, prior)
    model, mode, priors = found.model, found.mode, found.priors
    walls, concerns = separated(found, data, family)
    concerns = found.concerns + concerns + collinearity(mode, priors.names, data.n, priors.own)
    rotated = precondition == "dense" and data.sparse is None and not kept and model.width == 1
    where = chosen_coordinates(found, precondition, rotated, walls, settings)
    core = Separable(
        [FAMILIES[f] for f in priors.columns("family")],
        priors.columns("location"),
        priors.columns("scale"),
        priors.columns("shape"),
        priors.intercepts,
        found.shift,
        priors.own,
    )
    if rotated:
        eta = linear_predictor(model, where.origin)
        rotate(table.X, where.L)
        model = family.kernel(design(table.X), table.response, eta, table.multiplicity)
        core = rotated_prior(core, priors.gaussian and where.map is None, found.terms, where)
    return Problem(model, core, where, mode, priors, table, concerns)


def separated(found, data, family):
    """Walls, for families whose coordinates know them,
    and what to warn of where outcomes are separated.
    """
    table, model, mode = found.table, found.model, found.mode.theta
    walls, warned, concerns = [], [], []
    if family.outcome == "category":
        concerns = separation_of_kinds(model, mode, table.y)
    elif family.outcome == "binary":
        outcomes = table.y, (1 if table.trials is None else table.trials) - table.y
        wide = PriorTerms(found.priors, found.shift, widened=100.0)
        concerns = complete_separation(model, wide, mode, outcomes, linear_predictor(model, mode))
        walls, warned = separation(table.X, outcomes, data.names, data.intercept)
    if concerns:
        refuse_flat(found.priors)
    return walls if family.walled else [], [*concerns, *warned]


def chosen_coordinates(found, precondition, rotated, walls, settings):
    """The coordinates that suit posterior and sampler.

    Parameters
    ----------
    found : Found
    precondition : {"dense", "diag", None}
    rotated : bool
        Whether the table will be rotated.
    walls : list of Wall
    settings : Settings
    """
    mode, priors, sampler = found.mode, found.priors, settings.sampler
    back = undo_centring(found.model.dim, found.table.shift, priors.intercepts)
    warped = precondition == "dense" and (
        sampler is None or sampler.uses_gradient and not sampler.continuous
    )
    if settings.robust:
        refuse_poles(priors)
        V = score_covariance(found.model, mode.theta, found.table.weight)
        where = sandwich_coordinates(mode, back, V, rotated, priors.own)
    elif found.cavities and warped:
        where = shrunk_coordinates(mode, back, found.cavities, priors.shrunk, rotated, priors.own)
    elif walls and warped:
        where = walled_coordinates(
            mode,
            back,
            walls,
            found.terms(mode.theta)[1],
            priors.used,
            priors.intercepts[0],
            rotated,
        )
    elif found.power and precondition == "dense":
        where = dispersed_coordinates(mode, back, priors.own, found.power)
    else:
        where = coordinates(mode, back, precondition, rotated, priors.own)
    if sampler is not None and sampler.sticky and where.map is not None:  # zero is zero
        where = replace(
            where, map=Scaling(np.zeros(len(mode.theta)), 1 / np.sqrt(np.diag(mode.precision)))
        )
    if (
        found.model.width > 1
        and settings.precondition == "mode"
        and sampler is not None
        and sampler.refusal(where.map)
    ):
        where = coordinates(
            mode, back, None if sampler.refusal(ANY_MAP) else "diag", False, priors.own
        )
    return where


def refuse_poles(priors):
    """NotSupported where the sandwich is asked for under a horseshoe."""
    if len(priors.shrunk):
        raise NotSupported(
            "cov_type='robust' under a horseshoe prior, whose posterior has no Gaussian to give a "
            "covariance to; use another prior, or cov_type='nonrobust'"
        )


def preconditioner(d, settings):
    """ "dense", "diag" or None from ``precondition=``, for d parameters; "mode" is dense where d^3
    work and d^2 memory allow.
    """
    wide = d > LONGEST_PULLED
    if settings.robust and wide:
        raise NotSupported(
            f"cov_type='robust' with {d} parameters: at most {LONGEST_PULLED}; leave "
            "cov_type='nonrobust'"
        )
    if settings.sampler is not None and settings.sampler.sticky:
        if settings.precondition == "dense":
            raise NotSupported(
                f"precondition='dense' with {settings.sampler.name}: in mixtures of coefficients "
                "zero is no place to stay at; use 'diag', or None"
            )
        return "diag" if settings.precondition == "mode" else settings.precondition
    if settings.precondition == "mode":
        return "diag" if wide else "dense"
    if settings.precondition == "dense" and wide:
        raise NotSupported(
            f"precondition='dense' with {d} parameters: at most {LONGEST_PULLED}; use 'diag'"
        )
    return settings.precondition


def rotated_prior(prior, diagonal, terms, where):
    """The prior as a function of y: phi = origin + L y.

    Gaussian ones are diagonal there if L whitens at the mode.
    """
    L = where.L
    if not diagonal:
        return Pulled(prior, Affine(where.origin, L))
    _, gradient, precision = terms(where.origin)
    return Quadratic(np.einsum("jk,jl,lk->k", L, precision, L, optimize=True), -L.T @ gradient)
