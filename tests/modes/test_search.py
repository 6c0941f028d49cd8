"""Modes that a search from several starts finds, against what they are."""

import warnings

import numpy as np
import pytest
from scipy import stats

import sgmc
from sgmc.coordinates.approximations import modes
from sgmc.errors import ArgumentError, ModesWarning, NotSupported, SGMCWarning
from sgmc.models.bases.start import search as general

from .cases import TwoNormals, clusters, problem, quiet, regression, searched

SEVERAL = dict(modes="search", seed=1)


# ---- what is found ----


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_two_equal_modes_have_half_the_mass_each(d, seed):
    found = searched(TwoNormals(d), seed)
    assert found.shares == pytest.approx((0.5, 0.5), abs=1e-3)
    places = sorted(place[0] for place, _ in found.gaussians)
    assert places == pytest.approx([-4, 4], abs=1e-2)
    for _, root in found.gaussians:
        assert root @ root.T == pytest.approx(np.eye(d), abs=1e-2)


def test_shares_are_masses_and_not_heights():
    """The narrow component is as high as the other where its mass is a third."""
    found = searched(TwoNormals(1, weight=2 / 3, at=6.0, sd=0.5))
    assert found.shares == pytest.approx((2 / 3, 1 / 3), abs=1e-3)
    assert found.gaussians[0][0] == pytest.approx([6], abs=1e-2)


def test_a_mode_of_tiny_mass_does_not_count():
    found = searched(TwoNormals(1, weight=1e-8))
    assert found.found == 1 and not found.warnings()
    assert found.gaussians[0][0] == pytest.approx([-4], abs=1e-2)


@pytest.mark.cover(0)
@pytest.mark.parametrize("family", ["Logit", "Poisson", "OLS"])
def test_one_mode_is_found_once_and_changes_no_draw(family):
    model = regression(family)
    found = searched(model)
    assert (found.starts, found.found) == (modes.STARTS, 1)
    assert str(found) == f"1 mode found from {modes.STARTS} starts"
    one = quiet(model, modes="one", sampler="mala")  # ols has draws that need no chain
    assert str(one._fit.searched) == "one start (modes='search' looks for others)"
    several = quiet(model, modes="search", sampler="mala")
    np.testing.assert_array_equal(several.draws, one.draws)


def test_clusters_of_outcomes_have_a_mode_each():
    """Shares against quadrature: rlm with known sigma and an intercept alone."""
    y, X = clusters()
    found = searched(sgmc.RLM(y, X, df=2, sigma=1.0), prior="flat")
    at = np.linspace(-30, 40, 70_001)
    density = np.exp(stats.t.logpdf(y[:, None] - at, 2).sum(axis=0))
    between = (at > 0) & (at < 10)
    valley = at[between][np.argmin(density[between])]
    truth = density[at < valley].sum() / density.sum()
    left = min(range(2), key=lambda k: found.gaussians[k][0][0])
    assert found.found == 2 and found.shares[left] == pytest.approx(truth, abs=0.05)


@pytest.mark.parametrize("df, count", [(0.5, 2), (1, 1)])
def test_a_learned_scale_leaves_one_mode_from_one_degree_of_freedom_on(df, count):
    """Kent & Tyler (1991, Annals of Statistics 19): location and scale of a t have one maximum for
    df >= 1.
    """
    y, X = clusters()
    assert searched(sgmc.RLM(y, X, df=df), prior={"sigma": "flat", "*": "flat"}).found == count


def test_labellings_of_a_mixture_are_modes_unless_it_is_ordered():
    random = np.random.default_rng(0)
    y = np.concatenate([random.normal(-3, 1, 60), random.normal(3, 0.5, 40)])
    free, ordered = (
        searched(sgmc.GaussianMixture(y, components=2, ordered=o)) for o in (False, True)
    )
    assert free.shares == pytest.approx((0.5, 0.5), abs=1e-3) and ordered.found == 1


def test_a_model_without_an_approximation_is_searched_too():
    """Tied means: theta1 and theta2 of the two modes are (0, 1) and (1, -1), about."""
    random = np.random.default_rng(0)
    y = np.where(random.random(200) < 0.5, 0, 1) + np.sqrt(2) * random.normal(size=200)
    made, _ = problem(sgmc.TiedMeans(y), modes="search")
    assert made.searched.found == 2 and not made.coordinates.scaled
    (a, _), (b, _) = made.searched.gaussians
    assert a[1] * b[1] < 0


