"""Gradient noise as reported, the sampling threshold, breaking points, batches that adapt, strata
of a column.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc.core.engine import evaluate
from sgmc.core.rng import Rng, seed_sequence
from sgmc.errors import (
    ArgumentError,
    DataError,
    DivergenceWarning,
    GradientNoiseWarning,
    NotSupported,
)
from sgmc.fit import plan as planning
from sgmc.fit.pilot import draws_of_laplace
from sgmc.fit.rows import subsampler

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
N = 2000
rng = np.random.default_rng(8)
FRAME = pd.DataFrame(
    {
        "a": rng.normal(size=N),
        "b": rng.exponential(size=N) * 10,
        "g": rng.choice(list("uvw"), N, p=[0.7, 0.2, 0.1]),
    }
)
FRAME["y"] = (rng.random(N) < 1 / (1 + np.exp(1 - FRAME.a))).astype(int)


def fit(sampler="sgld-simple", frame=FRAME, **how):
    """A short fit."""
    return sgmc.logit("y ~ a + b + g", frame, sampler=sampler, **{"draws": 100, "seed": 3, **how})


def header(results):
    """Its facts as a dict."""
    return dict(pair for side in results.header[:2] for pair in side)


def noise_at(results, points, gradient, batch, repeats=500):
    """Mean over points of the covariance of gradient estimates there, from fresh batches."""
    done, stream = results._fit, Rng(seed_sequence(9, "chain", 0))
    estimator = done.problem.gradient(
        gradient, subsampler(done.problem, done.settings, gradient, batch), stream
    )
    at = [
        np.cov([evaluate(estimator, x, stream)[0] for _ in range(repeats)], rowvar=False)
        for x in points
    ]
    return np.mean(at, axis=0)


def pilot_points(results):
    """Where the pilot of a fit looked."""
    z = draws_of_laplace(3, len(results.names))
    return [results._fit.problem.coordinates.from_white(one) for one in np.concatenate([z, -z])]


# ---- reported ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how",
    [
        dict(subsample="block", batch_size=20),
        dict(subsample="uniform", batch_size=1500),
        dict(subsample="replacement"),
        dict(subsample="preferential"),
        dict(subsample="stratified"),
        dict(precondition=None, thin=5),
        dict(precondition="diag"),
        dict(gradient="cv", sampler="sgld"),
    ],
    ids=str,
)
def test_tau_and_alpha_are_those_of_the_estimates(how):
    """At the pilot's 16 points 500 estimates each give a standard deviation to 1 %, a largest
    eigenvalue to 3 %.

    The covariance over the blocks of one permutation scatters: with 100 blocks of 20 rows, standard
    deviations by 7 %.  N/n wrong, or a correction for finite populations that is not there, would
    be off by 50 % for the batch of 1,500.
    """
    how = {"batch_size": 200, "subsample": "uniform", **how}
    results = fit(**how)
    covariance = noise_at(
        results, pilot_points(results), how.get("gradient", "simple"), how["batch_size"]
    )
    rtol = 0.2 if how["subsample"] == "block" else 0.05
    np.testing.assert_allclose(
        results.gradient_noise().tau, np.sqrt(np.diag(covariance)), rtol=rtol
    )
    if how["subsample"] != "block":
        alpha = results.step_size / 4 * np.linalg.eigvalsh(covariance)[-1]
        assert results.sampling_threshold == pytest.approx(alpha, rel=2 * rtol)


def test_noise_is_told_by_coordinate_and_refused_where_there_is_none():
    assert list(fit().gradient_noise().index) == [f"z{j}" for j in range(1, 6)]
    assert list(fit(precondition="diag").gradient_noise().index) == [
        "Intercept",
        "g[T.v]",
        "g[T.w]",
        "a",
        "b",
    ]
    table = fit().gradient_noise()
    table["tau"] = 0.0  # a copy
    with pytest.raises(
        NotSupported, match="gradient_noise: mala has none, its gradients are those of all rows"
    ):
        fit("mala").gradient_noise()


@pytest.mark.parametrize(
    "increment, share",
    [
        ("bimodal", lambda t: stats.norm.sf((t - 1) / 0.1)),
        ("normal", lambda t: 2 * stats.norm.sf(t)),
    ],
)
def test_moves_past_the_breaking_point_are_counted(increment, share):
    """|z| > 1.702 / tau for z of scale sigma;
    tau is a running mean of ten estimates that vary by a few per cent.
    """
    tau = fit(batch_size=200).gradient_noise().tau.max()
    spec, sigma = sgmc.CSGBD(increment=increment), 1.702 / tau
    with pytest.warns(
        GradientNoiseWarning, match=r"past the breaking point of csgbd in \d of 5 coordinates"
    ):
        results = fit(spec, gradient="simple", batch_size=200, step_size=sigma)
    table = results.gradient_noise()
    limit = spec.breaking_point(sigma)
    assert (table.breaking_point == limit).all()
    assert limit == pytest.approx(tau / (1.233 if increment == "bimodal" else 2.576))
    np.testing.assert_allclose(table.ratio, table.tau / limit)
    assert header(results)["Noise/breaking pt."] == f"{table.ratio.max():.2g}"
    expected = np.mean([share(1.702 / (t * sigma)) for t in table.tau])
    np.testing.assert_allclose(results.chain_diagnostics().beyond, expected, atol=0.1)


def test_increments_that_follow_the_noise_have_no_breaking_point():
    """Nothing is past it: no such warning, no such line, though the step given is ten times too
    long.
    """
    results = fit(sgmc.CSGBD(adaptive=True), gradient="simple", batch_size=200, step_size=5.0)
    assert not any("breaking point" in str(w) for w in results.warnings)
    assert "breaking_point" not in results.gradient_noise()
    assert "Noise/breaking pt." not in header(results)


def test_the_breaking_point_is_that_of_the_steps_kept():
    schedule = sgmc.Polynomial.between(1.0, 0.05, 2000)
    results = fit("vsgbd", step_size=schedule, thin=5, warmup=1500)
    limits = [sgmc.VSGBD().breaking_point(schedule(t)) for t in (1500, 1999)]
    assert limits[0] <= results.gradient_noise().breaking_point.iloc[0] <= limits[1]


def test_only_samplers_that_track_noise_count_such_moves():
    assert fit("vsgbd").chain_diagnostics().beyond.isna().all()
    assert "breaking_point" in fit("vsgbd").gradient_noise()
    assert (fit("csgbd").chain_diagnostics().beyond == 0).all()
    assert "breaking_point" not in fit("sgld").gradient_noise()
    assert "Noise/breaking pt." not in header(fit("sgld"))


# ---- varying steps -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sampler, time",
    [("sgld", lambda h: h), ("vsgbd", lambda s: 1.01 * s * s), ("baoab", lambda e: 2 * e)],
)
def test_draws_weigh_the_time_of_their_steps(sampler, time):
    schedule = sgmc.Polynomial.between(0.4, 0.05, 600)
    results = fit(sampler, step_size=schedule, thin=5, warmup=50)
    np.testing.assert_allclose(
        results.weights, [time(schedule(50 + 5 * (k + 1) - 1)) for k in range(100)], rtol=1e-12
    )
    mean = np.average(results.draws.mean(axis=0), axis=0, weights=results.weights)
    np.testing.assert_allclose(results.params, mean, rtol=1e-9)


def test_warnings_are_of_the_steps_at_which_draws_were_kept():
    """The first steps, of 0.9, would widen sgld's draws by 13 %; the kept ones do not."""
    with warnings.catch_warnings(record=True):
        calm = fit(
            "sgld", step_size=lambda t: 0.9 if t < 200 else 0.05, warmup=300, thin=80, draws=500
        )
        wild = fit(
            "sgld", step_size=lambda t: 0.9 if t < 5000 else 0.05, warmup=300, thin=8, draws=500
        )
    assert "StepSizeWarning" not in {w.code for w in calm.warnings}
    assert "StepSizeWarning" in {w.code for w in wild.warnings}


