"""The estimators keep scikit-learn's contract, and hold the posterior that sgmc gives."""

import doctest
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, special

import sgmc

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.base import RegressorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from sgmc import sklearn as estimators
from sgmc.sklearn import (
    BayesianGammaRegressor,
    BayesianLinearRegression,
    BayesianLogisticRegression,
    BayesianNegativeBinomialRegressor,
    BayesianOrdinalClassifier,
    BayesianPoissonRegressor,
)

N = 400
RANDOM = np.random.default_rng(4)
FRAME = pd.DataFrame({"age": RANDOM.normal(40, 10, N), "dose": RANDOM.gamma(2, size=N)})
LABELS = np.where(FRAME.dose - FRAME.age / 20 + RANDOM.logistic(size=N) > 0, "well", "ill")
WEIGHTS = RANDOM.integers(0, 4, N)


INTERPOLATED = (
    "15 different rows and 31 coefficients: sigma, or rates without bound, are rounding errors, "
    "and which draws rows without weight get, too"
)


ORDERED_SUMS = (
    "copies of rows are summed in another order: draws of 33 parameters are the same to 1e-13 at "
    "first, and a proposal among the next thousand is accepted by one chain alone"
)
UNORDERED = "its three classes are places in the plane, which no line orders"
TEXT = "three classes of text have no order, and are refused"


class Rounded(BayesianNegativeBinomialRegressor):
    """Counts of any numbers, which are what the checks give."""

    def _outcome(self, y, given):
        return np.round(y)


CHECKED = [getattr(estimators, name) for name in estimators.__all__]
CHECKED[CHECKED.index(BayesianNegativeBinomialRegressor)] = Rounded


def expected_to_fail(estimator):
    """Checks that cannot hold, and why."""
    found = {
        f"check_sample_weight_equivalence_on_{kind}_data": INTERPOLATED
        for kind in ("dense", "sparse")
        if isinstance(estimator, RegressorMixin)
    }
    if isinstance(estimator, BayesianOrdinalClassifier):
        found["check_classifiers_train"] = UNORDERED
        found["check_classifiers_classes"] = TEXT
        for kind in ("dense", "sparse"):
            found[f"check_sample_weight_equivalence_on_{kind}_data"] = ORDERED_SUMS
    return found


# of few or separated rows, of which the checks are full
@pytest.mark.cover(1, by=lambda check: [check.func.__name__])
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@parametrize_with_checks(
    [cls(draws=100, chains=2) for cls in CHECKED],
    expected_failed_checks=expected_to_fail,
)
def test_the_contract_of_scikit_learn(estimator, check):
    assert check(estimator) is None


@pytest.mark.extended
def test_weights_of_outcomes_with_noise_are_so_many_rows():
    """What the failing check asks, where sigma is no rounding error."""
    X = FRAME.to_numpy()
    y = FRAME.dose.to_numpy() + FRAME.age.to_numpy() / 20 + RANDOM.normal(size=N)
    for one in (BayesianLinearRegression, BayesianPoissonRegressor):
        weighted = one(random_state=1).fit(X, np.maximum(y, 0), sample_weight=WEIGHTS)
        repeated = one(random_state=1).fit(
            np.repeat(X, WEIGHTS, axis=0), np.repeat(np.maximum(y, 0), WEIGHTS)
        )
        np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=0.01)
        assert weighted.posterior_.nobs == WEIGHTS.sum() and weighted.score(X, y) > 0.2


def test_regressors_hold_the_posteriors_of_the_verbs():
    y = 5 + 2 * FRAME.dose + RANDOM.normal(size=N)
    linear = BayesianLinearRegression(random_state=3).fit(FRAME, y)
    np.testing.assert_array_equal(
        linear.posterior_.draws, sgmc.ols("y ~ age + dose", FRAME.assign(y=y), seed=3).draws
    )
    assert linear.posterior_.names[-1] == "sigma"
    assert linear.coef_.shape == (2,)
    assert isinstance(float(linear.intercept_), float)
    np.testing.assert_allclose(
        linear.predict(FRAME), linear.intercept_ + FRAME.to_numpy() @ linear.coef_, rtol=1e-10
    )
    counts = RANDOM.poisson(np.exp(FRAME.dose / 3))
    poisson = BayesianPoissonRegressor(random_state=3).fit(FRAME, counts)
    np.testing.assert_array_equal(
        poisson.posterior_.draws,
        sgmc.poisson("y ~ age + dose", FRAME.assign(y=counts), seed=3).draws,
    )
    assert BayesianPoissonRegressor(random_state=3).fit(FRAME, counts / 2).coef_ == pytest.approx(
        poisson.coef_, abs=0.05
    )
    with pytest.raises(ValueError, match="y must not be negative"):
        BayesianPoissonRegressor().fit(FRAME, counts - 1)


