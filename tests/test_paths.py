"""Fits by samplers in continuous time: draws on a grid, paths and their skeletons, refusals, stops
and resumption.
"""

import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import sgmc
from sgmc.core.bounds import Bounds
from sgmc.errors import ArgumentError, BoundError, InterruptedWarning, NotSupported, SGMCWarning
from sgmc.fit.paths import refuse_unbounded
from sgmc.models.regression.families.logit import BernoulliLogit
from sgmc.registry import room

N = 300
NAMES = [
    name
    for name, cls in sorted(room("samplers").items())
    if cls.continuous and cls.needs_bounds and not cls.sticky
]
rng = np.random.default_rng(12)
FRAME = pd.DataFrame(
    {
        "a": rng.normal(size=N),
        "b": rng.exponential(size=N),
        "w": rng.integers(1, 4, N),
        "off": rng.normal(size=N) / 4,
    }
)
FRAME["y"] = (rng.random(N) < 1 / (1 + np.exp(0.5 - FRAME.a + FRAME.off))).astype(int)
FRAME["count"] = rng.poisson(np.exp(0.3 * FRAME.a))
DRAWS = {"zzss": 60, "lipsbps": 60}  # their draws are far apart


def fit(sampler, draws=None, verb=sgmc.logit, formula="y ~ a + b", data=FRAME, **how):
    """A fit without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        return verb(
            formula,
            data,
            **{"sampler": sampler, "draws": draws or DRAWS.get(sampler, 200), "seed": 3, **how},
        )


def reference(**how):
    """Many draws of the same posterior by mala."""
    return fit("mala", 4000, **how)


# ---- the posterior -------------------------------------------------------------------------------

CASES = {
    "plain": {},
    "raw": dict(precondition=None),
    "diagonal": dict(precondition="diag"),
    "float32": dict(dtype="float32"),
    "weights and offset": dict(weights="w", offset="off"),
    "laplace": dict(prior="laplace"),
    "cauchy": dict(prior="cauchy"),
    "flat": dict(prior="flat"),
    "by name": dict(prior={"a": sgmc.normal(0, 0.3), "Intercept": sgmc.student_t(4, 0, 1)}),
    "probit": dict(verb=sgmc.probit),
    "cauchit": dict(verb=sgmc.cauchit),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["zigzag", "bps", "zzcv"])
def test_posteriors_agree_with_mala(name, case):
    """Path means in Monte Carlo errors of both, and sds within 15 %:
    200 draws in each of 4 chains know an sd to 3 %.
    """
    right, found = reference(**CASES[case]), fit(name, **CASES[case])
    path = found.path_summary()
    error = np.sqrt(right.mcse() ** 2 + path.mcse**2)
    assert (np.abs(path["mean"] - right.params) < 5 * error).all()
    assert np.abs(path.sd / right.bse - 1).max() < 0.15
    assert np.abs(found.bse / right.bse - 1).max() < 0.15


@pytest.mark.parametrize("name", ["zzss", "lipsbps"])
def test_samplers_that_forget_slowly_agree_with_mala(name):
    right, path = reference(), fit(name).path_summary()
    assert (
        np.abs(path["mean"] - right.params) < 5 * np.sqrt(right.mcse() ** 2 + path.mcse**2)
    ).all()
    assert np.abs(path.sd / right.bse - 1).max() < 0.25


@pytest.mark.parametrize("name", ["zigzag", "bps", "zzcv"])
def test_tables_of_other_kinds(name):
    """Sparse, read-only, and counts of successes in trials."""
    X = np.column_stack([np.ones(N), FRAME.a, FRAME.b])
    lent = X.copy()
    lent.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        for table, more in ((sparse.csr_array(X), {}), (lent, dict(subsample="uniform"))):
            right = sgmc.Logit(FRAME.y, table).fit(sampler="mala", draws=4000, seed=1)
            path = (
                sgmc.Logit(FRAME.y, table)
                .fit(sampler=name, draws=200, seed=1, **more)
                .path_summary()
            )
            assert (
                np.abs(path["mean"] - right.params) < 5 * np.sqrt(right.mcse() ** 2 + path.mcse**2)
            ).all()
    trials = FRAME.assign(
        failures=FRAME.w - np.minimum(FRAME.w, FRAME.y), y=np.minimum(FRAME.w, FRAME.y)
    )
    right, path = (
        fit(s, d, formula="y + failures ~ a", data=trials) for s, d in (("mala", 4000), (name, 200))
    )
    path = path.path_summary()
    assert (
        np.abs(path["mean"] - right.params) < 5 * np.sqrt(right.mcse() ** 2 + path.mcse**2)
    ).all()


def test_rows_with_large_bounds_more_often_need_fewer_events():
    """Predictors with heavy tails: the largest |z_ji| |z_j| counts no more,
    but about their mean.
    """
    frame = FRAME.assign(a=np.clip(np.random.default_rng(2).standard_cauchy(N), -20, 20))
    right, usual = reference(data=frame), fit("zzcv", data=frame)
    other = fit("zzcv", data=frame, subsample="preferential")
    for path in (usual.path_summary(), other.path_summary()):
        assert (
            np.abs(path["mean"] - right.params) < 5 * np.sqrt(right.mcse() ** 2 + path.mcse**2)
        ).all()
    cost = [r.chain_diagnostics().steps.sum() / r.path_summary().ess.min() for r in (usual, other)]
    assert cost[1] < 0.5 * cost[0]


def test_separated_outcomes_have_straight_lines_too():
    """Quantile maps bend lines: piecewise-deterministic samplers do without them."""
    frame = FRAME.assign(rare=np.arange(N) < 6, y=np.where(np.arange(N) < 6, 1, FRAME.y))
    right = reference(data=frame, formula="y ~ a + rare")
    found = fit("zigzag", 1000, data=frame, formula="y ~ a + rare")
    error = np.sqrt(right.mcse() ** 2 + found.path_summary().mcse ** 2)
    assert (np.abs(found.path_summary()["mean"] - right.params) < 5 * error).all()


# ---- the grid of draws, the skeleton and expectations along it -----------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_draws_lie_on_a_regular_grid_of_the_skeleton(name):
    results = fit(name)
    spacing = results.chain_diagnostics().spacing
    for k in range(4):
        turns = results.skeleton(k)
        times = spacing[k] * np.arange(1, results.draws.shape[1] + 1)
        times = times[times < turns.times[-1]]
        at = np.searchsorted(turns.times, times, side="right") - 1
        line = (
            turns.positions.to_numpy()[at]
            + (times - turns.times[at])[:, None] * turns.velocities.to_numpy()[at]
        )
        np.testing.assert_allclose(results.draws[k, : len(times)], line, rtol=1e-7, atol=1e-7)
        steps = np.diff(turns.times)[:, None] * turns.velocities.to_numpy()[:-1]
        np.testing.assert_allclose(
            np.diff(turns.positions.to_numpy(), axis=0), steps, rtol=1e-6, atol=1e-9
        )


@pytest.mark.parametrize("name", ["zigzag", "bps", "zzcv"])
def test_draws_are_about_an_autocorrelation_time_apart(name):
    results = fit(name, 1000)
    assert 0.3 < results.ess("mean").min() / 4000 <= 1.6


def test_expectations_along_the_path():
    results = fit("zigzag", 500)
    parts = [results.skeleton(k) for k in range(4)]
    spans, starts, ends = (
        np.concatenate(some)
        for some in zip(
            *(
                (np.diff(p.times), p.positions.to_numpy()[:-1], p.positions.to_numpy()[1:])
                for p in parts
            )
        )
    )
    first = spans @ (starts + ends) / 2 / spans.sum()
    second = spans @ (starts**2 + starts * ends + ends**2) / 3 / spans.sum()
    for f, right in (
        (lambda b: b, first),
        (lambda b: b**2, second),
        (lambda b: b[:, 1], first[1:2]),
    ):
        np.testing.assert_allclose(results.expect(f, points=2)["mean"], right, rtol=1e-10)
    summary = results.path_summary()
    # that of the last line is in one of them
    np.testing.assert_allclose(summary["mean"], first, atol=0.1 * summary.sd.min())
    np.testing.assert_allclose(summary.sd, np.sqrt(second - first**2), rtol=1e-9)
    assert list(summary.index) == results.names and (summary.ess > 0.5 * results.ess("mean")).all()
    error = results.expect(lambda b: np.sin(3 * b), points=8)
    assert (
        np.abs(error["mean"].to_numpy() - np.sin(3 * results.flat).mean(axis=0)).max()
        < 6 * error.mcse.max() + 0.05
    )


def test_errors_of_expectations_are_right():
    """Over 40 seeds the spread of an expectation is its reported error, within 40 %: its own
    sampling error is 11 % for each.
    """
    found = [
        fit("zigzag", 100, chains=1, seed=k).expect(np.exp).to_numpy()[:, [0, 2]] for k in range(40)
    ]
    means, errors = np.array(found)[:, :, 0], np.array(found)[:, :, 1]
    assert np.abs(means.std(axis=0, ddof=1) / np.sqrt((errors**2).mean(axis=0)) - 1).max() < 0.4


@pytest.mark.parametrize(
    "call", [lambda r: r.expect(np.sin), lambda r: r.path_summary(), lambda r: r.skeleton()]
)
def test_samplers_in_steps_have_no_path(call):
    with pytest.raises(NotSupported, match="mala has no path in continuous time"):
        call(fit("mala"))


def test_what_cannot_be_expected():
    results = fit("zigzag", 100)
    with pytest.raises(ArgumentError, match=r"f gave an array of shape \(\)"):
        results.expect(np.mean)
    with pytest.raises(ArgumentError, match="points=0"):
        results.expect(np.sin, points=0)
    with pytest.raises(ArgumentError, match="chain=4 must be a whole number from 0 to 3"):
        results.skeleton(4)


def test_a_full_skeleton_leaves_means_of_the_whole_path(monkeypatch):
    from sgmc.fit import paths

    whole = fit("zigzag", 500)
    monkeypatch.setattr(paths, "SKELETON", 4 * 50 * 8 * 7)
    part = fit("zigzag", 500)
    assert len(part.skeleton().times) == 50 and np.array_equal(part.draws, whole.draws)
    np.testing.assert_array_equal(part.skeleton().positions, whole.skeleton().positions[:50])
    np.testing.assert_array_equal(part.path_summary()["mean"], whole.path_summary()["mean"])


# ---- what is said --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_summary_speaks_of_events(name):
    results = fit(name)
    head = dict(results.header[0] + results.header[1])
    assert head["Sampler"] == name and "Step size" not in head and "Acceptance" not in head
    assert head["Minibatch"] == ("all rows" if name in ("zigzag", "bps") else "1 row")
    table = results.chain_diagnostics()
    assert head["Events"] == f"{table.steps.sum():.4g}"
    assert float(head["Draw spacing"].split("-")[0]) > 0
    assert table.acceptance.between(0, 1, inclusive="neither").all()
    assert table.step_size.isna().all()
    assert max(map(len, str(results.summary()).split("\n"))) <= 78
    with pytest.raises(NotSupported, match="gradient_noise"):
        results.gradient_noise()


def test_without_warmup_the_spacing_is_what_the_sampler_expects():
    results = fit("zigzag", warmup=0, init=[0.0, 0.5, 0.0])
    assert (results.chain_diagnostics().spacing == 2.0).all() and np.isnan(results.step_size)
    np.testing.assert_allclose(results.skeleton(1).positions.iloc[0], [0.0, 0.5, 0.0], atol=1e-12)


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how, message",
    [
        (dict(thin=2), "thin does not apply to {}: draws lie on a regular grid"),
        (dict(step_size=0.1), "step_size does not apply to {}"),
        (dict(batch_size="adaptive"), "batch_size='adaptive' does not apply to {}"),
        (dict(gradient="saga"), "gradient='saga' does not apply to {}"),
        (dict(warmup="threshold"), "warmup='threshold' does not apply to {}"),
        (dict(cov_type="robust"), "{}"),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_arguments_that_do_not_apply_are_refused_by_name(name, how, message):
    with pytest.raises((ArgumentError, NotSupported), match=message.format(name)):
        fit(name, **how)


@pytest.mark.parametrize("name", NAMES)
def test_priors_and_races_that_do_not_apply(name):
    with pytest.raises(NotSupported, match=f"{name} needs bounds .* horseshoe"):
        fit(name, prior="horseshoe")
    with pytest.raises(ArgumentError, match=f"sampler='{name}' has no step to tune"):
        sgmc.tune(sgmc.Logit.from_formula("y ~ a", FRAME), sampler=name)


@pytest.mark.parametrize("name", ["zzcv", "zzss", "lipsbps"])
def test_strata_are_refused(name):
    with pytest.raises(NotSupported, match=f"subsample='stratified' with {name}"):
        fit(name, subsample="stratified")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "family, verb, formula",
    [
        ("poisson", sgmc.poisson, "count ~ a"),
        ("cloglog", sgmc.cloglog, "y ~ a"),
        ("loglog", sgmc.loglog, "y ~ a"),
        ("ols", sgmc.ols, "b ~ a"),
        ("rlm", sgmc.rlm, "b ~ a"),
        ("negativebinomial", sgmc.negativebinomial, "count ~ a"),
        ("mnlogit", sgmc.mnlogit, "w ~ a"),
    ],
)
def test_families_without_bounds_are_refused_by_name(name, family, verb, formula):
    data = FRAME.assign(w=FRAME.w.astype(str))
    with pytest.raises(
        NotSupported,
        match=(
            f"{name} does not apply to {family}, whose rates of events have no bound: "
            ".*sampler='mala'"
        ),
    ):
        fit(name, verb=verb, formula=formula, data=data)


def test_samplers_without_bounds_refuse_no_family():
    refuse_unbounded(None, None)
    refuse_unbounded(sgmc.MALA(), None)
    assert fit("zigzag").draws.shape == (4, 200, 3)


def test_a_bound_that_does_not_hold_is_an_error_that_names_the_sampler(monkeypatch):
    monkeypatch.setattr(
        "sgmc.models.regression.families.logit.LogitFamily.kernel",
        type("Low", (BernoulliLogit,), {"curvature_bound": 0.01}),
    )
    with pytest.raises(
        BoundError, match=r"zzcv: the rate of an event exceeded its bound in chain \d at event"
    ):
        fit("zzcv")


# ---- the same bits -------------------------------------------------------------------------------


def same(one, other):
    """Whether two results have the same draws, paths and facts but for seconds."""
    paths = [pickle.dumps([(p.turns, p.positions) for p in r._paths]) for r in (one, other)]
    facts = [
        [pair for side in r.header[:2] for pair in side if pair[0] != "Time (s)"]
        for r in (one, other)
    ]
    return np.array_equal(one.draws, other.draws) and paths[0] == paths[1] and facts[0] == facts[1]


RUNS = [
    dict(sampler=name, precondition=p)
    for name, p in itertools.product(NAMES, ("mode", None))
    if name not in DRAWS or p
] + [dict(sampler="zzcv", batch_size=3, subsample="uniform")]


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("how", RUNS, ids=str)
def test_a_resumed_run_is_one_long_run(how, tmp_path):
    part, whole = fit(draws=30, **how), fit(draws=75, **how)
    assert same(part.resume(45), whole) and same(part.resume(20).resume(25), whole)
    part.save(tmp_path / "part")
    assert same(sgmc.load(tmp_path / "part").resume(45, data=FRAME), whole)
    first = fit(draws=30, checkpoint=tmp_path / "run", **how)
    assert same(first, part) and same(fit(draws=75, checkpoint=tmp_path / "run", **how), whole)


@pytest.mark.parametrize("name", NAMES)
def test_threads_do_not_matter(name):
    one = fit(name, threads=1)
    assert same(one, fit(name, threads=2)) and same(one, fit(name, threads=4))
    assert np.array_equal(one.draws[:2], fit(name, chains=2).draws)
    assert not np.array_equal(one.draws, fit(name, seed=4).draws)


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")  # few draws of zzcv
@pytest.mark.parametrize("name", ["zigzag", "zzcv"])
def test_a_run_that_is_stopped_is_a_prefix(name, time_limit_after):
    with pytest.warns(InterruptedWarning, match="time limit"):
        part = sgmc.logit(
            "y ~ a + b",
            FRAME,
            sampler=name,
            draws=200_000,
            seed=3,
            warmup=2000,
            **time_limit_after(100),
        )
    assert np.array_equal(part.draws[:, :100], fit(name, 100, warmup=2000).draws)
    assert part.draws.shape[1] < 200_000


@pytest.mark.parametrize("name", ["bps", "zzcv"])
def test_a_budget_of_rows_is_kept(name):
    results = fit(name, 5000, max_data_passes=400, warmup=2000 if name == "zzcv" else 20)
    assert results.draws.shape[1] < 5000
    assert 390 < results.chain_diagnostics().data_passes.sum() < 405
    assert np.array_equal(
        results.draws[:, :5], fit(name, 5, warmup=2000 if name == "zzcv" else 20).draws
    )


def test_bounds_are_made_once_for_all_chains(monkeypatch):
    made = []
    monkeypatch.setattr(
        "sgmc.models.regression.problem.Bounds", lambda *given: made.append(1) or Bounds(*given)
    )
    fit("zigzag")
    assert len(made) == 1
