"""Names that are a prior and a regression: the arguments decide which is meant."""

import inspect
from typing import Any

from sgmc import priors
from sgmc.api import verbs


def gamma(*given: Any, **named: Any) -> Any:
    """Gamma prior of a positive parameter, or with a formula the gamma regression.

    The prior has density proportional to x^(shape - 1) exp(-x / scale), with mean ``shape * scale =
    shape / rate``.  Name its second argument: ``gamma(2, rate=0.1)`` or ``gamma(2, scale=10)``.
    ``gamma("y ~ x", df)`` is ``glm("y ~ x", df, family="gamma")``.

    Parameters
    ----------
    shape : float
    scale : float, default 1
        By position too, as in numpy; a warning then says so, because Stan, R and others take a rate
        there.
    autoscale : bool
        Whether the scale is in units that the family takes from the data.
    rate : float, optional
        1 / scale.
    **named
        Of the regression: arguments of `glm`.

    Returns
    -------
    PriorSpec or RegressionResults
    """
    # the build, which has no pandas, reads this module
    from sgmc.formula.evaluation.safe import is_formula

    first = given[0] if given else named.get("formula")
    # data before the formula are refused by the verb, by name
    regression = is_formula(first) or any(map(is_formula, given[1:2])) or "data" in named
    return verbs.gamma(*given, **named) if regression else priors.gamma(*given, **named)


def taken() -> inspect.Signature:
    """Return the signature of the prior, and the keywords of the regression."""
    prior = inspect.signature(priors.gamma)
    rest = inspect.Parameter("named", inspect.Parameter.VAR_KEYWORD)
    return prior.replace(parameters=[*prior.parameters.values(), rest])


gamma.__signature__ = taken()  # type: ignore[attr-defined]
