"""Coefficients beside effects whose priors have ends, or are horseshoes, so that no Gaussian
describes them.  The search for the centre has normal laws in the place of their priors. Expectation
propagation, on the Gaussian of the search, gives these laws and the margins.
"""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.coordinates.partial_map import PartialMap
from sgmc.coordinates.propagation import Propagated, Sites, propagate
from sgmc.models.regression.mode.bounded import (
    alone_by_quantiles,
    contradicted,
    cuts_of,
    flattened,
    tilt_of,
    without_ends,
)
from sgmc.priors import normal

MOST_SEARCHES = 6  # of searches for the centre, at most
STILL = 0.1  # sds that no such coefficient moves any more


@dataclass(frozen=True)
class Margins:
    """Margins of parameters that no Gaussian describes, and the maps to them.

    Attributes
    ----------
    places : array (k,) of int
        Among all parameters.
    cuts : list of Cut or Spike
    told : Propagated
    warnings : list of SGMCWarning
        Of ends that the data speak against.
    """

    places: np.ndarray
    cuts: list
    told: Propagated
    warnings: list

    def map(self, dim):
        """From standard normal numbers, at the places, to these parameters."""
        return PartialMap(dim, self.places, alone_by_quantiles(self.cuts, self.told))


def centre_and_margins(found):
    """The `GaussianApproximation` at the centre, about the covariance of psi, and `Margins`, which
    are None where priors are all about Gaussian.

    Parameters
    ----------
    found : CrossedSetup
    """
    priors, centre = found.priors, found.centre
    here, covariance = centre.search(found.starts)
    if not len(priors.by_quantiles):
        return here, covariance, None
    stood = without_ends(priors, poles=False)
    for _ in range(MOST_SEARCHES):
        margins = margins_about(found, stood, here, covariance)
        sites, logged = margins.told.sites, priors.logged[priors.by_quantiles]
        moved = np.abs(margins.told.mean - here.place[margins.places]) / np.sqrt(margins.told.h)
        if not (moved[~logged] > STILL).any():
            break
        used = list(stood.used)
        for j, one, p, q in zip(priors.by_quantiles, logged, *sites):
            used[j] = used[j] if one else normal(q / p, p**-0.5)
        stood = replace(stood, used=used)
        centre.terms, centre.prior = found.terms_of(stood), found.density_of(stood)
        here, covariance = centre.search([here.place])
    return here, covariance, margins


def margins_so_far(found, here):
    """The `Margins` about an approximation, the covariance of psi unknown; None without any."""
    if not len(found.priors.by_quantiles):
        return None
    stood = without_ends(found.priors, poles=False)
    return margins_about(found, stood, here, np.eye(len(found.centre.psi)))


def margins_about(found, stood, here, covariance):
    """The `Margins`, by a Gaussian of which other priors are part.

    Parameters
    ----------
    found : CrossedSetup
    stood : PriorTable
        Under which the Gaussian was found.
    here : GaussianApproximation
        Of (beta, v), given psi.
    covariance : array (k, k)
        Of psi.
    """
    own, cuts, d = found.priors.by_quantiles, cuts_of(found.priors), found.rows.blocks.d
    places = np.asarray(found.rows.blocks.places)[own]
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
    told = propagate(inner, linear, np.arange(len(own)), tilt_of(cuts), Sites(stand_ins, slopes))
    return Margins(places, cuts, told, contradicted(found.priors, own, cuts, told))
