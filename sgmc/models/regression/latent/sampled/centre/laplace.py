"""Laplace's approximation of coefficients and effects given their covariance.

Newton's method finds the mode of (beta, v) at fixed psi = (phi, eta, u), see `Loaded`, and the
precision there.
"""

from contextlib import suppress
from typing import NamedTuple

import numpy as np

from sgmc.coordinates.approximations.newton import Slope, Target, find_mode
from sgmc.core.expansion import of_prior, of_rows, row_curvatures
from sgmc.core.system import deadline
from sgmc.errors import DataError
from sgmc.models.regression.latent.sampled.blocks.precision import precision_of

# root mean squares over (beta, v) of the distance from their mode, in sds: at which Newton's method
# stops, and within which the precision is not computed anew
AT_MODE, SAME_MODE = 0.005, 0.3
MOST_NEWTON = 50
FAR_FROM_MODE = 10.0  # distance from the mode at which a search that stopped has no use


class GaussianApproximation(NamedTuple):
    """The Gaussian approximation given psi.

    Attributes
    ----------
    place : array (dim,)
        (beta, v, phi, eta, u).
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


class CrossedConditional:
    """The density, and its approximations at any psi.

    Parameters
    ----------
    rows : CrossedRows
    gram : Gram
    model : Model
    prior : EffectsPrior
    terms : PriorTerms
        Of (beta, phi, eta, u).
    loaded : Loaded

    Attributes
    ----------
    psi : array (k,) of int
        Places of phi, eta and u.
    reached : Laplace or None
        The last approximation, for searches that the time of a call ends.
    """

    def __init__(self, rows, gram, model, prior, terms, loaded):
        self.rows, self.gram, self.model, self.prior = rows, gram, model, prior
        self.terms, self.loaded, self.blocks = terms, loaded, rows.blocks
        self.reached, self.seconds = None, 0.0
        self.psi = np.arange(self.blocks.d + self.blocks.effects, self.blocks.size)

    def density(self, place):
        """Log density at (beta, v, phi, eta, u), and its gradient."""
        theta = self.loaded(place)
        value, slope = of_rows(self.model, theta)
        more, also = of_prior(self.prior, theta)
        return value + more, self.loaded.pulled(place, slope + also)

    def settled(self, place, within=AT_MODE):
        """The `GaussianApproximation` at the psi of a place, from its (beta, v) on."""
        target = ConditionalTarget(self, within)
        found = find_mode(target, place, MOST_NEWTON)
        if found.status != "found" and not found.distance < FAR_FROM_MODE:
            # of densities that are not log-concave, from where effects of another psi are far off
            target = ConditionalTarget(self, within)
            found = find_mode(target, target.restart(place), MOST_NEWTON)
        if found.status != "found" and not found.distance < FAR_FROM_MODE:
            raise DataError(
                f"the search for the mode of the effects stopped {found.distance:.2g} posterior "
                "sds away from it: numbers are too large for it; rescale predictors, outcomes and "
                "offsets"
            )
        return target.laplace._replace(place=found.theta)

    def around(self, place):
        """The `GaussianApproximation` at a place that may not be the mode."""
        theta = self.loaded(place)
        curvature, of = row_curvatures(self.model, theta), slice(self.rows.predictors)
        if self.rows.predictors == 1 and (curvature[:, 0, 0] > 0).all():
            return self.of_curvature(place, theta, curvature, curvature[:, of, of])
        if self.rows.predictors > 1:  # that of all rows may be positive where that of some is not
            with suppress(DataError):
                return self.of_curvature(place, theta, curvature, curvature[:, of, of])
        curvature = row_curvatures(self.model, theta, True)
        return self.of_curvature(place, theta, curvature, positive_part(curvature[:, of, of]))

    def of_curvature(self, place, theta, curvature, w):
        """The same with curvatures w (n, k, k) of the rows by their linear predictors."""
        d = self.blocks.d
        kept = np.r_[theta[:d], theta[self.psi]]
        prior = self.terms(kept)[2][:d, :d]
        precision = precision_of(self.rows, self.gram, w, place, prior)
        return GaussianApproximation(place, precision, precision.arrow(place), curvature)


def positive_part(w):
    """Curvatures (n, k, k) of rows without their negative eigenvalues."""
    if w.shape[1] == 1:
        return np.maximum(w, 0.0)
    values, vectors = np.linalg.eigh(w)
    return np.einsum("nab,nb,ncb->nac", vectors, np.maximum(values, 0.0), vectors)


class ConditionalTarget(Target):
    """The log density of (beta, v) given psi, with steps by arrow matrices, which are kept once the
    mode is near.

    Parameters
    ----------
    conditional : Conditional
    tolerance : float
        Root mean square of the distances of all (beta, v), in sds.
    """

    def __init__(self, conditional, tolerance):
        self.conditional, self.tolerance = conditional, tolerance
        self.laplace, self.near = None, False

    def evaluate(self, place, distance):
        """See `Target`."""
        if self.conditional.reached is not None:  # else there would be nothing to return
            deadline.check(self.conditional.seconds)
        value, gradient = self.conditional.density(place)
        return Slope(value if np.isfinite(value) else np.nan, gradient)

    def restart(self, place):
        """See `Target`: effects of another psi may be too large here."""
        place = np.array(place)
        place[self.conditional.blocks.d : self.conditional.psi[0]] = 0.0
        return place

    def step(self, place, here):
        """See `Target`."""
        of, gradient = self.conditional, here.gradient
        if not self.near:
            begun = deadline.clock()
            self.laplace = of.reached = of.around(place)
            of.seconds = deadline.clock() - begun
        gradient[of.psi] = 0.0
        white = self.laplace.map.pulled(place, gradient)
        length = np.sqrt(white @ white / len(white))
        self.near = length < SAME_MODE and self.tolerance >= AT_MODE
        return self.laplace.map(white) - np.asarray(self.laplace.map.centre), length
