"""What a result keeps of a regression whose largest factor is integrated out."""

import numpy as np

from sgmc.core import deadline
from sgmc.models.mixed.levels_problem import effects_of_levels
from sgmc.models.mixed.random_effects import posterior_of
from sgmc.models.regression.info import ModelInfo
from sgmc.results.outcomes.rows import evenly

SHOWN_DRAWS = 20  # of the parameters, for the ranges beneath a summary
ROW_WORK = 50.0  # floating-point operations of a row at a node


class LevelsInfo(ModelInfo):
    """What a result keeps of a model whose largest factor is integrated out.

    Attributes
    ----------
    split : Split
    sizes : array (groups,)
        Rows of each.
    """

    def __init__(self, model):
        super().__init__(model)
        self.kind, self.spec, self.split = type(model.whole), model.split, model.split
        self.sizes = np.diff(model.grouping.starts)
        self.df_model += len(model.split.columns)

    def heading(self, fit):
        left, right = super().heading(fit)
        weight, n = fit.problem.table.weight, len(fit.problem.table.y)
        rows = f"{n}" if weight is None else f"{weight.sum():g} in {n} rows"
        right = [(k, rows if k == "No. Observations" else v) for k, v in right]
        return left, [*right, ("Integrated out", f"{len(self.split.columns)}")]

    def remarks(self, fit):
        split = self.split
        sizes = self.sizes[: split.occurring]
        lines = [
            f"{len(split.columns)} coefficients of {split.term}, with prior {split.prior}, are "
            f"integrated out{self.ranges(fit)}; coefficients() lists them. Their levels have "
            f"{sizes.min()} to {sizes.max()} rows, median {np.median(sizes):g}."
        ]
        return [*lines, *super().remarks(fit)]

    def details(self, fit):
        # how coefficients are integrated out
        rule = fit.problem.rule
        if not rule.nodes:
            return super().details(fit)
        off = f" (error of log density differences: about {max(rule.error, 1e-9):.1g})"
        known = "" if np.isnan(rule.error) else off
        line = f"Each is integrated out by {rule.nodes} quadrature nodes{known}."
        return [line, *super().details(fit)]

    def ranges(self, fit):
        """Ranges of the levels' posterior means and sds, where there is time for them."""
        work = ROW_WORK * SHOWN_DRAWS * len(fit.problem.table.y) * max(fit.problem.rule.nodes, 1)
        if fit.stand_in or deadline.current().left() < 2 * work / deadline.OPERATIONS:
            return ""
        effects = effects_of_levels(fit, fit.settings.seed, self.sizes)
        kept, split = evenly(len(effects.points), SHOWN_DRAWS), self.split
        weights = None if fit.weights is None else np.tile(fit.weights, len(fit.x))[kept]
        levels = np.arange(split.occurring)
        found = posterior_of(effects.with_draws(kept), weights, levels, [])[:, 0]
        mean = split.location[levels] + split.scale[levels] * found[:, 0]
        sd = split.scale[levels] * found[:, 1]
        return (
            f": posterior means from {mean.min():.3g} to {mean.max():.3g}, sds from {sd.min():.3g} "
            f"to {sd.max():.3g}"
        )
