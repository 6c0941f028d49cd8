"""Effects of levels at the whole draws that a fit has kept."""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.models.regression.latent.effects.random_effects import Population


@dataclass(frozen=True, kw_only=True)
class BankedEffects(Population):
    """Effects of all levels of a factor, those of known levels from the draws.

    Attributes
    ----------
    points : array (m, levels, q)
        Draws of the effects.
    """

    points: np.ndarray

    @property
    def law_size(self):
        return self.roots.shape[1]

    def with_draws(self, kept):
        return replace(self, points=self.points[kept], roots=self.roots[kept])

    def known(self, levels):
        """Draws, means (L, m, q) and covariances (L, m, q, q) of some levels given each draw: the
        draws, and zeros.
        """
        drawn = np.ascontiguousarray(np.moveaxis(self.points[:, levels], 0, 1))
        return drawn, drawn, np.zeros((*drawn.shape, drawn.shape[2]))

    def law(self, levels):
        """Return the draws of levels as their law, each with probability one."""
        drawn = self.known(levels)[0][:, :, None]
        return drawn, np.ones(drawn.shape[:3])


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
            roots=np.ascontiguousarray(roots[:, own][:, :, own]),
            seed=seed,
            sizes=sizes[k],
            factor=k,
            points=draws[:, rows.places(k)],
        )
        for k, own in enumerate(effects.of_factor)
    ]
