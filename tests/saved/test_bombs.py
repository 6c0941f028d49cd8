"""Files that were made to execute something: nothing of it happens, and the error is clear."""

import copy
import os
import pickle

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.core.system.files import read_sealed, write_sealed
from sgmc.errors import ArgumentError, FormulaError
from sgmc.results.files import KIND
from sgmc.saved.foreign import column

from .hostile import nodes

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"x": RNG.normal(size=80), "y": RNG.random(80) < 0.5})


class Bomb:
    """A pickle of it makes a file when it is opened."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.fixture(scope="module")
def fit():
    return sgmc.logit("y ~ np.sin(x)", FRAME, seed=1, draws=20, chains=1)


@pytest.fixture
def tree(fit, tmp_path):
    fit.save(tmp_path / "fit")
    return read_sealed(tmp_path / "fit", KIND)


def test_the_bomb_would_go_off(tmp_path):
    pickle.loads(pickle.dumps(Bomb(tmp_path / "made")))
    assert (tmp_path / "made").exists()


@pytest.mark.parametrize("number", [8, 9])
def test_a_pickle_where_it_was_is_not_opened(number, tree, tmp_path):
    bomb = np.frombuffer(pickle.dumps(Bomb(tmp_path / "made")), np.uint8)
    write_sealed(tmp_path / "old", KIND, {"format": number, "version": "0", "pickle": bomb})
    with pytest.raises(ArgumentError, match="saved results as a pickle|is damaged"):
        sgmc.load(tmp_path / "old")
    tree["results"]["state"]["starts"] = bomb
    write_sealed(tmp_path / "new", KIND, tree)
    assert sgmc.load(tmp_path / "new").starts.dtype == np.uint8  # bytes remain bytes
    assert not (tmp_path / "made").exists()


FORGED = ["os.system", "builtins.eval", "python.eval", "numpy.load", "numpy.fromfile", "numpy.lib",
          "numpy.frompyfunc", "pandas.read_pickle", "pandas.eval", "formula.Q", "formula.np",
          "patsy.Q", "os", "subprocess", "scipy.io", "sgmc.load", "math.factorial"]  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_functions_that_are_not_listed_are_refused(name, tree, tmp_path):
    functions = [one for one in nodes(tree) if one.get("is") == "function"]
    assert [one["name"] for one in functions] == ["numpy"]
    functions[0]["name"] = name
    write_sealed(tmp_path / "bad", KIND, tree)
    with pytest.raises(ArgumentError, match="not in this release's list of functions"):
        sgmc.load(tmp_path / "bad")


@pytest.mark.parametrize("name", ["os.system", "subprocess.Popen", "sampler Popen", "eval", "Bomb"])
def test_classes_that_are_not_listed_are_refused(name, tree, tmp_path):
    wrong = {"is": "object", "class": name, "arguments": ["touch made"]}
    tree["results"]["state"]["_ksd"] = wrong
    write_sealed(tmp_path / "bad", KIND, tree)
    with pytest.raises(ArgumentError, match=f"sgmc {sgmc.__version__}.*no {name!r} that files"):
        sgmc.load(tmp_path / "bad")


CODE = ["__import__('os').system('touch made')", "np.load('made')",
        "np.lib.os.system('touch made')",
        "().__class__.__bases__[0].__subclasses__()", "(lambda: 1)()", "[c for c in (1, 2)]",
        "np.sin(_sgmc_0_).tofile('made')", "_sgmc_0_.to_pickle('made')", "open('made', 'w')",
        "f'{open(1)}'", "9 ** 9 ** 9", "(x := 1)", "np.sin.__class__", "_sgmc_0_[0]"]  # fmt: skip


@pytest.mark.parametrize("code", CODE)
def test_code_in_a_formula_is_looked_through(code, tree, tmp_path):
    for one in nodes(tree):
        if "sin" in str(one.get("code", "")):
            one["code"] = code
    write_sealed(tmp_path / "bad", KIND, tree)
    with pytest.raises(ArgumentError, match="a formula in the file has"):
        sgmc.load(tmp_path / "bad")


@pytest.mark.parametrize(
    "formula", ["y ~ open('made', 'w')", "y ~ np.load(x)", "open('made') ~ x", "y ~ x.tofile('a')"]
)
def test_formulas_that_are_read_again_are_looked_through(formula, tree, tmp_path):
    changed = [one for one in nodes(tree) if one.get("formula") == "y ~ np.sin(x)"]
    for one in changed:
        one["formula"] = formula
    assert changed
    write_sealed(tmp_path / "bad", KIND, tree)
    with pytest.raises(ArgumentError, match="a formula in the file has"):
        sgmc.load(tmp_path / "bad")


def test_another_release_is_named(tree, tmp_path):
    later = {**copy.deepcopy(tree), "format": 10, "version": "7.1"}
    write_sealed(tmp_path / "later", KIND, later)
    with pytest.raises(ArgumentError, match=r"format 10, of sgmc 7\.1; this is sgmc"):
        sgmc.load(tmp_path / "later")
    verdict = next(one for one in nodes(tree) if one.get("class") == "Verdict")
    verdict["state"]["stars"] = 5
    write_sealed(tmp_path / "more", KIND, tree)
    with pytest.raises(ArgumentError, match="Verdict has a field 'stars' there"):
        sgmc.load(tmp_path / "more")


def test_functions_of_the_user_are_given_when_a_file_is_opened(tmp_path):
    def mine(x):
        return x**2

    fit = sgmc.logit("y ~ mine(x)", FRAME, seed=1, draws=20, chains=1)
    fit.save(tmp_path / "fit")
    with pytest.raises(ArgumentError, match=r"functions=\{'mine': mine\}"):
        sgmc.load(tmp_path / "fit")
    again = sgmc.load(tmp_path / "fit", functions={"mine": mine})
    assert again.predict(FRAME).equals(fit.predict(FRAME))
    without = sgmc.load(tmp_path / "fit", functions={"mine": None})
    assert (without.draws == fit.draws).all()
    with pytest.raises(FormulaError, match="was not given when"):
        without.predict(FRAME)


def test_other_code_needs_trust(tmp_path):
    fit = sgmc.logit("y ~ x.clip(-1, 1)", FRAME, seed=1, draws=20, chains=1)
    fit.save(tmp_path / "fit")
    with pytest.raises(ArgumentError, match="trust_formulas=True"):
        sgmc.load(tmp_path / "fit")
    again = sgmc.load(tmp_path / "fit", trust_formulas=True)
    assert again.predict(FRAME).equals(fit.predict(FRAME)) and os.listdir(tmp_path) == ["fit"]


UNREADABLE = {
    "this release has no value of the kind 'spell'": {"is": "spell"},
    "it refers to what is not there": {"is": "same", "as": 10**9},
    "Verdict has other fields in this release": {"is": "tuple", "class": "Verdict", "of": [1]},
}


@pytest.mark.parametrize("message", UNREADABLE)
def test_values_of_other_releases_are_refused(message, tree, tmp_path):
    tree["results"]["state"]["_ksd"] = UNREADABLE[message]
    write_sealed(tmp_path / "bad", KIND, tree)
    with pytest.raises(ArgumentError, match=message):
        sgmc.load(tmp_path / "bad")


def test_columns_of_other_types_are_left_to_the_refusal():
    with pytest.raises(TypeError, match=r"a column of type period\[M\]"):
        column(pd.period_range("2000-01", periods=3, freq="M").array)


def test_a_file_with_a_method_and_a_function_says_both_and_the_column(tmp_path):
    frame = pd.DataFrame({"year": [2000, 2001] * 30, "y": np.arange(60.0) % 7})
    fitted = sgmc.ols("y ~ year.astype(str)", frame, seed=1, draws=50, sampler="laplace")
    fitted.save(tmp_path / "fit")
    both = r"functions=\{'str': str\}, trust_formulas=True\)"
    for given in ({}, {"functions": {"str": str}}):
        with pytest.raises(ArgumentError, match=both) as refused:
            sgmc.load(tmp_path / "fit", **given)
        assert "'year.astype'" in str(refused.value) and "_sgmc_" not in str(refused.value)
        assert "yours" not in str(refused.value)
    again = sgmc.load(tmp_path / "fit", functions={"str": str}, trust_formulas=True)
    np.testing.assert_allclose(again.predict(frame), fitted.predict(frame))
