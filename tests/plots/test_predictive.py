"""Predictive checks and figures of effects: kinds by outcome, bars, words of the axes."""

import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, NotSupported, SGMCWarning
from sgmc.plots.calibration import agreement
from sgmc.plots.predictive import bins, densities, rootogram
from sgmc.results.outcomes.data import words

from .conftest import N, fitted, random


def legend(ax):
    return [one.get_text() for one in ax.get_legend().get_texts()]


# ---- outcomes beside simulated ones --------------------------------------------------------------


def test_counts_have_a_rootogram(visits, people):
    ax = visits.plot_pp_check(draws=40)
    dots = ax.lines[0]
    counts = np.bincount(people.visits, minlength=len(dots.get_xdata()))
    np.testing.assert_array_equal(dots.get_xdata(), np.arange(len(dots.get_xdata())))
    np.testing.assert_array_equal(dots.get_ydata(), counts[: len(dots.get_xdata())])
    assert len(ax.patches) == 2 * len(dots.get_xdata())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("visits", "rows")
    assert legend(ax) == ["observed", "predicted, 95 %", "predicted, 50 %"]


def test_bars_hold_what_is_predicted():
    rng = random()
    y, simulated = rng.poisson(3, 500), rng.poisson(3, (400, 500))
    ax = rootogram(y, simulated, "visits")
    wide = ax.patches[: len(ax.patches) // 2]
    threes = (simulated == 3).sum(axis=1)
    bar = wide[3]
    ends = bar.get_y(), bar.get_y() + bar.get_height()
    np.testing.assert_allclose(ends, np.quantile(threes, [0.025, 0.975]))
    off = rootogram(y + 4, simulated, "visits").lines[0].get_ydata()
    assert off[:4].sum() == 0  # a shift is seen


def test_many_counts_are_put_into_bins():
    rng = random()
    y, simulated = rng.poisson(400, 300), rng.poisson(400, (20, 300))
    width, edges = bins(y, simulated)
    assert width > 1 and 10 < len(edges) - 1 <= 41
    assert edges[0] < y.min() and edges[-1] > y.max()
    ax = rootogram(y, simulated, "visits")
    assert ax.lines[0].get_ydata().sum() == 300
    assert ax.get_ylabel() == f"rows, per {width} of visits"


def test_numbers_have_densities(weight):
    ax = weight.plot_pp_check()
    assert len(ax.lines) == 51 and legend(ax) == ["simulated, 50 data sets", "observed"]
    assert ax.get_xlabel() == "weight"
    assert len(weight.plot_pp_check(draws=7).lines) == 8


def test_far_outcomes_do_not_stretch_the_axis():
    y, simulated = random().normal(size=100), random().standard_cauchy((10, 100)) * 100
    ax = densities(y, simulated, "y")
    assert np.diff(ax.get_xlim())[0] < 3 * np.ptp(y)


def test_events_have_groups_with_a_legend_that_covers_no_point(churn):
    ax = churn.plot_pp_check(draws=20)
    ax.figure.canvas.draw()
    assert ax.get_xlabel() == "predicted probability of churn = Yes"
    assert ax.get_ylabel() == "observed probability of churn = Yes"
    assert len(ax.lines[0].get_xdata()) == 10 and legend(ax) == ["simulated, 95 %", "observed"]
    assert ax.get_legend().get_window_extent().y0 >= ax.get_window_extent().y1 - 1
    assert legend(churn.plot_pp_check(draws=20, alpha=0.2))[0] == "simulated, 80 %"


def test_groups_on_request(weight):
    assert len(weight.plot_pp_check(groups=4, draws=20).lines[0].get_xdata()) == 4
    assert len(weight.plot_pp_check(kind="groups", draws=20).lines[0].get_xdata()) == 10


def test_rows_count_by_their_weights(people):
    df = people.assign(times=np.where(people.visits > 1, 3, 0))
    fit = fitted("poisson", "visits ~ age", df, weights="times")
    heights = fit.plot_pp_check(draws=10).lines[0].get_ydata()
    assert heights[:2].sum() == 0 and heights.sum() > 0


@pytest.mark.parametrize(
    "name, how, text",
    [
        ("churn", {"kind": "density"}, "density, and .* whole numbers: leave kind"),
        ("churn", {"kind": "rootogram"}, "needs counts.*leave kind"),
        ("visits", {"kind": "density"}, "density, and .* whole numbers"),
        ("weight", {"kind": "rootogram"}, "needs counts.*leave kind"),
        ("weight", {"kind": "density", "groups": 5}, "groups=5 is for kind='groups'"),
        ("weight", {"kind": "bars"}, "kind='bars' must be one of 'density'"),
    ],
)
def test_kinds_refused(request, name, how, text):
    with pytest.raises((NotSupported, ArgumentError), match=text):
        request.getfixturevalue(name).plot_pp_check(**how)


def test_calibration_in_plain_words(churn):
    ax = churn.plot_calibration(loo=False)
    title = ax.get_legend().get_title().get_text()
    assert title.startswith("frequencies ") and " predictions (p " in title
    assert ax.get_title() == ""
    assert ax.get_ylabel() == "frequency of churn = Yes"
    assert agreement({"p": 0.4}) == "frequencies agree with predictions (p = 0.40)"
    assert agreement({"p": 0.0}) == "frequencies differ from predictions (p < 0.01)"


# ---- effects -------------------------------------------------------------------------------------


def test_predictions_in_the_words_of_the_outcome(churn, people):
    ax = churn.plot_predictions("age", by="smoker", points=5)
    assert ax.get_ylabel() == "probability of churn = Yes" and ax.get_xlabel() == "age"
    marks = ax.collections[-1].get_positions()
    np.testing.assert_allclose(np.sort(marks), np.sort(people.age))
    low, high = ax.get_xlim()
    assert low < people.age.min() and high > people.age.max()
    assert churn.plot_predictions("age", points=3, type="link").get_ylabel() == (
        "log odds of churn = Yes"
    )


def test_labels_have_no_marks(visits):
    ax = visits.plot_predictions("region")
    assert ax.get_ylabel() == "mean visits" and not hasattr(ax.collections[-1], "get_positions")
    ax.figure.canvas.draw()
    boxes = [tick.get_window_extent() for tick in ax.get_xticklabels()]
    assert len(boxes) == 3
    assert all(left.x1 < right.x0 for left, right in zip(boxes, boxes[1:]))


def test_effects_in_the_words_of_the_outcome(visits):
    one = visits.plot_effects("region", x="smoker", points=3)
    assert one.get_ylabel().replace("\n", " ") == "difference in mean visits, by region"
    ax = visits.plot_comparisons(comparison="ratio", level=0.9)
    assert ax.get_xlabel().split("\n") == [
        "average ratio of mean visits",
        "numbers per sd; posterior mean and 90 % interval",
    ]
    assert ax.get_xscale() == "log"


def test_kinds_of_outcome(people):
    fit = fitted("mnlogit", "vote ~ age", people)
    ax = fit.plot_predictions("age", points=4)
    assert ax.get_ylabel() == "probability of each vote"
    assert ax.get_legend().get_title().get_text() == "vote"
    assert legend(ax) == ["left", "middle", "right", "rows"]
    groups = fit.plot_pp_check(draws=10)
    assert [one.get_text() for one in groups.texts] == ["left", "middle", "right"]
    assert groups.get_xlabel() == "predicted share of each vote"
    names = [tick.get_text() for tick in fit.plot().get_yticklabels()]
    assert names[0].startswith("middle:age (per ")


def test_effects_of_levels(people):
    fit = fitted("logit", "churn ~ age + (1 | site)", people)
    (ax,) = fit.plot_ranef()
    assert ax.get_title() == "1 | site" and len(ax.get_yticklabels()) == 8
    assert ax.get_xlabel().replace("\n", "") == (
        "difference in log odds of churn = Yes, mean and 95 % interval"
    )
    names = [tick.get_text() for tick in fit.plot().get_yticklabels()]
    assert len(names) == 1 and names[0].startswith("age (per ")


# ---- words ---------------------------------------------------------------------------------------

WORDS = {  # verb, formula: mean, scale of slopes, their exponentials
    ("logit", "y ~ x"): ("probability of y = 1", "log odds of y = 1", "odds ratio of y = 1"),
    ("logit", "x > 0 ~ z"): ("probability of x > 0", "log odds of x > 0", "odds ratio of x > 0"),
    ("probit", "y ~ x"): (
        "probability of y = 1", "probit of probability of y = 1",
        "exp of difference in probit of probability of y = 1",
    ),
    ("poisson", "k ~ x"): ("mean k", "log of mean k", "ratio of mean k"),
    ("gaussianlog", "t ~ x"): ("mean t", "log of mean t", "ratio of mean t"),
    ("ols", "x ~ z"): ("mean x", "mean x", "exp of difference in mean x"),
    ("ols", "np.log(t) ~ z"): (
        "mean np.log(t)", "mean np.log(t)", "ratio of geometric means of t"
    ),
    ("quantreg", "x ~ z"): (
        "50 % quantile of x", "50 % quantile of x", "exp of difference in 50 % quantile of x"
    ),
    ("survreg", "Surv(t, y) ~ z"): ("median of t", "log of t", "ratio of t"),
    ("mnlogit", "c ~ x"): (
        "probability of each c", "log odds of c against a", "odds ratio of c against a"
    ),
    ("ordinal", "o ~ x"): (
        "probability of each o", "log odds of a higher o", "odds ratio of a higher o"
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def outcomes():
    rng = random()
    df = pd.DataFrame(rng.normal(size=(N, 2)), columns=["x", "z"])
    df["y"], df["k"] = rng.integers(0, 2, N), rng.poisson(2, N)
    df["t"], df["c"] = rng.exponential(1, N), rng.choice(list("abc"), N)
    df["o"] = pd.Categorical(df.c, ordered=True)
    return df


@pytest.mark.parametrize("verb, formula", WORDS, ids=lambda one: one)
def test_words_of_families(outcomes, verb, formula):
    fit = fitted(verb, formula, outcomes, 20)
    mean, scale, ratio = WORDS[verb, formula]
    assert words.mean(fit.model) == mean
    assert words.predictor(fit.model) == scale
    assert words.coefficients(fit.model) == f"difference in {scale}"
    assert words.coefficients(fit.model, True) == ratio
    assert fit.plot(exponentiate=True).get_xlabel().startswith(ratio)


def test_models_that_are_not_regressions_have_the_forest_as_it_is():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        fit = sgmc.GaussianMixture(random().normal(size=(60, 2)), 2).fit(seed=1, draws=20)
    ax = fit.plot()
    assert [tick.get_text() for tick in ax.get_yticklabels()] == fit.names
    assert ax.get_xlabel() == "value\nposterior mean, 50 % and 95 % intervals"
    with pytest.raises(ArgumentError, match="regression, and this model has none"):
        fit.plot_forest(exponentiate=True)
