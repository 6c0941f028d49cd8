"""Results in ArviZ and Matplotlib: contents of the tree and of the figures,
with weighted draws too.
"""

import sys

import numpy as np
import pytest

import sgmc
from sgmc import diagnostics
from sgmc.errors import ArgumentError, MissingExtra, SGMCWarning
from sgmc.results import exchange


@pytest.fixture
def arviz():
    """arviz-base."""
    return pytest.importorskip("arviz_base", reason="arviz-base is not installed")


# ---- ArviZ ---------------------------------------------------------------------------------------


def test_the_tree(arviz, equal, votes):
    tree = equal.to_arviz(log_likelihood=True)
    assert set(tree.children) == {"posterior", "observed_data", "log_likelihood"}
    posterior = tree["posterior"]
    assert list(posterior.data_vars) == equal.names
    assert posterior["x1"].dims == ("chain", "draw")
    for k, name in enumerate(equal.names):
        np.testing.assert_array_equal(posterior[name].values, equal.draws[..., k])
    np.testing.assert_array_equal(tree["observed_data"]["y"].values, votes.y)
    density = tree["log_likelihood"]["y"]
    assert density.dims == ("chain", "draw", "row")
    np.testing.assert_array_equal(density.values.reshape(4000, 400), equal.log_lik())
    assert tree.attrs["sampler"] == "lmsgld" and tree.attrs["formula"] == "y ~ x1 + x2 + g"
    assert tree["observed_data"].attrs["outcome"] == "y"


@pytest.mark.extended
def test_arviz_works_on_the_tree(arviz, equal):
    arviz_stats = pytest.importorskip("arviz_stats")
    if not hasattr(arviz_stats, "summary"):
        pytest.skip("arviz-stats[xarray] is not installed")
    tree = equal.to_arviz(log_likelihood=True)
    table = arviz_stats.summary(tree, round_to="none")
    np.testing.assert_allclose(table["mean"].astype(float), equal.params, rtol=1e-9)
    np.testing.assert_allclose(table["ess_bulk"].astype(float), equal.ess(), rtol=1e-9)
    ours, theirs = equal.loo(), arviz_stats.loo(tree)
    assert (ours.elpd, ours.p) == pytest.approx((theirs.elpd, theirs.p), rel=1e-7)
    # ArviZ 0.8 divides by n, ArviZ 1.3 by n - 1
    by_less_one = ours.se * np.sqrt(ours.n / (ours.n - 1))
    assert theirs.se in (pytest.approx(ours.se, rel=1e-7), pytest.approx(by_less_one, rel=1e-7))


def test_weighted_draws_are_resampled(arviz, decaying):
    tree = decaying.to_arviz(log_likelihood=True)
    kept = tree["sample_stats"]["kept_draw"].values
    params = np.stack([tree["posterior"][name].values for name in decaying.names], axis=2)
    assert (np.diff(kept, axis=1) >= 0).all()
    assert (kept == kept[0]).all()
    assert "resampled" in tree.attrs["weighted_draws"]
    share = decaying.weights / decaying.weights.sum()
    # in proportion, rounded up or down
    assert np.abs(np.bincount(kept[0], minlength=2000) - 2000 * share).max() < 1
    np.testing.assert_array_equal(
        params, np.take_along_axis(decaying.draws, kept[:, :, None], axis=1)
    )
    np.testing.assert_allclose(
        params.mean(axis=(0, 1)), decaying.params, atol=0.02 * decaying.bse.min()
    )
    density = decaying.log_lik().reshape(4, 2000, -1)[:, kept[0]]
    np.testing.assert_array_equal(tree["log_likelihood"]["y"].values, density)


def test_trees_without_the_data(arviz, votes, tmp_path):
    sgmc.logit("y ~ x1", votes, seed=1).save(tmp_path / "fit")
    fit = sgmc.load(tmp_path / "fit")
    assert set(fit.to_arviz().children) == {"posterior"}
    with pytest.raises(ArgumentError, match="log_lik needs the data of the fit"):
        fit.to_arviz(log_likelihood=True)


def test_densities_of_weighted_rows_are_refused(arviz, votes):
    """ArviZ's loo had no weights: -685 in the place of -1391."""
    counted = votes.assign(n=np.arange(len(votes)) % 3)
    weighted = sgmc.logit("y ~ x1", counted, weights="n", seed=1)
    assert "log_likelihood" not in weighted.to_arviz(posterior_predictive=True).children
    with pytest.raises(ArgumentError, match="ArviZ counts each row of log densities once"):
        weighted.to_arviz(log_likelihood=True)
    ones = sgmc.logit("y ~ x1", votes.assign(n=1), weights="n", seed=1)
    assert "log_likelihood" in ones.to_arviz(log_likelihood=True).children


def test_names_that_trees_cannot_have(arviz):
    rng = np.random.default_rng(0)
    fit = sgmc.Logit(
        rng.integers(0, 2, 100), rng.normal(size=(100, 3)), names=["I(x / 2)", "a b", "row"]
    ).fit(seed=1)
    tree = fit.to_arviz()
    assert list(tree["posterior"].data_vars) == ["I(x \N{DIVISION SIGN} 2)", "a b", "row_"]
    assert tree["posterior"]["row_"].shape == (4, 1000)


