"""What outcomes offer and methods need: what is refused is the difference of the two sets."""

from collections.abc import Callable
from typing import Any, NamedTuple

from sgmc.errors import NotSupported


class Offer(NamedTuple):
    """Something that outcomes of some families have.

    Attributes
    ----------
    there : callable
        Whether the outcomes of a `ModelInfo` have it.
    lacking : str
        What a method needs and what there is in its stead; ``{family}`` stands for the family.
    instead : str
        What to do.
    """

    there: Callable[[Any], bool]
    lacking: str
    instead: str


LAW = Offer(
    lambda model: not model.family.working,
    "a model of the outcomes, and {family} has none: its likelihood is a working one, of the "
    "quantile alone",
    "for the quantile use predict() or get_prediction(), for the rest a model of the outcomes, "
    "such as sgmc.ols() or sgmc.rlm()",
)
NUMBERS = Offer(
    lambda model: not model.family.several,
    "outcomes that are numbers, and those of {family} are kinds",
    "use predictions(), pp_check() or log_lik()",
)
RANKS = Offer(
    lambda model: (
        not model.family.several and (model.family.outcome != "binary" or "trials" in model.given)
    ),
    "outcomes with ranks, and one of {family} is one of a few kinds",
    "look at calibration() or pp_check()",
)
OBSERVED_TIMES = Offer(
    lambda model: model.family.outcome != "survival",
    "outcomes that are all observed, and survival times may be censored",
    "use resid_cox_snell, survival(), loo() or log_lik()",
)
OBSERVED = Offer(
    lambda model: not model.family.limited,
    "outcomes that are all observed, and some are censored or truncated",
    "use loo() or log_lik()",
)
TIMES = Offer(
    lambda model: model.family.outcome == "survival",
    "survival times, and {family} has other outcomes",
    "use get_prediction() or posterior_predict()",
)
EVENTS = Offer(
    lambda model: model.family.several or model.family.outcome == "binary",
    "events with a probability, and outcomes of {family} are none",
    "use plot_loo_pit(), or of survival times survival() and resid_cox_snell",
)
COUNTS = Offer(
    lambda model: model.family.counts,
    "counts, and outcomes of {family} are none",
    "leave kind out, for the figure that suits",
)
CONTINUOUS = Offer(
    lambda model: not model.family.counts and model.family.outcome != "binary",
    "outcomes with a density, and those of {family} are whole numbers",
    "leave kind out, for the figure that suits",
)
UNIT_DEVIANCE = Offer(
    lambda model: model.family.several or model.family.linear_predictors == 1,
    "a unit deviance, and {family} with predictors of a second parameter has none, as the mean "
    "does not determine this parameter",
    "use llf, loo() or resid_pearson",
)
RESIDUALS = OBSERVED_TIMES, OBSERVED, NUMBERS  # what those of single outcomes need


def need(results: Any, what: str, *offers: Offer) -> None:
    """NotSupported, naming `what` was asked for, where outcomes lack something that it needs."""
    model = results.model
    for one in offers:
        if not one.there(model):
            lacking = one.lacking.format(family=model.family_name)
            raise NotSupported(f"{what} needs {lacking}: {one.instead}", because="mathematics")


def need_posterior(results: Any, what: str, instead: str = "") -> None:
    """NotSupported, naming `what` was asked for, where draws have a sandwich covariance.

    Weights 1 / p(y | theta) lead from the posterior of all rows to that without one; draws of other
    spread they lead nowhere.
    """
    if results.cov_type != "nonrobust":
        raise NotSupported(
            f"{what} does not apply to cov_type={results.cov_type!r}, whose draws are not of a "
            "posterior that rows can be taken out of: fit with "
            f"cov_type='nonrobust'{instead}",
            because="mathematics",
        )
