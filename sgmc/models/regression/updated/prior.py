"""The earlier rows' log posterior as the prior of new rows: a Gaussian with a full precision."""

from dataclasses import dataclass, field

import numpy as np
from scipy import linalg

from sgmc.coordinates.priors.densities import Pulled, Quadratic
from sgmc.coordinates.priors.prior_table import PriorTable
from sgmc.coordinates.transforms.maps import Affine
from sgmc.core.system.blas import one_blas_thread
from sgmc.models.regression.mode.search import RegressionMode
from sgmc.priors import exponential, normal


@dataclass(frozen=True)
class Quadratics:
    """g'e - e'H e / 2 with e = theta - place, theta = T phi: what `PriorTerms` is to priors.

    Attributes
    ----------
    place, gradient : array (d,)
    precision, back : array (d, d)
        H and T.
    """

    place: np.ndarray
    gradient: np.ndarray
    precision: np.ndarray
    back: np.ndarray

    def __call__(self, phi):
        """(log density, gradient, precision) at phi."""
        with one_blas_thread():
            e = self.back @ phi - self.place
            slope = self.gradient - self.precision @ e
            value = float(e @ (self.gradient + slope) / 2)
            return value, self.back.T @ slope, self.back.T @ self.precision @ self.back

    def density(self):
        """The same, compiled."""
        scale = np.sqrt(np.diag(self.precision))
        with one_blas_thread():
            weights, axes = linalg.eigh(self.precision / np.outer(scale, scale))
            turn = axes.T * scale
            slope = linalg.solve(turn.T, self.gradient)
            return Pulled(Quadratic(weights, -slope), Affine(-turn @ self.place, turn @ self.back))


@dataclass(frozen=True)
class CarriedPriors(PriorTable):
    """The priors of an update: `used` are the margins of the earlier rows' Gaussian, of logs where
    parameters are auxiliary; `specified` are those of the first fit.

    Attributes
    ----------
    nobs : float
        Observations of the earlier rows.
    first : dict
        Default priors of the first fit by place, of slopes and of scales in units of its outcomes:
        later rows may contradict them.
    """

    nobs: float = 0.0
    first: dict = field(default_factory=dict)

    @classmethod
    def of(cls, priors, quadratic, nobs):
        """Those of earlier results with `priors`."""
        with one_blas_thread():
            covariance = linalg.inv(quadratic.precision)
            place = quadratic.place + covariance @ quadratic.gradient
        used = [normal(float(m), float(s)) for m, s in zip(place, np.sqrt(np.diag(covariance)))]
        return cls(
            priors.names,
            priors.specified,
            used,
            priors.intercepts,
            False,
            priors.auxiliary,
            priors.unit,
            priors.report,
            priors.own,
            nobs=nobs,
            first=priors.first if isinstance(priors, cls) else first_defaults(priors),
        )

    @property
    def defaults(self):
        # none, as these are of earlier rows; where new ones contradict them, it is drift
        return np.zeros(0, int)

    @property
    def judged(self):
        return self.first

    def described(self):
        # of the first fit, with what came after it
        first = super().described().removesuffix(".")
        return f"{first}. It is in the posterior of {self.nobs:.12g} earlier observations, once."


def first_defaults(priors):
    """`CarriedPriors.first` of the first fit's priors."""
    slopes = {j: one for j, one in priors.judged.items() if j not in priors.intercepts}
    scales = range(len(priors.names) - priors.auxiliary, len(priors.names))
    scaled = [j for j in scales if priors.specified[j] == exponential(1, autoscale=True)]
    return slopes | {j: priors.used[j] for j in scaled}


@dataclass(frozen=True)
class Carried(RegressionMode):
    """A table's posterior whose prior is the earlier one: it is a Gaussian, so that new rows that
    separate outcomes, or tell nothing about some parameters, are no trouble.
    """

    def density(self):
        return self.terms.density()

    def trouble(self, data, family):
        return [], self.warnings
