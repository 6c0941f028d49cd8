"""Texts of formulas and subsets that come from a file: looked through before they are evaluated."""

import re

from sgmc.errors import FormulaError
from sgmc.formula import dot, parts
from sgmc.formula.code import Check, Refused
from sgmc.formula.functions import FUNCTIONS

PLACE = re.compile(r"_sgmc_(\d+|dot)_")


class AnyNames(dot.Names):
    """Names of columns that are not known: every name that is not that of a function."""

    def __init__(self):
        super().__init__(())

    def __contains__(self, name):
        return name not in FUNCTIONS and name not in ("True", "False", "None", "TRUE", "FALSE")

    def placeholder(self, name):
        """See `Names`."""
        if name not in self._placeholders:
            self._placeholders[name] = f"_sgmc_{len(self.columns)}_"
            self.columns = (*self.columns, name)
        return self._placeholders[name]


class Places:
    """The placeholders of columns, and the dot."""

    def __contains__(self, name):
        return PLACE.fullmatch(name) is not None


def refuse_text(formula, own=()):
    """Raise `Refused` for a formula that has other code than those from outside may have.

    Parameters
    ----------
    formula : str
    own : iterable of str
        Names of functions of the user's that it may call.
    """
    for text in parts.split(formula, "zero:") if parts.has_bar(formula) else (formula,):
        try:
            parsed = dot.parse(text, AnyNames(), dict.fromkeys(own, refuse_text))
            terms = parsed.terms_of(parsed.predictors)
            for one in (*(bar.effects for bar in parsed.bars), *(s.code for s in parsed.smooths)):
                terms = [*terms, *parsed.terms_of(one)]
        except FormulaError as error:
            raise Refused(formula, str(error)) from error
        codes = [factor.code for term in terms for factor in term.factors]
        codes += [*(parsed.pair or (parsed.response,)), *([parsed.offset] if parsed.offset else [])]
        codes += [one.by for one in parsed.smooths if one.by]
        check = Check(Places(), parsed.functions, own)
        for code in codes:
            try:
                check.code(code)
            except Refused as error:
                raise Refused(parsed.names.quoted(error.piece), error.reason) from error


def refuse_subset(subset):
    """Raise `Refused` for an expression of `DataFrame.eval` that is no comparison of columns."""
    text = re.sub(r"`[^`]*`", "column", subset)
    if "@" in text:
        raise Refused("@", "it takes variables of Python")
    Check(Everything(), {}).code(text.replace("\n", " "))


class Everything:
    """All names are columns."""

    def __contains__(self, name):
        return True
