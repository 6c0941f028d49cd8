"""Ordered outcomes with effects of levels and smooths: log densities and draws against plain numpy,
predictions against draws of the effects, files, refusals.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc.core import engine
from sgmc.errors import ArgumentError, NotSupported
from sgmc.fit.settings import check_settings

from ..importance import apart, around_the_mode
from .cases import DISTRIBUTIONS
from .grouped import by_grid, formula, log_prior, log_rows, model, table

POINTS = 5  # around the mode
WITHIN = 1e-2  # of differences of log densities: what nodes of the default leave
LEVELS = ["no", "low", "mid", "high"]


@cache
def problem_of(kind, link="logit"):
    """The posterior in sampler coordinates."""
    return model(kind, link).problem(None, check_settings(seed=1))


@cache
def fitted(kind, draws=500, **how):
    """A quick fit."""
    return sgmc.ordinal(formula(kind), table(), seed=1, draws=draws, **how)


# ---- log densities -------------------------------------------------------------------------------


def integrated(kind, link="logit", wrong=lambda point: point):
    """Log densities of the sampler less those of numpy, at points around the mode, up to one
    constant: they would all be the same.
    """
    problem, q = problem_of(kind, link), 1 if kind == "one" else 2
    z = np.random.default_rng(0).normal(size=(POINTS, problem.dim))
    x = np.array([problem.coordinates.from_white(one) for one in z])
    rows, found = problem.all_rows(), []
    for one, point in zip(x, problem.coordinates.reported(x)):
        slopes = problem.coordinates.map.jacobian(one)
        sds, gaps = point[1 : 1 + q], np.diff(point[-3:])
        # of the sampler's coordinates: inverse hyperbolic sines and tangents, and logs
        jacobian = np.log(np.hypot(sds, problem.own.effects.loading.scale)).sum()
        jacobian += np.linalg.slogdet(slopes)[1]
        jacobian += np.log(gaps).sum() + (np.log1p(-(point[3] ** 2)) if kind == "slopes" else 0.0)
        found.append(engine.density(rows, one) - by_grid(kind, wrong(point), link) - jacobian)
    return np.ptp(found)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize(
    "kind, link",
    [
        ("one", "logit"),
        pytest.param("one", "probit", marks=pytest.mark.extended),
        ("slopes", "logit"),
        ("nested", "logit"),
    ],
)
def test_integrated_log_densities_are_those_of_numpy(kind, link):
    assert integrated(kind, link) < WITHIN


def sign(point):
    """The coefficient has the other sign."""
    return np.append(-point[:1], point[1:])


def threshold(point):
    """The second threshold is a tenth too high, half of the gap above it."""
    return point + 0.1 * (np.arange(len(point)) == len(point) - 2)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.mistake("ordered outcomes of groups: {mistake}")
@pytest.mark.parametrize(
    "name, mistake",
    [("one", sign), ("one", threshold)],
    ids=["coefficient's sign", "threshold moved"],
)
def test_mistakes_move_integrated_log_densities(name, mistake):
    assert integrated(name, wrong=mistake) > 5 * WITHIN


def sampled(kind, effects=1.0):
    """The same with effects among the parameters; `effects` is the weight of their own density."""
    problem = problem_of(kind)
    own, where, rows = problem.own.rows, problem.coordinates, problem.all_rows()
    blocks, order, frame = own.blocks, own.fixed.order, table()
    x, y = frame["x"].to_numpy()[order], frame["y"].cat.codes.to_numpy()[order]
    scale, found = np.asarray(blocks.loading.scale), []
    for one in np.random.default_rng(5).normal(size=(POINTS, problem.dim)):
        theta = where.map(one)
        root, narrow, _ = blocks.loads(where.map.inner(one))
        jacobian = (np.log(np.abs(np.diag(root))) * np.asarray(blocks.levels)).sum()
        jacobian += np.log(narrow).sum()
        phi, printed = theta[blocks.phi], where.reported(one[None])[0]
        cuts, sds = printed[-3:], scale * np.sinh(phi)
        b = [theta[blocks.of_term(t)][:, 0] for t in range(len(sds))]
        eta, factors = printed[0] * x, own.codes.shape[1]
        for codes, each in zip(own.codes.T, b):
            eta = eta + each[codes]
        if own.curves.shape[1]:
            eta = eta + own.curves @ np.concatenate(b[factors:])
        value = log_rows(eta, y, cuts, "logit").sum() + log_prior(printed[0], cuts, x)
        value += (stats.t.logpdf(sds, 3, 0, 2.5) + np.log(scale * np.cosh(phi))).sum()
        value += np.log(np.diff(cuts)).sum()
        value += effects * sum(stats.norm.logpdf(e, 0, abs(s)).sum() for e, s in zip(b, sds))
        found.append(engine.density(rows, one) - value - jacobian)
    return np.ptp(found)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("kind", ["crossed", "smooth", "both"])
def test_log_densities_with_effects_are_those_of_numpy(kind):
    """To rounding, of values of a few hundred."""
    assert sampled(kind) < 1e-8


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.mistake("ordered outcomes with sampled effects: their prior twice")
@pytest.mark.parametrize("name", ["crossed"])
def test_a_wrong_prior_of_effects_is_seen(name):
    assert sampled(name, effects=2.0) > 0.1


# ---- draws ---------------------------------------------------------------------------------------


@cache
def reference(jacobian=True):
    """Means and sds of the parameters of one factor, and the effective number of draws."""

    def value(points):
        # slope, log of the sd, first threshold, logs of gaps
        cuts = np.column_stack([points[:, 2], np.exp(points[:, 3:])]).cumsum(axis=1)
        natural = np.column_stack([points[:, 0], np.exp(points[:, 1]), cuts])
        changed = points[:, 1] + (points[:, 3:].sum(axis=1) if jacobian else 0.0)
        return np.array([by_grid("one", one) for one in natural]) + changed

    start = np.array([0.5, 0.0, 0.0, 0.0, -1.0])
    points, w = around_the_mode(value, start, np.ones(5), draws=4000)
    cuts = np.column_stack([points[:, 2], np.exp(points[:, 3:])]).cumsum(axis=1)
    natural = np.column_stack([points[:, 0], np.exp(points[:, 1]), cuts])
    mean = w @ natural
    return mean, np.sqrt(w @ (natural - mean) ** 2), 1 / (w**2).sum()


@cache
def long():
    """A fit of some 4,000 effective draws."""
    return fitted("one", draws=6000)


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_draws_have_the_moments_of_numpy():
    """Each side has some 2,000 effective draws: errors of 0.03 sd and, of skewed sds, 3 %."""
    mean, sd, size = reference()
    assert size > 1500
    off, wide = apart(long(), mean, sd)
    assert off < 0.1 and wide < 0.1


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_a_dropped_jacobian_of_gaps_is_seen():
    mean, sd, _ = reference(jacobian=False)
    off, wide = apart(long(), mean, sd)
    assert off > 0.1 or wide > 0.1


# ---- results -------------------------------------------------------------------------------------


def probabilities(eta, cuts):
    """Of levels (draw, level) at linear predictors (draw,) and thresholds (draw, 3)."""
    below = DISTRIBUTIONS["logit"](cuts - eta[:, None])
    edge = np.ones((len(eta), 1))
    return np.diff(np.hstack([0 * edge, below, edge]))


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_names_and_parts_of_results():
    results = fitted("one")
    assert results.names == ["x", "sd(1|g)", "no|low", "low|mid", "mid|high"]
    assert list(results.fe_params.index) == list(results.bse_fe.index) == ["x"]
    flat = results.flat
    assert results.cov_re.loc["1", "1"] == pytest.approx((flat[:, 1] ** 2).mean())
    assert (np.diff(flat[:, 2:]) > 0).all() and (flat[:, 1] > 0).all()
    text = str(results.summary())
    assert "no < low < mid < high" in text and "Groups" in text
    assert list(results.prior_summary().index) == [
        "Intercept", "x", "sd(1|g)", "gap[low]", "gap[mid]",
    ]  # fmt: skip
    assert list(results.summary_frame(exponentiate=True).index) == ["x"]
    assert list(results.pp_check().index) == [f"share of {name}" for name in LEVELS]


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize(
    "kind",
    [
        "one",
        "crossed",
        pytest.param("slopes", marks=pytest.mark.extended),
        pytest.param("nested", marks=pytest.mark.extended),
    ],
)
def test_predictions_are_probabilities_given_draws_of_effects(kind):
    """Of known levels those of draws of their effects; integrated ones are near, within 5 Monte
    Carlo errors of 0.2 sd over draws.
    """
    results, frame = fitted(kind, draws=200), table()[:3]
    rows = results.get_prediction(frame).summary_frame()["mean"].to_numpy().reshape(3, 4)
    np.testing.assert_allclose(rows.sum(axis=1), 1)
    x, eta, every = frame["x"].to_numpy(), 0.0, results.flat
    if kind == "crossed":  # effects are kept at fewer draws
        whole, where = results.whole("this"), results._fit.problem.coordinates
        every = where.printed(whole[:, where.places])
    for factor in results.model.effects.factors:
        columns = [frame[name] for name in factor.split(":")]
        levels = [one[0] if len(one) == 1 else one for one in zip(*columns)]
        drawn = results.ranef_draws(factor, levels=list(dict.fromkeys(levels)))
        place = [list(dict.fromkeys(levels)).index(one) for one in levels]
        Z = np.column_stack([np.ones(3), x])[:, : drawn.shape[2]]
        eta = eta + np.einsum("mia,ia->mi", drawn[:, place], Z)
    eta, cuts = eta + every[:, :1] * x, every[:, -3:]
    right = np.array([probabilities(one, cuts).mean(axis=0) for one in eta.T])
    np.testing.assert_allclose(rows, right, atol=1e-10)
    np.testing.assert_allclose(results.predict(frame), rows, atol=0.03)
    own = probabilities(eta[:, 0], cuts)[:, LEVELS.index(frame["y"][0])]
    np.testing.assert_allclose(results.log_lik()[:, 0], np.log(own), atol=1e-8)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_new_levels_are_those_of_the_population():
    """Means over a normal law, by 31 nodes."""
    results = fitted("one")
    new = pd.DataFrame({"x": [0.0, 1.5], "g": [99, 99]})
    found = results.predict(new, new_levels="sample")
    t, weight = np.polynomial.hermite_e.hermegauss(31)
    flat, right = results.flat, np.zeros((2, 4))
    for node, mass in zip(t, weight / weight.sum()):
        for i, x in enumerate(new["x"]):
            eta = flat[:, 0] * x + flat[:, 1] * node
            right[i] += mass * probabilities(eta, flat[:, 2:]).mean(axis=0)
    np.testing.assert_allclose(found, right, atol=1e-8)
    zero = results.predict(new, random=False)
    at_zero = [probabilities(flat[:, 0] * x, flat[:, 2:]).mean(axis=0) for x in new["x"]]
    np.testing.assert_allclose(zero, at_zero, atol=1e-10)
    missing = results.predict(new.assign(g=[None, 1]))
    assert np.isnan(missing.iloc[0]).all() and missing.iloc[1].sum() == pytest.approx(1)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("kind", ["one", "crossed", "smooth"])
def test_loaded_results_are_the_same(kind, tmp_path):
    results, frame = fitted(kind, draws=200), table()[:4]
    results.save(tmp_path / "ordered.sgmc")
    loaded = sgmc.load(tmp_path / "ordered.sgmc")
    assert str(loaded.summary()) == str(results.summary())
    np.testing.assert_array_equal(loaded.predict(frame), results.predict(frame))
    pairs = loaded.avg_comparisons(data=table()), results.avg_comparisons(data=table())
    pd.testing.assert_frame_equal(*pairs)
    if kind == "one":
        pd.testing.assert_frame_equal(loaded.ranef(), results.ranef())


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_smooths_of_ordered_outcomes():
    """A positive curve makes higher levels more probable."""
    results = fitted("smooth", draws=200)
    curve = results.smooth(at=[-1.0, 3.0])["mean"].to_numpy()
    p = results.predict(pd.DataFrame({"x": [-1.0, 3.0]}))
    assert curve[1] > curve[0] and p["high"].iloc[1] > p["high"].iloc[0]
    assert results.smooths.loc["s(x)", "edf"] < 9


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_starts_are_given_as_parameters_are_printed():
    results = sgmc.ordinal(
        formula("one"), table(), seed=1, draws=20, init=[0.5, 1.0, 0.0, 1.0, 1.5]
    )
    assert np.isfinite(results.flat).all()
    with pytest.raises(ArgumentError, match="thresholds must increase"):
        sgmc.ordinal(formula("one"), table(), seed=1, init=[0.5, 1.0, 0.0, 1.0, 0.5])


def test_leverages_are_refused():
    with pytest.raises(NotSupported, match="leverages"):
        sgmc.ordinal(formula("one"), table(), seed=1, cov_type="HC3")
