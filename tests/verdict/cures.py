"""Follows the advice of refused fits to the letter.

``python -m tests.verdict.cures`` follows the first advice of 200 refused fits of the record once,
and prints how many are trusted after it.
"""

import random
import re
import warnings
from collections import Counter
from dataclasses import replace

import sgmc
from sgmc.errors import SGMCError

from .cases import CASES, IMPROPER, SEED

MOST_DRAWS = 200_000  # that are taken


def followed(text, how):
    """Arguments of a fit by the first advice of a verdict's text; None where it names none.

    Parameters
    ----------
    text : str
    how : dict
        Arguments of the fit that was refused.
    """
    if "Read medians" in text:  # no sampler and no number of draws is a cure
        return None
    advice = re.split(r"; (?:or|as|it) ", text)[0]
    found = re.search(r"sampler=sgmc\.(\w+)\(target_accept=([\d.]+)\)", advice)
    if found:
        return {**how, "sampler": getattr(sgmc, found[1])(target_accept=float(found[2]))}
    found = re.search(r"Take draws=(\d+)", advice)
    if found:
        longer = {**how, "draws": int(found[1])}
        return {k: v for k, v in longer.items() if k != "accuracy" or "without" not in advice}
    asked = re.search(
        r"(?:[Uu]se|[Ll]eave|[Cc]ompare with) ((?:sampler|step_size|draws)=.*)", advice
    )
    if not asked:
        return None
    named = dict(re.findall(r"(\w+)='?(\w+)'?", asked[1].split(" or ")[0]))
    left = {k for k, v in named.items() if v in ("auto", "None")}
    return {k: v for k, v in {**how, **named}.items() if k not in left}


def follow(case, seed):
    """What became of a `Case` that was refused: "no advice", "too long", "trusted" or "refused";
    None where it was trusted at once.
    """
    try:
        text = case.fit(seed).verdict
    except SGMCError:
        return None
    if text.trustworthy:
        return None
    how = followed(str(text), case.how)
    if how is None:
        return "no advice"
    if how.get("draws", 0) > MOST_DRAWS:
        return "too long"
    again = replace(case, how=how).fit(seed).verdict
    return "trusted" if again.trustworthy else "refused"


def plain(case):
    """Whether the case is one that a user could write: no planted mistakes, a proper posterior."""
    return not case.misplaced and case.stretched == 1 and case.posterior not in IMPROPER


def print_cures(most=200):
    """Refused fits of the record in random order, and sums."""
    warnings.simplefilter("ignore")
    cases = [case for case in CASES if plain(case)]
    random.Random(SEED).shuffle(cases)
    found = Counter()
    for seed in (SEED, SEED + 1):
        for case in cases:
            if found["trusted"] + found["refused"] >= most:
                break
            became = follow(case, seed)
            if became:
                print(f"{became:10} {case}", flush=True)
                found[became] += 1
    print(dict(found))


if __name__ == "__main__":
    print_cures()
