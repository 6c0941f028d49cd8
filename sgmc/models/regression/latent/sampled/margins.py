"""Coefficients beside effects whose priors have ends, are horseshoes, increments of monotonic
effects or have learned scales, so that no Gaussian describes them.  The search for the centre has
normal laws in the place of their priors.  Expectation propagation, on the Gaussian of the search,
gives these laws and the margins; increments have a Gaussian of their free numbers.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sgmc.coordinates.approximations.propagation import Propagated, Sites, propagate
from sgmc.coordinates.transforms.composed import Composed
from sgmc.coordinates.transforms.partial_map import PartialMap
from sgmc.errors import DataError
from sgmc.models.regression.latent.shrunk.centre import (
    GaussianLikelihood,
    GlobalScales,
    ScalesMode,
    about,
    search,
)
from sgmc.models.regression.latent.shrunk.coordinates import learned_map
from sgmc.models.regression.mode.bounded import (
    alone_by_quantiles,
    contradicted,
    definite,
    ends_of,
    flattened,
    tilt_of,
    without_ends,
)
from sgmc.models.regression.mode.increments import few_lose, free_increments, increments_near
from sgmc.priors import normal

MOST_SEARCHES = 6  # of searches for the centre, at most
STILL = 0.1  # sds that no such coefficient moves any more


@dataclass(frozen=True)
class Margins:
    """Margins of parameters that no Gaussian describes, and the maps to them.

    Attributes
    ----------
    own : array (k,) of int
        Of those by quantiles, among all but the effects.
    by_quantiles : array (k,) of int
        Among all parameters.
    cuts : list of Cut or Spike
    told : Propagated
    warnings : list of SGMCWarning
        Of ends that the data speak against.
    increments : array of int
        Those of effects whose sign is open, among all parameters.
    rising : Composed or None
        From about standard normal numbers to these.
    """

    own: np.ndarray
    by_quantiles: np.ndarray
    cuts: list
    told: Propagated
    warnings: list
    increments: np.ndarray
    rising: Composed | None

    @property
    def places(self):
        """All of them, an array of int."""
        return np.append(self.by_quantiles, self.increments)

    @property
    def arrays(self):
        """What tells their maps from others."""
        found = self.told.place, self.told.h
        if self.rising is None:
            return found
        return (*found, np.asarray(self.rising.inner.centre), np.asarray(self.rising.inner.matrix))

    def behind(self, map):
        """A map of all parameters, behind one from standard normal numbers at the places to these
        parameters.
        """
        if self.cuts:
            alone = alone_by_quantiles(self.cuts, self.told)
            map = Composed(map, PartialMap(map.dim, self.by_quantiles, alone))
        if self.rising is not None:
            map = Composed(map, PartialMap(map.dim, self.increments, self.rising))
        return map


def centre_and_margins(found):
    """The `GaussianApproximation` at the centre, about the covariance of psi, and `Margins`, which
    are None where priors are all about Gaussian.

    Parameters
    ----------
    found : CrossedSetup
    """
    priors, centre = found.priors, found.centre
    here, covariance = centre.search(found.starts)
    if found.learned is not None:
        return learned_margins(found, here, covariance)
    if not len(priors.bent):
        return here, covariance, None
    stood = without_ends(priors, poles=False)
    for _ in range(MOST_SEARCHES):
        margins = margins_about(found, stood, here, covariance)
        sites, logged = margins.told.sites, priors.logged[margins.own]
        moved = np.abs(margins.told.mean - here.place[margins.by_quantiles])
        moved /= np.sqrt(margins.told.h)
        if not (moved[~logged] > STILL).any():
            break
        used = list(stood.used)
        for j, one, p, q in zip(margins.own, logged, *sites):
            used[j] = used[j] if one else normal(q / p, p**-0.5)
        stood = replace(stood, used=used)
        centre.terms, centre.prior = found.terms_of(stood), found.density_of(stood)
        here, covariance = centre.search([here.place])
    return here, covariance, margins


def margins_so_far(found, here):
    """The `Margins` about an approximation, the covariance of psi unknown; None without any."""
    unknown = np.eye(len(found.centre.psi))
    if found.learned is not None:
        return LearnedMargins(found.learned, about(likelihood_at(found, (here, unknown))))
    if not len(found.priors.bent):
        return None
    stood = without_ends(found.priors, poles=False)
    return margins_about(found, stood, here, unknown)


def margins_about(found, stood, here, covariance):
    """The `Margins`, by a Gaussian of which other priors are part; parameters are those of
    `cavity`.
    """
    priors, places = found.priors, np.asarray(found.rows.blocks.places)
    own, cuts, effects, open_ = signs_told(found, stood, here, covariance)
    precision, linear, sites = cavity(found, stood, own, here, covariance)
    told = propagate(precision, linear, np.arange(len(own)), tilt_of(cuts), sites)
    warnings = contradicted(priors, own, cuts, told) + open_
    rising, increments = None, np.concatenate([np.zeros(0, int), *effects])
    if effects:
        precision, linear, _ = cavity(found, stood, increments, here, covariance)
        unsigned = [one for one in priors.monotone if one.places[0] in increments]
        rising = free_increments(definite(precision), linear, unsigned)
    return Margins(own, places[own], cuts, told, warnings, places[increments], rising)


def signs_told(found, stood, here, covariance):
    """What `ends_of` tells by the Gaussian of all increments, whose laws are part of it, with tails
    as heavy as those of normal outcomes are.
    """
    priors, increments = found.priors, found.priors.increments
    d = len(priors.names)
    precision, mean = np.eye(d), np.zeros(d)
    if len(increments):
        inner, linear, sites = cavity(found, stood, increments, here, covariance)
        inner[np.diag_indices(len(increments))] += sites.precision
        precision[np.ix_(increments, increments)] = definite(inner)
        mean[increments] = here.place[np.asarray(found.rows.blocks.places)[increments]]
    near = [increments_near(precision, mean, one.places) for one in priors.monotone]
    rows = len(found.rows.fixed.y)
    return ends_of(priors, [(sign, few_lose(lost, rows)) for sign, lost, _ in near])


def cavity(found, stood, own, here, covariance):
    """Precision and slope of some parameters, under a Gaussian without their priors, and the normal
    laws that stood for these.

    Parameters
    ----------
    found : CrossedSetup
    stood : PriorTable
        Under which the Gaussian was found.
    own : array (k,) of int
        The parameters, among all but the effects.
    here : GaussianApproximation
        Of (beta, v), given psi.
    covariance : array
        Of psi.
    """
    d, places = found.rows.blocks.d, np.asarray(found.rows.blocks.places)[own]
    kept = here.place[found.rows.blocks.places]
    _, slope, precision = found.terms_of(stood)(kept)
    _, other_slope, other_precision = found.terms_of(flattened(stood, own))(kept)
    logged = found.priors.logged[own]
    stand_ins = np.diag(precision - other_precision)[own]
    slopes = (slope - other_slope)[own] + logged + stand_ins * kept[own]
    spread = np.zeros((len(own), len(own)))
    for a, j in enumerate(places):
        if own[a] >= d:
            spread[a, a] = covariance[own[a] - d, own[a] - d]
            continue
        unit = np.zeros(len(here.place))
        unit[j] = 1.0
        moved = here.map(here.map.pulled(here.place, unit)) - np.asarray(here.map.centre)
        spread[a] = np.where(own >= d, 0.0, moved[places])
    inner = np.linalg.inv(spread)
    linear = inner @ kept[own] - slopes
    inner[np.diag_indices(len(own))] -= stand_ins
    return inner, linear, Sites(stand_ins, slopes)


@dataclass(frozen=True)
class LearnedMargins:
    """Coefficients with learned scales, local scales and global parameters, and the maps to them.

    Attributes
    ----------
    learned : LearnedBeside
    centre : ScalesMode
    """

    learned: object
    centre: ScalesMode

    warnings = ()

    @property
    def places(self):
        """Of these coefficients and auxiliary parameters, among those without learned scales."""
        return self.learned.kept

    @property
    def arrays(self):
        """What tells their maps from others."""
        return self.centre.found.place, self.centre.found.h, self.centre.g

    def behind(self, map):
        """A map of all parameters but the scales, behind one from standard normal numbers to
        coefficients with learned scales, these and auxiliary parameters.
        """
        learned = self.learned
        inner = learned_map(learned.scales, self.centre, learned.power)
        return Composed(
            PartialMap(learned.whole.size, learned.others, map),
            PartialMap(learned.whole.size, learned.own, inner),
        )


def learned_margins(found, here, covariance):
    """The `GaussianApproximation`, about the covariance of psi and `LearnedMargins`, from a first
    search for the centre on.
    """
    priors, centre, where = found.priors, found.centre, found.learned.where
    mode = here, covariance

    def settled(told):
        nonlocal mode
        used, before = list(priors.used), (centre.terms, centre.prior)
        for j, p, q in zip(where, *told.sites):
            used[j] = normal(q / p, p**-0.5)
        stood = replace(priors, used=used)
        centre.terms, centre.prior = found.terms_of(stood), found.density_of(stood)
        # densities that are not log-concave may have no mode that is near under these laws; the
        # last one whitens, too
        try:
            mode = centre.search([mode[0].place])
        except DataError:
            centre.terms, centre.prior = before
        return mode

    target = GlobalScales(settled, partial(likelihood_at, found), STILL)
    (here, covariance), scales = search(target, found.learned.scales, mode)
    return here, covariance, LearnedMargins(found.learned, scales)


def likelihood_at(found, mode):
    """The `GaussianLikelihood` of coefficients with learned scales around a mode: `here` and
    `covariance` of `cavity`.
    """
    (here, covariance), own = mode, found.learned.where
    first, count = len(here.place) - found.rows.blocks.log_params, len(found.centre.psi)
    sds_of_psi = np.sqrt(np.diag(covariance))
    u = np.column_stack([here.place[first:], sds_of_psi[count - len(here.place) + first :]])
    precision, linear, sites = cavity(found, found.centre.terms.table, own, here, covariance)
    sds = np.sqrt(np.diag(np.linalg.inv(precision + np.diag(sites.precision))))
    place = here.place[own]
    return GaussianLikelihood(found.learned.scales, u, precision, linear, place, sds)
