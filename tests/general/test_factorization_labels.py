"""Labels of users and items in another type than those of the ratings, and new ones."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import DataError, NewLevelsWarning


@cache
def ratings():
    rng = np.random.default_rng(1)
    user, item = np.divmod(np.flatnonzero(rng.random(12 * 9) < 0.7), 9)
    return pd.DataFrame(dict(user=user, item=item, rating=rng.poisson(3.0, len(user))))


@cache
def fitted(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = getattr(sgmc, kind)(ratings(), dim=2)
        return model.fit(seed=1, draws=20, warmup=20, thin=1, chains=1)


@pytest.mark.parametrize("kind", ["BPMF", "PPMF"])
def test_text_of_known_labels_is_refused(kind):
    """Taken for newcomers, they had the prior's predictions."""
    res, said = fitted(kind), "labels of 'user' are of another type"
    for call in (lambda: res.predict(["3"], ["4"]), lambda: res.recommend("3")):
        with pytest.raises(DataError, match=said):
            call()
    with pytest.raises(DataError, match="labels of 'item' are of another type"):
        res.predict([3], ["4"])
    assert np.array_equal(res.predict([3.0], [4]), res.predict([3], [4]))


@pytest.mark.parametrize("kind", ["BPMF", "PPMF"])
def test_test_pairs_too(kind):
    pairs = ratings().head(5)
    with pytest.raises(DataError, match=r"test\['user'\] = test\['user'\].astype\(int\)"):
        getattr(sgmc, kind)(ratings(), dim=2, test=pairs.astype({"user": str}))
    with pytest.raises(DataError, match="labels of 'user' are of another type"):
        getattr(sgmc, kind)(ratings(), dim=2, test=(["3"], [4], [2.0]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_labels_that_are_all_new_are_warned_of():
    res = fitted("BPMF")
    with pytest.warns(NewLevelsWarning, match="No label of 'user' has ratings.*'ann'"):
        res.predict(["ann"], [4])
    with pytest.warns(NewLevelsWarning, match="No label of 'user' has ratings.*99"):
        res.recommend(99, 2)
    res.predict([3, 99], [4, 4])  # some are known: nobody took the wrong column
