"""The scoreboard's rule, its exact answers, and its page from stored results."""

import importlib
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks" / "scoreboard"
ANSWERS = sorted((FOLDER / "exact").glob("*.json"))
RUN = {"length": 4000, "seed": 1, "seconds": 1.0, "scored": 2, "of": 2, "note": ""}


@pytest.fixture
def scoreboard(monkeypatch):
    """Modules of the scoreboard by name, which are forgotten afterwards."""
    monkeypatch.syspath_prepend(str(FOLDER))
    names = (
        "metric", "page", "tasks", "terms", "problem", "exact_linear", "exact_sampling",
        "exact_terms", "contestants",
    )  # fmt: skip
    before = {name: sys.modules.pop(name, None) for name in names}
    yield importlib.import_module
    for name, module in before.items():
        sys.modules.pop(name, None)
        if module is not None:
            sys.modules[name] = module


@pytest.mark.parametrize(
    "shift, stretch, right",
    [(0, 1, True), (0.09, 1.04, True), (0.2, 1, False), (0, 1.07, False), (0, 0.93, False)],
)
def test_answers_that_are_off_are_not_within_the_tolerance(scoreboard, shift, stretch, right):
    """One number of three is wrong: a mean by 0.2 sd, an sd by 7 %."""
    metric, problem = scoreboard("metric"), scoreboard("problem")
    exact = {"names": ["a", "b", "c"], "mean": [1.0, -2.0, 30.0], "sd": [0.1, 2.0, 5.0]}
    mean = np.array(exact["mean"]) + np.array([0, 0, 5.0]) * shift
    sd = np.array(exact["sd"]) * np.array([1, 1, stretch])
    order = [2, 0, 1]  # answers are matched by name
    answer = problem.Answer(["c", "a", "b"], mean[order], sd[order])
    errors = metric.errors(answer, exact)
    assert metric.within(*errors) is right
    assert errors == pytest.approx((shift, abs(stretch - 1)), abs=1e-12)


def test_a_number_that_is_not_finite_is_never_right(scoreboard):
    metric, problem = scoreboard("metric"), scoreboard("problem")
    exact = {"names": ["a"], "mean": [1.0], "sd": [0.1]}
    errors = metric.errors(problem.Answer(["a"], np.array([np.nan]), np.array([0.1])), exact)
    assert not metric.within(*errors)


def runs(length, errors, seconds):
    """Runs of one length."""
    return [
        RUN | {"length": length, "seed": k, "error_mean": e, "error_sd": 0.01, "seconds": s}
        for k, (e, s) in enumerate(zip(errors, seconds), 1)
    ]


def test_every_seed_must_be_right_at_the_length_that_counts(scoreboard):
    metric = scoreboard("metric")
    some = runs(500, [0.05, 0.05, 0.2], [9, 1, 1]) + runs(1000, [0.05] * 3, [9, 2, 4])
    assert metric.seconds(some, 3) == {"length": 1000, "run": 3.0, "first_use": 6.0}
    assert metric.seconds(some[:3], 3) is None
    assert metric.seconds(some[:5], 3) is None, "a length of which a seed is missing"


@pytest.mark.parametrize("path", ANSWERS, ids=lambda p: p.stem)
def test_exact_answers_have_small_stated_errors(scoreboard, path):
    found = json.loads(path.read_text())
    columns = [np.array(found[key]) for key in ("mean", "sd", "mcse_mean", "mcse_sd")]
    assert all(len(c) == len(found["names"]) and np.isfinite(c).all() for c in columns)
    assert (columns[1] > 0).all() and max(columns[2].max(), columns[3].max()) < 0.02
    assert found["method"] and path.stem in scoreboard("tasks").TASKS


def test_quadrature_agrees_with_least_squares(scoreboard):
    """Quadrature of a linear regression, and least squares with many rows and a weak prior."""
    tasks, linear = scoreboard("tasks"), scoreboard("exact_linear")
    task = tasks.ols("ols", "", 2000, 3, 1)
    mean, sd = linear.ols(task)
    fit, rest, *_ = np.linalg.lstsq(task.X, task.y, rcond=None)
    spread = np.sqrt(np.diag(np.linalg.inv(task.X.T @ task.X)) * rest / (2000 - 4))
    # the prior moves a mean by (0.03 / 2.5)^2 of it, the sds by 1 / (2 n)
    assert np.abs((mean[:-1] - fit) / spread).max() < 0.02
    assert np.abs(sd[:-1] / spread - 1).max() < 2e-3


def test_coefficients_and_effects_are_integrated_out(scoreboard):
    """Of a random walk: against the density of the outcomes' normal law.  Columns that are 1 %
    larger are seen.
    """
    tasks, exact = scoreboard("tasks"), scoreboard("exact_terms")
    task = tasks.walked("walk", "", 60, 8, 3)
    model, [one] = exact.Penalised(task), task.bases
    places = np.log([[0.5, 1.1], [1.5, 0.8]])

    def by_covariance(phi, stretch=1.0):
        sd, sigma = np.exp(phi)
        Z = stretch * sd * one.rows()
        covariance = 2.5**2 * task.X @ task.X.T + Z @ Z.T + sigma**2 * np.eye(60)
        value = stats.multivariate_normal(np.zeros(60), covariance).logpdf(task.y)
        return value + phi.sum() - (sd / 2) ** 2 / 2 - (sigma / 5) ** 2 / 2

    difference = np.subtract(*(model.at(phi)[0] for phi in places))
    # rounding of sums over 60 rows
    assert difference == pytest.approx(np.subtract(*map(by_covariance, places)), abs=1e-9)
    wrong = np.subtract(*(by_covariance(phi, 1.01) for phi in places))
    assert abs(difference - wrong) > 1e-4


