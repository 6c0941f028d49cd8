"""Coordinates for coefficients with horseshoe priors, whose posteriors are spikes at zero, bumps
where the data are, or both.

No Gaussian describes those, and no step size serves all.  Expectation propagation (Minka 2001)
finds what the data and the other coefficients say of each: a cavity N(place, sd^2).  Its product
with the prior is the density f(t) of a quantile map, as in `coordinates.walls`: in the coordinate x
with t = F^-1(Phi(x)) there is neither pole nor scale left, and x is standard normal.  What is
approximate here shows in the efficiency of exact samplers alone.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sgmc.coordinates.approximations.mode import Mode
from sgmc.coordinates.approximations.propagation import TOLERANCE, Sites, propagate
from sgmc.coordinates.priors.densities import exponential_integral
from sgmc.coordinates.shapes.separation_transform import BEYOND, quantiles
from sgmc.coordinates.transforms.maps import Affine, Warp
from sgmc.coordinates.transforms.warped import Warped
from sgmc.coordinates.whitened.report import Report
from sgmc.coordinates.whitened.whitening import Coordinates, whitener
from sgmc.core.expansion import expand

LOG_LOCAL = np.linspace(-14.0, 14.0, 113)  # nodes of log(local scale), whose density is 1/(pi cosh)
MAX_EXPANSIONS = 10  # of the likelihood at most, each with
GRID = np.linspace(-7.5, 7.5, 3841)
# the map's density has b^2 + (0.01 scale)^2 for b^2: nodes are a tenth of that apart there
ROUNDED_PEAK = 0.01
GRID_REACH = 9.0  # cavity sds to either side


@dataclass(frozen=True)
class Cavity:
    """A horseshoe times N(place, sd^2): about the marginal density of one coefficient, up to a
    constant.

    Attributes
    ----------
    prior : PriorSpec
    place, sd : float
    free : {-1, 0, 1}
        Side on which no outcome bounds the coefficient: the likelihood is level beyond `place`.
    """

    prior: object
    place: float
    sd: float
    free: int = 0

    def log(self, t):
        """log f, the pole rounded off, and its derivative."""
        scale, slab = self.prior.scale, self.prior.slab
        value, weight = exponential_integral(0.5 * ((t / scale) ** 2 + ROUNDED_PEAK**2))
        e = (t - self.place) / self.sd
        e = np.where(e * self.free > 0, 0.0, e)
        return value - 0.5 * (
            t / slab
        ) ** 2 - 0.5 * e**2, -weight * t / scale**2 - t / slab**2 - e / self.sd

    def quantiles(self):
        """Return t, log dt/dx and its derivative on a grid, for x standard normal."""
        ends = near = [self.place - GRID_REACH * self.sd, self.place + GRID_REACH * self.sd]
        if self.free:
            far = abs(near[self.free > 0]) + self.prior.scale
            ends = list(near)
            ends[self.free > 0] = self.free * min(GRID_REACH * self.prior.slab, far / BEYOND)
            ends.sort()
        fine = self.prior.scale * np.sinh(
            np.linspace(*np.arcsinh(np.array(ends) / self.prior.scale), 8001)
        )
        return quantiles(
            self.log, np.unique(np.concatenate([fine, np.linspace(*near, 4001)])), GRID
        )


@dataclass(frozen=True)
class Spike:
    """A horseshoe with what `Cut` has, for quantile maps of both; no end cuts it off."""

    prior: object

    low, high = -np.inf, np.inf

    def moments(self, place, variance):
        """Mean and variance of the coefficient."""
        given = (self.prior.scale, self.prior.slab, place, variance)
        mean, own = tilted(*(np.array([one]) for one in given))
        return mean[0], own[0]

    def tailed(self, variance):
        """Whether the tail is that of a prior that falls as a power: the map has the whole tail."""
        return False

    def margin(self, place, variance, grid=GRID):
        """The quantile map of the coefficient, on the grid of all horseshoes."""
        return Cavity(self.prior, place, float(np.sqrt(variance))).quantiles()


def tilted(scale, slab, place, variance):
    """Means and variances of horseshoe times N(place, variance), (k,): sums over the local scale,
    given which all is normal.
    """
    wide = scale[:, None] * np.exp(LOG_LOCAL)
    prior = 1 / (1 / wide**2 + 1 / slab[:, None] ** 2)
    total = prior + variance[:, None]
    log_weight = (
        np.log(prior / total) / 2
        - np.log(wide)
        - np.log(np.cosh(LOG_LOCAL))
        - 0.5 * place[:, None] ** 2 / total
    )
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    means = prior / total * place[:, None]
    mean = (weight * means).sum(axis=1)
    return mean, (weight * (prior / total * variance[:, None] + (means - mean[:, None]) ** 2)).sum(
        axis=1
    )


def without_poles(model, terms, mode, search):
    """The mode under normal laws in the place of the horseshoes, and a Cavity for each of these.

    Parameters
    ----------
    model : Model
    terms : PriorTerms
        Left with those laws in place.
    mode : Mode
        Under the laws that the search began with.
    search : callable
        From a place to the Mode of `terms` as they are then, and concerns.
    """
    where, used = terms.table.shrunk, [terms.table.used[j] for j in terms.table.shrunk]
    scale, slab = (np.array([getattr(p, name) for p in used]) for name in ("scale", "slab"))
    sites = Sites(1 / terms.scale[where] ** 2, np.zeros(len(where)))
    for _ in range(MAX_EXPANSIONS):
        # positive definite far from the mode, too
        precision = expand(model, mode.theta, expected=True)[2] + mode.prior
        slope = precision @ mode.theta
        precision[where, where] -= sites.precision
        slope[where] -= sites.slope
        told = propagate(precision, slope, where, partial(tilted, scale, slab), sites)
        sites = told.sites
        terms.stand_in(sites.slope / sites.precision, 1 / np.sqrt(sites.precision))
        moved = np.abs(told.mean - mode.theta) * np.sqrt(np.diag(mode.precision))
        mode = search(told.mean)[0]
        if moved.max() < TOLERANCE or not mode.whole:
            break
    return mode, [Cavity(*one) for one in zip(used, told.place, np.sqrt(told.h))]


def shrunk_coordinates(mode, back, cavities, where, rotate, log_params, walls=()):
    """Coordinates with a quantile map for the coefficients at `where`,
    the others whitened given these.

    Parameters are those of `separation_coordinates`, where they have its names.
    """
    sides = {w.column: int(w.usual * np.sign(w.gap)) for w in walls if w.contrary == 0}
    cavities = [replace(c, free=sides.get(j, 0)) for c, j in zip(cavities, where)]
    d, k = len(mode.theta), len(where)
    rest = np.setdiff1d(np.arange(d), where)
    L, H = np.eye(d)[:, np.concatenate([where, rest])], mode.precision
    if len(rest):
        inner, prior = H[np.ix_(rest, rest)], mode.prior[np.ix_(rest, rest)]
        own = whitener(Mode(mode.theta[rest], inner - prior, prior))[0]  # refuses singular ones
        L[np.ix_(rest, range(k))] = -np.linalg.solve(inner, H[np.ix_(rest, where)])
        L[np.ix_(rest, range(k, d))] = own
    origin = mode.theta - L[:, :k] @ mode.theta[where]
    values, log_slopes, bends = map(np.array, zip(*(c.quantiles() for c in cavities)))
    weight = np.exp(-0.5 * GRID**2) / np.exp(-0.5 * GRID**2).sum()
    sd = np.ones(d)
    sd[:k] = np.sqrt(values**2 @ weight - (values @ weight) ** 2)
    warp = Warp(d, GRID, values, log_slopes, bends)
    common = dict(
        L=L,
        origin=origin,
        back=back,
        white=back @ L * sd,
        max_precision=1.0,
        min_precision=1.0,
        report=Report(log_params),
    )
    if rotate:
        return Coordinates(
            rotated=True, map=warp, to_theta=back @ L, theta_centre=back @ origin, **common
        )
    return Coordinates(
        rotated=False,
        map=Warped(Affine(origin, L), warp),
        to_theta=back,
        theta_centre=np.zeros(d),
        **common,
    )
