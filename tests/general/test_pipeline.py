"""Models that are no regressions, through the whole pipeline: names, priors, constraints,
coordinates, results, resuming.
"""

import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import sgmc
from sgmc.coordinates.transforms.layout import Layout
from sgmc.errors import ArgumentError, NotSupported

from . import models
from .models import Line, table

# five standard errors of 5,000 effective draws; in posterior sds, and relative
MEAN, SD = 0.07, 0.06


@pytest.fixture(scope="module")
def model():
    return Line()


@pytest.fixture(scope="module")
def results(model):
    return model.fit(seed=1, sampler="lmsgld")


class TestALine:
    @pytest.mark.extended
    def test_against_a_regression_of_the_same_posterior(self, results):
        X, y = table()
        other = sgmc.OLS(y, X, names=["b[0]", "b[1]"]).fit(
            seed=2,
            prior={"*": sgmc.normal(0, 2), "b[0]": sgmc.normal(0, 2), "sigma": sgmc.exponential(1)},
        )
        assert list(results.params.index) == list(other.params.index) == ["b[0]", "b[1]", "sigma"]
        # five standard errors of both
        assert np.abs((results.params - other.params) / other.bse).max() < 0.1
        assert np.abs(results.bse / other.bse - 1).max() < 0.07

    def test_names_and_shapes(self, results):
        assert results.draws_of("b").shape == (4, 1000, 2)
        assert results.draws_of("sigma").shape == (4, 1000)
        assert (results.draws_of("b")[..., 1] == results.draws[..., 1]).all()
        assert results.mean_of("b") == pytest.approx(results.params[["b[0]", "b[1]"]].to_numpy())
        assert results.sd_of("sigma") == pytest.approx(results.bse["sigma"])
        with pytest.raises(ArgumentError, match="'sigm' is not a parameter; did you mean 'sigma'"):
            results.draws_of("sigm")

    def test_the_summary_says_what_was_done(self, results):
        text = str(results.summary(details=True))
        assert "Line" in text and "lmsgld-cv" in text and "sigma: positive" in text
        assert "Prior: b: normal(0, 2); sigma: exponential(1)" in text
        assert results.verdict.trustworthy and max(map(len, text.splitlines())) <= 78

    def test_everything_that_draws_and_scores_give(self, results):
        assert results.accuracy()[["mean_error", "sd_error"]].abs().to_numpy().max() < 0.1
        assert results.ksd() < 0.2 and results.ess().min() > 1000 and results.rhat().max() < 1.02
        assert results.hypothesis("b[0] > b[1]")["prob"] == 1.0
        assert results.contrast({"b[0]": 1, "b[1]": -1}).shape == (1, 5)
        assert len(results.to_frame()) == 4000
        assert results.gradient_noise().tau.max() > 0 and results.zv_means().shape == (3, 3)

    @pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
    def test_rows_whose_control_values_are_computed_again_count_twice(self, model):
        short = dict(
            sampler="sgld", step_size=0.1, batch_size=50, draws=20, warmup=20, thin=1, seed=1
        )
        simple, cv = (
            model.fit(gradient=name, **short).chain_diagnostics().data_passes
            for name in ("simple", "cv")
        )
        assert (cv == 2 * simple).all()

    @pytest.mark.parametrize(
        "name", ["predict", "resid_response", "loo", "plot_pp_check", "df_resid", "pvalues"]
    )
    def test_what_does_not_apply_is_refused_by_name(self, results, name):
        with pytest.raises(AttributeError, match=f"{name} (does not apply to Line|has no meaning)"):
            getattr(results, name)

    @pytest.mark.extended
    def test_going_on_is_as_if_it_had_never_stopped(self, results, model, tmp_path):
        longer = model.fit(seed=1, sampler="lmsgld", draws=1200)
        assert (results.resume(draws=200).draws == longer.draws).all()
        results.save(tmp_path / "a")
        loaded = sgmc.load(tmp_path / "a")
        assert (loaded.resume(draws=200, data=model).draws == longer.draws).all()
        with pytest.raises(ArgumentError, match="data=<the Line model of the fit>"):
            loaded.resume(draws=10)
        with pytest.raises(ArgumentError, match="made from other data"):
            loaded.resume(draws=10, data=Shifted())

    def test_an_arviz_tree_has_the_shapes(self, results):
        pytest.importorskip("arviz_base")
        tree = results.to_arviz()
        assert tree["posterior"]["b"].shape == (4, 1000, 2)
        assert tree["posterior"]["sigma"].shape == (4, 1000)

    def test_an_arviz_tree_has_dims_and_coords_of_the_model(self):
        pytest.importorskip("arviz_base")
        model = models.Line()
        model.dims, model.coords = {"b": ["predictor"]}, {"predictor": ["x", "z"]}
        results = model.fit(seed=1, sampler="mala", draws=1000, chains=2)
        kept = pickle.loads(pickle.dumps(results)).to_arviz()["posterior"]["b"]
        assert kept.dims == ("chain", "draw", "predictor")
        assert list(kept.coords["predictor"].values) == ["x", "z"]
        one = kept.sel(predictor="z").values
        assert (one == results.draws_of("b")[..., 1]).all()

    def test_an_older_arviz_gets_its_own_kind(self, results, monkeypatch):
        pytest.importorskip("arviz_base")
        old = SimpleNamespace(from_datatree=lambda tree: ("InferenceData", tree["posterior"]))
        monkeypatch.setitem(sys.modules, "arviz", SimpleNamespace(InferenceData=old))
        monkeypatch.setattr("sgmc.results.exchange.version", lambda name: "0.23.4")
        kind, posterior = results.to_arviz()
        assert kind == "InferenceData"
        assert posterior["b"].shape == (4, 1000, 2)

    @pytest.mark.parametrize(
        "dims, coords, message",
        [
            ({"c": ["k"]}, {}, "dims: 'c' is not a parameter"),
            ({"b": ["k", "l"]}, {}, r"dims: 'b' has shape \(2,\), and 2 names of dimensions"),
            ({"b": ["k"]}, {"k": [1, 2, 3]}, "coords: 'k' has 3 labels; 'b' has 2 there"),
        ],
    )
    def test_dims_and_coords_that_do_not_suit(self, dims, coords, message):
        model = models.Line()
        model.dims, model.coords = dims, coords
        with pytest.raises(ArgumentError, match=message):
            model.fit(seed=1)

    @pytest.mark.parametrize(
        "arguments, message",
        [
            (dict(weights=[1.0]), "weights does not apply to Line"),
            (dict(cov_type="robust"), "cov_type does not apply"),
            (dict(prior={"a": "flat"}), "prior: 'a' is not a parameter; they are: b, sigma"),
            (dict(prior={"b": sgmc.gamma(2)}), "is for positive parameters, 'b.0.' is not one"),
            (dict(prior=sgmc.horseshoe()), "belongs to slopes"),
            (dict(prior=sgmc.dirichlet(1)), "simplex"),
            (dict(init={"b": [0.0, 0.0]}), "init: 'sigma' is missing"),
            (dict(init={"b": 1.0, "sigma": 1.0}), r"init\['b'\] has shape \(\)"),
            (dict(init=[0.0, 0.0, -1.0]), "init: .* is not positive"),
            (dict(init=[0.0]), r"init has shape \(1,\)"),
        ],
    )
    def test_arguments_that_do_not_suit(self, model, arguments, message):
        with pytest.raises(ArgumentError, match=message):
            model.fit(seed=1, draws=10, **arguments)

    @pytest.mark.parametrize(
        "arguments, message",
        [
            (dict(subsample="block"), "shuffled = True"),
            (dict(subsample="stratified"), "needs the outcomes of a regression"),
            (dict(subsample="preferential"), "has none; use subsample='uniform'"),
        ],
    )
    def test_combinations_that_are_refused(self, model, arguments, message):
        with pytest.raises(NotSupported, match=message):
            model.fit(seed=1, draws=10, **arguments)

    @pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
    def test_priors_by_name_number_and_star(self, model):
        done = model.fit(
            seed=1,
            sampler="laplace",
            draws=200,
            prior={"b[1]": sgmc.normal(0, 0.01), "b": sgmc.laplace(0, 1), "*": "flat"},
        )
        assert list(done.prior_summary().used) == ["laplace(0, 1)", "normal(0, 0.01)", "flat"]
        assert abs(done.params["b[1]"]) < 0.2

    @pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
    def test_starts_by_name(self, model):
        begun = model.fit(
            seed=1,
            sampler="sgld",
            step_size=1e-12,
            draws=2,
            thin=1,
            warmup=0,
            init={"b": [1.0, 2.0], "sigma": 3.0},
            chains=1,
        )
        assert begun.draws[0, 0] == pytest.approx([1, 2, 3], abs=1e-4)
        assert begun.resume(draws=2).draws.shape == (1, 4, 3)

    @pytest.mark.extended
    def test_a_race_of_arms(self, model):
        race = sgmc.tune(model, sampler="lmsgld", budget_steps=300, seed=1)
        assert np.isfinite(race.history.metric).any()
        with pytest.raises(ArgumentError, match="log_loss"):
            sgmc.tune(model, metric="log_loss")


