"""What editors and newcomers see: signatures, help, errors that name what was called."""

import inspect
import re

import numpy as np
import pytest

import sgmc
from sgmc.api import verbs
from sgmc.arguments.declared.keywords import (
    FORMULA,
    MODEL,
    OF_RUN,
    REGRESSION,
    SELDOM,
    SETTINGS,
    TABLE,
    names,
    rows,
)
from sgmc.arguments.declared.parameter import REQUIRED
from sgmc.errors import ArgumentError
from sgmc.fit.settings import check_settings
from sgmc.registry import room

rng = np.random.default_rng(0)
X = np.column_stack([np.ones(40), rng.normal(size=40)])
TABLES = dict(y=np.tile([0, 1, 1, 0], 10), x=X[:, 1], count=rng.integers(1, 5, 40))
COUNTS = rng.integers(0, 3, (8, 5))
FIT = (
    "prior sampler gradient subsample batch_size step_size precondition init modes draws "
    "accuracy thin warmup keep_warmup chains threads seed rng"
).split()
REGRESSIONS = [*FIT[:9], "prior_only", *FIT[9:]]
REST = "tune time_limit max_data_passes progress dtype checkpoint".split()
DEFAULTS = {
    "sampler": "auto",
    "subsample": "block",
    "precondition": "mode",
    "modes": "one",
    "prior_only": False,
    "keep_warmup": False,
    "draws": "auto",
    "chains": 4,
    "missing": "drop",
    "cov_type": "nonrobust",
    "dtype": "float64",
}


def keywords(thing):
    """Keyword-only arguments and their defaults."""
    parameters = inspect.signature(thing).parameters.values()
    assert all(p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in parameters)
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


def expected(*given, **others):
    """Keywords with the defaults of the table."""
    return {name: DEFAULTS.get(name) for name in given} | others


def test_the_signature_of_logit():
    columns = "weights offset strata subset missing cache memory_limit nodes".split()
    columns += "client reservoir groups cov_type".split()
    found = keywords(sgmc.logit)
    every = [*REGRESSIONS, *columns, *REST]
    assert found == expected(*every) and list(found) == every
    positional = list(inspect.signature(sgmc.logit).parameters.values())[:2]
    assert [(p.name, p.default) for p in positional] == [("formula", REQUIRED), ("data", REQUIRED)]


OWN = {
    "df",
    "sigma",
    "alpha",
    "dispersion",
    "phi",
    "dist",
    "link",
    "tau",
    "zero",
    "discrimination",
    "kind",
}  # families' own arguments


@pytest.mark.parametrize("name", sorted(room("families")))
def test_verbs_and_classes_have_what_applies_to_the_family(name):
    model = room("families")[name]
    verb = getattr(verbs, name)
    for thing in (verb, model, model.from_formula):
        found = keywords(thing)
        assert ("exposure" in found) == bool(model.family.counts)
        assert ("offset" in found) == (model.family.outcome != "category")
        assert {key: found[key] for key in model.options} == model.options
        assert OWN & set(found) == set(model.options)
    assert verb.__name__ == verb.__qualname__ == verb.__code__.co_name == name
    assert keywords(model.fit) == expected(*REGRESSIONS, "cov_type", *REST) | model.defaults
    assert "names" in keywords(model) and "draws" not in keywords(model)


def test_options_are_those_of_the_families():
    assert keywords(sgmc.rlm)["df"] == 4.0 and "sigma" in keywords(sgmc.ols)
    assert "alpha" in keywords(sgmc.negativebinomial) and "dispersion" in keywords(sgmc.Gamma)
    assert {"sigma", "alpha", "dispersion", "exposure", "offset"} <= set(keywords(sgmc.glm))


def test_other_models_have_their_own_defaults():
    general = [name for name in FIT + REST if name != "dtype"] + ["keep", "client"]
    own = dict(subsample="uniform", threads=None)
    assert keywords(sgmc.LDA.fit) == expected(*general, **own | dict(sampler="scir"))
    assert keywords(sgmc.LDA(COUNTS, 2).fit) == keywords(sgmc.LDA.fit)
    assert keywords(sgmc.ICA.fit)["sampler"] == "auto"
    assert keywords(sgmc.BPMF.fit)["subsample"] == "block"
    assert keywords(sgmc.BPMF.fit)["sampler"] is None  # derived from the ratings
    assert keywords(sgmc.Model.fit) == expected(*general, **own | dict(threads=1))


