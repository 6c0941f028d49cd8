"""Rows and draws with the effects of the rows' groups: what predictions are made of."""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.errors import ArgumentError
from sgmc.results.outcomes.rows import FEWEST_DRAWS, ROWS_WORK, Rows, evenly


@dataclass(frozen=True, kw_only=True)
class EffectRows(Rows):
    """`Rows` whose linear predictors have effects of levels, drawn block by block.

    Attributes
    ----------
    effects : LevelEffects or MeanEffects
    code : array (n,) of int
        The level of each row; negative where it is missing.
    Z : array (n, q)
    """

    effects: object
    code: np.ndarray
    Z: np.ndarray

    def with_draws(self, kept):
        """See `Rows`."""
        return replace(super().with_draws(kept), effects=self.effects.with_draws(kept))

    def affordable(self):
        """See `Rows`; drawing effects counts too."""
        work = max(self.n, self.effects.work(np.unique(self.code[self.code >= 0])))
        if work * self.m <= ROWS_WORK:
            return self
        return self.with_draws(evenly(self.m, max(FEWEST_DRAWS, int(ROWS_WORK // work))))

    def at_mean(self):
        """See `Rows`; effects are their posterior means."""
        return replace(super().at_mean(), effects=MeanEffects(self.effects, self.weights))

    def among(self, kept):
        """See `Rows`."""
        return replace(super().among(kept), code=self.code[kept], Z=self.Z[kept])

    def blocks(self):
        """See `Rows`."""
        for at, eta in super().blocks():
            levels, place = np.unique(self.code[at], return_inverse=True)
            known = levels >= 0
            drawn = np.full((len(levels), self.m, self.Z.shape[1]), np.nan)
            drawn[known] = self.effects.draws(levels[known])
            for a, z in enumerate(self.Z[at].T):
                eta += z[:, None] * drawn[place, :, a]
            yield at, eta


@dataclass(frozen=True)
class MeanEffects:
    """Posterior means of the effects of levels, zero for those that the fit has not seen."""

    inner: object
    weights: np.ndarray | None

    def draws(self, levels):
        """See `LevelEffects`: one draw, the mean."""
        out = np.zeros((len(levels), 1, self.inner.roots.shape[1]))
        seen = levels < len(self.inner.sizes)
        mean = self.inner.known(levels[seen])[1]
        out[seen, 0] = np.average(mean, axis=1, weights=self.weights)
        return out


def with_effects(rows, effects, code, Z, order=None):
    """`EffectRows` of `Rows`, sorted by level unless they are in an `order` already."""
    held = dict(vars(rows), effects=effects, code=code, Z=Z)
    if order is None:
        return EffectRows(**held)
    for name in ("X", "offset", "code", "Z", "y", "trials"):
        held[name] = None if held[name] is None else held[name][order]
    return EffectRows(**{**held, "order": order})


def refuse_new(levels, factor):
    """ArgumentError for levels that the fit has not seen."""
    if len(levels):
        shown = ", ".join(repr(one) for one in levels[:6]) + (" ..." if len(levels) > 6 else "")
        raise ArgumentError(
            f"new_levels='error': the new data have levels of {factor} that the fit has not seen: "
            f"{shown}; leave them out, or give new_levels='sample'"
        )
