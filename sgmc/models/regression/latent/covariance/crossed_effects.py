"""Names and structure of the effects of several factors."""

from dataclasses import dataclass, field

from sgmc.errors import ArgumentError
from sgmc.models.mixed.loading import MOST_ALL, Loading
from sgmc.models.regression.latent.covariance.group_effects import (
    GroupEffects,
    blocks_of,
    named,
    named_correlations,
)
from sgmc.models.regression.latent.covariance.spectrum_priors import SpectralPrior
from sgmc.models.regression.latent.densities.spectrum import Spectrum


def effects_of_crossing(crossing, scale=None):
    """The `GroupEffects` of a `Crossing`; `scale` is that of `Loading`."""
    columns, factors, sds = named(crossing.terms, "of crossed factors")
    curves = [name for one in crossing.spec.smooths for name in one.names]
    refuse_more(len(columns) + len(curves))
    loading = Loading([*blocks_of(crossing.terms), *[(1, False)] * len(curves)], scale)
    names = [one.name for one in crossing.factors]
    sds += [f"sd({name})" for name in curves]
    cors = named_correlations(loading, columns, factors)
    spans = [[j for j, one in enumerate(factors) if one == name] for name in names]
    found = [one for smooth in crossing.spec.smooths for one in smooth.spectral]
    spectral, spectrum = spectral_of(len(crossing.terms), found)
    return CrossedEffects(
        names, columns, loading, None, None, sds, cors, spectral, of_factor=spans, spectrum=spectrum
    )


def spectral_of(terms, blocks):
    """A `SpectralPrior` for each parameter of a spectrum, and the `Spectrum` of all terms.

    Parameters
    ----------
    terms : int
        How many group terms there are, which have none.
    blocks : list of dict
        Of each block of smooths its parameters by their names, see `Smooth.spectral`.
    """
    # those whose logs are sampled come last, before auxiliary parameters, whose logs are too
    every = {name: SpectralPrior(name, one) for own in blocks for name, one in own.items()}
    order = sorted(every.values(), key=lambda one: one.logged)
    place = {one.name: j for j, one in enumerate(order)}
    own = [
        [(place[name], one.form, one.numbers) for name, one in block.items()] for block in blocks
    ]
    return order, Spectrum([[]] * terms + own)


def refuse_more(count):
    """ArgumentError for more standard deviations than there can be."""
    if count > MOST_ALL:
        raise ArgumentError(
            f"{count} standard deviations of effects and smooths: at most {MOST_ALL}; leave some "
            "out, or join levels that curves are multiplied by"
        )


@dataclass(frozen=True)
class CrossedEffects(GroupEffects):
    """`GroupEffects` of several factors, and sds of smooths behind theirs.

    Attributes
    ----------
    of_factor : list of list of int
        The effects of each.
    spectrum : Spectrum or None
        Results have none.
    """

    of_factor: list = field(default_factory=list)
    spectrum: Spectrum | None = None

    def spans(self):
        """Which effects are those of each factor, slices where they are neighbours."""
        return [slice(own[0], own[-1] + 1) for own in self.of_factor]

    def places(self):
        return self.of_factor
