"""Fits by piecewise-deterministic samplers with predicted or held rates: posteriors, what they say,
refusals, the same bits.
"""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, BoundWarning, NotSupported, SGMCWarning
from sgmc.registry import room

N = 1000
rng = np.random.default_rng(12)
FRAME = pd.DataFrame(
    {"a": rng.normal(size=N), "b": rng.exponential(size=N), "w": rng.integers(1, 4, N)}
)
FRAME["y"] = (rng.random(N) < 1 / (1 + np.exp(0.5 - FRAME.a))).astype(int)
FRAME["count"] = rng.poisson(np.exp(0.3 * FRAME.a))
FRAME["z"] = FRAME.a - 0.5 * FRAME.b + rng.normal(size=N)
SPECS = {
    name: cls()
    for name, cls in sorted(room("samplers").items())
    if cls.continuous and (cls.sticky or not cls.exact)
} | {"sgpdmp-bouncy": sgmc.SGPDMP(dynamics="bouncy")}
OPTIONS = {
    **{f"sbps-{band}": sgmc.SBPS(band=band) for band in ("published", "fading", "process")},
    "sbps-level": sgmc.SBPS(falling=False, horizon=1.0),
    "sbps-refreshed": sgmc.SBPS(refresh=0.2),
    "psbps-published": sgmc.PSBPS(scale="published", past=0.999),
}
SPECS |= OPTIONS
SMOOTH = [name for name, spec in SPECS.items() if not spec.sticky]


