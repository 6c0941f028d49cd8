"""What is derived where the user leaves it open, and that runs which end early are prefixes."""

import hashlib
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.core.schedules import Constant, Cyclical, Polynomial
from sgmc.diagnostics import moments
from sgmc.errors import (
    ArgumentError,
    GradientNoiseWarning,
    InterruptedWarning,
    LowESSWarning,
    SGMCWarning,
    ShapeWarning,
    StepSizeWarning,
)
from sgmc.fit import plan as planning
from sgmc.registry import room

STOCHASTIC = [
    cls()
    for _, cls in sorted(room("samplers").items())
    if cls().minibatches and not cls.continuous and not cls.probabilities
]
WHITENED = SimpleNamespace(max_precision=1.0, min_precision=1.0, whitened=True, scaled=True)


def frame(n=400, seed=0, shift=0.0):
    """Rows with outcome y and predictors a, b."""
    rng = np.random.default_rng([seed, n])
    df = pd.DataFrame(rng.normal(shift, 1, (n, 2)), columns=["a", "b"])
    return df.assign(y=(rng.random(n) < 1 / (1 + np.exp(0.5 - df.a + 0.5 * df.b))).astype(int))


def draws_of(results):
    """A digest of every bit of the draws."""
    return hashlib.sha256(np.ascontiguousarray(results.draws).tobytes()).hexdigest()


def settings(**given):
    """What `plan` reads of a fit's settings."""
    return SimpleNamespace(
        **{
            **dict(
                batch_size=None,
                adaptive=False,
                step_size=None,
                thin=None,
                warmup=None,
                sampler=None,
            ),
            **given,
        }
    )


def planned(spec, one_row, n=100_000, d=3, **given):
    """The plan of that sampler for gradient noise V1 = one_row."""
    return planning.plan(
        spec,
        "cv",
        "",
        settings(sampler=spec, **given),
        planning.Noise(one_row, 0),
        (n, d),
        WHITENED,
    )


# ---- step and batch ------------------------------------------------------------------------------


