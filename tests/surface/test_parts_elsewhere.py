"""Names that are asked of parts of results, and of estimators."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.elsewhere import OF_PARTS

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


@pytest.fixture(scope="module")
def parts():
    """A part of each kind, by its name in the table."""
    df = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 2)), columns=["x", "y"])
    results = sgmc.ols("y ~ x", df, draws=100, seed=1)
    return {
        "Loo": results.loo(),
        "Intervals": results.get_prediction(df.head(3)),
        "ModelInfo": results.model,
        "PosteriorSummary": results.summary(),
    }


@pytest.mark.parametrize("kind, name", [(kind, n) for kind, own in OF_PARTS.items() for n in own])
def test_names_of_others_are_answered(parts, kind, name):
    with pytest.raises(AttributeError, match=f"has no attribute {name!r}; ") as caught:
        getattr(parts[kind], name)
    assert str(caught.value).endswith(OF_PARTS[kind][name])


def test_near_names_and_copies(parts):
    with pytest.raises(AttributeError, match="did you mean 'pareto_k'"):
        parts["Loo"].paretok
    assert not hasattr(parts["Intervals"], "_repr_html_")
    assert copy.copy(parts["ModelInfo"]).formula == "y ~ x"
    assert pickle.loads(pickle.dumps(parts["Loo"])).elpd == parts["Loo"].elpd


def test_estimators_name_their_results():
    pytest.importorskip("sklearn")
    from sgmc.sklearn import BayesianLinearRegression

    with pytest.raises(AttributeError, match=r"posterior_ after fit\(\): posterior_.summary"):
        BayesianLinearRegression().summary
    with pytest.raises(AttributeError, match="has no attribute 'coefs_'$"):
        BayesianLinearRegression().coefs_