def fit(name, draws=200, verb=sgmc.logit, formula="y ~ a + b", **how):
    """A fit without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        return verb(
            formula, FRAME, **{"sampler": SPECS.get(name, name), "draws": draws, "seed": 3, **how}
        )


CASES = {
    "plain": {},
    "raw": dict(precondition=None),
    "diagonal": dict(precondition="diag"),
    "simple": dict(gradient="simple", batch_size=100),
    "saga": dict(gradient="saga"),
    "weights": dict(weights="w"),
    "poisson": dict(verb=sgmc.poisson, formula="count ~ a + b"),
    "cauchy": dict(prior="cauchy"),
    "uniform": dict(subsample="uniform"),
    "preferential": dict(subsample="preferential"),
    "ols": dict(verb=sgmc.ols, formula="z ~ a + b"),
}


def agrees(name, how):
    """Means in Monte Carlo errors of both and 0.05 sd of bias, sds within 12 %: 400 draws in each
    of 4 chains know an sd to 3 %.
    """
    same_posterior = {
        k: v for k, v in how.items() if k not in ("gradient", "batch_size", "subsample")
    }
    right, found = fit("mala", 4000, **same_posterior), fit(name, 400, **how)
    error = np.sqrt(right.mcse() ** 2 + found.mcse() ** 2)
    return (np.abs(found.params - right.params) < 5 * error + 0.05 * right.bse).all() and np.abs(
        found.bse / right.bse - 1
    ).max() < 0.12


@pytest.mark.cover(0)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["sbps", "psbps", "sgpdmp"])
def test_posteriors_agree_with_mala(name, case):
    assert agrees(name, CASES[case])


@pytest.mark.cover(0)
@pytest.mark.parametrize("case", ["simple", "raw", "poisson"])
@pytest.mark.parametrize("name", OPTIONS)
def test_options_agree_with_mala(name, case):
    """With the noise of 100 rows."""
    assert agrees(name, {**CASES[case], "gradient": "simple", "batch_size": 100})


@pytest.mark.cover(0)
@pytest.mark.mistake("predicted: a band of no width, in a fit")
@pytest.mark.parametrize("name", ["sbps", "psbps"])
def test_a_band_of_no_width_does_not_agree_with_mala(name):
    assert not agrees(type(SPECS[name])(confidence=1e-6), CASES["simple"])


def refreshed(**how):
    """The rate of refreshment of a fit."""
    return fit("sbps", 20, **how)._fit.plan.spec.refresh


def test_noise_turns_refreshment_off():
    """By 0.2 - 2 V in a path as long as the largest sd; given ones are kept."""
    assert refreshed(gradient="simple", batch_size=100) == 0
    assert refreshed(gradient="simple", batch_size=N) == pytest.approx(0.2)
    assert 0 < refreshed(gradient="simple", batch_size=950) < 0.2
    assert 0 < refreshed(gradient="simple", batch_size=N, precondition=None) < 0.15
    assert refreshed(sampler=sgmc.SBPS(refresh=0.3), gradient="simple", batch_size=100) == 0.3
    assert refreshed(sampler=sgmc.SBPS(refresh=0), gradient="simple", batch_size=N) == 0


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", ["sbps", "psbps"])
def test_all_rows_agree_with_bps(name):
    """Without noise: path means in Monte Carlo errors of both, sds within 6 %."""
    right = fit("bps", 2000).path_summary()
    found = fit(name, 2000, batch_size=N, gradient="simple").path_summary()
    assert (np.abs(found["mean"] - right["mean"]) < 5 * np.hypot(found.mcse, right.mcse)).all()
    assert np.abs(found.sd / right.sd - 1).max() < 0.06


def test_own_parameters_bend_lines():
    """The log of sigma is sampled: draws are there, but no lines of what is reported."""
    found = fit("sbps", verb=sgmc.ols, formula="z ~ a + b")
    with pytest.raises(NotSupported, match="no path"):
        found.path_summary()
    assert fit("sbps").path_summary().shape == (3, 4)


# ---- what is said --------------------------------------------------------------------------------


def test_the_summary_says_how_often_bounds_were_exceeded():
    results = fit("sbps", gradient="simple", batch_size=100)
    head, table = dict(results.header[0] + results.header[1]), results.chain_diagnostics()
    assert head["Sampler"] == "sbps-simple"
    assert head["Minibatch"] == "100 rows"
    assert "Step size" not in head
    assert head["Bound violations"] == f"{table.violations.mean():.2g}"
    assert table.violations.between(0, 0.01, inclusive="neither").all()
    assert table.missed.between(0, 0.01).all()
    assert max(map(len, str(results.summary()).split("\n"))) <= 78
    assert fit("sgpdmp").chain_diagnostics().violations.isna().all()


def test_too_low_bounds_are_warned_of_by_name():
    with pytest.warns(
        BoundWarning,
        match=(
            r"rate above the predicted bound .* widens the draws .* "
            r"sampler=sgmc.SBPS\(confidence=1.5\)"
        ),
    ):
        sgmc.logit(
            "y ~ a + b",
            FRAME,
            sampler=sgmc.SBPS(confidence=0.5),
            gradient="simple",
            batch_size=100,
            draws=1000,
            seed=1,
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error", BoundWarning)
        warnings.simplefilter("ignore", category=sgmc.errors.LowESSWarning)
        sgmc.logit(
            "y ~ a + b", FRAME, sampler="sbps", gradient="simple", batch_size=100, draws=500, seed=1
        )


def test_steps_that_are_too_long_are_warned_of():
    with pytest.warns(sgmc.errors.StepSizeWarning, match="widens the draws"):
        sgmc.logit("y ~ a + b", FRAME, sampler="sgpdmp", step_size=0.5, draws=500, seed=1)
    assert dict(fit("sgpdmp", step_size=0.05).header[0])["Step size"] == "0.05 (given)"
    assert "(derived)" in dict(fit("sgpdmp").header[0])["Step size"]


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how, message",
    [
        (dict(thin=2), "thin does not apply to {}"),
        (dict(batch_size="adaptive"), "batch_size='adaptive' does not apply to {}"),
        (dict(warmup="threshold"), "{}"),
        (dict(cov_type="robust"), "{}"),
        (dict(step_size=lambda t: 0.1), "step_size"),
    ],
)
@pytest.mark.parametrize("name", SPECS)
def test_arguments_that_do_not_apply_are_refused_by_name(name, how, message):
    with pytest.raises((ArgumentError, NotSupported), match=message.format(SPECS[name].name)):
        fit(name, **how)


def test_velocities_that_are_never_drawn_anew_take_no_rate_for_it():
    with pytest.raises(ArgumentError, match="refresh=2 does not apply to dynamics='zigzag'"):
        sgmc.SGPDMP(refresh=2.0)
    # all parameters, as a race gives them
    assert sgmc.SGPDMP(dynamics="zigzag", refresh=0.5) == sgmc.SGPDMP()


@pytest.mark.parametrize("name", ["sbps", "psbps"])
def test_samplers_without_steps_refuse_one(name):
    with pytest.raises(ArgumentError, match=f"step_size does not apply to {name}"):
        fit(name, step_size=0.1)
    with pytest.raises(ArgumentError, match="no step to tune"):
        sgmc.tune(sgmc.Logit.from_formula("y ~ a", FRAME), sampler=name)


# ---- the same bits -------------------------------------------------------------------------------


def same(one, other):
    """Whether two results have the same draws, paths and facts but for seconds."""
    paths = [pickle.dumps([(p.turns, p.positions) for p in r._paths]) for r in (one, other)]
    facts = [
        [pair for side in r.header[:2] for pair in side if pair[0] != "Time (s)"]
        for r in (one, other)
    ]
    return np.array_equal(one.draws, other.draws) and paths[0] == paths[1] and facts[0] == facts[1]


@pytest.mark.cover(0)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("how", [{}, dict(gradient="saga"), dict(precondition=None)], ids=str)
@pytest.mark.parametrize("name", SPECS)
def test_a_resumed_run_is_one_long_run(name, how, tmp_path):
    if SPECS[name].all_rows and "gradient" in how:
        pytest.skip("it uses all rows")
    part, whole = fit(name, 30, **how), fit(name, 75, **how)
    assert same(part.resume(45), whole) and same(part.resume(20).resume(25), whole)
    part.save(tmp_path / "part")
    assert same(sgmc.load(tmp_path / "part").resume(45, data=FRAME), whole)


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", SPECS)
def test_threads_do_not_matter(name):
    one = fit(name, threads=1)
    assert same(one, fit(name, threads=2))
    assert np.array_equal(one.draws[:2], fit(name, chains=2).draws)
    assert not np.array_equal(one.draws, fit(name, seed=4).draws)
