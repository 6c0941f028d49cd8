"""Models without an approximation, with many parameters, metrics or updates of their own."""

import numpy as np
import pytest
from _ext.toy_hierarchy import NormalPrecision

import sgmc
from sgmc.errors import ArgumentError, NotSupported

from .models import Kinds, Line, Poissons, departures
from .test_pipeline import MEAN, SD


class Unscaled(Line):
    """As if no mode would do."""

    scaled = False
    start = {"b": [0.9, -0.5], "sigma": 0.8}


class TestWithoutAnApproximation:
    @pytest.mark.extended
    def test_exact_samplers_adapt(self):
        results, other = Unscaled().fit(seed=1), Line().fit(seed=2)
        assert results.sampler.name == "mala" and "scale is not known" in str(
            results.summary(details=True)
        )
        assert np.abs((results.params - other.params) / other.bse).max() < 0.15
        assert np.abs(results.bse / other.bse - 1).max() < 0.1

    @pytest.mark.extended
    def test_minibatches_derive_their_step_at_one_mode(self):
        """As where chains move in its coordinates: to a tenth of the sds."""
        results, other = Unscaled().fit(seed=1, sampler="sgld", draws=400), Line().fit(seed=2)
        assert results._fit.plan.step_origin == "derived"
        assert np.abs((results.params - other.params) / other.bse).max() < 0.15
        assert np.abs(results.bse / other.bse - 1).max() < 0.1

    @pytest.mark.parametrize("sampler", ["laplace", "zigzag"])
    def test_samplers_that_rest_on_an_approximation_are_refused(self, sampler):
        with pytest.raises(NotSupported, match=f"{sampler} .*use sampler='mala'"):
            Unscaled().fit(seed=1, sampler=sampler)

    @pytest.mark.extended
    def test_a_given_step_is_judged_by_scores(self):
        good = Unscaled().fit(
            seed=1, sampler="lmsgld", step_size=5e-4, gradient="cv", thin=20, batch_size=100
        )
        assert good.verdict.trustworthy and "scores" in good.verdict.basis
        bad = Unscaled().fit(
            seed=1, sampler="sgld", step_size=5e-4, gradient="simple", thin=20, batch_size=100
        )
        assert not bad.verdict.trustworthy and "spread inflated" in bad.verdict.text

    def test_preconditioning_is_refused(self):
        with pytest.raises(NotSupported, match="no mode to precondition at"):
            Unscaled().fit(seed=1, precondition="dense")


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize(
    "sampler", [name for name, cls in sgmc.registry.room("samplers").items() if cls().needs_noise]
)
def test_samplers_that_want_single_coordinates(sampler):
    with pytest.raises(NotSupported, match="ordered parameters and those on a simplex mix"):
        Kinds().fit(seed=1, sampler=sampler)
    assert Poissons().fit(
        seed=1, sampler=sampler, draws=200, step_size=0.1, thin=2, chains=1
    ).draws.shape == (1, 200, 3)


class Many(Poissons):
    """Rates that are taken for many."""

    scaled = False
    defaults = dict(sampler="mala", warmup=500)


class TestMoments:
    def test_draws_of_some_and_moments_of_all(self):
        class Two(Many):
            parameters = {"a": 2, "b": ()}
            constraints = {"a": "positive", "b": "positive"}

        whole, part = Two().fit(seed=1, draws=500), Two().fit(seed=1, draws=500, keep="b")
        assert part.names == ["b"] and (part.draws_of("b") == whole.draws_of("b")).all()
        assert part.moments()["mean"].to_numpy() == pytest.approx(
            whole.params.to_numpy(), rel=1e-12
        )
        # divisor n, not n - 1
        assert part.moments()["sd"].to_numpy() == pytest.approx(whole.bse.to_numpy(), rel=2e-3)
        assert part.mean_of("a").shape == (2,)
        assert "moments() has all" in " ".join(str(part.summary()).split())
        with pytest.raises(ArgumentError, match="draws of 'a' were not kept: fit with keep="):
            part.draws_of("a")
        longer = Two().fit(seed=1, draws=600, keep="b")
        again = part.resume(draws=100)
        assert (again.draws == longer.draws).all()
        assert (again.moments() == longer.moments()).all(axis=None)

    def test_too_many_draws_become_moments(self, monkeypatch):
        import sgmc.models.bases.problem as room

        monkeypatch.setattr(room, "DRAWS_MEMORY", 8 * 4 * 500 * 2)
        monkeypatch.setattr(room, "RECORDED_SAMPLE", 2)
        part = Many().fit(seed=1, draws=500)
        assert part.names == ["rate[0]", "rate[2]"] and len(part.moments()) == 3

    def test_keep_belongs_to_models_of_many(self):
        with pytest.raises(ArgumentError, match="keep does not apply here"):
            Line().fit(seed=1, keep="b")
        with pytest.raises(ArgumentError, match="keep: 'c' is not a parameter"):
            Many().fit(seed=1, keep="c")