@pytest.mark.parametrize("one_row", [0.01, 5.0, 300.0, 2e4])
@pytest.mark.parametrize("spec", STOCHASTIC, ids=repr)
def test_derived_step_and_batch_keep_the_tolerance(spec, one_row):
    n = 100_000
    plan = planned(spec, one_row, n)
    h = spec.langevin_time(plan.schedule(0))
    noise = one_row / plan.batch * (1 - plan.batch / n)

    def off(h):  # errors are not to cancel, nor to rest on a correction alone
        return max(
            abs(spec.inflation(h, noise)),
            abs(spec.inflation(h, 0.0)) / 3,
            spec.noise_ratio(h, noise) * planning.VARIANCE_TOLERANCE / planning.NOISE_SHARE,
        )

    assert plan.step_origin == "derived" and isinstance(plan.schedule, Constant)
    assert h == pytest.approx(plan.langevin_time, rel=1e-12)
    assert 0 < h <= spec.largest_step * (1 + 1e-12)
    assert off(h) <= planning.VARIANCE_TOLERANCE * (1 + 1e-9)
    if h < spec.largest_step:  # not more careful than needed
        assert off(1.01 * h) > planning.VARIANCE_TOLERANCE
    besides = planning.OVERHEAD + spec.rows_besides(n, 3)
    cost = (plan.batch + besides) / h
    # nor costlier; msgld errs to both sides
    for other in (plan.batch // 2, 2 * plan.batch) if spec.name != "msgld" else ():
        if planning.SMALLEST_BATCH <= other <= n:
            assert cost <= 1.02 * (other + besides) / planning.largest_h(
                spec, planning.Noise(one_row, 0), other, n
            )


@pytest.mark.parametrize(
    "spec", [s for s in STOCHASTIC if s.name not in ("msgld", "psgld")], ids=repr
)
def test_inflation_grows_with_step_and_noise(spec):
    """But for msgld, which errs to both sides, and psgld,
    which short steps let follow the chain.
    """
    steps, noises = np.linspace(0.01, 0.3, 20) * spec.largest_step, [0.0, 0.1, 1.0, 3.0]
    table = np.abs([[spec.inflation(h, v) for h in steps] for v in noises])
    assert np.isfinite(table).all()
    assert (np.diff(table, axis=0) >= -1e-15).all()
    assert (np.diff(table, axis=1) >= -1e-15).all()


def test_inflation_of_langevin_steps_is_the_closed_form():
    h, v = 0.3, 2.0  # x' = (1 - h/2) x + h/2 e + sqrt(h) xi, Var e = v
    variance = (h + h * h / 4 * v) / (1 - (1 - h / 2) ** 2)
    assert sgmc.SGLD().inflation(h, v) == pytest.approx(variance - 1, rel=1e-12)
    assert sgmc.LMSGLD().inflation(h, v) == pytest.approx(
        h * h / 4 * v / (1 - (1 - h / 2) ** 2), rel=1e-12
    )


def test_the_batch_of_a_given_step_and_the_step_of_a_given_batch():
    spec, n, noise = sgmc.SGLD(), 100_000, 300.0
    small_step = planned(spec, noise, n, step_size=0.01)
    assert small_step.step_origin == "given" and small_step.schedule(0) == 0.01
    added = spec.inflation(0.01, noise / small_step.batch) - spec.inflation(0.01, 0.0)
    assert (
        0.9 * planning.VARIANCE_TOLERANCE
        < added
        <= planning.VARIANCE_TOLERANCE * (1 + small_step.batch / n)
    )
    assert planned(spec, noise, n, step_size=0.02).batch > small_step.batch
    given = planned(spec, noise, n, batch_size=500)
    assert given.batch == 500
    assert spec.inflation(given.langevin_time, noise / 500 * (1 - 500 / n)) == pytest.approx(
        planning.VARIANCE_TOLERANCE, rel=1e-6
    )


@pytest.mark.parametrize("spec", STOCHASTIC, ids=repr)
def test_thin_and_warmup_follow_the_step(spec):
    plan = planned(spec, 5.0)
    assert plan.thin == int(np.ceil(4 / plan.langevin_time))
    assert plan.warmup == int(np.ceil(20 / plan.langevin_time))
    given = planned(spec, 5.0, thin=7, warmup=0)
    assert (given.thin, given.warmup) == (7, 0)


def test_exact_samplers_keep_every_step_unless_chosen_by_auto():
    assert (planned(sgmc.MALA(), 0.0).thin, planned(sgmc.MALA(), 0.0).warmup) == (
        1,
        planning.METROPOLIS_WARMUP,
    )
    chosen = planning.plan(
        sgmc.MALA(), "cv", "", settings(), planning.Noise(0.0, 0), (100, 3), WHITENED
    )
    assert chosen.thin == int(np.ceil(4 / sgmc.MALA().first_step(3)))
    assert planned(sgmc.Laplace(), 0.0).warmup == 0


@pytest.mark.parametrize("argument", [dict(batch_size=401), dict(batch_size=10**9)])
def test_batches_beyond_the_rows_are_refused(argument):
    with pytest.raises(
        ArgumentError, match=rf"batch_size={argument['batch_size']} exceeds the 400 rows"
    ):
        sgmc.logit("y ~ a", frame(), sampler="sgld", **argument)


@pytest.mark.parametrize("sampler", ["mala", "laplace"])
def test_batches_do_not_apply_to_samplers_of_all_rows(sampler):
    with pytest.raises(ArgumentError, match=f"batch_size does not apply to {sampler}"):
        sgmc.logit("y ~ a", frame(), sampler=sampler, batch_size=10)


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
    text = " ".join(results.summary().as_text().split())
    assert ("all rows" in text) == exact
    touched, whole = re.search(
        r"[Ss]ampler.* ([\d,]+) rows a unit of time, exact steps about ([\d,]+)\.", text
    ).groups()
    assert int(whole.replace(",", "")) == len(df) // 2
    assert (int(touched.replace(",", "")) > len(df) / 2) == exact


def test_auto_takes_the_exact_sampler_far_from_a_gaussian():
    df = frame(60).assign(
        x=lambda t: np.where(t.index % 12, 0.0, 1.0), y=lambda t: t.y * (t.x == 0)
    )
    with pytest.warns(SGMCWarning):
        results = sgmc.logit("y ~ a + x", df, seed=1, prior="cauchy", draws=2000)
    assert type(results.sampler) is sgmc.MALA


# ---- warnings of steps and noise -----------------------------------------------------------------


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


# ---- steps as the user gives them ----------------------------------------------------------------


def test_a_number_is_a_constant_step():
    results = sgmc.logit("y ~ a", frame(), sampler="sgld", step_size=0.05, thin=20, seed=1)
    assert results.step_size == 0.05 and results.weights is None
    assert "0.05 (given)" in results.summary().as_text()


@pytest.mark.parametrize(
    "schedule, f",
    [
        (sgmc.Polynomial(1.0, 1000, 0.25), lambda t: (1000 + t) ** -0.25),
        (lambda t: 0.15 / (1 + 1e-4 * t), lambda t: 0.15 / (1 + 1e-4 * t)),
    ],
    ids=["Polynomial", "callable"],
)
def test_decreasing_steps_weigh_the_draws(schedule, f):
    results = sgmc.logit(
        "y ~ a", frame(), sampler="sgld", step_size=schedule, thin=20, warmup=50, draws=4000, seed=1
    )
    last = 50 + 20 * np.arange(1, 4001) - 1  # the step that led to each kept draw
    np.testing.assert_allclose(results.weights, [f(int(t)) for t in last], rtol=1e-12)
    np.testing.assert_allclose(
        results.params, moments.mean(results.draws, results.weights), rtol=1e-12
    )
    assert abs(results.params / results.draws.mean(axis=(0, 1)) - 1).max() > 1e-4
    exact = sgmc.logit("y ~ a", frame(), sampler="mala", draws=3000, seed=1)
    error = np.hypot(exact.mcse(), results.mcse())
    assert (abs(results.params - exact.params) < 0.1 * exact.bse + 4 * error).all()
    assert "decaying" in results.summary().as_text()


@pytest.mark.parametrize("preconditioner", ["mode", "dense", "diag", None])
def test_step_sizes_are_in_the_samplers_coordinates(preconditioner):
    """Chains forget as fast with a step of 0.1 whitened as with 0.1 / (posterior precision)
    in the user's coordinates.
    """
    df = frame(2000)
    one_sd = float(sgmc.logit("y ~ 0 + a", df, seed=1).bse.iloc[0])
    step = 0.1 if preconditioner else 0.1 * one_sd**2
    results = sgmc.logit(
        "y ~ 0 + a",
        df,
        sampler="sgld",
        step_size=step,
        precondition=preconditioner,
        draws=20_000,
        thin=1,
        seed=1,
    )
    assert results.step_size == step
    lag_one = np.corrcoef(results.draws[0, 1:, 0], results.draws[0, :-1, 0])[0, 1]
    assert abs(lag_one - 0.95) < 0.01  # 1 - h/2; its Monte Carlo error is 0.002


@pytest.mark.parametrize("gradient", ["cv", "taylor"])
def test_control_values_are_at_the_mode_in_any_coordinates(gradient):
    shares = []
    for precondition in ("mode", "diag", None):
        results = sgmc.logit(
            "y ~ 0 + a",
            frame(2000),
            sampler="lmsgld",
            gradient=gradient,
            precondition=precondition,
            draws=2000,
            batch_size=64,
            seed=1,
        )
        shares.append(float(dict(results.header[0])["Grad-noise share"]))
    np.testing.assert_allclose(shares, shares[0], rtol=0.2)  # printed with two digits
    assert 0 < shares[0] < 0.01


def test_draws_start_at_init():
    start = [5.0, -5.0]
    with pytest.warns(SGMCWarning):  # two draws do not suffice for anything
        results = sgmc.logit(
            "y ~ a",
            frame(),
            sampler="sgld",
            init=start,
            step_size=1e-10,
            warmup=0,
            thin=1,
            draws=2,
            seed=1,
        )
    np.testing.assert_allclose(results.draws, np.broadcast_to(start, (4, 2, 2)), atol=1e-3)
    each = np.arange(8.0).reshape(4, 2)
    with pytest.warns(SGMCWarning):
        results = sgmc.logit(
            "y ~ a",
            frame(),
            sampler="sgld",
            init=each,
            step_size=1e-10,
            warmup=0,
            thin=1,
            draws=2,
            seed=1,
        )
    np.testing.assert_allclose(results.draws[:, 0], each, atol=1e-3)


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


def test_a_time_limit_before_the_first_draw_is_an_error():
    with pytest.raises(ArgumentError, match="time_limit ended the run before the first draw"):
        sgmc.logit("y ~ a", frame(), time_limit=1e-3, **dict(LONG, warmup=10**7))


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
    h, batch = planning.derive(spec, planning.Noise(3000.0, 0, 2.0), n)

    def cost(m, h):
        return (2 * m + planning.OVERHEAD) / h

    assert all(
        cost(batch, h) < 1.02 * cost(m, planning.largest_h(spec, planning.Noise(3000.0, 0), m, n))
        for m in others
    )
    assert planning.Noise(1.0, 7, 2.0).rows(100) == 207


def test_noise_that_a_batch_has_in_common_limits_the_step():
    spec, n, noise = sgmc.LMSGLD(), 100_000, planning.Noise(30.0, 0, shared=0.5)
    h, batch = planning.derive(spec, noise, n)
    assert spec.inflation(h, (30.0 / batch + 0.5) * (1 - batch / n)) == pytest.approx(
        planning.VARIANCE_TOLERANCE, rel=1e-6
    )
    assert h < 0.1 < planning.derive(spec, noise._replace(shared=0.0), n)[0]


def test_max_data_passes_too_few():
    with pytest.raises(ArgumentError, match="max_data_passes=1 is used up before the first draw"):
        sgmc.logit("y ~ a", frame(), sampler="mala", max_data_passes=1)


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
    enough = int(advice.split("draws=")[1].rstrip("."))
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


def test_public_schedules():
    assert sgmc.Constant is Constant and sgmc.Polynomial is Polynomial
    assert sgmc.Cyclical is Cyclical
    assert Polynomial(2.0, 3.0, 0.5)(6) == pytest.approx(2 / 3, rel=1e-15)
    assert Constant(0.3)(10**9) == 0.3


@pytest.mark.parametrize("gamma", [0.33, 0.55, 1.0])
@pytest.mark.parametrize("start, end, steps", [(1.0, 0.1, 1000), (0.3, 0.29, 7), (5, 1e-3, 10**6)])
def test_a_schedule_between_two_steps(start, end, steps, gamma):
    schedule = Polynomial.between(start, end, steps, gamma)
    assert isinstance(schedule, Polynomial) and schedule.gamma == gamma
    assert schedule(0) == pytest.approx(start, rel=1e-9)
    assert schedule(steps) == pytest.approx(end, rel=1e-9)
    assert start > schedule(steps // 2) > end > schedule(2 * steps)


@pytest.mark.parametrize("period", [1, 2, 7, 1000])
def test_cycles_of_steps(period):
    """h/2 (cos(pi u) + 1) at midpoints u of the cycle's steps: their mean is h/2, none is zero, and
    every cycle is the same.
    """
    steps = np.array([Cyclical(0.8, period)(t) for t in range(3 * period)])
    assert steps[:period] == pytest.approx(
        0.4 * (np.cos(np.pi * (np.arange(period) + 0.5) / period) + 1), rel=1e-12
    )
    assert steps.mean() == pytest.approx(0.4, rel=1e-12)
    assert (steps > 0).all()
    assert (np.diff(steps[:period]) < 0).all()
    assert np.array_equal(steps, np.tile(steps[:period], 3))
    assert Cyclical(0.8, period)(10**15 * period) == steps[0]


def test_draws_of_cyclical_steps_are_weighted():
    """Means and sds of a posterior by an exact sampler: within 0.1 sd and 6 %, of which Monte Carlo
    error is about a third.
    """
    df, how = frame(2000), dict(seed=1, draws=4000)
    exact = sgmc.logit("y ~ a + b", df, sampler="mala", **how)
    results = sgmc.logit(
        "y ~ a + b",
        df,
        sampler="lmsgld",
        step_size=sgmc.Cyclical(1.0, 50),
        thin=7,
        warmup=100,
        **how,
    )
    assert results._fit.weights.std() > 0.1
    assert (np.abs(results.params - exact.params) < 0.1 * exact.bse).all()
    assert (np.abs(results.bse / exact.bse - 1) < 0.06).all()
