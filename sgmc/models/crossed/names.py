"""Names and structure of the effects of several factors."""

from dataclasses import dataclass

from sgmc.models.mixed.effects import Effects, loading_of, named, named_correlations


def effects_of_crossing(crossing, scale=None):
    """The `Effects` of a `Crossing`; `scale` is that of `Loading`."""
    columns, factors, sds = named(crossing.terms, "of crossed factors")
    loading = loading_of(crossing.terms, scale)
    names = [one.name for one in crossing.factors]
    cors = named_correlations(loading, columns, factors)
    spans = [[j for j, one in enumerate(factors) if one == name] for name in names]
    return CrossedEffects(names, columns, loading, None, None, sds, cors, spans)


@dataclass(frozen=True)
class CrossedEffects(Effects):
    """`Effects` of several factors.

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
        """See `Effects`."""
        return self.of_factor
