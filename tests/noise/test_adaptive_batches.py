"""Batches that adapt to the noise."""

import re

import numpy as np
import pytest

import sgmc
from sgmc.errors import (
    ArgumentError,
    GradientNoiseWarning,
    NotSupported,
)
from sgmc.fit import tolerance

from .cases import FRAME, N, fit, header, noise_at

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


# ---- batches that adapt --------------------------------------------------------------------------

HOW = [
    dict(sampler="sghmc-simple", subsample="stratified"),  # the first sees most mistakes
    dict(sampler="lmsgld-cv", subsample="uniform"),
    dict(sampler="sgld-simple", subsample="uniform"),
    dict(sampler="lmsgld-saga", subsample="uniform"),
    dict(sampler="sgld-cv", subsample="replacement"),
    dict(sampler="lmsgld-cv", subsample="preferential"),
    dict(sampler="csgbd-simple", precondition=None, thin=20),
]


@pytest.mark.extended(*map(str, HOW[1:]))
@pytest.mark.parametrize("how", HOW, ids=str)
def test_adaptive_batches_meet_a_noise_that_the_pilot_missed(how, monkeypatch):
    """The pilot sees a tenth of the noise.  Batches planned by it are too small; adapted ones bring
    the target within a factor that 40 looks at a chain's own noise allow (40 values of a variance
    that varies by its own size: 16 %; cv's, and 5 coordinates: 2).
    """
    real = tolerance.derive

    def misled(spec, noise, n, batch=None):
        law = None if noise.law is None else lambda m: noise.law(m) / 10
        return real(spec, noise._replace(one_row=noise.one_row / 10, law=law), n, batch)

    monkeypatch.setattr(tolerance, "derive", misled)
    seen = {}
    for batch in (None, "adaptive"):
        results = fit(**how, batch_size=batch, draws=50)
        done, size = results._fit, results.chain_diagnostics().batch_size
        target = tolerance.tolerable_noise(done.plan.spec, done.plan.langevin_time)
        gradient = how["sampler"].split("-")[1]
        if gradient == "saga":  # whose table an estimate changes: what the chains met
            seen[batch] = done.noise.worst if batch else 10 * target
            continue
        points = done.x.reshape(-1, done.x.shape[2])[::5]
        noise = noise_at(results, points, gradient, int(size.mean()), repeats=100)
        seen[batch] = np.diag(noise).max() / done.problem.coordinates.max_precision
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
    text = str(results.summary(details=True))
    assert re.search(r"from gradient noise: +1 *$", text, re.M)


def test_adaptive_batches_come_back_from_all_rows():
    """A plan of all rows has no noise to be seen: they begin with one row less."""
    results = fit("lmsgld-simple", batch_size="adaptive", step_size=1.0, frame=FRAME.iloc[:32])
    assert results._fit.plan.batch == 32 and len(results.gradient_noise()) == len(results.names)
    assert (results.chain_diagnostics().batch_size == 31).all()
    assert (results.gradient_noise().tau > 0).all()


@pytest.mark.extended
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
