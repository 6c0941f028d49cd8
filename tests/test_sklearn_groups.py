"""Estimators for scikit-learn with groups of rows."""

import pickle

import numpy as np
import pandas as pd
import pytest

import sgmc

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sgmc.sklearn import BayesianLinearRegression, BayesianLogisticRegression

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws


def grouped_rows(labels=None):
    """Two hundred rows in twenty groups, and their table."""
    rng = np.random.default_rng(8)
    X, g = rng.normal(size=(200, 2)), np.repeat(np.arange(20), 10)
    y = X @ [1.0, -0.5] + 1.5 * rng.normal(size=20)[g] + 0.5 * rng.normal(size=200)
    g = g if labels is None else np.array(labels)[g]
    return X, y, g, pd.DataFrame(X, columns=["x0", "x1"]).assign(y=y, g=g)


def test_groups_have_intercepts():
    """The posterior is that of the formula, and so are predictions of known groups."""
    X, y, g, frame = grouped_rows()
    model = BayesianLinearRegression(random_state=1, draws=400).fit(X, y, groups=g)
    other = sgmc.ols("y ~ x0 + x1 + (1 | g)", frame, seed=1, draws=400)
    assert "sd(1|groups)" in model.posterior_.names and model.coef_.shape == (2,)
    assert np.allclose(model.posterior_.params, other.params)
    assert np.allclose(model.predict(X, groups=g), other.predict(frame))
    assert model.score(X, y, groups=g) > model.score(X, y) + 0.2


@pytest.mark.extended
def test_groups_that_are_new():
    """Of logits: new groups are draws from the population, no groups are the average over it."""
    X, y, g, frame = grouped_rows([f"school {k}" for k in range(20)])
    model = BayesianLogisticRegression(random_state=1, draws=400)
    model.fit(X, y > 0, groups=g)
    known = model.predict_proba(X[:3], groups=g[:3])
    new = model.predict_proba(X[:3], groups=["a", "b", "a"])
    average = model.predict_proba(X[:3])
    assert np.abs(known - new).max() > 0.05
    assert np.allclose(new, average, atol=0.05)  # Monte Carlo error of 1,600 draws: 0.01
    assert model.score(X, y > 0, groups=g) >= model.score(X, y > 0)


def test_groups_that_do_not_fit():
    X, y, g, _ = grouped_rows()
    with pytest.raises(ValueError, match="groups has shape"):
        BayesianLinearRegression().fit(X, y, groups=g[:5])
    plain = BayesianLinearRegression(random_state=1, draws=200).fit(X, y)
    with pytest.raises(ValueError, match="fitted without"):
        plain.predict(X, groups=g)


def test_groups_are_routed():
    """Through a pipeline, and through a search that splits by them."""
    from sklearn import config_context
    from sklearn.model_selection import GroupKFold, cross_validate

    X, y, g, _ = grouped_rows()
    with config_context(enable_metadata_routing=True):
        model = BayesianLinearRegression(random_state=1, draws=100)
        model.set_fit_request(groups=True).set_predict_request(groups=True)
        model.set_score_request(groups=True)
        pipe = make_pipeline(StandardScaler(), model).fit(X, y, groups=g)
        assert np.corrcoef(pipe.predict(X, groups=g), y)[0, 1] > 0.9
        found = cross_validate(model, X, y, cv=GroupKFold(3), params={"groups": g})
    assert len(found["test_score"]) == 3 and np.isfinite(found["test_score"]).all()


@pytest.mark.cover(0)
@pytest.mark.parametrize("missing", [None, np.nan])
def test_missing_labels_are_refused(missing):
    """In a fit, and in predictions, where a class would hide them."""
    X, y, g, _ = grouped_rows()
    some = g.astype(object)
    some[3] = missing
    model = BayesianLogisticRegression(random_state=1, draws=200)
    with pytest.raises(ValueError, match="1 missing labels, first in row 3"):
        model.fit(X, y > 0, groups=some)
    model.fit(X, y > 0, groups=g)
    with pytest.raises(ValueError, match="1 missing labels, first in row 3"):
        model.predict(X, groups=some)


def test_pickled_estimators_predict_the_same():
    X, y, g, _ = grouped_rows()
    model = BayesianLinearRegression(random_state=1, draws=200).fit(X, y, groups=g)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.posterior_.params, model.posterior_.params)
    for groups in (g, None):
        assert np.allclose(again.predict(X, groups), model.predict(X, groups), rtol=1e-9)
