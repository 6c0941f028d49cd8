"""Regressions with effects of several factors, as users meet them."""

from sgmc.errors import NotSupported
from sgmc.models.regression.latent.covariance.crossed_effects import effects_of_crossing
from sgmc.models.regression.latent.integrated.model import MixedRegression
from sgmc.models.regression.latent.sampled.refusals import refuse_coded


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