def test_simulated_outcomes_and_labels_of_rows(arviz, votes, equal, decaying):
    tree = equal.to_arviz(posterior_predictive=True, observed_data=False)
    assert set(tree.children) == {"posterior", "posterior_predictive"}
    simulated = tree["posterior_predictive"]["y"]
    assert simulated.dims == ("chain", "draw", "row")
    np.testing.assert_array_equal(simulated.values.reshape(4000, 400), equal.posterior_predict())
    labelled = votes.set_axis([f"voter {k}" for k in range(len(votes))])
    fit = sgmc.logit("y ~ x1", labelled, seed=1)
    assert fit.to_arviz()["observed_data"]["y"].sel(row="voter 7") == votes.y.iloc[7]
    resampled = decaying.to_arviz(posterior_predictive=True)["posterior_predictive"]["y"]
    assert abs(float(resampled.mean()) - votes.y.mean()) < 0.03  # 8,000 simulated data sets


def test_very_many_parameters_are_one_variable(arviz, equal, monkeypatch):
    monkeypatch.setattr(exchange, "MOST_VARIABLES", 2)
    params = equal.to_arviz()["posterior"]["params"]
    assert params.coords["parameter"].values.tolist() == equal.names
    np.testing.assert_array_equal(params.values, equal.draws)


@pytest.mark.parametrize(
    "package, call, extra",
    [
        ("arviz_base", lambda r: r.to_arviz(), "arviz"),
        ("matplotlib", lambda r: r.plot_trace(), "plots"),
        ("matplotlib", lambda r: r.plot_pp_check(draws=5), "plots"),
    ],
    ids=["arviz", "trace", "pp_check"],
)
def test_missing_packages_are_named(equal, monkeypatch, package, call, extra):
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"not installed: pip install 'sgmc\[{extra}\]'"):
        call(equal)
    assert issubclass(MissingExtra, ImportError)


def test_an_arviz_that_reads_no_tree_is_named(equal, monkeypatch):
    pytest.importorskip("arviz_base")
    monkeypatch.setattr("sgmc.results.exchange.version", lambda name: "0.23.4")
    with pytest.warns(SGMCWarning, match="ArviZ 0.23.4 .* arviz.InferenceData.from_datatree.tree"):
        equal.to_arviz(observed_data=False)
    monkeypatch.setattr("sgmc.results.exchange.version", lambda name: "1.0.0")
    assert "posterior" in equal.to_arviz(observed_data=False).children


# ---- Matplotlib ----------------------------------------------------------------------------------


@pytest.mark.cover(0)
def test_traces(plt, posterior):
    axes = posterior.plot_trace(density=False)
    assert [ax.get_title() for ax in axes] == posterior.names
    time = np.arange(1000) if posterior.weights is None else np.cumsum(posterior.weights)
    for j, ax in enumerate(axes):
        assert len(ax.lines) == 4
        np.testing.assert_array_equal(ax.lines[2].get_ydata(), posterior.draws[2, :, j])
        np.testing.assert_allclose(ax.lines[2].get_xdata(), time)
    axes[0].figure.canvas.draw()


def test_histograms(plt, posterior, normalised):
    (ax,) = posterior.plot_posterior("x1", alpha=0.2)
    draws, w = normalised(posterior)
    j = posterior.names.index("x1")
    edges = np.array(
        [*(p.get_x() for p in ax.patches), ax.patches[-1].get_x() + ax.patches[-1].get_width()]
    )
    heights = np.histogram(draws[:, j], edges, weights=w)[0] / np.diff(edges)
    np.testing.assert_allclose(
        [p.get_height() for p in ax.patches], heights, rtol=0.01, atol=0.02 * heights.max()
    )
    assert ax.lines[0].get_xdata()[0] == pytest.approx(posterior.params["x1"])
    np.testing.assert_allclose(ax.lines[1].get_xdata(), posterior.conf_int(0.2, "x1").iloc[0])


def test_a_reference_fit_is_laid_over(plt, equal, decaying, normalised):
    """Its own draws as an outline, weighted as they are, in the order of these parameters; its mean
    dashed; a legend each.
    """
    axes = equal.plot_posterior(["x2", "x1"], reference=decaying)
    draws, w = normalised(decaying)
    for ax, name in zip(axes, ["x2", "x1"]):
        outline = ax.patches[-1].get_xy()
        edges, heights = np.unique(outline[:, 0]), outline[1:-1:2, 1]
        column = draws[:, decaying.names.index(name)]
        assert len(edges) == 41 and edges[0] == column.min() and edges[-1] == column.max()
        expected = np.histogram(column, edges, weights=w)[0] / np.diff(edges)
        np.testing.assert_allclose(heights, expected, rtol=0.02, atol=0.02 * heights.max())
        (mean,) = [line for line in ax.lines if line.get_linestyle() == "--"]
        assert mean.get_xdata()[0] == pytest.approx(decaying.params[name])
        assert [text.get_text() for text in ax.get_legend().get_texts()] == [
            "posterior",
            "reference",
        ]
    axes[0].figure.canvas.draw()


