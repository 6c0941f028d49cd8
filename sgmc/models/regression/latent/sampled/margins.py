"""Coefficients beside effects whose priors have ends, are horseshoes, increments of monotonic
effects or have learned scales, so that no Gaussian describes them.  The search for the centre has
normal laws in the place of their priors.  Expectation propagation, on the Gaussian of the search,
gives these laws and the margins; increments have a Gaussian of their free numbers.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

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
from sgmc.models.regression.mode.bounded import definite, flattened, without_ends
from sgmc.models.regression.mode.margins import (
    MOST_SEARCHES,
    STILL,
    Margins,
    margins_of,
    signs_near,
    without_laws,
)
from sgmc.priors import normal


def centre_and_margins(found):
    """The `GaussianApproximation` at the centre, about the covariance of psi, and `Margins`,
    `LearnedMargins` or None, where priors are all about Gaussian.

    Parameters
    ----------
    found : CrossedSetup
    """
    priors, centre = found.priors, found.centre
    (here, covariance), scales, margins = centre.search(found.starts), None, None
    for _ in range(MOST_SEARCHES):
        if found.learned is not None:
            here, covariance, scales = scales_mode(found, here, covariance)
        if not len(priors.bent):
            break
        stood = centre.terms.table
        margins = margins_about(found, stood, here, covariance)
        if margins.still(here.place[margins.by_quantiles], priors.logged):
            break
        stood = replace(stood, used=margins.stand_ins(stood))
        centre.terms, centre.prior = found.terms_of(stood), found.density_of(stood)
        here, covariance = centre.search([here.place])
    if scales is not None:
        return here, covariance, LearnedMargins(found.learned, scales, margins)
    return here, covariance, margins


def margins_so_far(found, here):
    """The margins about an approximation, the covariance of psi unknown; None without any."""
    unknown, margins = np.eye(len(found.centre.psi)), None
    if len(found.priors.bent):
        stood = without_ends(found.priors, poles=False)
        margins = margins_about(found, stood, here, unknown)
    if found.learned is None:
        return margins
    return LearnedMargins(found.learned, about(likelihood_at(found, (here, unknown))), margins)


def margins_about(found, stood, here, covariance):
    """The `Margins`, by a Gaussian of which other priors are part; parameters are those of
    `cavity`.
    """
    places = np.asarray(found.rows.blocks.places)
    lost = signs_told(found, stood, here, covariance)

    def without(own):
        return cavity(found, stood, own, here, covariance)

    return margins_of(found.priors, lost, without, places)


def signs_told(found, stood, here, covariance):
    """What `signs_near` tells by the Gaussian of all increments, whose laws are part of it."""
    priors, increments = found.priors, found.priors.increments
    d = len(priors.names)
    precision, mean = np.eye(d), np.zeros(d)
    if len(increments):
        inner, linear, sites = cavity(found, stood, increments, here, covariance)
        inner[np.diag_indices(len(increments))] += sites.precision
        precision[np.ix_(increments, increments)] = definite(inner)
        mean[increments] = here.place[np.asarray(found.rows.blocks.places)[increments]]
    return signs_near(priors, precision, mean, len(found.rows.fixed.y))


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
    spread = np.zeros((len(own), len(own)))
    for a, j in enumerate(places):
        if own[a] >= d:
            spread[a, a] = covariance[own[a] - d, own[a] - d]
            continue
        unit = np.zeros(len(here.place))
        unit[j] = 1.0
        moved = here.map(here.map.pulled(here.place, unit)) - np.asarray(here.map.centre)
        spread[a] = np.where(own >= d, 0.0, moved[places])
    kept, others = here.place[found.rows.blocks.places], flattened(stood, own)
    return without_laws(spread, kept, own, found.terms_of(stood), found.terms_of(others))


@dataclass(frozen=True)
class LearnedMargins:
    """Coefficients with learned scales, local scales and global parameters, and the maps to them.

    Attributes
    ----------
    learned : LearnedBeside
    centre : ScalesMode
    bent : Margins or None
        Of other parameters that no Gaussian describes.
    """

    learned: object
    centre: ScalesMode
    bent: Margins | None

    @property
    def warnings(self):
        """Of ends that the data speak against."""
        return [] if self.bent is None else self.bent.warnings

    @property
    def places(self):
        """Of these coefficients and auxiliary parameters, and of the other ones, among those
        without learned scales.
        """
        kept = self.learned.kept
        return kept if self.bent is None else np.union1d(kept, self.bent.places)

    @property
    def arrays(self):
        """What tells their maps from others."""
        found = self.centre.found.place, self.centre.found.h, self.centre.g
        return found if self.bent is None else (*found, *self.bent.arrays)

    def behind(self, map):
        """A map of all parameters but the scales, behind one from standard normal numbers to
        coefficients with learned scales, these and auxiliary parameters.
        """
        learned, size, kept = self.learned, self.learned.whole.size, self.learned.others
        bent = () if self.bent is None else self.bent.places
        given = [j - learned.whole.d for j in bent if j >= learned.whole.d]
        inner = learned_map(learned.scales, self.centre, learned.power, given)
        whole = Composed(PartialMap(size, kept, map), PartialMap(size, learned.own, inner))
        return whole if self.bent is None else self.bent.behind(whole, kept)


def scales_mode(found, here, covariance):
    """The `GaussianApproximation`, about the covariance of psi and the `ScalesMode`, from a first
    search for the centre on.
    """
    centre, where = found.centre, found.learned.where
    mode, priors = (here, covariance), centre.terms.table

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
    return here, covariance, scales


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
