"""Laplace's approximation of coefficients and effects given their covariance.

Newton's method finds the mode of (beta, v) at fixed psi = (phi, u), see `Loaded`, and the precision
there.
"""

from typing import NamedTuple

import numpy as np

from sgmc.core import deadline
from sgmc.core.expansion import of_prior, of_rows, row_curvatures
from sgmc.errors import DataError
from sgmc.models.crossed.precision import precision_of

# root mean squares over (beta, v) of the distance from their mode, in sds: at which Newton's method
# stops, and within which the precision is not computed anew
AT_MODE, SAME_MODE = 0.005, 0.3
MOST_NEWTON = 50


class Laplace(NamedTuple):
    """The Gaussian approximation given psi.

    Attributes
    ----------
    place : array (dim,)
        (beta, v, phi, u).
    precision : Precision
    map : Arrow
        Which whitens it.
    curvature : array (n, width, width)
        Of the rows.
    """

    place: np.ndarray
    precision: object
    map: object
    curvature: np.ndarray


class Conditional:
    """The density, and its approximations at any psi.

    Parameters
    ----------
    rows : CrossedRows
    gram : Gram
    model : Model
    prior : EffectsPrior
    terms : PriorTerms
        Of (beta, phi, u).
    loaded : Loaded

    Attributes
    ----------
    psi : array (k,) of int
        Places of phi and u.
    reached : Laplace or None
        The last approximation, for searches that the time of a call ends.
    """

    def __init__(self, rows, gram, model, prior, terms, loaded):
        self.rows, self.gram, self.model, self.prior = rows, gram, model, prior
        self.terms, self.loaded, self.blocks = terms, loaded, rows.blocks
        self.reached, self.seconds = None, 0.0
        self.psi = np.arange(self.blocks.d + self.blocks.effects, self.blocks.size)

    def density(self, place):
        """Log density at (beta, v, phi, u), and its gradient."""
        theta = self.loaded(place)
        value, slope = of_rows(self.model, theta)
        more, also = of_prior(self.prior, theta)
        return value + more, self.loaded.pulled(place, slope + also)

    def settled(self, place, within=AT_MODE):
        """The `Laplace` at the psi of a place, from its (beta, v) on."""
        place, last, step, near = np.array(place), -np.inf, np.zeros(len(place)), False
        for _ in range(MOST_NEWTON):
            if self.reached is not None:
                deadline.check(self.seconds)
            value, gradient = self.density(place)
            if not np.isfinite(value) and not step.any():
                place[self.blocks.d : self.psi[0]] = (
                    0.0  # effects of another psi are too large here
                )
                value, gradient = self.density(place)
                if not np.isfinite(value):
                    raise DataError(
                        "the log density is not finite where the search for the mode begins: "
                        "numbers overflow; rescale predictors, outcomes and offsets"
                    )
            if not value >= last - 1e-9 * abs(last) - 1e-9:  # overshot, or not a number
                step = 0.5 * step
                place = place - step
                continue
            if not near:
                begun = deadline.clock()
                found = self.reached = self.around(place)
                self.seconds = deadline.clock() - begun
            gradient[self.psi] = 0.0
            white = found.map.pulled(place, gradient)
            length = np.sqrt(white @ white / len(white))
            if length < within:
                break
            near = length < SAME_MODE and within >= AT_MODE
            last, step = value, found.map(white) - np.asarray(found.map.centre)
            place = place + step
        return found._replace(place=place)

    def around(self, place):
        """The `Laplace` at a place that may not be the mode."""
        theta = self.loaded(place)
        curvature = row_curvatures(self.model, theta)
        w = curvature[:, 0, 0]
        if not (w > 0).all():
            curvature = row_curvatures(self.model, theta, True)
            w = np.maximum(curvature[:, 0, 0], 0.0)
        d = self.blocks.d
        kept = np.r_[theta[:d], theta[self.psi]]
        root = self.blocks.loading.root(place[self.blocks.phi])
        prior = self.terms(kept)[2][:d, :d]
        precision = precision_of(self.rows, self.gram, w, root, prior)
        return Laplace(place, precision, precision.arrow(place), curvature)
