"""Hurdle counts: a probability of 0, and counts of at least 1."""
from sgmc.models.regression.bases.predictors.zero_family import ZeroFamily
from sgmc.models.regression.two_parts import TwoParts


class HurdleFamily(ZeroFamily):
    """Counts that are 0 with probability pi, and else Poisson or negative binomial ones of at least
    1.
    """

    name = "hurdle"
    accepts = "counts, some of them 0"
    hurdle = True


class Hurdle(TwoParts):
    """Bayesian hurdle regression of counts: y = 0 with probability pi, else a zero-truncated count;
    of the count before truncation log mu = x . beta + offset, and logit pi = z . gamma.

    The formula has two parts, ``"y ~ x | z"``: predictors of mu before the bar, those of pi after
    it; ``zero="~ z"`` beside ``"y ~ x"`` is the same.  Without either pi is the same for all rows
    (R's hurdle takes x for both then).  The second part's coefficients are called
    ``zero:Intercept``, ``zero:z``; positive ones make zeros more probable (R's hurdle has the
    opposite sign).  ``dist="negativebinomial"`` has counts of variance mu + alpha mu^2 before
    truncation.

    References
    ----------
    Mullahy (1986), Specification and testing of some modified count data models, Journal of
    Econometrics 33, 341-365, section 2, doi:10.1016/0304-4076(86)90002-3.
    """

    family = HurdleFamily()