# ---- planted mistakes ----


def test_starts_that_are_all_the_same_find_one_mode(monkeypatch):
    def same(random, place, root=None, draw=None):
        return [place] * (modes.STARTS - 1)

    monkeypatch.setattr(general, "wide_starts", same)
    with pytest.raises(AssertionError):
        test_two_equal_modes_have_half_the_mass_each(1, 1)


def test_searches_that_are_not_told_apart_find_a_mode_often(monkeypatch):
    monkeypatch.setattr(modes.LocalMode, "near", lambda self, other: False)
    with pytest.raises(AssertionError):
        test_one_mode_is_found_once_and_changes_no_draw("Logit")


# ---- what chains do with it ----


def test_each_mode_has_a_chain_and_the_others_follow_the_shares():
    three = modes.ModeSearch(16, (0.7, 0.2, 0.1))
    assert [three.of_chain(k) for k in range(3)] == [0, 1, 2]
    assert np.bincount([three.of_chain(k) for k in range(10)]).tolist() == [7, 2, 1]
    assert {modes.ModeSearch(1, (1.0,)).of_chain(k) for k in range(4)} == {0}
    assert {modes.ModeSearch().of_chain(k) for k in range(4)} == {0}


@pytest.mark.filterwarnings(
    "ignore::sgmc.errors.ConvergenceWarning", "ignore::sgmc.errors.LowESSWarning"
)
def test_chains_start_at_both_modes_and_a_warning_lists_their_masses():
    with pytest.warns(ModesWarning, match=r"2 modes, found from 16 starts; .*: 0\.5, 0\.5\. "):
        res = TwoNormals(2, at=8.0).fit(draws=50, **SEVERAL)
    # two chains at each; by rounding either mode may be the heavier one
    assert sorted(np.sign(res.draws.mean(axis=(1, 2)))) == [-1, -1, 1, 1]
    assert (np.abs(np.abs(res.draws[:, 0]) - 8) < 5).all()
    assert any(isinstance(one, ModesWarning) for one in res.warnings)
    assert res._fit.plan.spec.exact and "2 modes" in res._fit.plan.reason


@pytest.mark.extended
def test_a_seed_gives_the_same_draws_for_any_number_of_threads():
    first, second, other = (
        quiet(TwoNormals(2), **{**SEVERAL, **how}) for how in ({}, dict(threads=3), dict(seed=2))
    )
    np.testing.assert_array_equal(first.draws, second.draws)
    assert (first.draws != other.draws).any()


def test_a_run_goes_on_from_a_file(tmp_path):
    y, X = clusters()
    model = sgmc.RLM(y, X, df=2, sigma=1.0)
    long, short = (quiet(model, draws=draws, **SEVERAL) for draws in (80, 50))
    short.save(tmp_path / "fit")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        again = sgmc.load(tmp_path / "fit").resume(draws=30, data=model)
    np.testing.assert_array_equal(again.draws, long.draws)


# ---- refusals ----


REFUSED = {
    "horseshoe": (lambda: regression("OLS"), dict(prior="horseshoe")),
    "sandwich": (lambda: regression("Logit"), dict(cov_type="robust")),
    "300 free numbers": (lambda: TwoNormals(301), {}),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_has_no_laplace_masses_is_refused(why):
    model, how = REFUSED[why]
    made = model()
    if why == "300 free numbers":
        made.grad = lambda theta, rows: {"x": -theta["x"]}  # of one normal: there has to be one
        made.checked = False
    with pytest.raises(NotSupported, match="modes='search'"):
        made.fit(modes="search", seed=1, **how)


@pytest.mark.parametrize("model", [lambda: regression("Logit"), TwoNormals])
@pytest.mark.parametrize(
    "bad, match", [(dict(modes="many"), "modes='many'"), (dict(init="wide"), "init='wide'")]
)
def test_bad_words_name_the_argument(model, bad, match):
    with pytest.raises(ArgumentError, match=match):
        model().fit(**bad)
