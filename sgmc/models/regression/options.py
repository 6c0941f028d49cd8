"""The arguments that a family has for itself."""

from sgmc.arguments.declared.parameter import Keyword

# of those that are no known parameters, by name and default: text, span, type
CHOICES = {
    ("tau", 0.5): ("Probability of the quantile.", "float, 0 < tau < 1", "float"),
    ("link", "logit"): (
        """Distribution function F of ordinal outcomes: logistic, normal, or 1 - exp(-exp(z)).""",
        '{"logit", "probit", "cloglog"}',
        'Literal["logit", "probit", "cloglog"]',
    ),
    ("kind", "cumulative"): (
        """Whether thresholds divide one latent variable, or levels are reached one after the other:
P(y <= k), or P(y = k | y >= k), is F(c_k - x . theta).""",
        '{"cumulative", "sequential"}',
        'Literal["cumulative", "sequential"]',
    ),
    ("dist", "poisson"): (
        "Distribution of the counts, zeros of their own aside.",
        '{"poisson", "negativebinomial"}',
        'Literal["poisson", "negativebinomial"]',
    ),
    ("dist", "weibull"): (
        "Distribution of the times.",
        '{"weibull", "exponential", "lognormal", "loglogistic"}',
        'Literal["weibull", "exponential", "lognormal", "loglogistic"]',
    ),
    ("alpha", None): (
        "A known dispersion of counts; None: it is learned.",
        "float > 0 or None",
        "float | None",
    ),
    ("dispersion", None): (
        """A known dispersion (of negativebinomial its name is alpha), or a formula ``"~ z"`` with
predictors of its log; None: it is learned, one number for all rows.""",
        "float > 0, str or None",
        "float | str | SafeFormula | None",
    ),
    ("discrimination", None): (
        """A formula ``"~ z"`` with predictors of the log of a factor of thresholds and linear
predictor, without an intercept; None: the factor is 1.""",
        "str or None",
        "str | SafeFormula | None",
    ),
    ("zero", None): (
        """A formula ``"~ z"`` with predictors of the log odds of zeros, as after a bar.""",
        "str or None",
        "str | SafeFormula | None",
    ),
}
KNOWN = (
    """A known value of this parameter, or a formula ``"~ z"`` with predictors of its log;
None: it is learned, one number for all rows.""",
    "float > 0, str or None",
    "float | str | SafeFormula | None",
)


def option(name, default):
    """The row of an argument that a family has for itself."""
    return Keyword(name, default, *CHOICES.get((name, default), KNOWN))
