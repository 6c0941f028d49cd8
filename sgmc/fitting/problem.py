"""The posterior of a regression in sampler coordinates: everything that the chains of a fit share."""
from dataclasses import dataclass, field

import numpy as np

from sgmc import registry
from sgmc.core.contract import Anchor
from sgmc.core.densities import FAMILIES, LONGEST_PULLED, Pulled, Quadratic, Separable
from sgmc.core.design import design, rotate
from sgmc.core.expansion import expand
from sgmc.core.maps import Affine, Scaling
from sgmc.errors import NotSupported
from sgmc.fitting.blas import one_blas_thread
from sgmc.fitting.coordinates import collinearity, coordinates, undo_centring, whitener
from sgmc.fitting.dispersion import dispersed_coordinates, exact_fit, find_dispersed_mode
from sgmc.fitting.leverage import high_leverage
from sgmc.fitting.mode import PriorTerms, find_mode
from sgmc.fitting.prepare import as_given, prepare, stays
from sgmc.fitting.prior_table import Scales, resolve
from sgmc.fitting.sandwich import sandwich_coordinates, score_covariance
from sgmc.fitting.separation import complete_separation, linear_predictor, separation
from sgmc.fitting.shrinkage import shrunk_coordinates, without_poles
from sgmc.fitting.walls import walled_coordinates

ANY_MAP = Scaling([0.0], [1.0])


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

    @property
    def curvature_covariance(self):
        """Covariance of what is reported by the curvature at the mode alone: D T H^-1 T' D, D the slopes of the logs' exp."""
        white, where = whitener(self.mode)[0], self.coordinates
        with one_blas_thread():
            half, theta = where.back @ white, where.back @ self.mode.theta
            slope = np.where(self.priors.logged, np.exp(np.where(self.priors.logged, theta, 0.0)), 1.0)
            return slope[:, None] * (half @ half.T) * slope

    def gradient(self, name, rows, rng):
        """A gradient estimator of that name over a subsampler, private to one chain."""
        cls = registry.lookup("gradients", name, "gradient")
        return cls(self.model, self.prior, rows, rng, map=self.coordinates.map, anchor=self.anchor(cls.needs))

    def always_computed(self, gradient):
        """Rows that an estimator of that name computes at every step."""
        anchor = self.anchor(registry.lookup("gradients", gradient, "gradient").needs)
        return 0 if anchor is None else len(anchor.exact)

    def anchor(self, needs):
        """The anchor at the mode that an estimator needs, or None."""
        if "anchor" not in needs:
            return None
        key = "curvature" in needs
        if key not in self.anchors:
            centre = self.coordinates.natural(self.coordinates.from_white(np.zeros(self.model.dim)))
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
    precondition = preconditioner(data, settings)
    kept = stays(data, settings, precondition)
    table = as_given(data) if kept else prepare(data, settings.seed, settings.dtype, centre=precondition is not None)
    outcome = moments_of_outcomes(table)
    priors = resolve(prior, data, family, scales(table.sd, family, *outcome))
    shift = (table.mean if priors.centred else np.zeros(data.d)) - table.shift
    if data.intercept is not None:
        shift[data.intercept] = 0.0
    model = family.kernel(design(table.X), table.response, table.offset, table.multiplicity)
    guess = first_guess(priors, family, table.offset, *outcome)
    if len(priors.shrunk):
        priors = priors.guessed(alone(model, guess, priors.intercepts))
    terms, power = PriorTerms(priors, shift), family.own[0].power if family.own else 0.0

    def search(start, shuffled=False):
        return (find_dispersed_mode(model, terms, start, priors.own, power, shuffled) if power else
                find_mode(model, terms, start, shuffled))

    mode, concerns = search(guess, not kept)
    mode, cavities = without_poles(model, terms, mode, search) if len(priors.shrunk) else (mode, [])
    back = undo_centring(model.dim, table.shift, priors.intercepts)
    rotated = precondition == "dense" and data.sparse is None and not kept and model.width == 1
    walls = []
    if family.outcome == "binary":
        eta = linear_predictor(model, mode.theta)
        outcomes = table.y, (1 if table.trials is None else table.trials) - table.y
        concerns += complete_separation(model, PriorTerms(priors, shift, widened=100.0), mode.theta, outcomes, eta)
        walls, warned = separation(table.X, outcomes, data.names, data.intercept)
        walls, concerns = walls if family.walled else [], [*concerns, *warned]
    concerns += collinearity(mode, priors.names, data.n, priors.own)
    concerns += exact_fit(np.exp(mode.theta[data.d]), np.sqrt(outcome[1])) if family.identity else []
    if settings.robust:
        refuse_poles(priors)
        where = sandwich_coordinates(mode, back, score_covariance(model, mode.theta, table.weight), rotated, priors.own)
    elif cavities and precondition == "dense" and (settings.sampler is None or settings.sampler.uses_gradient):
        where = shrunk_coordinates(mode, back, cavities, priors.shrunk, rotated, priors.own)
    elif walls and precondition == "dense" and (settings.sampler is None or settings.sampler.uses_gradient):
        where = walled_coordinates(mode, back, walls, terms(mode.theta)[1], priors.used, data.intercept, rotated)
    elif power and precondition == "dense":
        where = dispersed_coordinates(mode, back, priors.own, power)
    else:
        where = coordinates(mode, back, precondition, rotated, priors.own)
    sampler = settings.sampler
    if model.width > 1 and settings.precondition == "mode" and sampler is not None and sampler.refusal(where.map):
        where = coordinates(mode, back, None if sampler.refusal(ANY_MAP) else "diag", False, priors.own)
    core = Separable([FAMILIES[f] for f in priors.columns("family")], priors.columns("location"), priors.columns("scale"),
                     priors.columns("shape"), priors.intercepts, shift, priors.own)
    if rotated:
        eta = linear_predictor(model, where.origin)
        rotate(table.X, where.L)
        model = family.kernel(design(table.X), table.response, eta, table.multiplicity)
        core = rotated_prior(core, priors.gaussian and where.map is None, terms, where)
    return Problem(model, core, where, mode, priors, table, concerns)


