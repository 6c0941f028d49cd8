"""Regressions with learned prior scales, as users meet them."""

import numpy as np

from sgmc.coordinates.shapes.separation_transform import GRID
from sgmc.core.system.memory import Forecast
from sgmc.errors import NotSupported
from sgmc.models.regression.bases.predictors.two_predictors import predictors_of
from sgmc.models.regression.latent.shrunk.conditionals import conditioned
from sgmc.models.regression.latent.shrunk.groups import (
    MOST_COEFFICIENTS,
    as_flat,
    groups_of,
    refuse_many,
    specified,
)
from sgmc.models.regression.model import Regression

MOST_IN_TURNS = 5000  # whose sweeps over as many rows take about .2 s each
TABLES, COEFFICIENT_MATRICES = 9, 8  # of each local scale, copies included; of all coefficients
ROW_MATRICES = 7  # of the rows that have the products of all, with what draws make of them


class LearnedRegression(Regression):
    """A regression some of whose coefficients have a prior with a learned scale.

    Attributes
    ----------
    whole : Regression
        The model as it was written.
    groups : list of Group
    turns : bool
        Whether parameters are drawn in turn.
    """

    room, name = "scales", "learned"  # how regressions find it
    without_outcomes = False

    @classmethod
    def of(cls, model, prior, checked):
        """The model of a regression and its prior.

        Parameters
        ----------
        model : Regression
        prior : PriorSpec or dict
        checked : Settings
        """
        data, family = model.data, model.family
        refuse(data, family, checked)
        every = len(predictors_of(data, family))
        priors = specified(data, family, prior)
        self = cls.__new__(cls)
        self.__dict__.update(vars(model))
        self.whole, self.family, self.groups = model, family, groups_of(priors)
        if family.report is not None:  # thresholds, behind the global parameters
            self.family = family.with_effects([one.name for one in self.groups])
        fixed = as_flat(priors, np.concatenate([one.places for one in self.groups]))
        self.turns = conditioned(family, self.groups, checked, fixed, every)
        refuse_many(self.groups, MOST_IN_TURNS if self.turns else MOST_COEFFICIENTS)
        return self

    def __repr__(self):
        return f"{self.whole!r} with learned {', '.join(one.name for one in self.groups)}"

    def parameter_names(self):
        if self.family.report is not None:
            return self.family.report.names
        names = self.data.parameter_names(self.family)
        at = len(names) - len(self.family.auxiliary)
        return names[:at] + [one.name for one in self.groups] + names[at:]

    @property
    def kind(self):
        return type(self.whole)

    def suited(self, prior, checked):
        return self

    def forecast(self, checked):
        # local scales are sampled, too
        fixed = super().forecast(checked)
        count = sum(len(one.places) for one in self.groups)
        if self.turns:
            d, m = self.data.d, min(self.data.n, self.data.d + 1)
            own = {"conditional distributions": 8.0 * d * m * ROW_MATRICES}
        else:
            numbers = TABLES * len(GRID) + COEFFICIENT_MATRICES * count
            own = {"coordinates of learned scales": 8.0 * count * numbers}
        local = 8.0 * count * checked.draws * checked.chains
        parts = {**fixed.parts, "local scales": local, **own}
        return Forecast(parts, fixed.blame, fixed.available)

    @staticmethod
    def prior_draws_of(*given):
        """See `prior_draws.learned_prior_draws`."""
        from sgmc.models.regression.latent.shrunk.prior_draws import learned_prior_draws

        return learned_prior_draws(*given)

    def problem(self, prior, checked):
        from sgmc.models.regression.latent.shrunk.problem import learned_problem

        return learned_problem(self.data, self.family, prior, checked)


def refuse(data, family, checked):
    """NotSupported for what is not there with learned scales."""
    what = "a prior whose scale is learned"
    for wrong, because, text in (
        (data.sparse is not None, "limit", "a sparse design; give a dense one, or a formula"),
        (
            checked.robust,
            "mathematics",
            f"cov_type={checked.cov_type!r}, which needs one Gaussian; use cov_type='nonrobust'",
        ),
        (
            checked.precondition not in ("mode", "dense"),
            "limit",
            f"precondition={checked.precondition!r}; leave precondition='mode'",
        ),
        (
            checked.modes == "search",
            "mathematics",
            "modes='search': its density has no mode; leave modes='one'",
        ),
        (
            checked.sampler is not None and checked.sampler.sticky,
            "limit",
            "samplers that keep coefficients at zero, whose slabs have known scales; use "
            "sampler='mala'",
        ),
    ):
        if wrong:
            raise NotSupported(f"prior: {what} does not go with {text}", because=because)
