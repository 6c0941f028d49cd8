"""Regressions with a factor of very many levels."""

from sgmc.core.system import deadline
from sgmc.core.system.deadline import OutOfTime
from sgmc.models.regression.latent.levels.split import split
from sgmc.models.regression.model import Regression
from sgmc.models.regression.problem import EIGENVECTORS


class LevelsRegression(Regression):
    """A regression whose largest factor has so many levels that their coefficients, with normal
    priors, are integrated out.

    The posterior is that of the regression as it was written.  Chains move all other parameters;
    `coefficients` of the results draws the levels' given these.

    Attributes
    ----------
    whole : Regression
        The model as it was written.
    split : Split
        And the other things that `split` returns: `data`, `grouping`, `priors`, `shares`.
    """

    room, name = "levels", "levels"  # how regressions find it
    without_outcomes = False

    @classmethod
    def of(cls, model, prior, checked):
        """The model of a regression and its prior, or None where no term can be integrated out.

        Parameters
        ----------
        model : Regression
        prior : None, str, PriorSpec or dict
        checked : Settings
        """
        data, sampler = model.data, checked.sampler
        suits = (
            data.coded
            and not data.equations
            and data.strata is None
            and checked.modes == "one"
            and not checked.robust
            and not (sampler is not None and sampler.sticky)
        )
        found = split(data, model.family, prior) if suits else None
        if found is None:
            return None
        try:  # what is left is whitened before anything is known: the whole model ends in time
            deadline.check(operations=EIGENVECTORS * len(found[3].names) ** 3)
        except OutOfTime:
            if deadline.current().left() > 0:  # else neither has draws
                return None
        self = cls.__new__(cls)
        self.__dict__.update(vars(model))
        self.whole, self.family = model, model.family
        self.split, self.data, self.grouping, self.priors, self.shares = found
        return self

    def __repr__(self):
        return f"{self.whole!r}, {len(self.split.columns)} of {self.split.term} integrated out"

    @property
    def kind(self):
        return type(self.whole)

    def result_class(self):
        from sgmc.models.regression.latent.levels.results import LevelsResults

        return LevelsResults

    def info(self):
        from sgmc.models.regression.latent.levels.results import LevelsInfo

        return LevelsInfo(self)

    def forecast(self, checked):
        from sgmc.models.regression.latent.levels.memory import forecast

        return forecast(super().forecast(checked), self)

    def suited(self, prior, checked):
        return self

    def problem(self, prior, checked):
        from sgmc.models.regression.latent.levels.problem import levels_problem

        return levels_problem(self, checked)
