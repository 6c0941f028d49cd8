"""Where chains begin, and what makes coordinates independent: the mode of the logs of the global
parameters under the marginal likelihood that expectation propagation gives, and the rest there.

The joint mode is of no use: under a normal prior with a learned sd the density of coefficients and
sd has no bound where both go to zero.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from sgmc.coordinates.approximations.newton import MarginalTarget, find_marginal_mode
from sgmc.coordinates.approximations.propagation import Sites
from sgmc.coordinates.shapes.separation_transform import GRID, quantiles
from sgmc.core.expansion import expand
from sgmc.core.system import deadline
from sgmc.core.system.deadline import OutOfTime
from sgmc.models.regression.latent.shrunk.locals import Local
from sgmc.models.regression.latent.shrunk.propagation import Shrunken, shrunken
from sgmc.models.regression.latent.shrunk.shrinking import SMALLEST_SHRUNK

CENTRE_ROUNDS = 12  # of searches for the mode, at most
CENTRE_FOUND = 0.03  # change of a log, and of a coefficient in sds, at which they end
BRACKET, BRACKET_STEPS, EXACT_LOG = 1.0, 60, 0.01
CURVED = 0.25  # change of a log over which the curvature of its density is taken
NARROWEST, WIDEST = 0.05, 3.0  # sd of a log
# nodes of the density of a log, in its sds
SPREAD = np.array([-8.0, -5.5, -4.0, -3.0, -2.0, -1.25, -0.6, 0, 0.6, 1.25, 2.0, 3.0, 4.0, 6.0])
TAIL_UNITS = 40.0  # the reach of that density beyond its nodes, in units of 1 / slope


@dataclass
class LearnedScales:
    """Learned scales as functions of (g, u).

    Attributes
    ----------
    shrunk : Shrunk
    groups : list of Group
    hyperpriors : list of PriorSpec
    """

    shrunk: object
    groups: list
    hyperpriors: list

    def __post_init__(self):
        of = self.shrunk
        self.locals = [Local(*one.local) for one in self.groups]
        found = [self.locals[g].nodes() for g in of.group]
        most = max(len(v) for v, _ in found)
        self.nodes, self.mass = np.zeros((of.k, most)), np.full((of.k, most), -np.inf)
        for j, (v, mass) in enumerate(found):
            self.nodes[j, : len(v)], self.mass[j, : len(v)] = v, mass

    def log_scales(self, g, u):
        """A_j less v_j and log unit_j, (k,)."""
        of = self.shrunk
        first = u[0] if len(u) else 0.0
        return np.asarray(of.share) * g[np.asarray(of.group)] + np.asarray(of.noise) * first

    def grid(self, g, u):
        """Return variances at the nodes of local scales, their slopes, masses and the nodes."""
        of = self.shrunk
        unit, slab = np.asarray(of.unit)[:, None] ** 2, np.asarray(of.slab)[:, None] ** 2
        own = np.exp(np.minimum(2 * (self.log_scales(g, u)[:, None] + self.nodes), 600.0))
        wide = own + SMALLEST_SHRUNK**2
        variance = 1 / (1 / (wide * unit) + 1 / slab)
        slope = variance / (wide * unit) * own / wide
        return variance, slope, self.mass, self.nodes

    def slope(self, i, log, by_scale):
        """Slope of the marginal log density by the i-th log of a global parameter."""
        one, own = self.hyperpriors[i], np.asarray(self.shrunk.group) == i
        total = (np.asarray(self.shrunk.share) * by_scale)[own].sum()
        if one.family == "inverse_gamma":
            return total - one.df + one.scale * np.exp(-log)
        square = np.exp(2 * log)
        return total + 1 - (one.df + 1) * square / (one.df * one.scale**2 + square)

    def start(self):
        """Logs of global parameters to begin with."""
        return np.array(
            [
                0.0 if one.family == "inverse_gamma" else np.log(min(one.scale, 0.5))
                for one in self.hyperpriors
            ]
        )


@dataclass(frozen=True)
class ScalesMode:
    """What the search has found.

    Attributes
    ----------
    logs : array (logs, 2)
        Means and sds of the logs of auxiliary parameters.
    g : array (groups,)
    found : Shrunken
    precision : array (d + logs, d + logs)
        Of the Gaussian that expectation propagation leaves; it may lack auxiliary parameters.
    margins : list of (array (m,), array (m,), array (m,))
        Of each log of a global parameter, see `separation_transform.quantiles`.
    """

    logs: np.ndarray
    g: np.ndarray
    found: Shrunken
    precision: np.ndarray
    margins: list


class GaussianLikelihood:
    """A Gaussian in the place of the likelihood and of the priors with known scales.

    Parameters
    ----------
    scales : LearnedScales
    logs : array (logs, 2)
        Means and sds of the logs of auxiliary parameters.
    precision, slope : array
    place, sds : array
        Of the Gaussian beside the normal laws that stood for learned priors.
    """

    def __init__(self, scales, logs, precision, slope, place, sds):
        self.scales, self.logs, self.u = scales, logs, logs[:, 0]
        self.where, self.place, self.sds = np.asarray(scales.shrunk.where), place, sds
        self.precision, self.linear, self.sites = precision, slope, None

    def with_sites(self):
        """Its precision, with that of the normal laws that stand for learned priors."""
        full = self.precision.copy()
        full[self.where, self.where] += self.sites.precision
        return full

    def at(self, g, timed=True):
        """The `Shrunken` given the logs of the global parameters; where `timed`, OutOfTime if the
        time is up.
        """
        if timed:
            deadline.check()
        grid = self.scales.grid(g, self.u)
        if self.sites is None:
            weight = np.exp(grid[2] - grid[2].max(axis=1, keepdims=True))
            typical = (weight * grid[0]).sum(axis=1) / weight.sum(axis=1)
            self.sites = Sites(1 / typical, np.zeros(len(typical)))
        found = shrunken(self.precision, self.linear, self.where, grid, self.sites)
        self.sites = found.sites
        return found

    def slope(self, g, i, log):
        """Slope by the i-th log, the others as they are in g."""
        g = np.where(np.arange(len(g)) == i, log, g)
        return self.scales.slope(i, log, self.at(g).by_scale)

    def mode_of_log(self, g, i):
        """The i-th log at which the slope changes from up to down."""
        a, up = g[i], self.slope(g, i, g[i])
        b, step = a, BRACKET * np.sign(up)
        for _ in range(BRACKET_STEPS):
            b = a + step
            there = self.slope(g, i, b)
            if there * up <= 0:
                break
            a, up = b, there
        low, high = (a, up), (b, there)
        for _ in range(BRACKET_STEPS):
            if abs(low[0] - high[0]) < EXACT_LOG:
                break
            share = low[1] / (low[1] - high[1])
            middle = low[0] + np.clip(share, 0.1, 0.9) * (high[0] - low[0])
            one = middle, self.slope(g, i, middle)
            low, high = (one, high) if one[1] * low[1] > 0 else (low, one)
        return low[0] if abs(low[1]) < abs(high[1]) else high[0]

    def margin(self, g, i):
        """Quantiles of the i-th log, the others as they are in g."""
        fall = self.slope(g, i, g[i] - CURVED) - self.slope(g, i, g[i] + CURVED)
        sd = np.clip((max(fall, 1e-9) / (2 * CURVED)) ** -0.5, NARROWEST, WIDEST)
        logs = g[i] + sd * SPREAD
        slopes = np.array([self.slope(g, i, one) for one in logs])
        slopes[0], slopes[-1] = max(slopes[0], 0.05), min(slopes[-1], -0.05)
        from scipy.interpolate import PchipInterpolator  # only here: it takes long to import

        along = PchipInterpolator(logs, slopes)
        value = along.antiderivative()
        ends = logs[[0, -1]]

        def log(w):
            inside = np.clip(w, *ends)
            return value(inside) + along(inside) * (w - inside), along(inside)

        reach = TAIL_UNITS / np.abs(slopes[[0, -1]])
        parts = (
            np.linspace(ends[0] - reach[0], ends[0], 2001),
            np.linspace(*ends, 8001),
            np.linspace(ends[1], ends[1] + reach[1], 2001),
        )
        return quantiles(log, np.unique(np.concatenate(parts)))


class GlobalScales(MarginalTarget):
    """The logs of the global parameters; all else is the mode of the others, normal laws in the
    place of the learned priors.

    Each log moves to the mode of its own density given the others, by the Gaussian that stands for
    the likelihood around the mode.

    Parameters
    ----------
    find : callable
        From a `Shrunken`, whose sites are these laws, to the mode.
    likelihood_at : callable
        From a mode to the `GaussianLikelihood`.
    tolerance : float
        See `MarginalTarget`.
    """

    def __init__(self, find, likelihood_at, tolerance=CENTRE_FOUND):
        self.find, self.likelihood_at, self.found = find, likelihood_at, None
        self.tolerance = tolerance

    def settle(self, g, last):
        """See `MarginalTarget`; the first mode is given."""
        return last if self.found is None else self.find(self.found)

    def move(self, g, mode):
        """See `MarginalTarget`."""
        self.likelihood = self.likelihood_at(mode)
        self.likelihood.sites, last = self.found and self.found.sites, g
        for i in range(len(g)):
            g = np.where(np.arange(len(g)) == i, self.likelihood.mode_of_log(g, i), g)
        self.found = self.likelihood.at(g)
        moved = np.abs(self.found.mean - self.likelihood.place) / self.likelihood.sds
        return g, max(moved.max(), np.abs(g - last).max())


def search(target, scales, mode):
    """The mode, and the `ScalesMode`.

    Parameters
    ----------
    target : GlobalScales
    scales : LearnedScales
    mode : object
        To begin with.

    Raises
    ------
    OutOfTime
    """
    g = find_marginal_mode(target, scales.start(), mode, CENTRE_ROUNDS).ahead
    mode, likelihood = target.settle(g, None), target.likelihood
    margins = [likelihood.margin(g, i) for i in range(len(g))]
    logs = target.likelihood_at(mode).logs
    return mode, ScalesMode(logs, g, target.found, likelihood.with_sites(), margins)


def among_coefficients(model, terms, scales, find):
    """The `GlobalScales` of coefficients and auxiliary parameters alone.

    Parameters
    ----------
    model : Model
        Of (beta, u).
    terms : PriorTerms
        Its horseshoe places are the coefficients with learned scales; they are left with the normal
        laws that stand for these.
    scales : LearnedScales
    find : callable
        From a place to the Mode of `terms` as they are then, and concerns.
    """
    where = np.asarray(scales.shrunk.where)

    def settled(found):
        terms.location[where] = found.sites.slope / found.sites.precision
        terms.scale[where] = found.sites.precision**-0.5
        mode = find(found.mean)[0]
        if not mode.whole:
            raise OutOfTime
        return mode

    return GlobalScales(settled, partial(gaussian, model, terms, scales))


def gaussian(model, terms, scales, mode):
    """The `GaussianLikelihood` around a mode, without the normals that stand for learned priors."""
    where, d = np.asarray(scales.shrunk.where), scales.shrunk.d
    precision = expand(model, mode.theta, expected=True)[2] + mode.prior
    slope = precision @ mode.theta
    precision[where, where] -= 1 / terms.scale[where] ** 2
    slope[where] -= terms.location[where] / terms.scale[where] ** 2
    sds = 1 / np.sqrt(np.diag(mode.precision))
    logs = np.column_stack([mode.theta, sds])[d:]
    return GaussianLikelihood(scales, logs, precision, slope, mode.theta, sds)


def about(likelihood):
    """A `ScalesMode` where there is no time to look for one."""
    g = likelihood.scales.start()
    found = likelihood.at(g, timed=False)
    flat = np.zeros_like(GRID)
    margins = [(one + GRID, flat, flat) for one in g]
    return ScalesMode(likelihood.logs, g, found, likelihood.with_sites(), margins)
