"""Positions of warmup: where the chains were, without a change of any draw."""

import numpy as np
import pytest

import sgmc
from sgmc.errors import ArgumentError
from sgmc.fit import chains

from .cases import FORMULA, FRAME, fit, same

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")

KINDS = {
    "mini-batches": {},
    "saga": dict(sampler="sgld", gradient="saga"),
    "decreasing steps": dict(sampler="sgld", step_size=sgmc.Polynomial(0.5, 10, 0.33), thin=3),
    "adaptive batches": dict(sampler="sgld-cv", batch_size="adaptive"),
    "exact": dict(sampler="mala", init="dispersed"),
    "trees": dict(sampler="nuts", threads=1),
    "walkers": dict(sampler=sgmc.HMC(walkers=4)),
    "continuous time": dict(sampler="zigzag", warmup=1200),
    "until accurate": dict(draws=500, accuracy=0.3),
    "prior alone": dict(prior_only=True),
}
QUICK = ("decreasing steps", "exact", "walkers")
GIVEN = dict(sampler="sgld", step_size=0.01, batch_size=10, init=[0.3, -0.2, 0.1], seed=3, chains=2)


@pytest.mark.parametrize(
    "kind", [k if k in QUICK else pytest.param(k, marks=pytest.mark.extended) for k in KINDS]
)
def test_draws_are_the_same_with_and_without(kind):
    how = {"draws": 20, **KINDS[kind]}
    plain, kept = fit(**how), fit(**how, keep_warmup=True)
    assert same(plain, kept) and plain.warmup is None
    found = kept.warmup
    assert found.draws.shape == (4, len(found.steps), 3) and np.isfinite(found.draws).all()
    assert len(found.steps) <= 501 and set(np.diff(found.steps)) == {found.every}
    assert (found.weights is None) == (kept.weights is None)
    np.testing.assert_allclose(found.draws[:, 0], kept.starts, rtol=1e-12)
    np.testing.assert_array_equal(plain.starts, kept.starts)


def whole_and_kept(steps=90):
    """Positions of a warmup, and the draws of a fit that keeps every step instead."""
    whole = sgmc.logit(FORMULA, FRAME, warmup=0, thin=1, draws=steps, **GIVEN)
    kept = sgmc.logit(FORMULA, FRAME, warmup=steps, draws=3, keep_warmup=True, **GIVEN)
    return whole.draws, kept.warmup


@pytest.mark.parametrize("most", [500, 20])
def test_positions_are_those_of_the_steps(most, monkeypatch):
    monkeypatch.setattr(chains, "MOST_POSITIONS", most)
    whole, kept = whole_and_kept()
    every = {500: 1, 20: 5}[most]
    assert kept.every == every and kept.steps.tolist() == list(range(0, 91, every))
    np.testing.assert_array_equal(kept.draws[:, 1:], whole[:, every - 1 :: every])
    np.testing.assert_allclose(kept.draws[:, 0], np.tile(GIVEN["init"], (2, 1)), rtol=1e-12)


def test_a_step_too_late_is_seen(monkeypatch):
    def late(self, chain):
        if chain.steps == len(self.positions) + 1:
            self.positions.append(np.array(chain.x))

    monkeypatch.setattr(chains.Watched, "look", late)
    whole, kept = whole_and_kept()
    assert kept.draws.shape == (2, 90, 3)
    assert not np.array_equal(kept.draws[:, 1:], whole[:, :-1])
    np.testing.assert_array_equal(kept.draws, whole)  # and nothing else is wrong with them


def test_starts_that_are_far_out_come_home():
    where = np.full((4, 3), [3.0, 4.0, -5.0])
    found = fit(200, sampler="mala", init=where, keep_warmup=True)
    away = np.abs(found.warmup.draws - found.params.to_numpy()) / found.bse.to_numpy()
    assert away[:, 0].min() > 8 and away[:, -100:].mean() < 1.5  # of a normal: 0.8


