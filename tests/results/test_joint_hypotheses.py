"""Statements that join inequalities, against shares of the draws."""

import numpy as np
import pytest

from sgmc.diagnostics.chains import convergence
from sgmc.errors import ArgumentError
from sgmc.results.parameters import hypotheses

from .votes import flat

BOTH = "x1 > 0.8 & my var < -0.5"
STATEMENTS = {
    BOTH: lambda d: (d["x1"] > 0.8) & (d["my var"] < -0.5),
    "x1 > 0.9 | x10 > 0": lambda d: (d["x1"] > 0.9) | (d["x10"] > 0),
    "-0.1 < x10 < 0.1": lambda d: np.abs(d["x10"]) < 0.1,
    "0.1 >= x10 >= -0.1": lambda d: np.abs(d["x10"]) < 0.1,
    "x10 > 0 & x1 > 0.8 | `my var` > -0.5": lambda d: (
        (d["x10"] > 0) & (d["x1"] > 0.8) | (d["my var"] > -0.5)
    ),
    "x10 > 0 & (x1 > 0.8 | my var > -0.5)": lambda d: (
        (d["x10"] > 0) & ((d["x1"] > 0.8) | (d["my var"] > -0.5))
    ),
    "(2*(x1 - x10) > 1.5) & (g[T.b] > g[T.c])": lambda d: (
        (2 * (d["x1"] - d["x10"]) > 1.5) & (d["g[T.b]"] > d["g[T.c]"])
    ),
}


def assert_share(results, statement):
    draws, w = flat(results)
    holds = STATEMENTS[statement](dict(zip(results.names, draws.T)))
    found = results.hypothesis(statement)
    assert found["prob"] == pytest.approx(w @ holds, abs=1e-12)
    own = holds.reshape(results.draws.shape[:2])[..., None].astype(float)
    wanted = convergence.mcse(own, weights=results.weights)[0]
    assert found["mcse"] == pytest.approx(wanted) and 0 < wanted < 0.05


@pytest.mark.parametrize("statement", STATEMENTS)
def test_shares_of_draws(either, statement):
    assert_share(either, statement)
    assert ("mean" in either.hypothesis(statement)) is False


def test_a_single_inequality_has_its_difference_too(results):
    assert list(results.hypothesis("x1 > 0").index) == [
        "mean",
        "sd",
        "[0.025",
        "0.975]",
        "prob",
        "mcse",
    ]


def test_where_all_draws_agree_the_error_is_not_zero(results):
    found = results.hypothesis("x1 > -100 & x10 < 100")
    assert found["prob"] == 1 and 1 / 8000 < found["mcse"] < 1 / 1000


@pytest.mark.mistake("joint hypotheses: {mistake}")
@pytest.mark.parametrize("name", ["logit"])
@pytest.mark.parametrize("mistake", ["product of probabilities", "& as |"])
def test_a_mistake_is_seen(results, name, mistake, monkeypatch):
    right = hypotheses.Reading.holds
    if mistake == "& as |":
        monkeypatch.setattr(
            hypotheses.Reading, "holds", lambda self, code: right(self, code.replace("&", "|"))
        )
        with pytest.raises(AssertionError):
            assert_share(results, BOTH)
    else:
        parts = [results.hypothesis(one)["prob"] for one in ("x1 > 0.8", "my var < -0.5")]
        assert abs(results.hypothesis(BOTH)["prob"] - np.prod(parts)) > 0.01


@pytest.mark.parametrize("text", ["x1 > 0 & (x10 > 0", "x1 > 0 | y > 0", "(x1 > 0) > 1", "&"])
def test_what_is_refused(results, text):
    with pytest.raises(ArgumentError, match="hypothesis"):
        results.hypothesis(text)
