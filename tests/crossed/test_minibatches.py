"""Mini-batches beside effects of crossed factors, smooths and learned scales."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.core.engine import evaluate, full
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.fit import choose
from sgmc.subsampling.uniform import Uniform

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
N = 1200


def frame():
    """Rows of two factors, a curve, and columns that matter little."""
    rng = np.random.default_rng(8)
    g, h, x, q = rng.integers(0, 12, N), rng.integers(0, 8, N), rng.normal(size=N), rng.random(N)
    eta = 0.4 * x + 0.8 * rng.normal(size=12)[g] + 0.6 * rng.normal(size=8)[h] + np.sin(6 * q)
    table = pd.DataFrame({"x": x, "q": q, "g": g, "h": h})
    table[[f"z{j}" for j in range(5)]] = rng.normal(size=(N, 5))
    return table.assign(y=(rng.random(N) < 1 / (1 + np.exp(-eta))).astype(int))


FRAME = frame()
SHRUNK = "y ~ x + z0 + z1 + z2 + z3 + z4"
KINDS = {
    "crossed": ("y ~ x + (1 | g) + (1 | h)", None),
    "smooth": ("y ~ x + s(q, k=8)", None),
    "ridge": (SHRUNK, sgmc.ridge()),
    "horseshoe": (SHRUNK, sgmc.horseshoe(2, learned=True)),
}
CROSSED = KINDS["crossed"][0]


def fit(kind, **how):
    formula, prior = KINDS[kind]
    return sgmc.logit(formula, FRAME, prior=prior, **{"seed": 3, **how})


# ---- gradients -----------------------------------------------------------------------------------


@cache
def short(kind):
    """A fit with the noise of batches of 100 rows."""
    how = dict(gradient="cv", batch_size=100, subsample="uniform")
    return fit(kind, sampler="sgld", draws=20, **how)


def estimates(found, name, count=300):
    """The gradient of all rows at a point, and estimates from batches of 100 rows."""
    rng = Rng(seed_sequence(2, "pilot"))
    x = np.random.default_rng(4).normal(size=found.dim)
    gradient = found.gradient(name, Uniform(N, 100), rng)
    drawn = np.array([evaluate(gradient, x, rng)[0] for _ in range(count)])
    return full(gradient, x)[1], drawn


@pytest.mark.parametrize("name", ["simple", "cv", "taylor"])
@pytest.mark.parametrize("kind", KINDS)
def test_estimates_are_the_gradient_in_the_mean(kind, name):
    """Within 4.5 standard errors of 300 estimates, of some 20 numbers each."""
    whole, drawn = estimates(short(kind)._fit.problem, name)
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - whole) < 4.5 * error + 1e-9).all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_pilot_sees_their_noise(kind):
    """The sd of each coordinate, by the pilot, is that of estimates at draws of the Gaussian to 15
    per cent: 1,600 estimates tell it to 3, and rows that are skewed to three times as much.
    """
    found = short(kind)
    plan, rng = found._fit.plan, Rng(seed_sequence(9, "chain", 0))
    gradient = plan.problem.gradient("cv", Uniform(N, 100), rng)
    z = choose.draws_of_laplace(3, plan.problem.dim)
    at = [np.array([evaluate(gradient, x, rng)[0] for _ in range(100)]) for x in (*z, *-z)]
    seen = np.sqrt(np.mean([one.var(axis=0, ddof=1) for one in at], axis=0))
    assert found._fit.noise.tau == pytest.approx(seen, rel=0.15)


# ---- posteriors ----------------------------------------------------------------------------------

# Of means in sds, and of sds, beside a long exact run: some 1,000 effective draws tell the larger
# of 20 numbers to a tenth, and steps without accept-reject may add half of a tenth.
MEAN, SD = 0.12, 0.12


@cache
def exact(kind):
    """A long run."""
    return fit(kind, sampler="mala", draws=3000, thin=2, seed=5)


def distance(kind, **how):
    """The largest differences of means and of sds from a long exact run."""
    truth = exact(kind)
    one = fit(kind, **how)
    mean = (np.abs(one.params - truth.params) / truth.bse).max()
    return mean, np.abs(one.bse / truth.bse - 1).max(), one, truth


@pytest.mark.extended("ridge", "horseshoe")
@pytest.mark.parametrize("kind", KINDS)
def test_posteriors_are_those_of_exact_samplers(kind):
    mean, sd, one, truth = distance(kind, sampler="lmsgld")
    assert one.chain_diagnostics().batch_size.max() < N / 4
    assert mean < MEAN
    assert sd < SD
    if kind == "crossed":  # effects are kept whole, and predicted with
        ours, theirs = one.ranef("g"), truth.ranef("g")
        assert (np.abs(ours["mean"] - theirs["mean"]) < MEAN * theirs["sd"]).all()
        assert ours["sd"].to_numpy() == pytest.approx(theirs["sd"].to_numpy(), rel=SD)
        new = FRAME.head(20)
        np.testing.assert_allclose(one.predict(new), truth.predict(new), atol=0.01)


def test_whole_draws_for_arviz():
    pytest.importorskip("arviz_base")
    one = fit("crossed", sampler="lmsgld", draws=400)
    tree = one.to_arviz(effects=True)
    assert tree["effects"]["1|g"].shape == (4, 200, 12)


@pytest.mark.extended
def test_leaving_out_takes_their_whole_draws():
    """Within the difference's own error, about a tenth of a unit."""
    one, truth = fit("crossed", sampler="lmsgld"), exact("crossed")
    assert one.loo().elpd == pytest.approx(truth.loo().elpd, abs=0.5)