class Shifted(Line):
    """Other data."""

    def __init__(self):
        super().__init__()
        self.y = self.y + 1


class TestLayout:
    LAYOUT = Layout({"W": (2, 3), "s": (), "v": 2}, {"W": "simplex", "s": ("interval", 0, 2)})

    def test_names_and_free_names(self):
        assert self.LAYOUT.names == [
            "W[0,0]",
            "W[0,1]",
            "W[0,2]",
            "W[1,0]",
            "W[1,1]",
            "W[1,2]",
            "s",
            "v[0]",
            "v[1]",
        ]
        assert self.LAYOUT.free_names == [
            "W[0,0]",
            "W[0,1]",
            "W[1,0]",
            "W[1,1]",
            "s",
            "v[0]",
            "v[1]",
        ]
        assert (self.LAYOUT.map.size, self.LAYOUT.map.dim) == (9, 7)

    def test_pack_and_unpack(self):
        theta = np.random.default_rng(0).normal(size=(4, 9))
        named = self.LAYOUT.unpack(theta)
        assert named["W"].shape == (4, 2, 3) and named["s"].shape == (4,)
        assert (self.LAYOUT.pack(named) == theta).all()
        assert self.LAYOUT.pack({**self.LAYOUT.unpack(theta[0]), "s": theta[:, 6]}).shape == (4, 9)

    @pytest.mark.parametrize(
        "parameters, constraints, message",
        [
            ({}, {}, "must be a dict of names"),
            ({"a": -1}, {}, "must be a shape"),
            ({"a": 2.5}, {}, "must be a shape"),
            ({"a": ()}, {"b": "positive"}, "'b' is not a parameter"),
            ({"a": ()}, {"a": "negative"}, "must be 'positive'"),
            ({"a": ()}, {"a": "simplex"}, "no two numbers"),
            ({"a": 2}, {"a": ("interval", 1, 0)}, "must be 'positive'"),
        ],
    )
    def test_refusals(self, parameters, constraints, message):
        with pytest.raises(ArgumentError, match=message):
            Layout(parameters, constraints)


class OwnPrior(Line):
    """The prior of `Line`, written by hand."""

    prior = None

    def log_prior(self, theta):
        return -theta["b"] @ theta["b"] / 8 - theta["sigma"]

    def grad_log_prior(self, theta):
        return {"b": -theta["b"] / 4, "sigma": -1.0}


class TestPriorsOfUsers:
    @pytest.mark.extended
    def test_the_same_draws(self, results):
        own = OwnPrior().fit(seed=1, sampler="lmsgld")
        assert np.abs(own.draws - results.draws).max() < 1e-9
        assert "the model's own" in str(own.summary())

    @pytest.mark.extended
    def test_by_differences(self, results):
        class Without(OwnPrior):
            grad_log_prior = None

        assert np.abs(Without().fit(seed=1, sampler="lmsgld").draws - results.draws).max() < 1e-6

    def test_not_both(self):
        with pytest.raises(ArgumentError, match="the model has a prior of its own"):
            OwnPrior().fit(seed=1, prior="flat")
