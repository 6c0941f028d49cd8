"""What cannot be read in a formula, in words of formulas: pieces that are no terms, R's words that
are Python's syntax, names that want backticks, terms of other packages.
"""

import ast
import re
import tokenize
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sgmc.formula.data.places import PLACEHOLDER

if TYPE_CHECKING:
    from sgmc.errors import FormulaError
    from sgmc.formula.evaluation.safe import SafeFormula


OF_R = re.compile(r"(?<![\w.])(as|is)\.(\w+)\s*\(")
INSTEAD = {
    "as.factor": "write factor(x), or C(x)",
    "as.character": "write factor(x), or C(x)",
    "as.ordered": "write C(x), with ordered categories in the column",
    "as.numeric": "write x, a column of numbers: pd.to_numeric(df['x'])",
    "as.integer": "write x, a column of numbers: pd.to_numeric(df['x'])",
    "as.double": "write x, a column of numbers: pd.to_numeric(df['x'])",
    "as.logical": "write a comparison, x > 0",
    "is.na": "make a column of it before the fit, df['no_x'] = df['x'].isna()",
}
SIGNS = {
    "$": "name columns alone, x in the place of df$x",
    "!": "write ~ for 'not', as in I(~flag), and != for 'unequal'",
    "?": "put awkward column names in backticks",
    "–": "this dash is no minus",
    "−": "this dash is no minus",
    "×": "write * or :",
    "÷": "write /",
    "～": "this is no tilde ~",
    "‘": "quotes are ' or \"",
    "’": "quotes are ' or \"",
    "“": "quotes are ' or \"",
    "”": "quotes are ' or \"",
}
PATSY = {
    "missing '(' or extra ')'": "a bracket closes none: missing '(' or extra ')'",
    "expected a noun, but instead the expression ended": "the formula ends where a term should be",
    "numbers besides '0' and '1' are only allowed with **": (
        "numbers besides 0 and 1, for the intercept, are no terms: write I(2*x) for arithmetic"
    ),
    "intercept term cannot interact with anything else": (
        "1 is the intercept, which interacts with nothing: write I(1 / x) for arithmetic"
    ),
    "'**' requires a positive integer": (
        "** of terms takes a positive whole number: write I(x ** 0.5) for arithmetic"
    ),
}
PROCESSES = (
    "Matern", "Exponential", "spatial", "icar", "bym", "sar", "besag", "mrf",
)  # fmt: skip
SERIES = ("ar", "ar1", "arma", "ma", "rw1", "rw2", "ou")
NEAR = {
    "ifelse": ": use np.where(x > 0, 1, 0)",
    "if_else": ": use np.where(x > 0, 1, 0)",
    "cut": ": use pd.cut(x, bins)",
    "ln": ": use log(x)",
    "mean": ": use center(x) for x less its mean, or make a column of it",
    "lag": ": make a column of it first, df['x'].shift()",
    "c": ": add terms by +; a response of two columns is cbind(successes, failures)",
    "interaction": ": use g:h",
    "t2": ": use te(x, z)",
    "ti": ": use te(x, z), which has both curves in it",
    "rcs": ": use ns(x, df=4), natural cubic splines",
    "mi": ": missing values are not imputed; drop such rows, or fill them first",
    "offset": ": it stands right of the tilde, added to other terms",
    "cbind": ": it is a response alone, 'cbind(successes, failures) ~ ...'",
    "f": ": latent Gaussian models, as INLA's f(), are not part of this package; write (1 | g) for "
    "model='iid', or a smooth s(x) for a random walk",
    "trials": ": write the counts, cbind(k, n - k) ~ x",
    "rate": ": use the argument exposure=",
    "weights": ": use the argument weights=, of frequencies",
    "mvbind": ": a model is of one outcome: fit each by itself",
    "me": ": errors of measured predictors are not part of this package; sgmc.Model takes any "
    "likelihood",
    "i": ": write C(x), or C(x, Treatment('a')) for another base",
    "hsgp": ": use gp(x), a Gaussian process",
    "se": ": use the argument se= of sgmc.ols",
    "resp_se": ": use the argument se= of sgmc.ols",
}
ARE_NOT_PART = ": {what} are not part of this package; use {near}"
WORD_OF_R = re.compile(r"%\s*\w+\s*%")
INFIX = "words between % are R's: of a term write a:b, of values g.isin([1, 2])"
LOGIC = "write & for 'and', | for 'or' and ~ for 'not', each comparison in parentheses"


def refuse_words_of_r(text: str, error: "Callable[[str], FormulaError]") -> None:
    """FormulaError for R's ``as.factor(x)`` and the like, whose names are Python's keywords.

    Parameters
    ----------
    text : str
        The formula.
    error : function of str
        Makes the FormulaError of a message.
    """
    if (found := OF_R.search(text)) is not None:
        name = f"{found[1]}.{found[2]}"
        raise error(f"{name}() is R's: {INSTEAD.get(name, 'there is no such function here')}")


