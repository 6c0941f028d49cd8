"""The verbs: one line from a table to a posterior."""

import inspect
from collections.abc import Callable, Collection
from typing import Any

from sgmc.arguments.declared.keywords import FIT, FORMULA, REGRESSION, names, rows
from sgmc.arguments.declared.parameter import Declared
from sgmc.arguments.declared.signatures import named, refuse_unknown, with_keywords
from sgmc.core import contract
from sgmc.core.system import phases
from sgmc.core.system.deadline import limited
from sgmc.core.system.interrupts import handled
from sgmc.elsewhere import FAMILIES_ELSEWHERE, SAME_FAMILIES, renamed
from sgmc.errors import ArgumentError
from sgmc.models.bases.model import REGRESSION_ARGUMENTS, Model
from sgmc.models.regression.model import Regression
from sgmc.models.regression.options import option
from sgmc.models.user.model import KernelModel
from sgmc.registry import room

TEXT = """
    Parameters
    ----------
    {keywords}

    Returns
    -------
    RegressionResults

    Other Parameters
    ----------------
    {seldom}

    Raises
    ------
    FormulaError, DataError, ArgumentError, NotSupported
        Naming the column or argument and saying what to do.

    Notes
    -----
    Arguments are in three groups: of the model (from `formula`), of the run (from `sampler`), and
    under *Other Parameters* those that few fits need.
    """


LEFT_OUT: Any = object()  # in the place of a formula, or data


def verb(model: Any) -> Callable[..., Any]:
    """Return the verb of a regression class."""

    def fit(formula: Any, data: Any, **given: Any) -> Any:
        return fit_formula(model, f"{model.family.name}()", formula, data, given)

    text = f"{inspect.cleandoc(model.__doc__)}\n\n{inspect.cleandoc(TEXT)}"
    made: Any = named(fit, model.family.name, model._keywords(FORMULA, REGRESSION), text)
    made.__defaults__ = (LEFT_OUT, LEFT_OUT)  # refused with what the other arguments mean
    return made


def fit_formula(model: Any, called: str, formula: Any, data: Any, given: dict[str, Any]) -> Any:
    """Return the results of a regression from a formula; `called` is what the user called."""
    from sgmc.prepared.opening import for_verb

    known = {*names(FORMULA, *FIT), *model.options}
    given = renamed(called, given, known)
    refuse_left_out(model, called, formula, data, given)
    refuse_unknown(called, given, known)
    refuse_no_formula(model, called, formula, data)
    made = {*names(FORMULA), *model.options}
    of_model = {name: value for name, value in given.items() if name in made}
    of_fit = {name: value for name, value in given.items() if name not in made}
    with (
        handled(),
        limited(of_fit.get("time_limit")),
        phases.watched(of_fit.get("progress")),
    ):
        phases.begin(phases.DESIGN)
        if isinstance(data, list | tuple):
            # only here: it imports pandas and statsmodels, which the build has not
            from sgmc.models.regression.imputed import are_imputed, fit_imputed

            if are_imputed(data):
                return fit_imputed(model, formula, data, of_model, of_fit)
        if of_model.get("client") is None:  # else partitions are read where they are
            data = for_verb(data, of_fit)
        return model.from_formula(formula, data, **of_model).fit(**of_fit)


def refuse_left_out(
    model: Any, called: str, formula: Any, data: Any, given: dict[str, Any]
) -> None:
    """TypeError for a call without a formula or data, which may be there by other names."""
    missing = [name for name, one in (("formula", formula), ("data", data)) if one is LEFT_OUT]
    if missing:
        arrays = "X" in given or "y" in given
        how = (
            f"for arrays use sgmc.{model.__name__}(y, X).fit(), outcomes first"
            if arrays
            else f"write {called[:-2]}('y ~ x', data=df)"
        )
        many = f"{len(missing)} required positional argument{'s' * (len(missing) > 1)}"
        listed = " and ".join(map(repr, missing))
        raise TypeError(f"{called} missing {many}: {listed}; {how}")  # Python's words, and how


def refuse_no_formula(model: Any, called: str, formula: Any, data: Any) -> None:
    """ArgumentError for arrays, or numbers, in the place of a formula and a table.

    Data before the formula, and other things, are refused where they are read.
    """
    from sgmc.formula.evaluation.safe import is_formula

    if is_formula(formula) or is_formula(data):
        return
    if isinstance(formula, int | float) and isinstance(data, int | float):
        raise ArgumentError(
            f"{called} is a regression, {called[:-2]}('y ~ x', df), and got numbers; there is no "
            "prior of this name: for a parameter between ends use sgmc.uniform(0, 1) or "
            "sgmc.truncated()"
        )
    if hasattr(formula, "shape") and hasattr(data, "shape"):
        raise ArgumentError(
            f"{called} takes a formula and a table, {called[:-2]}('y ~ x', df); for arrays use "
            f"sgmc.{model.__name__}(y, X).fit(), outcomes first"
        )


def __getattr__(name: str) -> Any:
    """The verb of a family, made at first use: `sgmc.logit` and the like."""
    models = room("families")
    if name not in models:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = verb(models[name])
    return globals()[name]


