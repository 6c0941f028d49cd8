"""Reliability of predicted probabilities: isotonic regression, parts of the Brier score, bands."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import sgmc
from sgmc.errors import ArgumentError, NotSupported
from sgmc.results.outcomes.criticism.reliability import (
    RESAMPLED,
    Reliability,
    reliabilities,
    successes,
)

N = 800


def table():
    """Outcomes 0 and 1, counts of 4 trials, three kinds and groups, of a known model."""
    rng = np.random.default_rng(11)
    df = pd.DataFrame(rng.normal(size=(N, 2)), columns=["x", "z"])
    df["p"] = expit(0.3 + 1.2 * df.x)
    df["y"] = (rng.random(N) < df.p).astype(int)
    df["wins"] = rng.binomial(4, df.p)
    latent = df.x + rng.logistic(size=N)
    df["kind"] = np.select([latent < -1, latent < 1], ["low", "middle"], "top")
    return df.assign(losses=4 - df.wins, g=rng.integers(0, 20, N), h=rng.integers(0, 15, N))


@pytest.fixture(scope="module")
def df():
    return table()


@pytest.fixture(scope="module")
def res(df):
    return sgmc.logit("y ~ x + z", df, seed=1)


def judged(p, y, size=None, seed=0):
    size = np.ones(len(p)) if size is None else size
    return Reliability.of(np.asarray(p), np.asarray(y) * 1.0, size, np.random.default_rng(seed))


# ---- the parts -----------------------------------------------------------------------------------


def test_frequencies_by_hand():
    """.2 and .4 are in the wrong order and are pooled; both outcomes at .6 are one place."""
    found = judged([0.6, 0.2, 0.4, 0.6, 0.9], [1, 1, 0, 0, 1])
    np.testing.assert_array_equal(found.probability, [0.2, 0.4, 0.6, 0.9])
    np.testing.assert_allclose(found.frequency, [0.5, 0.5, 0.5, 1])
    parts = found.summary()
    brier = (0.4**2 + 0.8**2 + 0.4**2 + 0.6**2 + 0.1**2) / 5
    best, constant = 4 * 0.25 / 5, 0.6 * 0.4
    wanted = [brier, brier - best, constant - best, constant]
    np.testing.assert_allclose(parts.iloc[:4], wanted, rtol=1e-12)


@pytest.mark.parametrize("what", ["single", "weights", "trials"])
def test_the_parts_add_up(what):
    rng = np.random.default_rng(2)
    p = rng.random(300).round(2)
    size = {
        "single": np.ones(300),
        "weights": rng.random(300) * 3,
        "trials": rng.integers(0, 5, 300),
    }
    size = size[what].astype(float)
    y = rng.binomial(size.astype(int), p) if what == "trials" else size * (rng.random(300) < p**2)
    parts = judged(p, y, size).summary()
    total = parts.miscalibration - parts.discrimination + parts.uncertainty
    assert parts.brier == pytest.approx(total, abs=1e-12)
    direct = (y @ (1 - p) ** 2 + (size - y) @ p**2) / size.sum()
    assert parts.brier == pytest.approx(direct, abs=1e-12)
    assert (parts > 0).all()


def test_counts_and_weights_are_so_many_outcomes(df):
    """Parts are those of single outcomes with the same probabilities."""
    p, wins = df.p.to_numpy(), df.wins.to_numpy()
    counts = judged(p, wins, np.full(N, 4.0)).summary()
    single = (np.arange(4)[None] < wins[:, None]).ravel()
    each = judged(np.repeat(p, 4), single).summary()
    np.testing.assert_allclose(counts.iloc[:4], each.iloc[:4], rtol=1e-10)
    assert counts.p == pytest.approx(each.p, abs=0.1)  # two of 500: sd of the difference .03


def test_rows_of_no_weight_are_not_there():
    p, y, size = np.array([0.1, 0.5, 0.9]), np.array([0, 0, 1]), np.array([1.0, 0, 2])
    assert list(judged(p, size * y, size).probability) == [0.1, 0.9]


def test_weights_that_are_no_whole_numbers_are_drawn_in_part():
    size, p = np.full(40_000, 2.25), np.full(40_000, 0.3)
    drawn = successes(size, p, np.random.default_rng(1))
    # variance .21 (2 + .25^2); four standard errors of mean and of variance
    assert drawn.mean() == pytest.approx(0.3 * 2.25, abs=4 * (0.21 * 2.0625 / 40_000) ** 0.5)
    assert drawn.var() == pytest.approx(0.21 * 2.0625, rel=4 * (2 / 40_000) ** 0.5)


@pytest.mark.extended
def test_calibrated_probabilities_and_mistakes(df):
    """Of 800 outcomes of known probabilities the miscalibration is .0067 by chance (mean of 60 such
    sets, sd .001): .012 is five sds above.  Squared, shrunk and swapped probabilities have more.
    """
    p = df.p.to_numpy()
    right = judged(p, df.y).summary()
    assert 0 < right.miscalibration < 0.012 and right.p > 0.05
    for wrong in (p**2, 0.5 + (p - 0.5) / 3, 1 - p):
        found = judged(wrong, df.y).summary()
        assert found.miscalibration > 0.02 and found.p < 0.01
    shrunk = judged(0.5 + (p - 0.5) / 3, df.y).summary()
    assert shrunk.discrimination == pytest.approx(right.discrimination, rel=1e-9)  # same order


def at_prediction(found, q):
    """Whether the curve is within its band of 95 % at a prediction."""
    at = np.flatnonzero(found.probability == q)[0]
    low, high = found.band(0.05)[:, at]
    return low <= found.frequency[at] <= high


@pytest.mark.extended
def test_the_band_has_its_probability():
    """Where .75 is predicted: of 60 sets of calibrated outcomes 95 % are within (49 or fewer have
    probability 1e-4), of shrunk probabilities far fewer.
    """
    rng, inside, shrunk = np.random.default_rng(5), 0, 0
    p = rng.random(120)
    near = np.argmin(np.abs(p - 0.75))
    for k in range(60):
        y = rng.random(120) < p
        within = [at_prediction(judged(q, y, seed=k), q[near]) for q in (p, 0.5 + (p - 0.5) / 4)]
        inside, shrunk = inside + within[0], shrunk + within[1]
    assert inside > 49 > shrunk


# ---- of fits -------------------------------------------------------------------------------------


@pytest.mark.extended
def test_predictions_are_those_of_loo(res, df):
    rel = reliabilities(res, True, None)[None]
    p = np.exp(res.loo().elpd_i)
    p = np.where(df.y == 1, p, 1 - p)
    np.testing.assert_allclose(rel.probability, np.unique(p), rtol=1e-10)
    found = res.calibration()
    assert found.brier == pytest.approx(((p - df.y) ** 2).mean(), rel=1e-10)
    assert found.miscalibration < 0.014 and found.p > 0.05
    fitted = res.calibration(loo=False)
    assert fitted.brier == pytest.approx(np.mean((res.fittedvalues - df.y) ** 2), rel=1e-10)
    assert fitted.brier < found.brier  # has seen the outcomes
    assert found.equals(res.calibration()) and not found.equals(res.calibration(seed=7))
    assert np.array_equal(found.iloc[:4], res.calibration(seed=7).iloc[:4])


@pytest.mark.extended
def test_a_wrong_model_is_seen():
    """Outcomes that depend on |x|: the line predicts nearly a constant and is calibrated, but does
    not discriminate; a steep known offset is miscalibrated.
    """
    df = table()
    df["steep"] = 3 * (0.3 + 1.2 * df.x)
    wrong = sgmc.logit("y ~ z", df, offset="steep", seed=1).calibration()
    assert wrong.p < 0.01 and wrong.miscalibration > 0.02
    blind = sgmc.logit("y ~ z", df, seed=1).calibration()
    assert blind.p > 0.02 and blind.discrimination < 0.01


@pytest.mark.extended
@pytest.mark.parametrize(
    "verb",
    ["probit", *(pytest.param(v, marks=pytest.mark.extended) for v in ("cloglog", "cauchit"))],
)
def test_other_links(df, verb):
    found = getattr(sgmc, verb)("y ~ x", df, seed=1).calibration()
    assert 0.15 < found.brier < 0.25
    assert found.brier == pytest.approx(
        found.miscalibration - found.discrimination + found.uncertainty, abs=1e-12
    )


@pytest.mark.extended
def test_counts_of_successes(df):
    """Probabilities without a row are near those of all rows, but not equal; parts of calibrated
    counts.
    """
    res = sgmc.logit("wins + losses ~ x", df, seed=1)
    found, fitted = res.calibration(), res.calibration(loo=False)
    assert fitted.brier < found.brier < fitted.brier + 0.01
    p, y = np.asarray(res.fittedvalues), df.wins.to_numpy()
    assert fitted.brier == pytest.approx(np.mean(y * (1 - p) ** 2 + (4 - y) * p**2) / 4, rel=1e-9)
    assert found.miscalibration < 0.006 and found.p > 0.05  # four times as many outcomes


def test_weights_of_rows_count(df):
    weighted = df.assign(w=1 + (df.index < 100))
    res = sgmc.logit("y ~ x", weighted, weights="w", seed=1)
    p, w = np.asarray(res.fittedvalues), weighted.w
    wanted = np.average((p - df.y) ** 2, weights=w)
    assert res.calibration(loo=False).brier == pytest.approx(wanted, rel=1e-10)
    assert np.mean((p - df.y) ** 2) != pytest.approx(wanted, rel=1e-4)


@pytest.mark.parametrize("verb", ["mnlogit", pytest.param("ordinal", marks=pytest.mark.extended)])
def test_each_kind_against_the_rest(df, verb):
    kinds = pd.Categorical(df.kind, ["low", "middle", "top"], ordered=True)
    res = getattr(sgmc, verb)("kind ~ x", df.assign(kind=kinds), seed=1)
    found = res.calibration()
    assert list(found.index) == list(res.model.kinds) and found.index.name == "kind"
    for kind, p in (("low", expit(-1 - df.x)), ("top", expit(df.x - 1))):
        # of the same outcomes by their true probabilities; fits are off by about .02
        true = judged(p, df.kind == kind).summary()
        assert found.miscalibration[kind] == pytest.approx(true.miscalibration, abs=0.002)
        assert judged(p**2, df.kind == kind).summary().miscalibration > true.miscalibration + 0.01
    # the kind that was observed has the probability of loo
    each = np.exp(res.loo().elpd_i)
    for kind, one in reliabilities(res, True, None).items():
        mine = each[(df.kind == kind).to_numpy()]
        gap = np.abs(one.probability[:, None] - mine).min(axis=0)
        assert gap.max() < 1e-9
    fitted = res.calibration(loo=False)
    wanted = ((res.predict()["top"] - (df.kind == "top")) ** 2).mean()
    assert fitted.loc["top", "brier"] == pytest.approx(wanted, rel=1e-9)


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # groups without differences
def test_group_terms(df):
    res = sgmc.logit("y ~ x + (1 | g)", df, seed=1)
    p = np.exp(res.loo().elpd_i)
    p = np.where(df.y == 1, p, 1 - p)
    assert res.calibration().brier == pytest.approx(((p - df.y) ** 2).mean(), rel=1e-9)
    counts = sgmc.logit("wins + losses ~ x + (1 | g)", df, seed=1)
    with pytest.raises(NotSupported, match="group terms.*loo=False"):
        counts.calibration()
    assert counts.calibration(loo=False).p > 0.01
    with pytest.raises(NotSupported, match="loo_pit with group terms"):
        counts.loo_pit()
    crossed = sgmc.logit("y ~ x + (1 | g) + (1 | h)", df, seed=1)
    with pytest.raises(NotSupported, match="cross.*loo=False"):
        crossed.calibration()
    assert crossed.calibration(loo=False).brier < 0.25


def test_many_rows_are_thinned(res, df, monkeypatch):
    monkeypatch.setattr("sgmc.results.outcomes.criticism.pit.ALL_ROWS", 100)
    some = np.unique(np.linspace(0, N - 1, 100).astype(int))
    found = res.calibration(loo=False).brier
    wanted = ((res.fittedvalues - df.y) ** 2).iloc[some].mean()
    assert found == pytest.approx(wanted, rel=1e-10)


def test_what_has_no_probability_is_refused(df):
    for verb, text in (("poisson", "plot_loo_pit"), ("ols", "plot_loo_pit")):
        with pytest.raises(NotSupported, match=f"calibration needs events .* {text}"):
            getattr(sgmc, verb)("wins ~ x", df, seed=1, draws=200).calibration()
    times = df.assign(t=np.exp(df.z), d=df.y)
    res = sgmc.survreg("Surv(t, d) ~ x", times, seed=1, draws=200)
    for method in (res.plot_calibration, res.loo_pit):
        with pytest.raises(NotSupported, match="resid_cox_snell"):
            method()


# ---- the figure ----------------------------------------------------------------------------------


@pytest.mark.extended
def test_the_diagram_draws_curve_and_band(res, df):
    pytest.importorskip("matplotlib")
    ax = res.plot_calibration(alpha=0.1, seed=3)
    one = reliabilities(res, True, 3)[None]
    curve = next(line for line in ax.lines if line.get_label() == "observed")
    np.testing.assert_allclose(curve.get_xdata(), one.probability)
    np.testing.assert_allclose(curve.get_ydata(), one.frequency)
    low, high = one.band(0.1)
    ends = ax.collections[0].get_paths()[0].vertices
    k = len(low)
    np.testing.assert_allclose(ends[1 : k + 1], np.column_stack([one.probability, low]))
    np.testing.assert_allclose(ends[k + 2 : 2 * k + 2][::-1, 1], high)
    assert ax.collections[0].get_label() == "90 % of calibrated predictions"
    assert "(p = 0." in ax.get_legend().get_title().get_text() and len(one.resampled) == RESAMPLED
    with pytest.raises(ArgumentError, match="alpha"):
        res.plot_calibration(alpha=2)


@pytest.mark.extended
def test_a_panel_for_each_kind(df):
    pytest.importorskip("matplotlib")
    res = sgmc.mnlogit("kind ~ x", df, seed=1, draws=300)
    axes = res.plot_calibration(loo=False)
    assert [ax.get_xlabel() for ax in axes] == [
        f"predicted probability of kind = {kind}" for kind in res.model.kinds
    ]
    with pytest.raises(ArgumentError, match="3 Matplotlib axes"):
        res.plot_calibration(axes[0], loo=False)
