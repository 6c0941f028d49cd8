"""What a result keeps of a model with grouped effects."""

import numpy as np

from sgmc.models.mixed.effects import effects_of
from sgmc.models.regression.info import ModelInfo

LATENT = {"logit": np.pi**2 / 3, "probit": 1.0, "cloglog": np.pi**2 / 6}  # variance of the link


class MixedInfo(ModelInfo):
    """See `ModelInfo`.

    Attributes
    ----------
    grouping : Grouping
        Without rows: levels and the recipe of the covariates.
    effects : Effects
    sizes : array (levels,)
        Rows of each.
    """

    def __init__(self, model):
        super().__init__(model)
        self.grouping, self.effects = model.grouping, effects_of(model.grouping)
        self.levels_of_groups = model.grouping.levels
        self.sizes = np.diff(model.grouping.starts)

    def heading(self, fit):
        """See `ModelInfo`."""
        left, right = super().heading(fit)
        weight = fit.problem.table.weight
        n = len(fit.problem.table.y)
        rows = f"{n}" if weight is None else f"{weight.sum():g} in {n} rows"
        right = [(k, rows if k == "No. Observations" else v) for k, v in right]
        return left, [*right, ("No. Groups", f"{len(self.sizes)}")]

    def remarks(self, fit):
        """See `ModelInfo`."""
        least, middle, most = np.quantile(self.sizes, [0, 0.5, 1])
        lines = [
            f"Groups: {len(self.sizes)} levels of {self.effects.factor} with {least:.0f} to "
            f"{most:.0f} rows, median {middle:g}."
        ]
        inner = fit.problem.rows.subgroups
        if inner is not None:
            least, middle, most = np.quantile(np.diff(inner.starts), [0, 0.5, 1])
            lines.append(
                f"Within them {len(inner.level)} levels of {self.grouping.sub_name} with "
                f"{least:.0f} to {most:.0f} rows, median {middle:g}."
            )
        rule = fit.problem.rule
        if rule.nodes:
            lines.append(
                f"Effects integrated out by {rule.nodes} nodes each: differences of log densities "
                f"are right to about {max(rule.error, 1e-9):.1g}."
            )
        return [*lines, *self.intraclass(fit), *super().remarks(fit)]

    def intraclass(self, fit):
        """The intraclass correlation at the mode of a model with one effect, in a list."""
        family, mode = self.family, fit.problem.mode
        if self.effects.columns != ["1"]:
            return []
        residual = LATENT.get(family.name)
        if family.name == "ols":
            known = family.known.get("sigma")
            residual = known**2 if known else float(np.exp(2 * mode.theta[-1]))
        if residual is None:
            return []
        place = slice(len(self.exog_names), len(self.exog_names) + 1)
        variance = float(fit.problem.effects.loading.sds(mode.theta[place])[0] ** 2)
        return [f"Intraclass correlation at the mode: {variance / (variance + residual):.3f}."]
