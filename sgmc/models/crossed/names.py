"""Names and structure of the effects of several factors."""

from dataclasses import dataclass

from sgmc.errors import ArgumentError
from sgmc.models.mixed.effects import GroupEffects, blocks_of, named, named_correlations
from sgmc.models.mixed.loading import MOST_ALL, Loading


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
    return CrossedEffects(names, columns, loading, None, None, sds, cors, spans)


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
    """

    of_factor: list

    def spans(self):
        """Which effects are those of each factor, slices where they are neighbours."""
        return [slice(own[0], own[-1] + 1) for own in self.of_factor]

    def places(self):
        return self.of_factor
