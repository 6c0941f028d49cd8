"""Whether basis functions resolve the length scales that a fit has found."""

from dataclasses import dataclass

import numpy as np

from sgmc.errors import ResolutionWarning
from sgmc.fit.parts import Evidence

OFTEN_SHORT = 0.05  # share of draws that are too short, from which a warning is due
SHORT_SCALE = 0.01  # quantile that more functions are to resolve


@dataclass(frozen=True)
class Resolution(Evidence):
    """Length scales, and the shortest ones that columns resolve.

    Attributes
    ----------
    spectral : list of SpectralPrior
    """

    spectral: list

    def extra_checks(self, fit):
        draws, names = fit.problem.kept(fit.x)
        found = dict(zip(names, np.moveaxis(draws, -1, 0)))
        return [
            self.concern(one, found[one.name])
            for one in self.spectral
            if one.logged and (found[one.name] < one.parameter.shortest).mean() > OFTEN_SHORT
        ]

    @staticmethod
    def concern(one, draws):
        """The warning about a parameter with such draws."""
        shortest, waves = one.parameter.shortest, one.parameter.waves
        needed = int(np.ceil(waves * shortest / np.quantile(draws, SHORT_SCALE)))
        return ResolutionWarning(
            f"{100 * (draws < shortest).mean():.0f} % of the draws of {one.name} are below "
            f"{shortest:.3g}, the shortest length scale that {waves} basis functions resolve.",
            f"Give the term k={needed}, or a prior that rules such scales out: "
            f"prior={{{one.name!r}: sgmc.lognormal(...)}}.",
        )