def test_a_run_that_goes_on_keeps_its_warmup(tmp_path):
    whole, part = (fit(n, sampler="mala", keep_warmup=True) for n in (60, 40))
    longer = part.resume(draws=20)
    part.save(tmp_path / "part")
    saved = sgmc.load(tmp_path / "part")
    for one in (longer, saved, saved.resume(draws=20, data=FRAME)):
        np.testing.assert_array_equal(one.warmup.draws, whole.warmup.draws)
        np.testing.assert_array_equal(one.warmup.steps, whole.warmup.steps)
        np.testing.assert_array_equal(one.starts, whole.starts)
    assert same(longer, whole)


def test_a_run_stopped_in_warmup_goes_on_from_its_checkpoint(tmp_path, monkeypatch):
    how = dict(sampler="mala", chains=2, warmup=2000, thin=2, keep_warmup=True)
    whole, chunk = fit(20, **how), chains.ChainTask.chunk

    def stopped(task):
        if task.chain.steps > 700:
            raise RuntimeError("the power is out")
        return chunk(task)

    with monkeypatch.context() as patch:
        patch.setattr(chains.ChainTask, "chunk", stopped)
        with pytest.raises(RuntimeError, match="power"):
            fit(20, **how, checkpoint=tmp_path / "run")
    again = fit(20, **how, checkpoint=tmp_path / "run")
    assert same(whole, again)
    np.testing.assert_array_equal(again.warmup.draws, whole.warmup.draws)
    fit(20, **how | {"keep_warmup": False}, checkpoint=tmp_path / "none")
    with pytest.raises(ArgumentError, match="keep_warmup was None, here it is True"):
        fit(20, **how, checkpoint=tmp_path / "none")


# ---- other models --------------------------------------------------------------------------------


class Spread(sgmc.Model):
    """y ~ N(0, sigma^2)."""

    parameters = {"sigma": ()}
    constraints = {"sigma": "positive"}
    prior = {"sigma": sgmc.exponential(1)}
    n = len(FRAME)

    def log_lik(self, theta, rows):
        e = FRAME.a.to_numpy()[rows] / theta["sigma"]
        return -0.5 * (e @ e) - len(e) * np.log(theta["sigma"])


def test_models_of_users():
    how = dict(seed=1, draws=10, sampler="mala", warmup=30, chains=2)
    plain, kept = Spread().fit(**how), Spread().fit(**how, keep_warmup=True)
    np.testing.assert_array_equal(plain.draws, kept.draws)
    assert kept.warmup.draws.shape == (2, 31, 1) and (kept.warmup.draws > 0).all()


@pytest.mark.extended
def test_only_parameters_whose_draws_are_kept():
    pairs = np.array([(u, i) for u in range(8) for i in range(6)])
    ratings = np.random.default_rng(0).integers(1, 6, len(pairs))
    model = sgmc.BPMF((pairs[:, 0], pairs[:, 1], ratings), dim=2)
    how = dict(seed=1, chains=2, thin=1, keep=["U"])
    kept = model.fit(**how, warmup=30, draws=5, keep_warmup=True)
    whole = model.fit(**how, warmup=0, draws=30)
    assert kept.warmup.draws.shape == (2, 31, 16)
    np.testing.assert_allclose(kept.warmup.draws[:, 1:], whole.draws, rtol=1e-12)


@pytest.mark.extended
def test_crossed_factors():
    df = FRAME.assign(g=np.arange(len(FRAME)) % 7, h=np.arange(len(FRAME)) % 5)
    how = dict(seed=1, draws=20, chains=2, sampler="hmc")
    plain, kept = (
        sgmc.ols("b ~ a + (1 | g) + (1 | h)", df, **how, keep_warmup=on) for on in (False, True)
    )
    np.testing.assert_array_equal(plain.draws, kept.draws)
    sds = [name.startswith("sd(") for name in kept.names]
    assert (kept.warmup.draws[..., sds] > 0).all() and sum(sds) == 2


# ---- what is refused, and memory -----------------------------------------------------------------