def test_a_reference_of_means_and_sds_is_laid_over(plt, equal):
    by_name = equal.plot_posterior(["x2", "x1"], reference=(equal.params, equal.bse.to_dict()))
    in_order = equal.plot_posterior(
        ["x2", "x1"],
        reference=(equal.params[["x2", "x1"]].to_numpy(), list(equal.bse[["x2", "x1"]])),
    )
    (single,) = equal.plot_posterior("x2", reference=(equal.params["x2"], equal.bse["x2"]))
    for ax in (by_name[0], in_order[0], single):
        (curve,) = [line for line in ax.lines if line.get_label() == "reference"]
        x, y = curve.get_data()
        assert x[np.argmax(y)] == pytest.approx(equal.params["x2"], abs=0.05 * equal.bse["x2"])
        assert len(x) == 200
        assert y.max() == pytest.approx(0.3989 / equal.bse["x2"], rel=1e-3)
        assert y.sum() * (x[1] - x[0]) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    "reference, text",
    [
        (3.0, "reference must be the results of a fit or a pair"),
        ((1.0, 2.0, 3.0), "reference must be the results of a fit or a pair"),
        (({"x2": 1.0}, {"x2": 1.0}), "reference has no parameter 'x1'; it has x2: choose cols="),
        (([1.0, 2.0], [1.0, 1.0]), "must be 1 finite numbers"),
        ((np.nan, 1.0), "must be 1 finite numbers"),
        ((0.0, 0.0), "the sd of 'x1' must be positive"),
    ],
    ids=str,
)
def test_references_refused(plt, equal, reference, text):
    with pytest.raises(ArgumentError, match=text):
        equal.plot_posterior("x1", reference=reference)


def test_a_reference_fit_of_other_parameters_is_refused(plt, equal, votes):
    other = sgmc.logit("y ~ x1", votes, seed=1)
    with pytest.raises(
        ArgumentError,
        match=r"reference has no parameter 'g\[T.b\]'; it has Intercept, x1: choose cols=",
    ):
        equal.plot_posterior(reference=other)
    assert len(equal.plot_posterior(["x1", "Intercept"], reference=other)) == 2


def test_autocorrelations(plt, posterior):
    axes = posterior.plot_acf(["x2", "x1"], max_lag=10)
    rho = diagnostics.autocorr(posterior.draws, 10, weights=posterior.weights)
    assert [ax.get_title() for ax in axes] == ["x2", "x1"]
    np.testing.assert_allclose(axes[0].lines[2].get_ydata(), rho[1, :, posterior.names.index("x2")])


def test_weighted_autocorrelations_by_hand():
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 50, 1)).cumsum(axis=1), rng.gamma(2, size=50)
    for chain, found in zip(x[:, :, 0], diagnostics.autocorr(x, 5, weights=w)[:, :, 0]):
        e = np.sqrt(w) * (chain - np.average(chain, weights=w))
        np.testing.assert_allclose(
            found, [e[: 50 - k] @ e[k:] / (e @ e) for k in range(6)], rtol=1e-9
        )
    np.testing.assert_allclose(
        diagnostics.autocorr(x, 5, weights=np.full(50, 3.0)), diagnostics.autocorr(x, 5), rtol=1e-9
    )


def test_calibration(plt, equal):
    ax, table = equal.plot_pp_check(groups=6, draws=50), equal.pp_check(6, draws=50)[2:]
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), table["fitted"])
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), table["observed"])
    np.testing.assert_array_equal(
        [line[:, 1] for line in ax.collections[0].get_segments()], table[["[0.025", "0.975]"]]
    )


def test_axes_given(plt, equal):
    _, mine = plt.subplots(1, 2)
    axes = equal.plot_trace(["x1", "x2"], ax=mine)
    assert axes[0] is mine[0] and axes[1] is mine[1] and mine[0].get_title() == "x1"
    assert equal.plot_posterior("x1", ax=mine[0])[0] is mine[0]
    for wrong in (mine[0], [], [1, 2], mine.tolist() * 2):
        with pytest.raises(ArgumentError, match="ax must be 2 Matplotlib axes"):
            equal.plot_trace(["x1", "x2"], ax=wrong)


def test_plots_refused(plt, equal):
    with pytest.raises(ArgumentError, match="'x3' is not a parameter"):
        equal.plot_acf("x3")
    with pytest.raises(ArgumentError, match="alpha"):
        equal.plot_posterior(alpha=0)
    with pytest.raises(ArgumentError, match="max_lag"):
        equal.plot_acf("x1", max_lag=-1)


@pytest.mark.extended
def test_too_many_coefficients_to_plot(plt):
    rng = np.random.default_rng(0)
    fit = sgmc.Logit(rng.integers(0, 2, 5000), rng.normal(size=(5000, 41))).fit(seed=1, draws=2000)
    with pytest.raises(ArgumentError, match="41 parameters are too many to plot: choose some"):
        fit.plot_trace()
    assert len(fit.plot_trace(fit.names[:2])) == 4  # with densities
