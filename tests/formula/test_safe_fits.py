"""Results and prepared files of formulas from outside remember where these come from."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.api.cli import main
from sgmc.errors import ArgumentError, FormulaError
from sgmc.formula.evaluation.safe import SafeFormula

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
RNG = np.random.default_rng(0)
N = 80
FRAME = pd.DataFrame(
    {
        "y": RNG.integers(0, 2, N),
        "n": RNG.poisson(2, N),
        "x": RNG.normal(size=N),
        "z": RNG.uniform(0.5, 2, N),
        "g": RNG.choice(["a", "b", "c"], N),
    }
)
TEXT = "y ~ poly(x, 2) + C(g) + log(z)"
SAFE = sgmc.formula(TEXT, safe=True)
HOW = {"draws": 20, "chains": 1, "seed": 1}


@pytest.fixture(scope="module")
def fit():
    return sgmc.logit(SAFE, FRAME, **HOW)


def log(x):
    """What is in the caller's scope under the name of a listed function."""
    raise AssertionError("the caller's log was called")


def test_draws_are_those_of_the_text(fit):
    model = sgmc.Logit.from_formula(TEXT, FRAME, scope={})
    assert (model.fit(**HOW).draws == fit.draws).all()
    assert str(fit.model.formula) == TEXT and TEXT in repr(sgmc.Logit.from_formula(SAFE, FRAME))


def test_files_need_no_trust(fit, tmp_path):
    fit.save(tmp_path / "fit")
    again = sgmc.load(tmp_path / "fit")
    assert again.model.formula == SAFE
    assert again.predict(FRAME).equals(fit.predict(FRAME))
    assert (again.resume(20, data=FRAME).draws[:, :20] == fit.draws).all()


def test_what_is_read_again_is_read_in_the_same_way(fit):
    changed = fit.update("~ . + x:z", FRAME)
    assert changed.model.formula == SafeFormula(TEXT + " + x:z")
    with pytest.raises(FormulaError, match=r"'x\.clip'.*a dot takes"):
        fit.update("~ . + x.clip(0, 1)", FRAME)
    plain = sgmc.logit("y ~ x", FRAME, **HOW)
    more = plain.update(sgmc.formula(". ~ . + log(z)", safe=True), FRAME)
    assert more.model.formula == SafeFormula("y ~ x + log(z)")
    later = fit.update(FRAME.head(40))
    assert later.model.formula == SAFE
    with pytest.raises(FormulaError, match="no function 'mine'"):
        fit.update("~ . + mine(x)", FRAME)


def test_every_kind_of_model_takes_them():
    formula = sgmc.formula("n ~ x | log(z)", safe=True)
    assert sgmc.ZeroInflated.from_formula(formula, FRAME).formula == formula
    with pytest.raises(FormulaError, match="not in the list of functions"):
        sgmc.ZeroInflated.from_formula(SafeFormula("n ~ x | open(z)"), FRAME)
    grouped = sgmc.formula("y ~ log(z) + (1 + x | g) + s(x, k=5)", safe=True)
    assert grouped == sgmc.Logit.from_formula(grouped, FRAME).formula
    network = sgmc.BNN(sgmc.formula("n ~ x + log(z)", safe=True), FRAME, hidden=2)
    assert network.formula == SafeFormula("n ~ x + log(z)")


def test_prepared_files_remember(tmp_path):
    table = sgmc.prepare(SAFE, FRAME, tmp_path / "table.sgmc", seed=1)
    again = sgmc.open(tmp_path / "table.sgmc")
    assert table.formula == again.formula == SAFE
    assert sgmc.Logit.from_formula(SAFE, again).formula == SAFE
    with pytest.raises(FormulaError, match=r"sgmc\.formula\('y ~ .*, safe=True\), not 'y ~ "):
        sgmc.Logit.from_formula(TEXT, again)
    plain = sgmc.prepare("y ~ x", FRAME, tmp_path / "plain.sgmc", seed=1)
    with pytest.raises(FormulaError, match="give the same"):
        sgmc.Logit.from_formula(sgmc.formula("y ~ x", safe=True), plain)
    with pytest.raises(FormulaError, match="not in the list of functions"):
        sgmc.prepare(SafeFormula("y ~ open(x)"), FRAME, tmp_path / "no.sgmc")
    with pytest.raises(sgmc.errors.DataError, match="beside a safe formula"):
        sgmc.prepare(SAFE, FRAME, tmp_path / "no.sgmc", subset="x > @z")


def test_files_of_tables(tmp_path):
    FRAME.to_csv(tmp_path / "table.csv", index=False)
    model = sgmc.Logit.from_formula(SAFE, tmp_path / "table.csv", memory_limit="64MB")
    assert model.formula == SAFE


def test_the_command_line_takes_them(tmp_path, capsys, monkeypatch):
    FRAME.to_csv(tmp_path / "table.csv", index=False)
    monkeypatch.chdir(tmp_path)
    how = ["table.csv", "--draws", "20", "--chains", "1", "--seed", "1"]
    assert main(["fit", "y ~ log(z) + C(g)", *how, "--safe"]) == 0
    capsys.readouterr()
    assert main(["fit", "y ~ x + open('made', 'w')", *how, "--safe"]) == 2
    assert "not in the list of functions" in capsys.readouterr().err
    assert main(["fit", "y ~ x", *how, "--safe", "--subset", "x > @sys"]) == 2
    assert "beside a safe formula" in capsys.readouterr().err
    assert main(["prepare", "y ~ x.clip(0, 1)", "table.csv", "t.sgmc", "--safe"]) == 2
    assert sorted(one.name for one in tmp_path.iterdir()) == ["table.csv"]


def test_a_safe_text_is_required():
    with pytest.raises(ArgumentError, match="safe='yes' must be True or False"):
        sgmc.formula("y ~ x", safe="yes")