def test_functions_of_models():
    assert list(inspect.signature(sgmc.sample).parameters)[0] == "model"
    assert keywords(sgmc.sample) == expected(*REGRESSIONS, "cov_type", *REST, "keep", "client")
    found = keywords(sgmc.tune)
    assert found["eta"] == 3 and found["subsample"] == "block" and "draws" not in found
    assert {"seed", "rng", "gradient", "dtype", "prior", "progress"} <= set(found)


@pytest.mark.parametrize("name", sorted(room("samplers")))
def test_specifications_show_their_parameters(name):
    cls = room("samplers")[name]
    assert keywords(cls) == {p.name: p.default for p in cls.parameters}
    for p in cls.parameters:
        default = "optional" if p.default is None else f"default {p.default!r}"
        assert f"\n{p.name} : {p.span}, {default}\n    {p.doc}" in cls.__doc__


def test_a_recipe_takes_its_matrices_by_place():
    found = inspect.signature(sgmc.Recipe).parameters
    assert list(found)[:2] == ["D", "Q"] and found["D"].kind is found["D"].POSITIONAL_OR_KEYWORD
    assert keywords(sgmc.Recipe)["corrected"] is False


@pytest.mark.parametrize(
    "thing, takers",
    [
        (sgmc.logit, (FORMULA, REGRESSION)),
        (sgmc.Logit.fit, (REGRESSION,)),
        (sgmc.Logit.from_formula, (FORMULA,)),
        (sgmc.LDA.fit, (MODEL,)),
    ],
    ids=lambda value: getattr(value, "__qualname__", ""),
)
def test_help_has_defaults_and_ranges(thing, takers):
    text = inspect.getdoc(thing)
    for row in rows(*takers):
        if row.name in inspect.signature(thing).parameters:
            assert re.search(rf"^{row.name} : {re.escape(row.span)}", text, re.M), row.name
    assert "{keywords}" not in text
    if REGRESSION in takers or MODEL in takers:
        assert (
            "\ndraws : int >= 1, or \"auto\", default 'auto'\n    Kept draws per chain.  " in text
        )


@pytest.mark.parametrize("name", ["logit", "glm", "poisson"])
def test_arguments_of_verbs_are_in_three_groups(name):
    text = inspect.getdoc(getattr(sgmc, name))
    everyday, _, rest = text.partition("\nOther Parameters\n")
    seldom = rest.partition("\nRaises\n")[0]
    entries = [re.findall(r"^(\w+) : ", part, re.M) for part in (everyday, seldom)]
    assert set(entries[1]) == {*SELDOM} and not {*entries[0]} & {*SELDOM}
    taken = inspect.signature(getattr(sgmc, name)).parameters
    assert sorted([*entries[0], *entries[1]]) == sorted(taken)
    run = [entry for entry in entries[0] if entry in OF_RUN]
    assert set(run) == {*OF_RUN}
    model = entries[0][: entries[0].index("sampler")]
    assert model[:3] == ["formula", "data", "prior"] and not {*model} & {*OF_RUN}


def test_no_docstring_is_left_unfilled():
    for name in sgmc.__all__:
        value = getattr(sgmc, name)
        for one in (value, getattr(value, "fit", None), getattr(value, "__init__", None)):
            text = inspect.getdoc(one) or ""
            assert "{keywords}" not in text and "{seldom}" not in text, name


def test_settings_have_the_defaults_of_the_table():
    made, empty = check_settings(), check_settings(**SETTINGS)
    for name in SETTINGS:
        if name not in ("seed", "sampler"):
            assert np.all(getattr(made, name) == getattr(empty, name)), name
    assert (made.draws, made.chains, made.subsample) == (1000, 4, "block")
    fitted = {row.name for row in TABLE if {REGRESSION, MODEL} & set(row.takers)}
    assert fitted - set(SETTINGS) == {"prior", "tune", "rng"}
    with pytest.raises(TypeError, match="draw"):
        check_settings(draw=10)


MODELS = {
    "logit": lambda: sgmc.Logit(TABLES["y"], X),
    "lda": lambda: sgmc.LDA(COUNTS, 2),
}


