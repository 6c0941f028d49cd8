"""What a result keeps of a model with grouped effects."""

import numpy as np

from sgmc.diagnostics.chains import moments
from sgmc.models.regression.info import ModelInfo

LATENT = {"logit": np.pi**2 / 3, "probit": 1.0, "cloglog": np.pi**2 / 6}  # variance of the link


class MixedInfo(ModelInfo):
    """What a result keeps of a model with group terms.

    Attributes
    ----------
    effects : Effects
    groups : GroupSpec or None
        The recipe of groups and covariates, of models from formulas.
    factor_levels : list of Index
        Of each factor, of nested ones the outer first.
    sizes : list of array (levels,)
        Rows of each level.
    """

    def __init__(self, model):
        super().__init__(model)
        grouping = model.grouping
        self.effects, self.groups = model.effects, getattr(grouping, "spec", None)
        self.factor_levels, self.sizes = [grouping.levels], [np.diff(grouping.starts)]
        if grouping.sub is not None:
            self.factor_levels.append(grouping.sub_levels)
            self.sizes.append(np.bincount(grouping.sub))

    def heading(self, fit):
        left, right = super().heading(fit)
        return left, [*right, ("No. Groups", f"{len(self.sizes[0])}")]

    def remarks(self, fit):
        factors = zip(["Groups:", "Within them"], self.effects.factors, self.sizes)
        lines = [sized(*one) for one in factors]
        shared = self.intraclass if fit.problem.table.se is None else self.heterogeneity
        return [*lines, *shared(fit), *super().remarks(fit)]

    def details(self, fit):
        # how effects are integrated out
        rule = fit.problem.own.rule
        if not rule.nodes:
            return super().details(fit)
        by = f"{rule.nodes} quadrature nodes per group" if rule.nodes > 1 else "Laplace's method"
        if rule.nodes > 1 and rule.scheme.scattered:
            by = f"{rule.nodes} points of importance sampling per group"
        return [f"Effects are integrated out by {by}{rule.shown}.", *super().details(fit)]

    def heterogeneity(self, fit):
        """I^2 of estimates with known standard errors, in a list, where there is one effect per
        level, an intercept: the share of the spread of estimates that is not error, tau^2 / (tau^2
        + s^2), s^2 the typical variance of an estimate (Higgins & Thompson 2002, eq. 9,
        doi:10.1002/sim.1186).
        """
        if self.effects.columns != ["1"]:
            return []
        w = fit.problem.table.se**-2.0
        typical = w.sum() * (len(w) - 1) / (w.sum() ** 2 - (w**2).sum())
        variance = self.of_effects(fit)[:, 0]
        share = variance / (variance + typical)
        return [f"Heterogeneity I^2: {interval(share[:, None], fit)[0]}."]

    def of_effects(self, fit):
        """Draws (m, effects) of the effects' variances."""
        draws = fit.problem.coordinates.reported(fit.x).reshape(-1, len(fit.problem.priors.names))
        first = self.printed_coefficients
        return draws[:, first : first + len(self.effects.columns)] ** 2

    def intraclass(self, fit):
        """The intraclass correlations of a model whose effects are intercepts, in a list: of rows
        of the same level, of nested factors of the same outer and of the same inner level.
        """
        family, k = self.family, len(self.effects.columns)
        if set(self.effects.columns) != {"1"} or family.name not in (*LATENT, "ols"):
            return []
        shared = np.cumsum(self.of_effects(fit), axis=1)
        residual = LATENT.get(family.name, 0.0)
        if family.name == "ols":
            known = family.known.get("sigma")
            drawn = fit.problem.coordinates.reported(fit.x)[..., -1].reshape(-1, 1)
            residual = known**2 if known else drawn**2
        shown = interval(shared / (shared[:, -1:] + residual), fit)
        if k == 1:
            return [f"Intraclass correlation: {shown[0]}."]
        parts = [f"within {name} {one}" for name, one in zip(self.effects.factors, shown)]
        return [f"Intraclass correlations: {'; '.join(parts)}."]


def interval(share, fit):
    """Mean and interval in words of each column of some draws (m, k)."""
    w = None if fit.weights is None else np.tile(fit.weights, fit.x.shape[0])
    low, high = moments.quantile(share[None], [0.025, 0.975], w)
    return [
        f"{mean:.3f}, 95 % interval {a:.3f} to {b:.3f}"
        for mean, a, b in zip(moments.mean(share[None], w), low, high)
    ]


def sized(lead, name, sizes):
    """A line about the levels of a factor and their rows."""
    return f"{lead} {len(sizes)} levels of {name} with {sizes_in_words(sizes)}."


def sizes_in_words(sizes):
    """How many rows levels have, in words."""
    least, middle, most = np.quantile(sizes, [0, 0.5, 1])
    if least == most:
        return f"{least:.0f} {'row' if least == 1 else 'rows'} each"
    return f"{least:.0f} to {most:.0f} rows, median {middle:g}"