@pytest.mark.extended
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["sgld", "sghmc", "sgnht", "imh", "sbps", "sgpdmp", "vsgbd"])
def test_posteriors_of_other_samplers(kind, name):
    mean, sd, *_ = distance(kind, sampler=name)
    assert mean < MEAN
    assert sd < 1.3 * SD


@pytest.mark.mistake("mini-batches beside effects: {mistake}")
@pytest.mark.parametrize("name", ["sgld"])
@pytest.mark.parametrize(
    "mistake, how",
    [
        ("noise that widens", dict(gradient="simple", batch_size=20, step_size=0.1)),
        ("a step that is too long", dict(step_size=2.0)),
    ],
)
def test_bias_is_seen_and_said(name, mistake, how):
    _, sd, one, _ = distance("crossed", sampler=name, **how)
    assert sd > SD
    assert not one.verdict.trustworthy


def test_an_sd_near_zero_is_no_gaussian():
    """Langevin steps make the sd of effects that are not there 10 to 20 per cent too large, which
    scores of whole draws tell.
    """
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"x": rng.normal(size=3000)})
    table = table.assign(g=rng.integers(0, 8, 3000), h=rng.integers(0, 12, 3000))
    table["y"] = rng.poisson(np.exp(0.3 + 0.5 * table.x))
    assert not sgmc.poisson(CROSSED, table, sampler="lmsgld", seed=1).verdict.trustworthy


# ---- limits --------------------------------------------------------------------------------------


def test_more_parameters_than_a_pilot_takes_are_refused(monkeypatch):
    monkeypatch.setattr(choose, "MOST_SURVEYED", 20)
    for how in (dict(sampler="sgld"), dict(batch_size=50), dict(gradient="cv")):
        with pytest.raises(sgmc.errors.NotSupported, match="24 parameters.*at most 20") as error:
            fit("crossed", **how)
        assert error.value.because == "limit"
    assert fit("ridge", sampler="sgld", draws=10).draws.shape[1] == 10


def test_batches_that_are_asked_for_are_taken():
    """With the sampler left open, an argument for mini-batches is one for them."""
    one = fit("crossed", batch_size=60, draws=20)
    assert "mini-batch" in one.summary().as_text().lower()
    assert not one._fit.problem.partial  # scores of whole draws are what tells their bias
