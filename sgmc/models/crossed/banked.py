"""Effects of levels at the whole draws that a fit has kept."""

from dataclasses import dataclass

import numpy as np

from sgmc.models.mixed.random_effects import LevelEffects


@dataclass(frozen=True)
class BankedEffects(LevelEffects):
    """`LevelEffects` whose `points` (m, levels, q) are draws of the effects themselves."""

    def work(self, levels):
        """See `LevelEffects`: they are there."""
        return len(levels)

    def known(self, levels):
        """See `LevelEffects`: draws, which stand for their means too."""
        drawn = np.ascontiguousarray(np.moveaxis(self.points[:, levels], 0, 1))
        return drawn, drawn, np.zeros((*drawn.shape, drawn.shape[2]))

    def moments(self, levels):
        """See `LevelEffects`."""
        return self.known(levels)[1:]


def banked_effects(draws, rows, effects, sizes, seed):
    """The `BankedEffects` of each factor.

    Parameters
    ----------
    draws : array (m, dim)
        Whole draws (beta, b, phi, u).
    rows : CrossedRows
    effects : CrossedEffects
    sizes : list of array (levels,)
    seed : int
        Of effects of new levels.
    """
    roots = effects.loading.root(draws[:, rows.blocks.phi])
    return [
        BankedEffects(
            draws[:, rows.places(k)],
            np.ascontiguousarray(roots[:, own][:, :, own]),
            seed,
            None,
            None,
            sizes[k],
            k,
        )
        for k, own in enumerate(effects.of_factor)
    ]