@pytest.mark.parametrize(
    "how, message",
    [
        (dict(keep_warmup=True, warmup=0), "there is no warmup to keep with warmup=0"),
        (dict(keep_warmup=2), "keep_warmup=2 must be True or False"),
    ],
)
def test_what_is_refused(how, message):
    with pytest.raises(ArgumentError, match=message):
        fit(**how)


def test_samplers_without_warmup_have_none():
    assert fit(20, sampler="laplace", keep_warmup=True).warmup is None


def test_memory_counts_it():
    model = sgmc.Logit.from_formula(FORMULA, FRAME)
    without, kept = (model.memory(draws=100_000, keep_warmup=on) for on in (False, True))
    assert "warmup" not in without.parts
    assert kept.total - without.total == kept.parts["warmup"] == 2.5 * 8 * 4 * 501 * 3
    with pytest.raises(ArgumentError, match="draws=11184800 and 501 positions of warmup in 4"):
        fit(11_184_800, keep_warmup=True)


# ---- figures and trees ---------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["equal weights", "step-size weights"])
def found(request):
    """A fit that kept its warmup."""
    weighted = request.param == "step-size weights"
    how = KINDS["decreasing steps"] if weighted else dict(sampler="mala", warmup=90)
    return fit(40, **how, keep_warmup=True)


def test_traces_have_warmup_before_zero(plt, found):
    axes = found.plot_trace(density=False)
    time = np.arange(40) if found.weights is None else np.cumsum(found.weights)
    each = np.ones(len(found.warmup.steps)) if found.weights is None else found.warmup.weights
    for j, ax in enumerate(axes):
        for k in range(4):
            both = np.append(found.warmup.draws[k, :, j], found.draws[k, :, j])
            np.testing.assert_array_equal(ax.lines[k].get_ydata(), both)
            x = ax.lines[k].get_xdata()
            np.testing.assert_allclose(x[-40:], time)
            assert (np.diff(x) > 0).all() and x[0] == pytest.approx(-each.sum())
            assert x[-41] == pytest.approx(-each[-1])
        assert ax.lines[4].get_xdata() == [0, 0]
        box = ax.patches[0].get_extents().transformed(ax.transData.inverted())
        assert (box.x0, box.x1) == (pytest.approx(x[0]), pytest.approx(0))
    labels = [text.get_text() for text in axes[0].get_legend().get_texts()]
    apart = "each step" if found.warmup.every == 1 else f"every {found.warmup.every} steps"
    assert labels == [f"warmup (a position {apart})", "end of warmup"]
    (ax,) = found.plot_trace("a", warmup=False, density=False)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), found.draws[0, :, 1])
    assert len(ax.lines) == 4 and not ax.patches


def test_traces_beside_densities(plt, found):
    axes = found.plot_trace(["a", "b"], density=True)
    assert [ax.get_title() for ax in axes] == ["a", "a", "b", "b"]
    assert [ax.get_ylabel() for ax in axes] == ["value", "density"] * 2
    assert len(axes[1].lines) == 4
    for k, line in enumerate(axes[1].lines):
        x, height = line.get_data()
        draws, step = found.draws[k, :, 1], x[1] - x[0]
        assert height.sum() * step == pytest.approx(1, abs=0.01)
        # a kernel reflected at the ends moves the mean of 40 draws by less than a fifth of an sd
        mean = np.average(draws, weights=found.weights)
        assert (x * height).sum() * step == pytest.approx(mean, abs=0.2 * draws.std())
    assert len(found.plot_trace(warmup=False)) == 6
    (one,) = found.plot_trace("a", ax=axes[0])  # with axes of one's own no densities
    assert one is axes[0]


def test_trees_have_a_group_of_warmup(found):
    pytest.importorskip("arviz_base", reason="arviz-base is not installed")
    tree = found.to_arviz()
    group = tree["warmup_posterior"]
    for k, name in enumerate(found.names):
        assert group[name].dims == ("chain", "draw")
        np.testing.assert_array_equal(group[name].values, found.warmup.draws[..., k])
    assert group.attrs["steps_between_positions"] == found.warmup.every
    assert "warmup_posterior" not in fit(20, sampler="laplace").to_arviz().children