def test_the_threshold_is_where_alpha_is_passed():
    schedule = sgmc.Polynomial.between(0.5, 0.002, 5000)
    how = dict(step_size=schedule, subsample="uniform", batch_size=50, thin=1)
    results = fit(**how, warmup="threshold")
    warmup = int(header(results)["Warmup/Draws"].split("/")[0])
    widest = np.linalg.eigvalsh(noise_at(results, pilot_points(results), "simple", 50))[-1]
    assert schedule(warmup) / 4 * widest == pytest.approx(planning.THRESHOLD, rel=0.1)  # as above
    assert (
        results.sampling_threshold
        <= planning.THRESHOLD
        < fit(**how, warmup=warmup - 1).sampling_threshold
    )
    np.testing.assert_array_equal(results.draws, fit(**how, warmup=warmup).draws)
    derived = fit(warmup="threshold")  # steps that pass from the first: as many as without
    np.testing.assert_array_equal(derived.draws, fit().draws)


@pytest.mark.parametrize(
    "how, message",
    [
        (
            dict(step_size=0.5, batch_size=50),
            r"warmup='threshold': alpha, the gradient's noise over the noise injected, is \d",
        ),
        (
            dict(sampler="mala"),
            "warmup='threshold' does not apply to mala: its gradients have no noise",
        ),
        (dict(sampler="ula"), "warmup='threshold' does not apply to ula"),
        (
            dict(warmup="treshold"),
            "warmup='treshold' must be a whole number of steps, or 'threshold'",
        ),
        (dict(warmup=0, batch_size="adaptive"), "batch_size='adaptive' learns the size in warmup"),
        (dict(sampler="hmc", batch_size="adaptive"), "batch_size='adaptive' does not apply to hmc"),
        (dict(batch_size="adaptiv"), "batch_size='adaptiv' must be a whole number, at least 1"),
        (
            dict(strata="g"),
            "strata does not apply to subsample='block'; give subsample='stratified'",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(how, message):
    with pytest.raises(ArgumentError, match=message):
        fit(**{"warmup": "threshold", **how} if "threshold'" in message else how)


def test_a_chain_that_diverges_says_where_and_what_to_try():
    with pytest.warns(
        DivergenceWarning,
        match=(
            r"with step size 1: chain 0 at step \d+ \('(a|b|Intercept|g.*)' "
            r"first\).*step_size=0.25"
        ),
    ):
        results = fit(
            "sgld", step_size=lambda t: 1.0 if t < 300 else 40.0, warmup=0, thin=1, draws=3000
        )
    assert results.draws.shape[1] >= 300
    assert np.isfinite(results.draws).all()
    assert np.isfinite(results.bse).all()


# ---- batches that adapt --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how",
    [
        dict(sampler="lmsgld-cv", subsample="uniform"),
        dict(sampler="sgld-simple", subsample="uniform"),
        dict(sampler="lmsgld-saga", subsample="uniform"),
        dict(sampler="sgld-cv", subsample="replacement"),
        dict(sampler="lmsgld-cv", subsample="preferential"),
        dict(sampler="sghmc-simple", subsample="stratified"),
        dict(sampler="csgbd-simple", precondition=None, thin=20),
    ],
    ids=str,
)
def test_adaptive_batches_meet_a_noise_that_the_pilot_missed(how, monkeypatch):
    """The pilot sees a tenth of the noise.  Batches planned by it are too small; adapted ones bring
    the target within a factor that 40 looks at a chain's own noise allow (40 values of a variance
    that varies by its own size: 16 %; cv's, and 5 coordinates: 2).
    """
    real = planning.derive

    def misled(spec, noise, n, batch=None):
        law = None if noise.law is None else lambda m: noise.law(m) / 10
        return real(spec, noise._replace(one_row=noise.one_row / 10, law=law), n, batch)

    monkeypatch.setattr(planning, "derive", misled)
    seen = {}
    for batch in (None, "adaptive"):
        results = fit(**how, batch_size=batch, draws=50)
        done, size = results._fit, results.chain_diagnostics().batch_size
        target = planning.tolerable_noise(done.plan.spec, done.plan.langevin_time)
        gradient = how["sampler"].split("-")[1]
        if gradient == "saga":  # whose table an estimate changes: what the chains met
            seen[batch] = done.noise.worst if batch else 10 * target
            continue
        points = done.x.reshape(-1, done.x.shape[2])[::5]
        noise = noise_at(results, points, gradient, int(size.mean()), repeats=100)
        seen[batch] = np.diag(noise).max() / done.problem.coordinates.stiffness
    assert seen[None] > 2 * target and target / 2 < seen["adaptive"] < 1.5 * target


def test_a_correction_is_not_left_alone_with_the_noise():
    """csgld undoes noise coordinate by coordinate, on paper any of it: adaptive batches, and those
    of a given step, keep it small.
    """
    for how in (dict(batch_size="adaptive"), dict(step_size=0.05)):
        done = fit("csgld-simple", **how)._fit
        assert 0.03 < done.plan.spec.noise_ratio(done.langevin_time, done.noise.worst) < 0.13


def test_a_correction_of_much_noise_is_warned_of():
    with pytest.warns(
        GradientNoiseWarning,
        match=r"csgld corrects for gradient noise \d.* times that of its own steps",
    ):
        fit("csgld-simple", batch_size=40, step_size=0.05)
    calm = fit("csgld-simple", step_size=0.05)
    assert not any("corrects for" in str(w) for w in calm.warnings)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning", "error::RuntimeWarning")
def test_noise_without_bound_is_all_of_the_variance():
    """A thermostat whose noise is past what friction can take:
    its share is 1, no quotient of infinities.
    """
    X = np.random.default_rng(0).normal(size=(2000, 3))
    y = (np.random.default_rng(1).random(2000) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
    results = sgmc.Logit(y, X).fit(
        sampler="sgnht",
        gradient="simple",
        precondition=None,
        batch_size=20,
        step_size=0.05,
        draws=100,
        thin=1,
        warmup=0,
        chains=1,
        seed=1,
    )
    assert np.isinf(
        results._fit.plan.spec.inflation(results._fit.langevin_time, results._fit.noise.worst)
    )
    assert any(
        "noise share:                    1 " in line for line in str(results.summary()).splitlines()
    )


def test_adaptive_batches_come_back_from_all_rows():
    """A plan of all rows has no noise to be seen: they begin with one row less."""
    results = fit("lmsgld-simple", batch_size="adaptive", step_size=1.0, frame=FRAME.iloc[:32])
    assert results._fit.plan.batch == 32 and len(results.gradient_noise()) == len(results.names)
    assert (results.chain_diagnostics().batch_size == 31).all()
    assert (results.gradient_noise().tau > 0).all()


def test_adaptive_batches_depend_on_the_seed_alone(tmp_path):
    how = dict(sampler="sgld-cv", subsample="uniform", batch_size="adaptive")
    whole = fit(**how, threads=1)
    sizes = whole.chain_diagnostics().batch_size
    assert sizes.nunique() > 1
    assert header(whole)["Minibatch"] == f"{sizes.min()}-{sizes.max()} rows (adaptive)"
    np.testing.assert_array_equal(fit(**how, threads=3).draws, whole.draws)
    part = fit(**how, draws=40)
    np.testing.assert_array_equal(part.resume(60).draws, whole.draws)
    part.save(tmp_path / "part")
    np.testing.assert_array_equal(
        sgmc.load(tmp_path / "part").resume(60, data=FRAME).draws, whole.draws
    )
    cut = fit(**how, max_data_passes=100, checkpoint=tmp_path / "run")
    assert cut.draws.shape[1] < 100
    np.testing.assert_array_equal(fit(**how, checkpoint=tmp_path / "run").draws, whole.draws)
    with pytest.raises(ArgumentError, match="belongs to another fit: batch_size was"):
        fit(**{**how, "batch_size": None}, checkpoint=tmp_path / "run")


def test_adaptive_batches_need_the_noise_of_single_coordinates():
    from scipy import sparse

    X = sparse.csr_array(np.column_stack([np.ones(N), FRAME.a]))
    model = sgmc.Logit(FRAME.y, X)
    with pytest.raises(
        NotSupported, match="batch_size='adaptive': sgld needs the noise of single coordinates"
    ):
        model.fit(sampler="sgld", batch_size="adaptive", precondition="dense")
    assert model.fit(
        sampler="sgld-cv", batch_size="adaptive", precondition="diag", draws=10, seed=1
    ).draws.shape == (4, 10, 2)


# ---- strata --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "strata, groups",
    [("g", 3), (FRAME.g.to_numpy(), 3), (FRAME.g == "v", 2), ("b", 8), (np.arange(N) % 20, 20)],
    ids=["column", "labels", "bool", "numbers", "twenty"],
)
def test_strata_are_the_rows_with_a_label(strata, groups):
    done = fit(subsample="stratified", strata=strata)._fit
    (shared,) = done.problem.shared.values()
    labels = FRAME[strata] if isinstance(strata, str) else pd.Series(strata)
    assert len(shared.groups) == groups
    of = [labels.to_numpy()[done.problem.table.order[rows]] for rows in shared.groups]
    if groups == 8:  # of numbers with more than 32 values: ranges
        assert all(a.max() < b.min() for a, b in zip(of, of[1:]))
    else:
        assert [len(set(rows)) for rows in of] == [1] * groups


def test_strata_change_the_noise_but_not_the_posterior():
    """The outcome's levels leave most of the noise of a;
    its own quantiles take it off the gradient of a.
    """
    by_outcome, by_a = (
        fit("lmsgld-simple", subsample="stratified", draws=800, **how)
        for how in (dict(), dict(strata="a"))
    )
    assert "a" in by_a.names
    scale = np.hypot(by_outcome.mcse(), by_a.mcse())
    # 1e-5 under normality, for 5 means
    assert (np.abs(by_outcome.params - by_a.params) < 4.5 * scale).all()
    assert not np.array_equal(by_a.draws, by_outcome.draws)


def test_a_checkpoint_belongs_to_its_strata(tmp_path):
    how = dict(
        sampler="sgld-simple",
        subsample="stratified",
        batch_size=100,
        step_size=0.01,
        draws=20,
        checkpoint=tmp_path / "run",
    )
    fit(**how, strata="g")
    with pytest.raises(ArgumentError, match="was made from other data"):
        fit(**how, strata=FRAME.g[::-1].to_numpy())


def test_strata_that_cannot_be_are_refused():
    many = FRAME.index.astype(str)
    for strata, message in (
        (many, "strata has 2000 levels; at most 32: join some of them"),
        ("gg", "strata='gg' is not a column of the data; did you mean 'g'"),
        (np.ones(3), "strata has length 3, the data have 2000 rows"),
        (np.ones((N, 2)), "strata must be a column name or one value a row"),
    ):
        with pytest.raises(DataError, match=message):
            fit(subsample="stratified", strata=strata)
    with pytest.raises(ArgumentError, match="batch_size=2 is less than the 3 strata"):
        fit(subsample="stratified", strata="g", batch_size=2)
    gaps = FRAME.assign(g=FRAME.g.where(FRAME.a < 2))
    short = sgmc.logit(
        "y ~ a", gaps, subsample="stratified", strata="g", sampler="sgld", draws=10, seed=1
    )
    assert short.nobs == gaps.g.notna().sum()
    with pytest.raises(DataError, match="'?strata"):
        sgmc.logit("y ~ a", gaps, subsample="stratified", strata="g", missing="raise")


def test_strata_of_models_from_arrays_are_those_of_formulas():
    X = np.column_stack([np.ones(N), FRAME.a])
    how = dict(sampler="sgld-simple", subsample="stratified", draws=50, seed=2)
    one = sgmc.Logit(FRAME.y, X, names=["Intercept", "a"], strata=FRAME.g).fit(**how)
    np.testing.assert_array_equal(one.draws, sgmc.logit("y ~ a", FRAME, strata="g", **how).draws)
    with pytest.raises(DataError, match="strata has missing or infinite values"):
        sgmc.Logit(FRAME.y, X, strata=FRAME.g.where(FRAME.a < 2))
    with pytest.raises(DataError, match="endog and strata have different indices"):
        sgmc.Logit(FRAME.y, FRAME[["a"]], strata=FRAME.g.iloc[::-1])
