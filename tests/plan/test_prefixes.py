"""Runs that end early are prefixes, and how much was done is counted and reported."""

import numpy as np
import pytest

import sgmc
from sgmc.errors import (
    ArgumentError,
    InterruptedWarning,
    LowESSWarning,
    SGMCWarning,
    ShapeWarning,
)
from sgmc.fit import tolerance
from sgmc.fit.tolerance import Noise

from .cases import draws_of, frame

# ---- the same draws ------------------------------------------------------------------------------

LONG = dict(sampler="lmsgld", seed=3, draws=100_000, thin=1, chains=2)


@pytest.mark.parametrize("gradient", [None, "saga", "svrg"])
def test_a_time_limit_gives_a_prefix(gradient, time_limit_after):
    df, slow = frame(), dict(LONG, draws=400_000, thin=4, gradient=gradient)
    with pytest.warns(InterruptedWarning, match="time limit"):
        short = sgmc.logit("y ~ a", df, **time_limit_after(1000), **slow)
    kept = short.draws.shape[1]
    assert 1000 <= kept < 400_000 and short.interrupted == "time limit"
    whole = sgmc.logit("y ~ a", df, **dict(slow, draws=kept + 10))
    np.testing.assert_array_equal(short.draws, whole.draws[:, :kept])


def test_a_time_limit_before_the_first_draw_leaves_draws_of_laplace(time_limit_after):
    with pytest.warns(InterruptedWarning, match="time_limit ended warmup; these are draws of the"):
        found = sgmc.logit("y ~ a", frame(), **time_limit_after(0), **dict(LONG, warmup=10**7))
    assert "(Laplace)" in found.stand_in and not found.verdict.trustworthy
    usual = sgmc.logit("y ~ a", frame(), sampler="mala", seed=3)
    # Laplace's own shift is 0.08 sd here, Monte Carlo errors are 0.03 sd and 2 %
    np.testing.assert_allclose(found.params, usual.params, atol=0.2 * usual.bse.min())
    np.testing.assert_allclose(found.bse, usual.bse, rtol=0.1)
    with pytest.raises(ArgumentError, match="resume: time_limit ended warmup"):
        found.resume()


@pytest.mark.cover(0)
@pytest.mark.parametrize("sampler", ["lmsgld", "lmsgld-saga", "lmsgld-svrg", "mala"])
def test_max_data_passes_gives_a_prefix(sampler):
    # saga has shorter steps with blocks, hence fewer draws
    scheme = "uniform" if "saga" in sampler else "block"
    df = frame()
    how = dict(sampler=sampler, subsample=scheme, seed=3, draws=5000, chains=2, warmup=100)
    whole = sgmc.logit("y ~ a", df, **how)
    part = sgmc.logit("y ~ a", df, max_data_passes=2400, **how)
    kept = part.draws.shape[1]
    assert 500 < kept < 5000
    np.testing.assert_array_equal(part.draws, whole.draws[:, :kept])
    passes = float(dict([*part.header[0], *part.header[1]])["Data passes"])
    assert 0.9 * 2400 < passes <= 1.01 * 2400 + 4


@pytest.mark.parametrize("gradient, centres", [("cv", 0), ("saga", 0), ("svrg", 107)])
def test_data_passes_count_the_rows_of_new_centres(gradient, centres):
    """4,300 steps of 50 of 2,000 rows in each of two chains; a centre serves 40 of them, and the
    first one is the mode.
    """
    results = sgmc.logit(
        "y ~ a",
        frame(2000),
        gradient=gradient,
        sampler="lmsgld",
        batch_size=50,
        step_size=0.5,
        thin=6,
        draws=700,
        warmup=100,
        chains=2,
        seed=1,
        subsample="uniform",
    )
    passes = float(dict([*results.header[0], *results.header[1]])["Data passes"])
    assert passes == 2 * (4300 * 50 / 2000 + centres)


def test_new_centres_count_in_the_choice_of_a_batch():
    spec, n, others = sgmc.LMSGLD(), 100_000, range(100, 60_000, 100)
    h, batch = tolerance.derive(spec, Noise(3000.0, 0, 2.0), n)

    def cost(m, h):
        return (2 * m + tolerance.OVERHEAD) / h

    assert all(
        cost(batch, h) < 1.02 * cost(m, tolerance.largest_h(spec, Noise(3000.0, 0), m, n))
        for m in others
    )
    assert Noise(1.0, 7, 2.0).rows(100) == 207


def test_noise_that_a_batch_has_in_common_limits_the_step():
    spec, n, noise = sgmc.LMSGLD(), 100_000, Noise(30.0, 0, shared=0.5)
    h, batch = tolerance.derive(spec, noise, n)
    assert spec.inflation(h, (30.0 / batch + 0.5) * (1 - batch / n)) == pytest.approx(
        tolerance.VARIANCE_TOLERANCE, rel=1e-6
    )
    assert h < 0.1 < tolerance.derive(spec, noise._replace(shared=0.0), n)[0]


def test_max_data_passes_too_few():
    with pytest.raises(ArgumentError, match="max_data_passes=1 is used up before the first draw"):
        sgmc.logit("y ~ a", frame(), sampler="mala", max_data_passes=1)


@pytest.mark.extended
def test_names_of_samplers_and_gradients():
    df, how = frame(), dict(seed=1)
    for names in (["sgld-cv", "SGLDCV", "sgld_cv", "Sgld-CV"], ["vsgbd", "sgbd", "SGBD"]):
        assert len({draws_of(sgmc.logit("y ~ a", df, sampler=name, **how)) for name in names}) == 1
    same = [
        dict(sampler="sgld-cv"),
        dict(sampler="sgld", gradient="cv"),
        dict(sampler=sgmc.SGLD, gradient="cv"),
        dict(sampler=sgmc.SGLD(), gradient="cv"),
    ]
    assert len({draws_of(sgmc.logit("y ~ a", df, **one, **how)) for one in same}) == 1


@pytest.mark.extended
def test_progress_is_reported_by_the_waiting_thread():
    import threading

    seen = []
    sgmc.logit(
        "y ~ a",
        frame(),
        sampler="mala",
        draws=30_000,
        seed=1,
        progress=lambda done, total: seen.append((done, total, threading.get_ident())),
    )
    assert seen
    assert {total for _, total, _ in seen} == {4 * 30_500}
    assert {who for *_, who in seen} == {threading.get_ident()}
    assert [done for done, *_ in seen] == sorted(done for done, *_ in seen)


def test_too_few_draws_are_warned_of_with_a_number_that_suffices():
    with pytest.warns(LowESSWarning) as caught:
        sgmc.logit("y ~ a + b", frame(), seed=1, draws=50)
    advice = next(w.message.advice for w in caught if isinstance(w.message, LowESSWarning))
    enough = int(advice.split("draws=")[-1].rstrip("."))
    assert 50 < enough <= 1000
    sgmc.logit("y ~ a + b", frame(), seed=1, draws=2 * enough)  # no warning: they are errors here


def test_far_starts_are_not_hidden():
    with pytest.warns(SGMCWarning) as caught:
        sgmc.logit(
            "y ~ a",
            frame(2000),
            sampler="sgld",
            init=[20.0, 20.0],
            warmup=0,
            step_size=0.05,
            thin=1,
            seed=1,
        )
    assert {type(w.message) for w in caught} >= {ShapeWarning, LowESSWarning}
