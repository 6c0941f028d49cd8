"""The choice of `auto`, and warnings of steps and noise."""

import re

import numpy as np
import pytest

import sgmc
from sgmc.errors import (
    GradientNoiseWarning,
    SGMCWarning,
    StepSizeWarning,
)

from .cases import frame

# ---- auto ----------------------------------------------------------------------------------------


def heavy(n, df, seed=1):
    """Rows whose predictor a has heavy tails: some of them say much more than others."""
    return frame(n, seed).assign(a=np.random.default_rng([seed, n]).standard_t(df, n))


@pytest.mark.parametrize(
    "df, exact",
    [(frame(20_000), False), (frame(2000), False), (heavy(60, 2), True), (heavy(40, 3), True)],
    ids=["20000", "2000", "60", "40"],
)
def test_auto_takes_minibatches_where_they_pay_and_says_why(df, exact):
    results = sgmc.logit("y ~ a + b", df, seed=1, draws=2000)
    assert type(results.sampler) is (sgmc.MALA if exact else sgmc.LMSGLD)
    text = " ".join(results.summary(details=True).as_text().split())
    assert ("exact MCMC on all rows" in text) == exact
    times, touched, whole = re.search(
        r"sampler chosen: (?:about ([\d.,]+)|batches).* \(([\d,]+) and about ([\d,]+) rows per ",
        text,
    ).groups()
    if not exact:
        assert float(times) == pytest.approx(
            len(df) / 2 / float(touched.replace(",", "")), rel=0.06
        )
    assert int(whole.replace(",", "")) == len(df) // 2
    assert (int(touched.replace(",", "")) > len(df) / 2) == exact


def test_auto_takes_the_exact_sampler_far_from_a_gaussian():
    df = frame(60).assign(
        x=lambda t: np.where(t.index % 12, 0.0, 1.0), y=lambda t: t.y * (t.x == 0)
    )
    with pytest.warns(SGMCWarning):
        results = sgmc.logit("y ~ a + x", df, seed=1, prior="cauchy", draws=2000)
    assert type(results.sampler) is sgmc.NUTS


def curve(t):
    """A banana."""
    return -0.5 * t.x**2 - 0.5 * ((t.y - t.x**2) / 0.3) ** 2


class Curve(sgmc.Model):
    """The same in numpy, whose gradients take calls of Python."""

    n, parameters, prior = 1, {"x": (), "y": ()}, "flat"

    def log_lik(self, theta, rows):
        return -0.5 * theta["x"] ** 2 - 0.5 * ((theta["y"] - theta["x"] ** 2) / 0.3) ** 2


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_auto_takes_paths_for_compiled_densities_of_little_work():
    assert Curve().fit(seed=1, draws=50).sampler.name == "mala"
    pytest.importorskip("numba")
    found = sgmc.NumbaModel(curve, (), parameters={"x": (), "y": ()}, prior="flat")
    assert found.fit(seed=1, draws=50).sampler.name == "nuts"


# ---- warnings of steps and noise -----------------------------------------------------------------


@pytest.mark.extended("noise", "huge step")
@pytest.mark.parametrize(
    "how, warning, text",
    [
        (
            dict(sampler="sgld", step_size=1.0),
            StepSizeWarning,
            "the step widens the draws by about 15 %",
        ),
        (
            dict(sampler="sgld-simple", batch_size=20, step_size=0.1),
            GradientNoiseWarning,
            "gradient noise widens the draws",
        ),
        (dict(sampler="sgld", step_size=3.99, draws=5000), StepSizeWarning, "of a posterior sd"),
    ],
    ids=["step", "noise", "huge step"],
)
def test_a_step_or_batch_too_rough_is_warned_of_in_numbers(how, warning, text):
    with pytest.warns(SGMCWarning) as caught:
        results = sgmc.logit("y ~ a", frame(), seed=1, **how)
    assert text in " ".join(str(w.message) for w in caught if isinstance(w.message, warning))
    assert f"[{warning.__name__}]" in results.summary().as_text()
    exact = sgmc.logit("y ~ a", frame(), seed=1, sampler="mala", draws=2000)
    assert (results.bse > 1.05 * exact.bse).all()  # and rightly so


def test_the_announced_widening_is_the_measured_one():
    with pytest.warns(StepSizeWarning, match="by about 15 %"):
        wide = sgmc.logit("y ~ a", frame(2000), seed=1, sampler="sgld", step_size=1.0, draws=4000)
    exact = sgmc.logit("y ~ a", frame(2000), seed=1, sampler="mala", draws=4000)
    # 1 / sqrt(1 - 1/4) = 1.155; Monte Carlo error of both sds about 1 % each
    np.testing.assert_allclose(wide.bse / exact.bse, 1.155, rtol=0.03)
