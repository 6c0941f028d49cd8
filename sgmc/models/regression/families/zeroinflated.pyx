"""Zero-inflated counts: zeros of their own beside those of the count."""
from sgmc.models.regression.bases.predictors.zero_family import ZeroFamily
from sgmc.models.regression.two_parts import TwoParts


class ZeroInflatedFamily(ZeroFamily):
    """Counts that are 0 with probability pi, and else Poisson or negative binomial."""

    name = "zeroinflated"
    accepts = "counts, some of them 0"


class ZeroInflated(TwoParts):
    """Bayesian zero-inflated regression of counts: y = 0 with probability pi, else a count of mean
    mu; log mu = x . beta + offset, logit pi = z . gamma.

    The formula has two parts, ``"y ~ x | z"``: predictors of mu before the bar, those of pi after
    it; ``zero="~ z"`` beside ``"y ~ x"`` is the same.  Without either pi is the same for all rows
    (R's zeroinfl takes x for both then).  The second part's coefficients are called
    ``zero:Intercept``, ``zero:z``; positive ones make zeros more probable.
    ``dist="negativebinomial"`` has counts of variance mu + alpha mu^2.

    References
    ----------
    Lambert (1992), Zero-inflated Poisson regression, Technometrics 34, 1-14, eqs. 1-3,
    doi:10.2307/1269547.
    """

    family = ZeroInflatedFamily()
