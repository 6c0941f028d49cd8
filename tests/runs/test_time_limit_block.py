"""``with sgmc.time_limit(seconds)``: whatever is called in it ends in time."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.core.system import deadline
from sgmc.errors import ArgumentError

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"x": RNG.normal(size=80), "g": RNG.choice(list("abcd"), 80)})
ENDED = r"time_limit\(5\) ended before the call was over"
FRAME["y"] = (RNG.random(80) < 0.5).astype(int)


@pytest.fixture(scope="module")
def fits():
    """One without groups, one with."""
    few = dict(seed=1, draws=60, chains=2, sampler="laplace")
    return sgmc.logit("y ~ x", FRAME, **few), sgmc.logit("y ~ x + (1 | g)", FRAME, **few)


@pytest.fixture
def up(monkeypatch):
    """The clock, on which the first look is at zero and all others are long after."""
    looks = iter([0.0])
    monkeypatch.setattr(deadline, "clock", lambda: next(looks, 1e9))


CALLS = {
    "predict": lambda fit, place: fit.predict(FRAME),
    "predict a file": lambda fit, place: fit.predict(str(place / "rows.csv")),
    "avg_slopes": lambda fit, place: fit.avg_slopes(),
    "comparisons": lambda fit, place: fit.comparisons("x"),
    "loo": lambda fit, place: fit.loo(),
    "posterior_predict": lambda fit, place: fit.posterior_predict(FRAME),
    "kfold": lambda fit, place: fit.kfold(FRAME, 2),
    "prepare": lambda fit, place: sgmc.prepare("y ~ x", FRAME, place / "table.sgmc"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_is_not_over_is_an_error(name, fits, tmp_path, up):
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(ArgumentError, match=ENDED), sgmc.time_limit(5):
        CALLS[name](fits[0], tmp_path)


@pytest.mark.parametrize("name", ["predict", "avg_slopes", "loo"])
def test_so_it_is_beside_group_effects(name, fits, tmp_path, up):
    with pytest.raises(ArgumentError, match=ENDED), sgmc.time_limit(5):
        CALLS[name](fits[1], tmp_path)


def test_a_fit_leaves_what_it_has(up):
    with sgmc.time_limit(5):
        found = sgmc.logit("y ~ x", FRAME, seed=1)
    assert "time_limit ended" in found.verdict.text


def test_the_limit_ends_with_its_block(fits):
    with sgmc.time_limit(1e-9):
        pass
    assert deadline.current() is deadline.NEVER and len(fits[0].predict(FRAME)) == 80


def test_other_errors_pass_and_the_limit_is_positive():
    with pytest.raises(KeyError), sgmc.time_limit(5):
        raise KeyError("x")
    with pytest.raises(ArgumentError, match="time_limit"):
        sgmc.time_limit(-1)