class WithoutWeights(BayesianLogisticRegression):
    """A planted mistake: weights are checked, and forgotten."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_forgotten_weights_break_the_contract():
    found = check_estimator(WithoutWeights(draws=100, chains=2), on_fail=None, on_skip=None)
    assert "check_sample_weight_equivalence_on_dense_data" in {
        one["check_name"] for one in found if one["status"] == "failed"
    }


def test_the_posterior_is_that_of_the_formula():
    model = BayesianLogisticRegression(random_state=3, prior=sgmc.normal(0, 1)).fit(
        FRAME, LABELS, sample_weight=WEIGHTS
    )
    expected = sgmc.logit(
        "y == 'well' ~ age + dose",
        FRAME.assign(y=LABELS),
        weights=WEIGHTS,
        prior=sgmc.normal(0, 1),
        seed=3,
    )
    assert model.posterior_.names == expected.names == ["Intercept", "age", "dose"]
    np.testing.assert_array_equal(model.posterior_.draws, expected.draws)
    assert model.coef_.tolist() == [expected.params[["age", "dose"]].tolist()]
    assert model.intercept_.shape == (1,)
    assert model.classes_.tolist() == ["ill", "well"] and model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["age", "dose"]


def test_probabilities_are_averaged_over_draws():
    model = BayesianLogisticRegression(random_state=3).fit(FRAME, LABELS)
    rows = pd.DataFrame({"age": [20.0, 40.0, 200.0], "dose": [9.0, 2.0, 9.0]})
    eta = np.column_stack([np.ones(3), rows]) @ model.posterior_.flat.T
    p = special.expit(eta).mean(axis=1)
    np.testing.assert_allclose(model.predict_proba(rows), np.column_stack([1 - p, p]), rtol=1e-12)
    np.testing.assert_allclose(model.decision_function(rows), special.logit(p), rtol=1e-9)
    plugged_in = special.expit(model.intercept_ + rows.to_numpy() @ model.coef_[0])
    assert np.abs(plugged_in - p).max() > 1e-3  # the mistake would be seen
    assert model.predict(rows).tolist() == np.where(p > 0.5, "well", "ill").tolist()
    assert model.score(FRAME, LABELS) == (model.predict(FRAME) == LABELS).mean() > 0.7


def test_with_flat_priors_it_is_near_maximum_likelihood():
    model = BayesianLogisticRegression(prior="flat", random_state=1).fit(FRAME, LABELS)
    likely = make_pipeline(StandardScaler(), LogisticRegression(C=np.inf, tol=1e-10)).fit(
        FRAME, LABELS
    )
    # sds of means: 0.02 in p
    np.testing.assert_allclose(model.predict_proba(FRAME), likely.predict_proba(FRAME), atol=0.02)


@pytest.mark.parametrize("intercept", [True, False])
def test_sparse_rows(intercept):
    dense = RANDOM.integers(0, 2, (N, 3)) * 1.0
    models = [
        BayesianLogisticRegression(random_state=1, fit_intercept=intercept, draws=2000).fit(
            X, LABELS
        )
        for X in (dense, sparse.csr_array(dense), sparse.csc_matrix(dense))
    ]
    np.testing.assert_array_equal(models[1].posterior_.draws, models[2].posterior_.draws)
    error = 4 * np.hypot(models[0].posterior_.mcse(), models[1].posterior_.mcse())
    assert (np.abs(models[0].posterior_.params - models[1].posterior_.params) < error).all()
    assert models[1].coef_.shape == (1, 3) and (models[1].intercept_ == 0).all() == (not intercept)
    np.testing.assert_allclose(
        models[1].predict_proba(sparse.csr_array(dense)), models[1].predict_proba(dense), rtol=1e-12
    )


def test_more_than_two_classes():
    three = np.where(FRAME.age + RANDOM.logistic(scale=3, size=N) > 45, "old", LABELS)
    model = BayesianLogisticRegression(random_state=1).fit(FRAME, three)
    expected = sgmc.mnlogit("y ~ age + dose", FRAME.assign(y=three), seed=1)
    np.testing.assert_array_equal(model.posterior_.draws, expected.draws)
    assert model.posterior_.names == expected.names and "old:age" in expected.names
    assert model.classes_.tolist() == ["ill", "old", "well"]
    p = model.predict_proba(FRAME)
    np.testing.assert_allclose(p, expected.predict(FRAME), rtol=1e-12)
    assert model.predict(FRAME).tolist() == model.classes_[p.argmax(axis=1)].tolist()
    np.testing.assert_allclose(model.decision_function(FRAME), special.logit(p), rtol=1e-9)
    assert model.coef_.shape == (3, 2) and (model.coef_[0] == 0).all()
    assert model.coef_[1, 0] == expected.params["old:age"]
    assert model.intercept_.tolist()[1:] == expected.params[
        ["old:Intercept", "well:Intercept"]
    ].tolist()  # fmt: skip
    with pytest.raises(ValueError, match="y has 1 class"):
        BayesianLogisticRegression().fit(FRAME, np.repeat("a", N))
    against = OneVsRestClassifier(BayesianLogisticRegression(random_state=1)).fit(FRAME, three)
    assert set(against.predict(FRAME)) <= {"ill", "old", "well"}
    assert min(model.score(FRAME, three), against.score(FRAME, three)) > 0.6


# a dose that decides nearly alone has a posterior far out in the prior
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("labels", [["1", "2", "10"], [3, 20, 100], ["b", "a", "c"]], ids=str)
def test_classes_keep_the_order_that_they_sort_in(labels):
    y = np.array(labels)[np.digitize(FRAME.dose + RANDOM.normal(size=N) / 4, [1, 2.5])]
    model = BayesianLogisticRegression(random_state=1, draws=300).fit(FRAME, y)
    assert model.classes_.tolist() == sorted(labels)
    assert model.predict(FRAME).dtype == y.dtype and model.score(FRAME, y) > 0.6


def test_ordered_classes():
    y = np.digitize(2 * FRAME.dose + RANDOM.logistic(size=N), [2, 4, 6])
    model = BayesianOrdinalClassifier(random_state=1).fit(FRAME, y)
    frame = FRAME.assign(y=pd.Categorical(y, ordered=True))
    expected = sgmc.ordinal("y ~ age + dose", frame, seed=1)
    np.testing.assert_array_equal(model.posterior_.draws, expected.draws)
    np.testing.assert_allclose(model.predict_proba(FRAME), expected.predict(FRAME), rtol=1e-12)
    assert model.coef_.tolist() == [expected.params[["age", "dose"]].tolist()]
    assert model.classes_.tolist() == [0, 1, 2, 3] and model.score(FRAME, y) > 0.5
    with pytest.raises(ValueError, match="fit_intercept must be True"):
        BayesianOrdinalClassifier(fit_intercept=False).fit(FRAME, y)
    two = BayesianOrdinalClassifier(random_state=1).fit(FRAME, LABELS)
    same = BayesianLogisticRegression(random_state=1).fit(FRAME, LABELS)
    np.testing.assert_array_equal(two.predict_proba(FRAME), same.predict_proba(FRAME))


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("made", [pd.Series, pd.Categorical])
def test_ordered_classes_keep_the_order_of_their_categories(made):
    """As text they sort high, low, mid: that was the order of the model."""
    order = ["low", "mid", "high"]
    places = np.digitize(2 * FRAME.dose + RANDOM.logistic(size=N), [2, 4])
    labels = np.array(order)[places]
    given = made(pd.Categorical(labels, [*order, "top"], ordered=True))
    model = BayesianOrdinalClassifier(random_state=1, draws=300).fit(FRAME, given)
    numbers = BayesianOrdinalClassifier(random_state=1, draws=300).fit(FRAME, places)
    assert model.classes_.tolist() == order
    np.testing.assert_array_equal(model.predict_proba(FRAME), numbers.predict_proba(FRAME))
    assert model.predict(FRAME).tolist() == np.array(order)[numbers.predict(FRAME)].tolist()
    assert model.score(FRAME, labels) > 0.5


def test_two_ordered_classes_keep_their_order():
    given = pd.Series(pd.Categorical(LABELS, ["well", "ill"], ordered=True))
    two = BayesianOrdinalClassifier(random_state=1, draws=300).fit(FRAME, given)
    assert two.classes_.tolist() == ["well", "ill"]
    assert two.score(FRAME, LABELS) > 0.6


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["low", "mid", "high"]),
        np.array(["1", "2", "10"]),
        pd.Series(pd.Categorical(["low", "mid", "high"])),
    ],
    ids=["text", "digits", "unordered categories"],
)
def test_text_has_no_order(labels):
    rows = np.arange(N) % 3
    with pytest.raises(ValueError, match=r"whose order is unknown: give pandas\.Categorical\(y"):
        BayesianOrdinalClassifier().fit(FRAME, labels[rows])


@pytest.mark.parametrize(
    "estimator, verb, outcome",
    [
        (
            BayesianGammaRegressor,
            lambda formula, df, **how: sgmc.glm(formula, df, family="gamma", **how),
            RANDOM.gamma(2, np.exp(FRAME.dose / 5)),
        ),
        (
            BayesianNegativeBinomialRegressor,
            sgmc.negativebinomial,
            RANDOM.poisson(RANDOM.gamma(2, np.exp(FRAME.dose / 5))),
        ),
    ],
    ids=["gamma", "negative binomial"],
)
def test_more_regressors(estimator, verb, outcome):
    model = estimator(random_state=3).fit(FRAME, outcome)
    expected = verb("y ~ age + dose", FRAME.assign(y=outcome), seed=3)
    np.testing.assert_array_equal(model.posterior_.draws, expected.draws)
    np.testing.assert_allclose(model.predict(FRAME), expected.predict(FRAME), rtol=1e-10)
    assert model.coef_.tolist() == expected.params[["age", "dose"]].tolist()
    with pytest.raises(ValueError):
        estimator().fit(FRAME, -1 - outcome)


def test_predictive_standard_deviations():
    """Of the linear model in closed form, of counts by simulation."""
    y = 5 + 2 * FRAME.dose + RANDOM.normal(size=N)
    linear = BayesianLinearRegression(random_state=3).fit(FRAME, y)
    mean, std = linear.predict(FRAME[:20], return_std=True)
    np.testing.assert_allclose(mean, linear.predict(FRAME[:20]), rtol=1e-10)
    draws = linear.posterior_.flat
    eta = draws[:, :3] @ np.column_stack([np.ones(20), FRAME[:20]]).T
    expected = np.sqrt(eta.var(axis=0) + (draws[:, 3] ** 2).mean())
    np.testing.assert_allclose(std, expected, rtol=1e-9)
    counts = RANDOM.poisson(RANDOM.gamma(2, np.exp(FRAME.dose / 5)))
    model = BayesianNegativeBinomialRegressor(random_state=3).fit(FRAME, counts)
    _, std = model.predict(FRAME[:20], return_std=True)
    rows = np.column_stack([np.ones(20), FRAME[:20]])
    simulated = model.posterior_.posterior_predict(rows).std(axis=0)
    # 4000 outcomes with a kurtosis of about 6: sd of their sd sqrt(5 / 4 / 4000) = 2 %, four times
    np.testing.assert_allclose(std, simulated, rtol=0.08)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_predictive_standard_deviations_of_groups():
    groups = RANDOM.integers(0, 8, N)
    y = FRAME.dose + groups + RANDOM.normal(size=N)
    model = BayesianLinearRegression(random_state=3).fit(FRAME, y, groups=groups)
    _, known = model.predict(FRAME[:9], groups=groups[:9], return_std=True)
    _, new = model.predict(FRAME[:9], return_std=True)
    assert (known < 1.3).all() and (new > 1.5).all()  # noise of 1, and groups of sd 2.3


def test_names_of_features_behind_a_scaler():
    model = BayesianLogisticRegression(random_state=1, feature_names=["age", "dose"])
    piped = make_pipeline(StandardScaler(), model).fit(FRAME, LABELS)
    assert piped[-1].posterior_.names == ["Intercept", "age", "dose"]
    plain = BayesianLogisticRegression(random_state=1).fit(FRAME.to_numpy(), LABELS)
    assert plain.posterior_.names == ["Intercept", "x0", "x1"]
    with pytest.raises(ValueError, match="names"):
        BayesianLogisticRegression(feature_names=["age"]).fit(FRAME, LABELS)


def test_clones_keep_their_warnings_to_themselves():
    """Of a fit with far too few draws: a search prints nothing, the user's own fit does."""
    model = BayesianLogisticRegression(random_state=1, draws=30)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        cross_val_score(make_pipeline(StandardScaler(), model), FRAME, LABELS, cv=3)
        copy = clone(model).fit(FRAME, LABELS)
    assert [one for one in seen if issubclass(one.category, sgmc.SGMCWarning)] == []
    assert "LowESSWarning" in {one.code for one in copy.posterior_.warnings}
    with pytest.warns(sgmc.errors.LowESSWarning):
        model.fit(FRAME, LABELS)


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.ConditionWarning")  # of the narrow prior
def test_searches_pipelines_copies_and_pickles():
    model = BayesianLogisticRegression(
        random_state=1, draws=300, fit_options={"threads": 1, "subsample": "uniform"}
    )
    assert cross_val_score(make_pipeline(StandardScaler(), model), FRAME, LABELS, cv=3).mean() > 0.7
    prior = sgmc.normal(0, 0.002, autoscale=True)
    search = GridSearchCV(model, {"prior": [prior, None]}, cv=2, error_score="raise").fit(
        FRAME, LABELS
    )
    assert search.best_params_["prior"] is None
    fitted = clone(model).fit(FRAME, LABELS)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(FRAME), fitted.predict_proba(FRAME))
    assert clone(fitted).get_params() == model.get_params()
    assert not hasattr(clone(fitted), "posterior_")