class Edged(Poissons):
    """Rates that a metric keeps positive."""

    own_metric = True


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_a_metric_of_the_models_own_moves_parameters_as_they_are():
    """Patterson & Teh's dynamics of positive numbers: at shapes from 4 on and steps of 0.02 their
    error is below Monte Carlo's.
    """
    model = Edged()
    mean, sd = departures(model, sampler="sgrld", step_size=0.02, batch_size=8, draws=4000, thin=20)
    assert mean < 2 * MEAN and sd < 2 * SD


def test_a_compiled_model_as_it_is():
    from _ext.toys import GaussianLocation

    y = np.random.default_rng(0).normal([1.0, -2.0], 1.0, (50, 2))
    done = sgmc.sample(GaussianLocation(y, 1.0), seed=1, prior="flat")
    assert done.names == ["theta[0]", "theta[1]"] and done.draws_of("theta").shape == (4, 1000, 2)
    assert np.abs((done.params - y.mean(axis=0)) * np.sqrt(50)).max() < MEAN
    assert np.abs(done.bse * np.sqrt(50) - 1).max() < SD


class Updated(sgmc.Model):
    """A normal law whose precision is drawn from its conditional law, between the steps of a
    sampler that moves the mean.
    """

    parameters = {"mu": (), "precision": ()}
    prior = "flat"
    start = [1.0, 1.0]
    defaults = {"sampler": "lmsgld", "step_size": 0.02, "batch_size": 40, "thin": 10}

    def __init__(self):
        self.y = np.random.default_rng(4).normal(1.0, 0.7, 40)
        self.n = 40

    def kernel(self):
        return NormalPrecision(self.y)

    def exact(self):
        """With a gamma prior of the precision mu is Student's, 2 (1 + n/2) - 1 degrees of freedom,
        by its density on a grid.
        """
        mu = np.linspace(-1, 3, 20_001)
        shape, rate = 1 + self.n / 2, 1 + 0.5 * ((self.y[:, None] - mu) ** 2).sum(axis=0)
        p = rate**-shape
        mean = np.average(mu, weights=p), np.average(shape / rate, weights=p)
        square = np.average(mu**2, weights=p), np.average(shape * (shape + 1) / rate**2, weights=p)
        return np.array(mean), np.sqrt(np.array(square) - np.square(mean))


class TestConditionalUpdates:
    @pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
    def test_the_posterior_is_right_and_scores_are_those_of_the_rest(self):
        mean, sd = departures(Updated(), draws=4000)
        assert mean < MEAN and sd < SD
        done = Updated().fit(seed=1)
        assert "no formula has the bias of the step" in done.verdict.text
        some = done.scored_draws()
        assert some.draws.shape[1] == some.scores.shape[1] == len(done.names) - 1
        assert done.ksd() < 0.1  # 4,000 draws are about 0.03 from their target

    @pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
    def test_an_update_by_other_data_is_seen(self, monkeypatch):
        monkeypatch.setattr(Updated, "kernel", lambda self: NormalPrecision(2 * self.y))
        assert departures(Updated(), draws=4000)[1] > 3 * SD

    @pytest.mark.parametrize("arguments", [dict(sampler="mala"), dict(precondition="diag")])
    def test_what_does_not_go_with_them(self, arguments):
        with pytest.raises(NotSupported, match="own updates change|takes no other coordinates"):
            Updated().fit(seed=1, **arguments)
