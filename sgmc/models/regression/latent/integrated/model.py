"""Regressions with grouped effects as users meet them."""

from sgmc.arguments.numbers import whole
from sgmc.errors import ArgumentError
from sgmc.models.regression.latent.covariance.group_effects import closed_form, effects_of
from sgmc.models.regression.latent.covariance.group_warnings import refuse_single_rows
from sgmc.models.regression.model import Regression
from sgmc.priors import learns
from sgmc.registry import room


class MixedRegression(Regression):
    """A regression whose linear predictor has effects of groups: eta_i = x_i . beta + z_i . b_g,
    b_g ~ N(0, Sigma) for each level g of a factor.

    Effects are integrated out: chains move coefficients, standard deviations and correlations, and
    the rows that they see are groups.  `ranef` of the results has the effects.

    Parameters
    ----------
    fixed : Regression
        The model without effects.
    grouping : Grouping
        Levels, rows in their order, and the covariates of the effects.
    nodes : int, optional
        Quadrature nodes of each effect, or points of each group, see `rules.Scheme`; default: as
        many as are needed.
    """

    room, name = "grouped", "mixed"  # how regressions find it

    def __init__(self, fixed, grouping, nodes=None):
        self.__dict__.update(vars(fixed))
        self.fixed, self.grouping, self.effects = fixed, grouping, self.effects_of(grouping)
        self.family = fixed.family
        if self.family.report is not None:
            self.family = self.family.with_effects(self.effects.names)
        self.nodes = whole("nodes", nodes, 1, none=True)
        if nodes is not None and closed_form(self.family):
            raise ArgumentError(
                f"nodes={nodes!r} has no use in {self.family.name}: effects are integrated out in "
                "closed form; leave it out"
            )

    def __repr__(self):
        return f"{self.fixed!r} with {len(self.grouping.levels)} levels of {self.grouping.name}"

    @property
    def kind(self):
        return type(self.fixed)  # whose formula has the group terms

    @staticmethod
    def effects_of(grouping):
        """The `Effects` of a grouping."""
        return effects_of(grouping)

    def parameter_names(self):
        if self.family.report is not None:
            return self.family.report.names
        names, auxiliary = super().parameter_names(), len(self.family.auxiliary)
        at = len(names) - auxiliary
        return names[:at] + self.between + names[at:]

    @property
    def between(self):
        """Names of parameters behind the coefficients, before auxiliary ones."""
        return self.effects.names

    def result_class(self):
        from sgmc.models.regression.latent.integrated.results import MixedResults

        return MixedResults

    def info(self):
        from sgmc.models.regression.latent.integrated.info import MixedInfo

        return MixedInfo(self)

    def suited(self, prior, checked):
        # without outcomes there is nothing to integrate effects against, and under a prior with
        # learned scales no mode to do it around: they are sampled
        if checked.prior_only or learns(prior):
            nodes = self.nodes if learns(prior) else None
            other = room("crossed")["crossed"](self.fixed, self.grouping.crossing(), nodes)
            return other.suited(prior, checked)
        rows = self.grouping
        levels = {rows.name: len(rows.levels)}
        if rows.sub is not None:
            levels[rows.sub_name] = len(rows.sub_levels)
        refuse_single_rows(self.data, self.family, rows.terms, levels)
        return self

    def problem(self, prior, checked):
        from sgmc.models.regression.latent.integrated.problem import mixed_problem

        return mixed_problem(self.data, self.family, self.grouping, prior, checked, self.nodes)