def test_states_of_random_numbers():
    draws = [
        BayesianLogisticRegression(random_state=np.random.RandomState(seed), draws=300)
        .fit(FRAME, LABELS)
        .posterior_.draws
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert (draws[0] != draws[2]).all()


def test_polars_tables():
    pl = pytest.importorskip("polars", reason="polars is not installed")
    model = BayesianLogisticRegression(random_state=3).fit(
        pl.DataFrame(FRAME.to_dict("list")), LABELS
    )
    expected = BayesianLogisticRegression(random_state=3).fit(FRAME, LABELS)
    np.testing.assert_array_equal(model.posterior_.draws, expected.posterior_.draws)
    assert model.posterior_.names == ["Intercept", "age", "dose"]


def test_the_example():
    assert doctest.testmod(estimators).failed == 0
    assert "posterior_" in estimators.BayesianLogisticRegression.__doc__


@pytest.mark.extended
def test_without_scikit_learn_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['sklearn'] = None; import sgmc; print(sgmc.logit.__name__); "
        "import sgmc.sklearn"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "logit"
    assert 'pip install "sgmc[sklearn]"' in done.stderr.strip().split("\n")[-1]


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
def test_fit_options_take_the_place_of_arguments():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = (X[:, 0] + rng.normal(size=100) > 0).astype(int)
    how = {"draws": 500, "chains": 2, "threads": 1}
    made = BayesianLogisticRegression(fit_options=how, random_state=1)
    assert made.fit(X, y).posterior_.draws.shape[:2] == (2, 500)


@pytest.mark.parametrize(
    "name, advice",
    [
        ("C", "a penalty is a prior"),
        ("seed", "use random_state="),
        ("n_jobs", r"give fit_options=\{'threads': ...\}"),
        ("warmup", r"give fit_options=\{'warmup': ...\}"),
        ("prio", "did you mean 'prior'"),
    ],
)
def test_misnamed_arguments_get_the_advice_of_verbs(name, advice):
    expected = rf"LogisticRegression\(\) got an unexpected keyword argument '{name}'; {advice}"
    with pytest.raises(TypeError, match=expected):
        BayesianLogisticRegression(**{name: 1})