def moments_of_outcomes(table):
    """Mean and variance of the outcomes, by their weights."""
    mean = np.average(table.y, weights=table.weight)
    return mean, np.average((table.y - mean) ** 2, weights=table.weight)


def scales(columns, family, mean, variance):
    """The `Scales` of priors, from the sds of the columns and moments of the outcomes."""
    own = tuple(family.units(mean, variance)) if family.own else ()
    return Scales(columns, mean, np.sqrt(variance), own) if family.identity else Scales(columns, own=own)


def first_guess(priors, family, offset, mean, variance):
    """Where the search for the mode begins: no slopes, and moments of the outcomes matched."""
    start = np.zeros(len(priors.names))
    constant, own = family.start(mean, variance)
    start[priors.intercepts] = constant - (0.0 if offset is None else offset.mean())
    start[len(start) - priors.own:] = own
    return start


def alone(model, theta, intercepts):
    """The sds (d,) with which the data tell each coefficient if it and the intercept are all there is: by the information at theta."""
    information = expand(model, theta, expected=True)[2]
    each = np.diag(information).copy()
    for j in intercepts:
        each -= np.where(np.arange(len(each)) == j, 0.0, information[:, j] ** 2 / max(information[j, j], 1e-300))
    told = each > 1e-12 * np.diag(information)
    return np.where(told, 1 / np.sqrt(np.where(told, each, 1.0)), 1.0)


def refuse_poles(priors):
    """NotSupported where the sandwich is asked for under a horseshoe."""
    if len(priors.shrunk):
        raise NotSupported("cov_type='robust' under a horseshoe prior, whose posterior has no Gaussian to give a covariance to; "
                           "use another prior, or cov_type='nonrobust'")


def preconditioner(data, settings):
    """"dense", "diag" or None from ``precondition=``; "mode" is dense where the d^3 work and the d^2 memory allow."""
    wide = data.d > LONGEST_PULLED
    if settings.robust and wide:
        raise NotSupported(f"cov_type='robust' with {data.d} columns: at most {LONGEST_PULLED}; leave cov_type='nonrobust'")
    if settings.precondition == "mode":
        return "diag" if wide else "dense"
    if settings.precondition == "dense" and wide:
        raise NotSupported(f"precondition='dense' with {data.d} columns: at most {LONGEST_PULLED}; use 'diag'")
    return settings.precondition


def rotated_prior(prior, diagonal, terms, where):
    """The prior as a function of y: phi = origin + L y.  Gaussian ones are diagonal there if L whitens at the mode."""
    L = where.L
    if not diagonal:
        return Pulled(prior, Affine(where.origin, L))
    _, gradient, precision = terms(where.origin)
    return Quadratic(np.einsum("jk,jl,lk->k", L, precision, L, optimize=True), -L.T @ gradient)
