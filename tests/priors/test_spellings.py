"""Coefficients and terms by any spelling that the formula takes, in priors and in hypotheses."""

import re

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.arguments.spelling import pattern, spelled
from sgmc.errors import ArgumentError

FORMULA = "y ~ I(x**2) + poly(z, 2) + `my x` + g*x + C(h, Treatment('b')) + np.log(abs(`my x`)+1)"


def frame():
    random = np.random.default_rng(0)
    numbers = random.normal(size=(200, 4))
    made = pd.DataFrame(numbers, columns=["x", "z", "my x", "y"])
    return made.assign(g=random.choice(list("abc"), 200), h=random.choice(list("ab"), 200))


def fitted(prior=None):
    return sgmc.ols(FORMULA, frame(), prior=prior, sampler="laplace", seed=1)


SPELLINGS = {
    "I(x**2)": ["I(x ** 2)"],
    "I( x^2 )": ["I(x ** 2)"],
    "poly(z,2)": ["poly(z, 2)[0]", "poly(z, 2)[1]"],
    "poly(z,2)[1]": ["poly(z, 2)[1]"],
    "`my x`": ["my x"],
    "x:g": ["g[T.b]:x", "g[T.c]:x"],
    "x:g[T.b]": ["g[T.b]:x"],
    'C(h,Treatment("b"))': ["C(h, Treatment('b'))[T.a]"],
    "np.log(abs(`my x`) +1)": ["np.log(abs(`my x`) + 1)"],
}


@pytest.mark.parametrize("key", SPELLINGS)
def test_keys_of_priors(key):
    priors = fitted({key: sgmc.normal(0, 0.123)}).priors
    found = [name for name, one in zip(priors.names, priors.used) if one.scale == 0.123]
    assert found == SPELLINGS[key]


@pytest.mark.parametrize("name", [k for k, v in SPELLINGS.items() if spelled(k, v)])
def test_names_in_hypotheses(name):
    result = fitted()
    draws = result.draws[..., result.names.index(SPELLINGS[name][0])]
    for text, right in ((f"{name} > 0", draws > 0), (f"1 - 2*{name} < 0.9", 1 - 2 * draws < 0.9)):
        assert result.hypothesis(text)["prob"] == right.mean()
    both = result.hypothesis(f"{name} > 0 & x > 0")["prob"]
    assert both == ((draws > 0) & (result.draws[..., result.names.index("x")] > 0)).mean()


def test_names_in_contrasts():
    result = fitted()
    assert result.contrast("x:g[T.b] = g[T.c] : x")["mean"].iloc[0] == pytest.approx(
        result.params["g[T.b]:x"] - result.params["g[T.c]:x"]
    )


@pytest.mark.parametrize("sign, word", [("&", "and"), ("|", "or")])
def test_words_between_statements_have_a_cure(sign, word):
    with pytest.raises(ArgumentError, match=re.escape(f"write {sign!r} for {word!r}")):
        fitted().hypothesis(f"x > 0 {word} `my x` > 0")


def test_what_is_no_spelling():
    assert spelled("x10", ["x1", "x"]) == []
    assert spelled("myx", ["my x"]) == []
    assert spelled("g:x", ["g:x", "x:g"]) == ["g:x", "x:g"]
    assert re.search(pattern("I(x ** 2)"), "np.I(x**2)") is None
    with pytest.raises(ArgumentError, match=r"'I\(z\)' is neither a term nor a column"):
        fitted({"I(z)": "flat"})


@pytest.mark.filterwarnings("ignore::sgmc.errors.ShapeWarning")  # of Laplace's approximation
def test_names_that_differ_in_blanks():
    """Backticks hold a name to the letter; without them it is the one without blanks."""
    random = np.random.default_rng(0)
    df = pd.DataFrame(random.normal(size=(50, 4)), columns=["y", "q", " q", "x\n"])
    prior = {"` q`": sgmc.normal(0, 0.1), "`x\n`": sgmc.normal(0, 0.2)}
    result = sgmc.ols("y ~ ` q` + q + `x\n`", df, prior=prior, sampler="laplace", seed=1)
    scales = dict(zip(result.priors.names, (one.scale for one in result.priors.used)))
    assert (scales[" q"], scales["x\n"]) == (0.1, 0.2) and scales["q"] > 1
    for text, name in {"` q`": " q", "`q`": "q", "q": "q", "`x\n`": "x\n"}.items():
        found = result.hypothesis(f"{text} > 0")["mean"]
        assert found == pytest.approx(result.params[name], abs=1e-12)


@pytest.mark.parametrize(
    "key, kind, formula, right",
    [
        ("0|1", "cumulative", "k ~ x", "'gap[1]'"),
        ("gap[0]", "cumulative", "k ~ x", "minus the first of them"),
        ("0|1", "sequential", "k ~ cs(x)", "steps from one to the next, 'step[1]'"),
        ("x", "sequential", "k ~ cs(x)", "did you mean 'cs(x)'"),
        ("z", "cumulative", "k ~ x + mo(z)", "did you mean 'mo(z)'"),
    ],
)
def test_what_keys_of_thresholds_mean(key, kind, formula, right):
    x = np.random.default_rng(0).normal(size=30)
    df = pd.DataFrame({"x": x, "k": np.arange(30) % 3, "z": np.arange(30) % 4})
    with pytest.raises(ArgumentError, match=re.escape(right)):
        sgmc.ordinal(formula, df, kind=kind, prior={key: sgmc.normal(0, 1)})


@pytest.mark.parametrize("name, end", [("lower", "low"), ("ub", "high"), ("low", "low")])
def test_ends_of_priors_without_ends(name, end):
    with pytest.raises(TypeError, match=rf"truncated\(sgmc.student_t\(...\), {end}=...\)"):
        sgmc.student_t(3, 0, 1, **{name: 0})


@pytest.mark.parametrize("key", ["my x:z", "`my x:z`", "`my x`:z", "z : `my x`", "`my x`:`z`"])
def test_parts_of_an_interaction_may_have_backticks_of_their_own(key):
    how = {"seed": 1, "sampler": "laplace"}
    made = sgmc.ols("y ~ `my x`*z", frame(), prior={key: sgmc.normal(0, 0.123)}, **how)
    assert [one.scale == 0.123 for one in made.priors.used] == [False] * 3 + [True, False]
    draws = made.draws[..., made.names.index("my x:z")]
    assert made.hypothesis(f"2*{key} > 0.1")["prob"] == (2 * draws > 0.1).mean()


@pytest.mark.parametrize("text", ["`my x:z > 0", "my x`:z > 0", "`my x`:`z > 0"])
def test_a_backtick_alone_is_refused(text):
    made = sgmc.ols("y ~ `my x`*z", frame(), seed=1, sampler="laplace")
    with pytest.raises(ArgumentError):
        made.hypothesis(text)


@pytest.mark.parametrize("deep", ["1+" * 5000 + "1", "-" * 100_000 + "1", "(" * 5000 + "x"])
def test_statements_that_are_too_deep_are_refused_in_few_words(deep):
    """Statements may come from outside, and Python's reader has errors of its own for these."""
    for ask, text in (("hypothesis", f"x > {deep}"), ("contrast", f"x - {deep}")):
        with pytest.raises(ArgumentError, match="too many signs or brackets|cannot read") as raised:
            getattr(fitted(), ask)(text)
        assert len(str(raised.value)) < 400