@pytest.mark.extended
@pytest.mark.parametrize("name", ["curved", "mapped"])
def test_answers_with_terms_are_those_of_sgmc(scoreboard, name):
    """Importance sampling and sgmc have no code in common: a smooth of coins, a map of counts.  The
    tolerance is the rule's; another sd of the term's prior is outside.
    """
    tasks, metric, exact = (scoreboard(one) for one in ("tasks", "metric", "exact_terms"))
    how = {"curved": ("logit", 400, 5), "mapped": (400, 3, 5)}[name]
    task = getattr(tasks, name)(name, "", *how)
    answer = scoreboard("contestants.sgmc_default").prepare(task)(4000, 1)

    def errors(task):
        mean, sd, *_ = exact.counted(task, 60_000)
        return metric.errors(answer, {"names": task.names, "mean": mean, "sd": sd})

    assert metric.within(*errors(task))
    assert not metric.within(*errors(replace(task, prior=task.prior | {"sd": 0.3})))


def test_answers_by_sgmc_agree_with_those_without_it(scoreboard):
    """The contestant's own path, on the tiny task: a default fit is within the rule."""
    tasks, metric = scoreboard("tasks"), scoreboard("metric")
    task = tasks.problem("tiny")
    run = scoreboard("contestants.sgmc_default").prepare(task)
    assert metric.within(*metric.errors(run(4000, 1), metric.load("tiny")))


def record(name, errors, seconds, failure=None, **also):
    """A stored result."""
    return {
        "task": "logit", "contestant": name, "date": "2026-01-01", "load_average": 0.0,
        "machine": {"cpu": "a processor", "cores": 2, "system": "Linux", "python": "3.11.0"},
        "seeds": 3, "limit": 60, "failure": failure, "versions": {}, "seconds_import": 1.0,
        "seconds_prepare": 0.5, "runs": runs(4000, errors, seconds), **also,
    }  # fmt: skip


def made(scoreboard, folder, *records):
    """The page of some results."""
    for one in records:
        (folder / f"{one['contestant']}.json").write_text(json.dumps(one))
    page = scoreboard("page")
    return page.page(page.read(folder), {"logit": "A remark."}, plots=False)


def test_the_page_has_winners_failures_and_floors(scoreboard, tmp_path):
    text = made(
        scoreboard,
        tmp_path,
        record("sgmc_default", [0.05] * 3, [2, 1, 1]),
        record("numpyro_nuts", [0.05] * 3, [9, 4, 4]),
        record("nutpie_nuts", [0.3], [9], "not within the tolerance in 60 s of CPU time"),
        record("glum_mle", [0.3] * 3, [0.1, 0.1, 0.1]),
        record("lme4_mle", [], [], not_expressible="no such model"),
    )
    assert "sgmc is first, 4.0 times as fast as NumPyro NUTS" in text
    assert "On 1 of 1 regression" in text and "- nowhere among" in text
    assert "| **sgmc** | 1.0 | 0.25 | 1.0 | 1.5 | 3.5 | 4,000 | within |" in text
    assert "failed: not within the tolerance in 60 s of CPU time" in text
    assert "*glum*" in text and "outside the tolerance" in text and "NA: lme4" in text
    assert "Not run: sgmc, exact sampler, BlackJAX NUTS" in text and "A remark." in text


def test_a_rival_that_wins_is_named_before_the_aggregate(scoreboard, tmp_path):
    text = made(
        scoreboard,
        tmp_path,
        record("sgmc_default", [0.05] * 3, [2, 1, 1]),
        record("numpyro_nuts", [0.05] * 3, [9, 0.5, 0.5]),
        record("glum_mle", [0.01] * 3, [0.1, 0.1, 0.1]),
    )
    lost = text.index("NumPyro NUTS is first, 2.0 times as fast as sgmc")
    assert lost < text.index("On 0 of 1 regression"), "a floor is never first"


def test_rivals_that_ran_out_of_time_give_a_bound(scoreboard, tmp_path):
    """Of a run by a later seed of its longest length; of all by its first seed, or by the limit."""
    late = "not within the tolerance in 60 s of CPU time"
    ours = record("sgmc_default", [0.05] * 3, [2, 1, 1])
    text = made(scoreboard, tmp_path, ours, record("nutpie_nuts", [0.05, 0.3], [20, 9], late))
    assert "sgmc is first, at least 9.0 times as fast as any rival" in text
    assert "On 1 of 1 regression" in text and "no rival was right" not in text
    compiled = record("nutpie_nuts", [0.3], [12.5], late)  # (1 + .5 + 12.5) / (1 + .5 + 1 + 1)
    text = made(scoreboard, tmp_path, ours, compiled, record("numpyro_nuts", [], [], late))
    assert "On 0 of 1 regression" in text and "On 1 more no rival was right" in text
    assert "is first there by a factor of at least 4.0" in text
