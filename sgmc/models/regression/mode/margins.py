"""Margins of parameters that no Gaussian describes: between ends, at poles, and increments of
monotonic effects; and the maps to them from about standard normal numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sgmc.arguments.types import Floats, Ints
from sgmc.coordinates.approximations.mode import PriorTerms
from sgmc.coordinates.approximations.propagation import Propagated, Sites, propagate
from sgmc.coordinates.priors.prior_table import PriorTable
from sgmc.coordinates.transforms.composed import Composed
from sgmc.coordinates.transforms.partial_map import PartialMap
from sgmc.core.contract import Map
from sgmc.models.regression.mode.bounded import (
    alone_by_quantiles,
    contradicted,
    definite,
    ends_of,
    tilt_of,
)
from sgmc.models.regression.mode.increments import (
    Lost,
    few_lose,
    free_increments,
    increments_near,
)
from sgmc.priors import normal

MOST_SEARCHES = 6  # of searches for the centre, at most
STILL = 0.1  # sds that no such parameter moves any more


@dataclass(frozen=True)
class Margins:
    """Margins of parameters that no Gaussian describes, and the maps to them.

    Attributes
    ----------
    own : array (k,) of int
        Of those by quantiles, in the table of priors.
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

    own: Ints
    by_quantiles: Ints
    cuts: list
    told: Propagated
    warnings: list
    increments: Ints
    rising: Composed | None

    @property
    def places(self) -> Ints:
        """All of them, an array of int."""
        return np.append(self.by_quantiles, self.increments)

    @property
    def arrays(self) -> tuple:
        """What tells their maps from others."""
        found = self.told.place, self.told.h
        if self.rising is None:
            return found
        return (*found, np.asarray(self.rising.inner.centre), np.asarray(self.rising.inner.matrix))

    def behind(self, map: Map, among: Ints | None = None) -> Map:
        """A map of all parameters, behind one from standard normal numbers at the places to these
        parameters; `among` has the place in the map of each of all parameters, if others are in it.
        """
        at = np.arange(map.dim) if among is None else among
        if self.cuts:
            alone = alone_by_quantiles(self.cuts, self.told)
            map = Composed(map, PartialMap(map.dim, at[self.by_quantiles], alone))
        if self.rising is not None:
            map = Composed(map, PartialMap(map.dim, at[self.increments], self.rising))
        return map

    def still(self, mean: Floats, logged: Any) -> bool:
        """Whether parameters by quantiles, but for logs, have the means (k,) at which they were
        looked for.
        """
        moved = np.abs(self.told.mean - mean) / np.sqrt(self.told.h)
        return not (moved[~logged[self.own]] > STILL).any()

    def stand_ins(self, stood: PriorTable) -> list:
        """The priors of a table, with the normal laws that stand for those of parameters by
        quantiles, but for logs.
        """
        used = list(stood.used)
        for j, p, q in zip(self.own, *self.told.sites):
            used[j] = used[j] if stood.logged[j] else normal(q / p, p**-0.5)
        return used


def margins_of(
    priors: PriorTable,
    lost: list[tuple[float, Lost]],
    cavity: Callable[[Ints], tuple[Floats, Floats, Sites]],
    places: Ints,
) -> Margins:
    """Return the `Margins` of the parameters of a table of priors.

    Parameters
    ----------
    priors : PriorTable
        With ends.
    lost : list of (float, Lost)
        What `signs_near` returns.
    cavity : callable
        From some of the parameters to the precision and slope of their Gaussian without their
        priors, and the normal laws that stood for these.
    places : array (d,) of int
        Of the table's parameters among all.
    """
    own, cuts, effects, open_ = ends_of(priors, lost)
    inner, linear, sites = cavity(own)
    told = propagate(inner, linear, np.arange(len(own)), tilt_of(cuts), sites)
    warnings = contradicted(priors, own, cuts, told) + open_
    rising, increments = None, np.concatenate([np.zeros(0, int), *effects])
    if effects:
        inner, linear, _ = cavity(increments)
        unsigned = [one for one in priors.monotone if one.places[0] in increments]
        rising = free_increments(definite(inner), linear, unsigned)
    return Margins(own, places[own], cuts, told, warnings, places[increments], rising)


def signs_near(
    priors: PriorTable, precision: Floats, mean: Floats, rows: int
) -> list[tuple[float, Lost]]:
    """Return for each monotonic effect the sign with which less is lost, and the `Lost`, by a
    Gaussian that knows no signs of increments, with tails as heavy as those of so many rows of
    normal outcomes are.
    """
    near = [increments_near(precision, mean, one.places) for one in priors.monotone]
    return [(sign, few_lose(lost, rows)) for sign, lost, _ in near]


def without_laws(
    spread: Floats, kept: Floats, own: Ints, terms: PriorTerms, others: PriorTerms
) -> tuple[Floats, Floats, Sites]:
    """Return what `margins_of` takes of a cavity.

    Parameters
    ----------
    spread : array (k, k)
        Covariance of the parameters under the Gaussian.
    kept : array (d,)
        Its mean, of all.
    own : array (k,) of int
        These parameters among all.
    terms, others : PriorTerms
        Of the priors under which the Gaussian was found, and with flat ones of these parameters.
    """
    _, slope, precision = terms(kept)
    _, other_slope, other_precision = others(kept)
    stand_ins = np.diag(precision - other_precision)[own]
    slopes = (slope - other_slope)[own] + terms.logged[own] + stand_ins * kept[own]
    inner = np.linalg.inv(spread)
    linear = inner @ kept[own] - slopes
    inner[np.diag_indices(len(own))] -= stand_ins
    return inner, linear, Sites(stand_ins, slopes)