def sign(token: str, rest: str) -> str:
    """What to say of a sign that is no part of formulas, with the first one of the rest of the
    line, where the token is a blank before it.
    """
    one = token.strip() or rest.strip()[:1]
    return f"cannot read {one!r}: {SIGNS.get(one, 'put awkward column names in backticks')}"


def odd_sign(token: Any) -> str:
    """The first sign of a name that no name has; empty where it is one.  Python's tokenizer, from
    3.12 on, takes dashes and quotes beyond ASCII for names.
    """
    if token.type != tokenize.NAME or token.string.isidentifier():
        return ""
    return next((one for one in token.string if not f"_{one}".isidentifier()), "")


def bracket(text: str) -> str:
    """What to say of brackets that do not match, or of another error of the tokenizer's."""
    opened, closed = (sum(text.count(one) for one in signs) for signs in ("([{", ")]}"))
    if opened == closed:
        return ""
    return "a bracket is not closed: " if opened > closed else "a bracket closes none: "


def of_others(name: str) -> str | None:
    """What to say of a word that another package has for effects of groups; None otherwise."""
    instead = "write C(g), or (1 | g), of the column g of"
    units = {"EntityEffects": "units", "TimeEffects": "times"}  # of linearmodels
    return f": {instead} {units[name]}" if name in units else None


def in_backticks(formula: "str | SafeFormula", names: Any) -> str:
    """The end of a message about a formula that has the name of a column in it which has to stand
    in backticks; empty without.
    """
    text = str(formula)
    for name in sorted(names.columns, key=len, reverse=True):
        awkward = not name.isidentifier() and any(sign.isalpha() for sign in name)
        if awkward and name in text.replace(f"`{name}`", ""):
            return f"; write `{name}` in backticks"
    return ""


def no_term(code: str, names: Any, functions: Mapping[str, Any]) -> str | None:
    """Why code over placeholders is no term, the message of an error; None where it may be one.

    Parameters
    ----------
    code : str
    names : Names
    functions : dict
        That it calls, by name.
    """
    reason = None if PLACEHOLDER.fullmatch(code) else reason_of(code, names, functions)
    return None if reason is None else f"cannot read {names.quoted(code)!r}: {reason}"


def reason_of(code: str, names: Any, functions: Mapping[str, Any]) -> str | None:
    """The reason alone."""
    try:
        tree = ast.parse(code.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return INFIX if WORD_OF_R.search(code) else "it is no expression"
    if isinstance(tree, ast.Constant):
        quoted = isinstance(tree.value, str) and tree.value in names
        return f"a constant is no term{': write the name of a column without quotes' * quoted}"
    if isinstance(tree, ast.Tuple | ast.List | ast.Set | ast.Dict):
        return "it is several values: add terms by +"
    for node in ast.walk(tree):
        if isinstance(node, ast.BoolOp) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        ):
            return LOGIC
        if isinstance(node, ast.IfExp):
            return "'if' is of one value, not of a column: write np.where(condition, x, z)"
        if isinstance(node, ast.Attribute) and learns(node, functions):
            return f"after a dot {node.attr}() is not fitted to all rows: write {node.attr}(...)"
    return None


def learns(node: ast.Attribute, functions: Mapping[str, Any]) -> bool:
    """Whether what a dot takes from a module is fitted to rows, as patsy's splines are: patsy fits
    only what is called by its bare name.
    """
    names: list[str] = []
    root: Any = node
    while isinstance(root, ast.Attribute):
        names, root = [root.attr, *names], root.value
    found = functions.get(root.id) if isinstance(root, ast.Name) else None
    for name in names:  # looked up alone: nothing of a module is executed
        found = vars(found).get(name) if isinstance(found, ModuleType) else None
    return hasattr(found, "__patsy_stateful_transform__")


def of_patsy(message: str) -> str:
    """A message of patsy's in words of this package."""
    return PATSY.get(message, message)


def near(name: str) -> str | None:
    """What to say of a function that there is not, or None."""
    if name in PROCESSES:
        return ARE_NOT_PART.format(
            what="covariances of other kinds, and spatial effects of other kinds,",
            near="gp(x), a Gaussian process, car(region, graph) or bym2(region, graph), or smooths "
            "s(x) and te(x, z)",
        )
    if name in SERIES:
        return ARE_NOT_PART.format(
            what="temporal effects of other kinds",
            near="ar1(t) or rw1(t), a group term by period, such as (1 | period), or a smooth s(x) "
            "of time",
        )
    return NEAR.get(name)
