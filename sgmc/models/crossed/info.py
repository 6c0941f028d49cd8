"""What a result keeps of a model with effects of several factors."""

import numpy as np

from sgmc.models.mixed.info import sized
from sgmc.models.regression.info import ModelInfo


class CrossedInfo(ModelInfo):
    """What a result keeps of a model with crossed factors.

    Attributes
    ----------
    effects : CrossedEffects
    groups : GroupSpec
    factor_levels : list of Index
        Of each factor.
    sizes : list of array (levels,)
        Rows of each level.
    """

    def __init__(self, model):
        super().__init__(model)
        crossing = model.grouping
        self.kind = type(model.fixed)
        self.effects, self.groups = model.effects, crossing.spec
        self.factor_levels = [one.index for one in crossing.factors]
        self.sizes = [np.bincount(codes) for codes in crossing.codes.T]

    def heading(self, fit):
        left, right = super().heading(fit)
        levels = " x ".join(f"{len(one)}" for one in self.sizes)
        return left, [*right, ("No. Groups", levels)] if levels else right

    def remarks(self, fit):
        lines = [sized("Groups:", *one) for one in zip(self.effects.factors, self.sizes)]
        rows = fit.problem.rows
        count = rows.blocks.effects - rows.curves.shape[1]
        if count:
            lines.append(
                f"{count} effects are sampled with the other parameters; ranef() has them."
            )
        for one, (freedom, most) in fit.problem.freedom.items():
            lines.append(f"{one}: {freedom:.1f} effective degrees of freedom, of at most {most}.")
        return [*lines, *super().remarks(fit)]
