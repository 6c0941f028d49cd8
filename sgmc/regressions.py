"""Regression models as users meet them."""
import math
import numbers

from sgmc.errors import ArgumentError
from sgmc.models.cauchit import CauchitFamily
from sgmc.models.cloglog import CloglogFamily, LoglogFamily
from sgmc.models.gamma import GammaFamily
from sgmc.models.inversegaussian import InverseGaussianFamily
from sgmc.models.known import with_known
from sgmc.models.logit import LogitFamily
from sgmc.models.mnlogit import MnlogitFamily
from sgmc.models.negativebinomial import NegativeBinomialFamily
from sgmc.models.ols import GaussianLogFamily, OlsFamily
from sgmc.models.poisson import PoissonFamily
from sgmc.models.probit import ProbitFamily
from sgmc.models.rlm import LearnedRlmFamily, RlmFamily
from sgmc.regression import Regression


class Logit(Regression):
    """Bayesian logistic regression: P(y = 1) = 1 / (1 + exp(-(x . theta + offset)))."""

    family = LogitFamily


class Probit(Regression):
    """Bayesian probit regression: P(y = 1) = Phi(x . theta + offset)."""

    family = ProbitFamily


class Cloglog(Regression):
    """Bayesian regression with complementary log-log link: P(y = 1) = 1 - exp(-exp(x . theta + offset))."""

    family = CloglogFamily


class Loglog(Regression):
    """Bayesian regression with log-log link: P(y = 1) = exp(-exp(-(x . theta + offset)))."""

    family = LoglogFamily


class Cauchit(Regression):
    """Bayesian regression with cauchit link: P(y = 1) = 1/2 + atan(x . theta + offset) / pi."""

    family = CauchitFamily


class Poisson(Regression):
    """Bayesian Poisson regression of counts: E[y] = exposure exp(x . theta + offset)."""

    family = PoissonFamily


class NegativeBinomial(Regression):
    """Bayesian negative binomial regression of counts: E[y] = mu = exposure exp(x . theta + offset), Var[y] = mu + alpha mu^2.

    ``alpha`` is an argument of the verb, of the model, and of `from_formula`: a known dispersion, or None to learn it.
    """

    family = NegativeBinomialFamily
    options = {"alpha": None}


class OLS(Regression):
    """Bayesian linear regression: y = x . theta + offset + N(0, sigma^2).

    ``sigma`` is an argument of the verb, of the model, and of `from_formula`: a known scale, or None to learn it.
    """

    family = OlsFamily
    options = {"sigma": None}


class MNLogit(Regression):
    """Bayesian multinomial logistic regression: log P(y = k) / P(y = first) = x . theta_k for each level k but the first."""

    family = MnlogitFamily


class RLM(Regression):
    """Bayesian linear regression with Student-t errors: y = x . theta + offset + sigma t(df); df=None learns the degrees of freedom.

    ``df`` is an argument of the verb, of the model, and of `from_formula`: a positive number, 4 by default, or None.  So is ``sigma``:
    a known scale, or None.
    """

    family = RlmFamily()
    options = {"df": 4.0, "sigma": None}

    @classmethod
    def chosen_family(cls, df, sigma):
        """See `Regression.chosen_family`."""
        number = isinstance(df, numbers.Real) and not isinstance(df, bool)
        if df is not None and not (number and 0 < df < math.inf):
            raise ArgumentError(f"df={df!r} must be a positive number, or None to learn it")
        return with_known(LearnedRlmFamily() if df is None else RlmFamily(df), {"sigma": sigma})


class Gamma(Regression):
    """Bayesian gamma regression of positive outcomes: E[y] = mu = exp(x . theta + offset), Var[y] = dispersion mu^2.

    ``dispersion`` is an argument of the verb, of the model, and of `from_formula`: a known dispersion, or None to learn it.
    """

    family = GammaFamily
    options = {"dispersion": None}


class InverseGaussian(Regression):
    """Bayesian inverse Gaussian regression of positive outcomes: E[y] = mu = exp(x . theta + offset), Var[y] = dispersion mu^3.

    ``dispersion`` is an argument of the verb, of the model, and of `from_formula`: a known dispersion, or None to learn it.
    """

    family = InverseGaussianFamily
    options = {"dispersion": None}


class GaussianLog(Regression):
    """Bayesian regression with normal errors and log link: y = exp(x . theta + offset) + N(0, sigma^2).

    ``sigma`` is an argument of the verb, of the model, and of `from_formula`: a known scale, or None to learn it.
    """

    family = GaussianLogFamily
    options = {"sigma": None}
