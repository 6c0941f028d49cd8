"""What a regression is about, in the words of its outcome: labels of the axes of figures."""

import re
from itertools import accumulate
from typing import Any

LINKS = {  # of the mean; of binary outcomes of the probability
    "logit": "log odds of {}",
    "probit": "probit of {}",
    "cauchit": "cauchit of {}",
    "cloglog": "complementary log-log of {}",
    "loglog": "log-log of {}",
    "log": "log of {}",
    "identity": "{}",
}
RATIOS = {"logit": "odds ratio of {}", "cloglog": "hazard ratio of {}", "log": "ratio of {}"}
SUCCESSES = "cbind("  # of two columns of counts
LOGARITHMS = ("np.log(", "log(")
KEYWORD = re.compile(r"\w+\s*=(?!=)")  # an argument by its name


def event(model: Any) -> str:
    """What happens where a binary outcome is 1, such as "churn = Yes"."""
    name = str(model.endog_names)
    if model.levels is not None:
        level = model.levels[1]
        expression = isinstance(level, bool) and not name.isidentifier()  # such as age > 50
        return name if expression else f"{name} = {level}"
    counts = name.startswith(SUCCESSES) or "trials" in model.given
    return f"success, {name}" if counts else f"{name} = 1"


def mean(model: Any) -> str:
    """What `predict` returns: a probability, a mean, a quantile, or of times the median."""
    family, name = model.family, observed(str(model.endog_names))
    if family.outcome == "binary":
        return f"probability of {event(model)}"
    if family.several:
        return f"probability of each {name}"
    if family.outcome == "survival":
        return f"median of {time(name)}"
    if family.working:
        return f"{100 * family.tau:g} % quantile of {name}"
    return f"mean {name}"


def time(name: str) -> str:
    """The time of ``Surv(time, event)`` and ``Surv(entry, time, event)``."""
    inner = observed(name)
    if not inner.startswith("Surv("):
        return inner
    parts = [one.strip() for one in inner.removeprefix("Surv(").rstrip(")").split(",")]
    counting = len(parts) == 3 and not KEYWORD.match(parts[2])
    return parts[1] if counting else parts[0]


def observed(name: str) -> str:
    """The outcome within ``cens(y, c)`` and ``trunc(y, low=1)``; any other as it is."""
    for call in ("trunc(", "cens("):
        if name.startswith(call):
            depth = [0, *accumulate({"(": 1, ")": -1}.get(one, 0) for one in name)]
            ends = [k for k, one in enumerate(name) if one == "," and depth[k] == 1]
            name = name[len(call) : ends[0] if ends else -1].strip()
    return name


def predictor(model: Any) -> str:
    """The scale of the linear predictor, such as "log odds of churn = Yes"."""
    family, name = model.family, observed(str(model.endog_names))
    if family.outcome == "binary":
        odds = family.link == "logit"
        return LINKS[family.link].format(event(model) if odds else mean(model))
    if family.outcome == "category":
        return f"log odds of {name} against {model.levels[0]}"
    if family.outcome == "ordered":
        return f"log odds of a higher {name}" if family.link == "logit" else f"latent {name}"
    if family.outcome == "survival":
        return f"log of {time(name)}"
    if family.counts:
        return f"log of mean {name}"
    return LINKS.get(family.link or "identity", "linear predictor of {}").format(mean(model))


def coefficients(model: Any, exponentiate: bool = False) -> str:
    """What slopes are: differences on the scale of the linear predictor, or with `exponentiate`
    their exponentials, such as "odds ratio of churn = Yes".
    """
    family, name = model.family, observed(str(model.endog_names))
    if not exponentiate:
        return f"difference in {predictor(model)}"
    if family.outcome == "category":
        return f"odds ratio of {name} against {model.levels[0]}"
    if family.outcome == "ordered" and family.link == "logit":
        return f"odds ratio of a higher {name}"
    if family.outcome == "survival":
        return f"ratio of {time(name)}"
    if family.outcome == "binary" and family.link in RATIOS:
        return RATIOS[family.link].format(event(model))
    if family.counts or family.link in RATIOS:
        return RATIOS.get(family.link or "log", "").format(f"mean {name}")
    for called in LOGARITHMS:
        if name.startswith(called) and family.link == "identity":
            return f"ratio of geometric means of {name[len(called) : -1]}"
    return f"exp of difference in {predictor(model)}"


def change(model: Any, comparison: str) -> str:
    """What a comparison of predictions is, such as "difference in mean visits"."""
    kinds = {
        "difference": "difference in {}",
        "ratio": "ratio of {}",
        "lnratio": "log ratio of {}",
        "lnor": "log odds ratio of {}",
    }
    return kinds[comparison].format(mean(model))