@pytest.mark.parametrize(
    "called, message",
    [
        (lambda: sgmc.logit("y ~ x", TABLES, draw=9), "logit() ... 'draw'; did you mean 'draws'?"),
        (lambda: sgmc.logit("y ~ x", TABLES, sigma=9), "logit() ... 'sigma'"),
        (lambda: sgmc.ols("y ~ x", TABLES, sigm=9), "ols() ... 'sigm'; did you mean 'sigma'?"),
        (
            lambda: sgmc.glm("y ~ x", TABLES, family="binomial", chain=2),
            "glm() ... 'chain'; did you mean 'chains'?",
        ),
        (
            lambda: sgmc.Logit.from_formula("y ~ x", TABLES, weigths="count"),
            "Logit.from_formula() ... 'weigths'; did you mean 'weights'?",
        ),
        (
            lambda: sgmc.Logit(TABLES["y"], X, draws=10),
            "Logit() ... 'draws'; it is an argument of fit()",
        ),
        (lambda: MODELS["logit"]().fit(draw=9), "Logit.fit() ... 'draw'; did you mean 'draws'?"),
        (
            lambda: MODELS["logit"]().fit(weights="count"),
            "Logit.fit() ... 'weights'; it is an argument of the model",
        ),
        (lambda: sgmc.sample(MODELS["logit"](), draw=9), "sample() ... 'draw'; did you mean 'dr"),
        (lambda: sgmc.sample(MODELS["lda"](), draw=9), "sample() ... 'draw'; did you mean 'draws'"),
        (lambda: MODELS["lda"]().fit(draw=9), "LDA.fit() ... 'draw'; did you mean 'draws'?"),
        (lambda: sgmc.tune(MODELS["logit"](), grd={}), "tune() ... 'grd'; did you mean 'grid'?"),
        (
            lambda: sgmc.tune(MODELS["logit"](), draws=9),
            "tune() ... 'draws'; it is an argument of fit()",
        ),
    ],
)
def test_unknown_arguments_name_what_was_called(called, message):
    message = message.replace("...", "got an unexpected keyword argument")
    with pytest.raises(TypeError, match="^" + re.escape(message)):
        called()


@pytest.mark.parametrize(
    "called, message",
    [
        (lambda: sgmc.logit("y ~ x"), "logit() missing 1 required positional argument: 'data'"),
        (
            lambda: sgmc.logit("y ~ x", df=TABLES),
            "logit() missing 1 required positional argument: 'data'; write logit('y ~ x', data=df)",
        ),
        (
            lambda: sgmc.logit(X=[[1.0]], y=[1.0]),
            "logit() missing 2 required positional arguments: 'formula' and 'data'; for arrays use "
            "sgmc.Logit(y, X).fit()",
        ),
        (lambda: sgmc.logit("y ~ x", TABLES, "flat"), "logit() takes from 0 to 2 positional arg"),
        (lambda: MODELS["logit"]().fit("flat"), "Logit.fit() takes 1 positional argument but 2"),
    ],
)
def test_pythons_own_errors_name_what_was_called(called, message):
    with pytest.raises(TypeError, match="^" + re.escape(message)):
        called()


def test_arguments_of_others_are_refused_with_the_reason():
    with pytest.raises(ArgumentError, match="exposure does not apply to logit"):
        sgmc.logit("y ~ x", TABLES, exposure="count")
    with pytest.raises(ArgumentError, match="exposure does not apply to Latent Dirichlet"):
        sgmc.sample(MODELS["lda"](), exposure="count")
    with pytest.raises(ArgumentError, match="keep does not apply here"):
        sgmc.logit("y ~ x", TABLES, keep=["x"])


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # there are few rows
def test_a_subclass_with_a_fit_of_its_own_keeps_it():
    class Own(sgmc.Logit):
        """A model whose fit has one more argument."""

        def fit(self, *, often=1, **given):
            return often, super().fit(**given)

    model = Own(TABLES["y"], X)
    often, results = sgmc.sample(model, often=3, draws=20, seed=1, sampler="laplace")
    assert often == 3 and results.draws.shape == (4, 20, 2)
    assert list(inspect.signature(Own.fit).parameters) == ["self", "often", "given"]
    assert list(inspect.signature(type("Heir", (Own,), {}).fit).parameters)[1] == "often"


def test_names_of_the_table_are_names_of_python():
    assert all(row.name.isidentifier() and row.brief and row.span for row in TABLE)
    assert len(names(FORMULA, REGRESSION)) == len(set(names(FORMULA, REGRESSION)))