def links(distribution: str) -> dict[str, str]:
    """Links of a distribution, its default first: link -> name of the verb."""
    families = [
        model.family
        for model in room("families").values()
        if model.family.distribution == distribution
    ]
    return {one.link: one.name for one in sorted(families, key=lambda one: not one.default_link)}


ALIASES = {"cauchy": "cauchit"}
UNBOUNDED = (
    "identity",
    "inverse",
    "inversepower",
    "inversesquared",
    "1/mu^2",
    "power",
    "sqrt",
    "log",
    "logc",
)
# what the mean is for some coefficients; else not positive
OUTSIDE = {"binomial": "no probability", "gaussian": None}


def options_of_glms() -> list[Declared]:
    """Return the rows of the families' own arguments that `glm` passes on."""
    models = [one for one in room("families").values() if one.family.distribution]
    return [option(*pair) for pair in {k: v for m in models for k, v in m.options.items()}.items()]


@with_keywords(*rows(FORMULA, REGRESSION), *options_of_glms())
def glm(formula: Any, data: Any, *, family: Any, link: str | None = None, **given: Any) -> Any:
    """Fit a generalised linear model by family and link, as in R's ``glm``.

    Parameters
    ----------
    {keywords}
    family : str or statsmodels family
        ``"binomial"``, ``"poisson"``, ``"negativebinomial"``, ``"gaussian"``, ``"gamma"``,
        ``"inversegaussian"`` or ``"beta"``, or e.g.
        ``sm.families.Binomial(sm.families.links.Probit())``.  Dispersions are parameters, unless
        they are given, as in ``sm.families.NegativeBinomial(alpha=0.5)``; so is the 1 that
        statsmodels takes where alpha is not.
    link : str, optional
        Default that of the verb: ``"logit"`` of binomial (also ``"probit"``, ``"cloglog"``,
        ``"loglog"``, ``"cauchit"``) and of beta, ``"identity"`` of gaussian (also ``"log"``), else
        ``"log"``.  So it is for gamma and inversegaussian, whose default is ``inverse_power`` and
        ``inverse_squared`` in statsmodels: with these links the mean is negative, or does not
        exist, for some coefficients.  A statsmodels family has its own link.

    Returns
    -------
    RegressionResults

    Other Parameters
    ----------------
    {seldom}

    Raises
    ------
    ArgumentError
        For a family or link that there is not; it lists those there are.

    Examples
    --------
    >>> sgmc.glm("y ~ x", df, family="binomial", link="probit")       # sgmc.probit("y ~ x", df)
    >>> sgmc.glm("y ~ x", df, family=sm.families.Gamma(sm.families.links.Log()))
    """
    if isinstance(family, type) and family.__module__.startswith("statsmodels."):
        family = family()  # with its own link
    name = (
        family.lower()
        if isinstance(family, str)
        else getattr(family, "__name__", type(family).__name__).lower()
    )
    # of statsmodels' families
    own = getattr(family, "link", None)
    if link is None and own is not None:
        link = type(own).__name__.lower()
    name = name.replace(".", "").replace("_", "")  # R's inverse.gaussian
    if name in FAMILIES_ELSEWHERE:
        raise ArgumentError(f"family={family!r} is not one of glm(): {FAMILIES_ELSEWHERE[name]}")
    name = SAME_FAMILIES.get(name, name)
    if getattr(family, "alpha", 1.0) != 1.0:  # statsmodels has 1 where nobody gave it
        given.setdefault("alpha", family.alpha)
    known = links(name)
    if not known:
        there = sorted({model.family.distribution for model in room("families").values()} - {None})
        raise ArgumentError(f"family={family!r} is not known; known: {', '.join(there)}")
    asked = str(link).lower()
    chosen = next(iter(known)) if link is None else ALIASES.get(asked, asked)
    if chosen not in known:
        why = OUTSIDE.get(name, "not positive") if asked.replace("_", "") in UNBOUNDED else None
        raise ArgumentError(
            f"link={link!r} is not one of the {name} family here; known: {', '.join(known)}"
            + f" (with {link!r} the mean is {why} for some coefficients)" * bool(why)
        )
    return fit_formula(room("families")[known[chosen]], "glm()", formula, data, given)


@with_keywords(*rows(*FIT))
def sample(model: Any, **given: Any) -> Any:
    """Sample any model object, as its `fit` does.

    Parameters
    ----------
    model : Model
        One of this package, of your own (`sgmc.Model`), or a compiled one.
    {keywords}

    Returns
    -------
    Results
        Of the model's own kind.
    """
    if isinstance(model, contract.Model):
        model = KernelModel(model)
    if not isinstance(model, (Regression, Model)):
        raise ArgumentError(
            "sample needs a model such as sgmc.Logit.from_formula(formula, data), or one of "
            f"sgmc.Model, not {type(model).__name__}"
        )
    taken = inspect.signature(model.fit).parameters
    if not any(p.kind is p.VAR_KEYWORD for p in taken.values()):
        known = [*taken, *names(*FIT), *inapplicable(model)]
        given = renamed("sample()", given, known)
        refuse_unknown("sample()", given, known)
    return model.fit(**given)


def inapplicable(model: Any) -> Collection[str]:
    """Return the names of arguments that a model refuses with a reason of its own."""
    return REGRESSION_ARGUMENTS if isinstance(model, Model) else ()
