"""What a summary shows of the facts of a fit: those of the model, or, with details, of the run."""

import re
from typing import NamedTuple

# facts of the run, which details list, by the words that they have there
RUN = {
    "Df Model": "Coefficients without intercepts",
    "Sampler": "Sampler",
    "Step size": "Step size",
    "Minibatch": "Rows per step",
    "Warmup/Draws": "Warmup steps / draws x thinning",
    "Draws at first": "Draws of each chain at first",
    "Data passes": "Data passes",
    "Draw spacing": "Time between draws",
    "Events": "Events",
    "Acceptance": "Acceptance rate",
    "Events accepted": "Acceptance rate of events",
    "Bound violations": "Share of events above their bound",
    "Grad-noise share": "Share of the variance from gradient noise",
    "Noise/breaking pt.": "Gradient noise over breaking point",
    "Min. ESS bulk": "Min. ESS (bulk)",
    "Min. ESS path": "Min. ESS of path means",
    "Max. R-hat": "Max. R-hat",
    "KSD (scores)": "KSD (scores)",
    "From Laplace": "Difference from Laplace approximation",
}
# and of the model, by other words than in statsmodels' summaries
MODEL = {"Dep. Variable": "Outcome", "No. Observations": "Rows", "No. Groups": "Groups"}
COUNTS = "Rows", "Groups", "Users x items"
ESTIMATED = re.compile("^trustworthy to about [^:]+: estimated errors")
DIGITS = re.compile(r"(?<![\d.])\d{4,}(?![\d.])")


class Shown(NamedTuple):
    """What a summary prints besides its tables of numbers.

    Attributes
    ----------
    model : str
    left, right : list of (str, str)
        The head.
    run : list of (str, str)
        What details list of the run.
    lines, details : list of str
        Beneath the tables, and what details add.
    """

    model: str
    left: list
    right: list
    run: list
    lines: list
    details: list

    @classmethod
    def of(cls, results, yname=None):
        """Of a Results; `yname` is another name of the outcome."""
        left, right, (verdict, *lines), details = results.header
        facts = dict([*left, *right])
        chains, draws = results.draws.shape[:2]
        first, second = (
            [(MODEL.get(k, k), v) for k, v in side if is_of_model(k)] for side in (left, right)
        )
        first = [(k, yname if k == "Outcome" and yname else v) for k, v in first]
        second = [(k, with_commas(v) if k in COUNTS else v) for k, v in second]
        formula = formulas_of(results.model)
        if formula:
            first.append(("Formula", " ".join(formula.split())))
        family = getattr(results.model, "family", None)
        if getattr(family, "link", None):  # outcomes of several kinds and quantiles have none
            second.append(("Link", family.link))
        extended = " (extended)" if "Draws at first" in facts else ""
        first.append(("Chains x draws", f"{chains} x {draws:,}{extended}"))
        second.append(("Seconds", facts["Time (s)"]))
        # the verdict has the advice once
        known = results.verdict.advice
        warned = [
            f"[{w.code}] {w.message if known and w.advice == known else w}"
            for w in results.warnings
        ]
        more = [*details, *results._details()]
        if results._stopping is not None:
            more.insert(0, results._stopping.text)
        if results.memory is not None:
            more.append(str(results.memory))
        plain = in_plain_words(results)
        if plain is not None:  # what it means, and the numbers with details
            more, verdict = [verdict, *more], f"Verdict: {plain}"
        run = [(label, facts[k]) for k, label in RUN.items() if k in facts]
        return cls(facts["Model"], first, second, run, [verdict, *warned, *lines], more)


def in_plain_words(results):
    """The verdict of draws to be trusted in one line; None where its text has more to say, such as
    a reason and advice.
    """
    verdict = results.verdict
    if not verdict.trustworthy or not verdict.text.startswith("trustworthy to about"):
        return None
    if not ESTIMATED.search(verdict.text) or "if the sampler's own formula" in verdict.text:
        return None
    what = "" if results.judged_by == "parameters" else f" of {results.judged_by}"
    share = f"{100 * verdict.error:.2g}"
    return f"trustworthy. Means{what} are within {share} % of a posterior sd."


def is_of_model(name):
    """Whether a fact is one of the model, and not of the run."""
    return name not in RUN and name not in ("Chains", "Time (s)")


def with_commas(text):
    """The same text; whole numbers of four digits and more have commas."""
    return DIGITS.sub(lambda found: f"{int(found[0]):,}", text)


def formulas_of(model):
    """The formula of a model, and those of other parameters: ``"y ~ x, sigma ~ z"``; empty where
    it has none.
    """
    if not getattr(model, "formula", None):
        return ""
    others = (f"{name} {one}" for name, one in model.options.items() if "~" in str(one))
    return ", ".join([str(model.formula), *others])
