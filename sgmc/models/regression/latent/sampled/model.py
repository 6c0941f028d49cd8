"""Regressions with effects of several factors, as users meet them."""

from copy import copy

from sgmc.errors import NotSupported
from sgmc.models.regression.latent.covariance.crossed_effects import effects_of_crossing
from sgmc.models.regression.latent.covariance.group_effects import apart
from sgmc.models.regression.latent.covariance.group_warnings import refuse_single_rows
from sgmc.models.regression.latent.integrated.model import MixedRegression
from sgmc.models.regression.latent.sampled.refusals import refuse_coded
from sgmc.models.regression.latent.shrunk.groups import groups_of, refuse_many, specified
from sgmc.models.regression.latent.shrunk.model import refuse
from sgmc.priors import learns


class CrossedRegression(MixedRegression):
    """A regression whose linear predictor has effects of several factors that cross: eta_i = x_i .
    beta + sum_k z_ik . b_k,g(i), b_k ~ N(0, Sigma_k).

    Chains move coefficients, effects, standard deviations and correlations together.  `ranef` of
    the results has the effects.

    Parameters
    ----------
    fixed : Regression
        The model without effects.
    grouping : Crossing
    nodes : None
        There is no quadrature.
    """

    room, name = "crossed", "crossed"  # how regressions find it
    learned = ()  # groups of coefficients that share a learned scale

    def __init__(self, fixed, grouping, nodes=None):
        labels = fixed.data.equations
        super().__init__(fixed, grouping.for_equations(labels) if labels else grouping)
        if labels:
            refuse_coded(fixed.data)
            self.family = fixed.family.in_equations(fixed.data.d, len(labels))
        if nodes is not None:
            raise NotSupported(
                f"nodes={nodes!r} has no use with crossed factors and smooths: effects are "
                "sampled, not integrated out; leave it out",
                because="mathematics",
            )

    def __repr__(self):
        return f"{self.fixed!r} with {' + '.join(self.grouping.labels)}"

    @property
    def between(self):
        return self.effects.names + [one.name for one in self.learned]

    def suited(self, prior, checked):
        if not checked.prior_only:
            levels = {one.name: len(one.index) for one in self.grouping.factors}
            refuse_single_rows(self.data, self.family, self.grouping.terms, levels)
        if not learns(prior):
            return self
        refuse(self.data, self.family, checked)
        model = copy(self)
        of_coefficients = apart(prior, self.effects)[1]
        model.learned = groups_of(specified(self.data, self.family, of_coefficients))
        refuse_many(model.learned)
        if self.family.report is not None:  # thresholds, behind the global parameters
            model.family = self.fixed.family.with_effects(model.between)
        return model

    @property
    def without_outcomes(self):
        """Whether the prior can be drawn from alone."""
        return not self.learned

    @staticmethod
    def effects_of(grouping):
        return effects_of_crossing(grouping)

    def result_class(self):
        from sgmc.models.regression.latent.sampled.results import CrossedResults

        return CrossedResults

    def info(self):
        from sgmc.models.regression.latent.sampled.results import CrossedInfo

        return CrossedInfo(self)

    def forecast(self, checked):
        from sgmc.models.regression.latent.sampled.memory import forecast

        summed = self.family.summed
        return forecast(super().forecast(checked), self.data, self.grouping, checked, summed)

    def problem(self, prior, checked):
        from sgmc.models.regression.latent.sampled.problem import crossed_problem

        return crossed_problem(self.data, self.family, self.grouping, prior, checked)
