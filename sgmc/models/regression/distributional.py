"""Regressions in which a formula has predictors of the scale, dispersion or precision."""

from sgmc.errors import ArgumentError
from sgmc.models.regression.bases.predictors.distributional import DistributionalFamily
from sgmc.models.regression.two_parts import TwoDesigns


class DistributionalRegression(TwoDesigns):
    """Base of regressions with a linear predictor of the log of the first auxiliary parameter.

    A leaf names this class and the regression with one number, ``class DistributionalOLS(
    DistributionalRegression, OLS)``: formulas given to ``sgmc.ols(.., sigma="~ z")`` are of it.
    """

    by_name = False

    def __init_subclass__(cls, **how):
        """Become the class of formulas of the regression with one number."""
        one = next(base for base in cls.__bases__ if not issubclass(base, TwoDesigns))
        cls.family = DistributionalFamily(one.family)
        cls.one, cls.second = one, one.family.auxiliary[0].name
        one.distributional = cls
        super().__init_subclass__(**how)

    @classmethod
    def chosen_family(cls, **options):
        whole = cls.one.chosen_family(**{**options, cls.second: None})
        if whole.known:
            raise ArgumentError(
                f"{cls.second}={options[cls.second]!r}: {whole.title} has a known {cls.second} of "
                f"{whole.known[cls.second]:g}, without predictors; leave it out"
            )
        return DistributionalFamily(whole)

    @classmethod
    def check_applies(cls, offset, exposure, se):
        if se is not None:
            raise ArgumentError(
                f"{cls.second} beside se: a known standard error is in the place of {cls.second}; "
                "give one of them"
            )
        super().check_applies(offset, exposure, se)

    def placed(self, columns, constants):
        return DistributionalFamily(self.family.whole, columns, constants)
