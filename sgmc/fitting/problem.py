"""The posterior of a regression in sampler coordinates: everything that the chains of a fit share."""
from dataclasses import dataclass, field

import numpy as np

from sgmc import registry
from sgmc.core.contract import Anchor
from sgmc.core.densities import FAMILIES, LONGEST_PULLED, Pulled, Quadratic, Separable
from sgmc.core.design import design, rotate
from sgmc.core.maps import Affine
from sgmc.errors import NotSupported
from sgmc.fitting.blas import one_blas_thread
from sgmc.fitting.coordinates import collinearity, coordinates, undo_centring, whitener
from sgmc.fitting.leverage import high_leverage
from sgmc.fitting.mode import PriorTerms, find_mode
from sgmc.fitting.prepare import as_given, prepare, stays
from sgmc.fitting.sandwich import sandwich_coordinates, score_covariance
from sgmc.fitting.separation import complete_separation, linear_predictor, separation
from sgmc.fitting.walls import walled_coordinates
from sgmc.priors import resolve


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
        """Covariance of the user's theta by the curvature at the mode alone: T H^-1 T'."""
        white = whitener(self.mode)[0]
        with one_blas_thread():
            half = self.coordinates.back @ white
            return half @ half.T

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
    priors = resolve(prior, data.names, data.terms, table.sd, data.intercept)
    shift = (table.mean if priors.centred else np.zeros(data.d)) - table.shift
    if data.intercept is not None:
        shift[data.intercept] = 0.0
    model = family.kernel(design(table.X), table.response, table.offset, table.multiplicity)
    terms = PriorTerms(priors, shift)
    mode, concerns = find_mode(model, terms, np.zeros(data.d), shuffled=not kept)
    back = undo_centring(data.d, table.shift, data.intercept)
    rotated = precondition == "dense" and data.sparse is None and not kept
    walls = []
    if family.outcome == "binary":
        eta = linear_predictor(model, mode.theta)
        outcomes = table.y, (1 if table.trials is None else table.trials) - table.y
        concerns += complete_separation(model, PriorTerms(priors, shift, widened=100.0), mode.theta, outcomes, eta)
        walls, warned = separation(table.X, outcomes, data.names, data.intercept)
        walls, concerns = walls if family.walled else [], [*concerns, *warned]
    concerns += collinearity(mode, data.names, data.n)
    if settings.robust:
        where = sandwich_coordinates(mode, back, score_covariance(model, mode.theta, table.weight), rotated)
    elif walls and precondition == "dense" and (settings.sampler is None or settings.sampler.uses_gradient):
        where = walled_coordinates(mode, back, walls, terms(mode.theta)[1], priors.used, data.intercept, rotated)
    else:
        where = coordinates(mode, back, precondition, rotated)
    core = Separable([FAMILIES[f] for f in priors.columns("family")], priors.columns("location"), priors.columns("scale"),
                     priors.columns("df"), -1 if data.intercept is None else data.intercept, shift)
    if rotated:
        eta = linear_predictor(model, where.origin)
        rotate(table.X, where.L)
        model = family.kernel(design(table.X), table.response, eta, table.multiplicity)
        core = rotated_prior(core, priors.gaussian and where.map is None, terms, where)
    return Problem(model, core, where, mode, priors, table, concerns)


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
