"""When linear regressions have independent draws, and what is refused."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, NotSupported

from .cases import table

DIRECT = sgmc.Direct()
TAKES = {
    "defaults": {},
    "flat": dict(prior="flat"),
    "normal": dict(prior=sgmc.normal(0, 1)),
    "several together": dict(prior={("x0", "x1"): sgmc.mvnormal([0, 0], [[1, 0.5], [0.5, 1]])}),
    "another prior of sigma": dict(prior={"sigma": sgmc.half_normal(2)}),
    "weights": dict(weights="w"),
    "accuracy": dict(accuracy=0.05),
    "one chain": dict(chains=1),
    "by name": dict(sampler="direct"),
    "dense": dict(precondition="dense"),
}
LEAVES = {
    "heavy tails": dict(prior=sgmc.student_t(4)),
    "bounds": dict(prior={"x0": sgmc.half_normal(1)}),
    "sandwich": dict(cov_type="robust"),
    "mini-batches": dict(batch_size=50),
    "step": dict(step_size=0.5),
    "warmup": dict(warmup=100),
    "thinning": dict(thin=2),
    "start": dict(init="dispersed"),
    "other batches": dict(subsample="uniform"),
    "several modes": dict(modes="search"),
    "a sampler": dict(sampler="lmsgld"),
    "other coordinates": dict(precondition="diag"),
}


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("name", TAKES)
def test_it_is_taken(name):
    how = {"draws": 60, **TAKES[name]} if name != "accuracy" else TAKES[name]
    assert sgmc.ols("y ~ x0 + x1", table(300, 2), seed=1, **how).sampler == DIRECT


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("name", LEAVES)
def test_it_is_left(name):
    """By what is asked for, without an error."""
    how = {"draws": 20, **LEAVES[name]}
    assert sgmc.ols("y ~ x0 + x1", table(300, 2), seed=1, **how).sampler != DIRECT


EFFECTS = {
    "a group": ("y ~ x0 + (1 | g)", {}, True),
    "a slope": ("y ~ x0 + (0 + x1 | g)", {}, True),
    "a smooth": ("y ~ s(x0, k=5)", {}, True),
    "a walk": ("y ~ rw1(g)", {}, True),
    "two effects": ("y ~ x0 + (1 + x1 | g)", {}, False),
    "two smooths": ("y ~ s(x0, k=4) + s(x1, k=4)", {}, True),
    "a group and heavy tails": ("y ~ x0 + (1 | g)", dict(prior=sgmc.student_t(4)), False),
    "a smooth and heavy tails": ("y ~ s(x0, k=5) + x1", dict(prior=sgmc.student_t(4)), False),
    "a group and a sampler": ("y ~ x0 + (1 | g)", dict(sampler="mala"), False),
    "a group and known sigma": ("y ~ x0 + (1 | g)", dict(sigma=1.0), False),
    "nested groups": ("y ~ x0 + (1 | g / h)", {}, True),
    "crossed groups": ("y ~ x0 + (1 | g) + (1 | h)", {}, True),
    "crossed slopes": ("y ~ x0 + (1 + x0 | g) + (1 | h)", {}, False),
}


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("name", EFFECTS)
def test_scales_of_effects_have_independent_draws(name):
    formula, how, direct = EFFECTS[name]
    frame = table(60, 2).assign(g=np.arange(60) % 6, h=np.arange(60) // 6 % 5)
    assert (sgmc.ols(formula, frame, seed=1, draws=20, **how).sampler == DIRECT) == direct


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("formula", ["y ~ x0 + (1 | g)", "y ~ s(x0, k=5)"])
def test_parts_of_a_run_with_effects_change_no_bit(formula, tmp_path):
    frame = table(60, 2).assign(g=np.arange(60) % 6)
    fit = lambda draws=400, **how: sgmc.ols(formula, frame, seed=1, draws=draws, **how)
    whole, part = fit(), fit(150)
    assert np.array_equal(fit(threads=1).draws, whole.draws)
    part.save(tmp_path / "fit.sgmc")
    loaded = sgmc.load(tmp_path / "fit.sgmc")
    assert np.array_equal(loaded.resume(250, data=frame).draws, whole.draws)


@pytest.mark.parametrize(
    ("verb", "how"),
    [
        ("logit", {}),
        ("ols", dict(prior=sgmc.student_t(4))),
        ("ols", dict(precondition="diag")),
    ],
)
def test_other_posteriors_are_refused(verb, how):
    frame = table(50, 2).assign(y=lambda df: (df.y > 0) * 1.0)
    with pytest.raises(NotSupported, match="direct draws from the posterior of a linear"):
        getattr(sgmc, verb)("y ~ x0", frame, sampler="direct", seed=1, **how)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (dict(step_size=0.1), "step_size does not apply to direct: draws do not depend"),
        (dict(batch_size=10), "batch_size does not apply to direct"),
        (dict(gradient="cv"), "gradient='cv' does not apply to direct"),
        (dict(warmup="threshold"), "warmup='threshold' does not apply to direct"),
    ],
)
def test_what_chains_have_is_refused(how, message):
    with pytest.raises(ArgumentError, match=message):
        sgmc.ols("y ~ x0", table(50, 2), sampler="direct", seed=1, **how)


def test_threads_and_parts_of_a_run_change_no_bit(tmp_path):
    frame = table(300, 2)
    fit = lambda draws=700, **how: sgmc.ols("y ~ x0 + x1", frame, seed=1, draws=draws, **how)
    whole = fit()
    assert np.array_equal(fit(threads=1).draws, whole.draws)
    part = fit(300)
    assert np.array_equal(part.draws, whole.draws[:, :300])
    assert np.array_equal(part.resume(400).draws, whole.draws)
    part.save(tmp_path / "fit.sgmc")
    loaded = sgmc.load(tmp_path / "fit.sgmc")
    assert np.array_equal(loaded.resume(400, data=frame).draws, whole.draws)
    fit(300, checkpoint=tmp_path / "run")
    assert np.array_equal(fit(checkpoint=tmp_path / "run").draws, whole.draws)


def test_files_have_the_posterior_of_their_rows(tmp_path):
    """A prepared file, of which nothing is copied: to 5 Monte Carlo errors of 4,000 draws."""
    frame = table(3000, 2)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    file = sgmc.prepare("y ~ x0 + x1", tmp_path / "rows.csv", tmp_path / "prepared")
    read = sgmc.ols("y ~ x0 + x1", file, seed=2)
    usual = sgmc.ols("y ~ x0 + x1", frame, seed=1)
    assert read.sampler == DIRECT
    off = (read.params - usual.params) / usual.bse
    assert np.abs(off).max() < 5 * np.sqrt(2 / 4000)


def test_arrays_and_sparse_tables():
    from scipy import sparse

    frame = table(400, 2)
    X = np.column_stack([np.ones(400), frame.x0, frame.x1])
    dense = sgmc.OLS(frame.y.to_numpy(), X).fit(seed=1)
    thin = sgmc.OLS(frame.y.to_numpy(), sparse.csr_array(X)).fit(seed=2)
    assert dense.sampler == thin.sampler == DIRECT
    off = (thin.params.to_numpy() - dense.params.to_numpy()) / dense.bse.to_numpy()
    assert np.abs(off).max() < 5 * np.sqrt(2 / 4000)


def test_the_reason_is_in_the_details():
    results = sgmc.ols("y ~ x0", table(50, 1), seed=1)
    text = results.summary(details=True).as_text()
    assert "Direct draws chosen: given sigma" in text
    assert "Errors are estimated by independent draws." in text


@pytest.mark.filterwarnings("ignore::sgmc.errors.GroupsWarning")
def test_a_fit_without_a_number_of_draws_goes_on():
    """Effects of three groups have long tails: 1,000 draws per chain leave sds unknown."""
    frame = pd.DataFrame(
        {"g": np.repeat(["a", "b", "c"], 3), "y": [55, 53, 54, 26, 31, 32, 84, 82, 79.0]}
    )
    results = sgmc.ols("y ~ 1 + (1 | g)", frame, seed=1)
    assert results.sampler == DIRECT
    assert results.draws.shape[1] > 1000
    assert results.verdict.trustworthy
    again = sgmc.ols("y ~ 1 + (1 | g)", frame, seed=1, draws=results.draws.shape[1])
    assert np.array_equal(again.draws, results.draws)
