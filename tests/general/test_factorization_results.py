"""Predictions, labels, memory and refusals of factorisations."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

import sgmc
from sgmc.errors import ArgumentError, DataError

from .cases import ratings as small
from .tiny_ratings import ITEMS, USERS, tiny

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


def recomputed(res, model, user, item):
    """Predictions of pairs by each kept draw."""
    U, V, a, b = (
        res.draws_of(name).reshape(-1, *model.layout().shapes[name])
        for name in ("U", "V", "a", "b")
    )
    p = np.einsum("sij,sij->si", U[:, user], V[:, item]) + a[:, user] + b[:, item]
    return np.clip(model.centre + model.unit * p, model.low, model.high)


def fitted(**more):
    """A model with biases and a short run that keeps all of it."""
    kept, held_out = small()
    model = sgmc.BPMF(kept, dim=2, test=held_out, biases=True)
    return model, model.fit(
        **{**dict(seed=1, chains=2, draws=80, warmup=50, keep=list(model.parameters)), **more}
    )


def test_predictions_are_means_over_all_draws():
    model, res = fitted()
    each = recomputed(res, model, model.test.user, model.test.item)
    assert res.predict() == pytest.approx(each.mean(axis=0), rel=1e-10)
    assert res.get_prediction()["sd"].to_numpy() == pytest.approx(each.std(axis=0), rel=1e-8)
    assert res.rmse == pytest.approx(
        np.sqrt(np.mean((each.mean(axis=0) - model.test.value) ** 2)), rel=1e-10
    )
    path = res.accuracy_path().loc[1]
    mine = each[80:]
    assert path["draw"].iloc[7] == pytest.approx(
        np.sqrt(np.mean((mine[7] - model.test.value) ** 2)), rel=1e-10
    )
    assert path["average"].iloc[7] == pytest.approx(
        np.sqrt(np.mean((mine[:8].mean(axis=0) - model.test.value) ** 2)), rel=1e-10
    )
    text = str(res.summary())
    assert f"{res.rmse:.5g}" in text and "Prior: the model's own." in text and "alpha = 3" in text
    chains = each.reshape(2, 80, -1)
    rhat = each.std(axis=0) / np.sqrt((chains.var(axis=1)).mean(axis=0))
    assert f"99 % below {np.quantile(rhat, 0.99):.3f}" in text


def test_predictions_of_any_pair_and_recommendations():
    model, res = fitted(draws=40)  # few enough for all to be kept whole
    users, items = ["u3", "u3", "u11"], [0, 4, 2]
    number = model.users.get_indexer(users)
    each = recomputed(res, model, number, np.array(items))
    frame = res.get_prediction(users, items)
    # whole draws are kept in 32 bits
    assert frame["mean"].to_numpy() == pytest.approx(each.mean(axis=0), rel=1e-6)
    assert frame["sd"].to_numpy() == pytest.approx(each.std(axis=0), rel=1e-5)
    assert list(frame.index) == list(zip(users, items)) and frame.index.names == ["user", "item"]
    assert res.predict("u3", [0, 4]) == pytest.approx(each.mean(axis=0)[:2])
    kept, _ = small()
    best = res.recommend("u3", 10)
    assert set(best.index) == set(range(6)) - set(kept.item[kept.user == "u3"])
    assert best["mean"].is_monotonic_decreasing and best["top"].sum() == pytest.approx(len(best))
    assert len(res.recommend("u3", 2, seen=True)) == 2
    assert res.recommend("u3", 1)["top"].iloc[0] <= 1


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "make", [sgmc.BPMF, lambda *a, **k: sgmc.PPMF(*a, **k, hyper={"a1": 3.0, "c1": 3.0})]
)
def test_users_and_items_without_ratings_keep_their_names(make):
    kept, held_out = small()
    strange = pd.DataFrame({"user": ["new", "u1", "other", "new"], "item": [2, 99, 98, 99]})
    res = make(kept, dim=2, test=strange, clip=False).fit(seed=1, chains=1, draws=30, warmup=50)
    framed = res.get_prediction()
    assert list(framed.index) == list(zip(strange.user, strange.item))
    assert np.isfinite(framed).all(axis=None) and (framed["sd"] > 0).all()
    # found again by their labels, in any order
    pd.testing.assert_frame_equal(
        res.get_prediction(strange.user[::-1], strange.item[::-1]), framed[::-1]
    )
    text = " ".join(str(res.summary()).split())
    assert "Of the test pairs' users 2, of their items 2 have no ratings" in text
    someone = res.get_prediction(["new", "nobody", "u1"], [3, 3, 97])
    assert list(someone.index) == [("new", 3), ("nobody", 3), ("u1", 97)]
    assert np.isfinite(someone).all(axis=None)
    # one taste for all items of a draw: every draw has one best item
    assert res.recommend("nobody", 1)["top"].sum() < 1
    assert res.recommend("nobody", 6)["top"].sum() == pytest.approx(6)
    what = "rmse" if make is sgmc.BPMF else "test_log_lik"
    with pytest.raises(ArgumentError, match=f"{what} needs test pairs with ratings"):
        getattr(res, what)


@pytest.mark.extended
def test_rates_without_moments_are_infinite_by_name():
    kept, _ = small()
    test = pd.DataFrame({"user": ["new", "u1", "u1"], "item": [2, 99, 2], "rating": [1, 2, 3]})
    found = {}
    for shape, clip in ((0.3, False), (1.5, False), (3.0, False), (0.3, (1, 5))):
        model = sgmc.PPMF(kept, dim=2, test=test, clip=clip, hyper={"a1": shape})
        res = model.fit(seed=1, chains=2, draws=200, warmup=100)
        found[shape, clip] = res, np.isfinite(res.get_prediction()).to_numpy().tolist()
    item = [False, False]  # c1 is 0.3 throughout
    assert found[0.3, False][1] == [[False, False], item, [True, True]]
    assert found[1.5, False][1] == [[True, False], item, [True, True]]
    assert found[3.0, False][1] == [[True, True], item, [True, True]]
    assert found[0.3, (1, 5)][1] == [[True, True]] * 3
    res = found[0.3, False][0]
    mean = res.predict("u1", 2)[0]
    assert res.test_log_lik == pytest.approx(stats.poisson.logpmf(3, mean), rel=1e-9)
    assert res.accuracy_path().notna().all(axis=None)
    assert "2 of 3 test pairs have no mean rate" in " ".join(str(res.summary()).split())
    assert np.isinf(res.recommend("nobody", 3)["mean"]).all()
    assert res.recommend("nobody", 3)["top"].is_monotonic_decreasing


def test_newcomers_are_the_same_after_a_resumption(tmp_path):
    kept, _ = small()
    model = sgmc.BPMF(kept, dim=2, test=(["new", "u1"], [2, 99]), biases=True)
    whole, part = (model.fit(seed=1, chains=2, draws=n, warmup=50) for n in (90, 60))
    pd.testing.assert_frame_equal(part.resume(draws=30).get_prediction(), whole.get_prediction())
    part.save(tmp_path / "part")
    saved = sgmc.load(tmp_path / "part")
    for users, items in (("nobody", [1, 2]), (None, None)):
        pd.testing.assert_frame_equal(
            saved.get_prediction(users, items), part.get_prediction(users, items)
        )


def test_memory_does_not_grow_with_the_draws():
    kept, held_out = small()
    model = sgmc.BPMF(kept, dim=2, test=held_out)
    one, two = (model.fit(seed=1, chains=1, draws=n, warmup=0, thin=1) for n in (150, 1700))
    numbers = [
        sum(np.size(v) for v in res._fit.states[0]["recorder"].values()) for res in (one, two)
    ]
    # two lambdas, a weight, two accuracies, and the predictions that the verdict is about, a draw
    a_draw = 2 + 1 + 2 + len(model.judged_pairs[0])
    assert numbers[1] - numbers[0] < 1550 * a_draw + 201 * one._banks[0][0].shape[1]
    assert len(one._banks[0][0]) <= 200 and len(two._banks[0][0]) <= 200
    again = model.fit(seed=1, chains=1, draws=1700, warmup=0, thin=1, keep=["U"])
    draws = again.draws_of("U")[0].reshape(1700, -1).astype(np.float32)
    kept = two._banks[0][0][:, :24]
    at = [int(np.flatnonzero((draws == w).all(axis=1))[0]) for w in kept]
    assert len(set(np.diff(at))) == 1 and at[0] == 0


def test_resumed_predictions_are_those_of_one_run(tmp_path):
    _, whole = fitted(draws=90)
    _, part = fitted(draws=60)
    longer = part.resume(draws=30)
    part.save(tmp_path / "part")
    saved = sgmc.load(tmp_path / "part")
    for name in ("_test_mean", "_test_sd"):
        assert (getattr(longer, name) == getattr(whole, name)).all()
        assert (getattr(saved, name) == getattr(part, name)).all()
    for one, other in ((longer, whole), (saved, part)):
        assert all(
            (a == b).all()
            for bank, same in zip(one._banks, other._banks)
            for a, b in zip(bank, same)
        )
    assert saved.recommend("u1", 2).equals(part.recommend("u1", 2))
    assert longer.accuracy_path().equals(whole.accuracy_path())


def test_tables_arrays_and_sparse_matrices_are_the_same():
    user, item, y = tiny()
    table = pd.DataFrame({"who": user, "what": item, "stars": y})
    coo = sparse.coo_array((y, (user, item)), shape=(USERS, ITEMS))
    runs = [
        sgmc.BPMF(data, **columns, dim=1).fit(seed=1, chains=1, draws=20, warmup=10).draws
        for data, columns in (
            ((user, item, y), {}),
            (table, dict(user="who", item="what", rating="stars")),
        )
    ]
    assert (runs[0] == runs[1]).all()
    for matrix in (coo, coo.tocsr()):
        assert sgmc.BPMF(matrix, dim=1).n == 22
    zero = sparse.coo_array((np.array([0.0, 2.0]), ([0, 1], [1, 0])), shape=(3, 2))
    assert sgmc.BPMF(zero, dim=1).n == 2 and sgmc.PPMF(zero, dim=1).n == 2
    y.flags.writeable = False
    assert sgmc.BPMF((user, item, y), dim=1).n == 22


def test_labels_of_any_kind_are_kept():
    table = pd.DataFrame(
        {
            "user": pd.Categorical(["b", "a", "b"]),
            "item": [("x", 1), ("y", 2), ("y", 2)],
            "rating": [1, 5, 4],
        }
    )
    model = sgmc.BPMF(table, dim=1)
    assert list(model.users) == ["a", "b"] and len(model.items) == 2
    mixed = sgmc.BPMF(([1, "one", 1], [2.5, 2.5, 3.0], [1, 2, 3]), dim=1)
    assert set(mixed.users) == {1, "one"}
    dates = sgmc.BPMF(
        (pd.to_datetime(["2020-01-01", "2020-01-02"]), ["p", "q"], [1, 2]), dim=1
    ).fit(seed=1, draws=10, chains=1, warmup=5)
    assert np.isfinite(dates.predict(pd.to_datetime(["2020-01-02"]), ["p"])).all()


@pytest.mark.parametrize(
    "change, words",
    [
        (
            lambda t: t.rename(columns={"user": "who"}),
            "ratings has no column 'user'; its columns are 'who', 'item', 'rating'",
        ),
        (lambda t: t.drop(columns="rating"), "ratings has no column 'rating'"),
        (lambda t: pd.concat([t, t.iloc[:1]]), "more than once"),
        (
            lambda t: t.assign(rating=t.rating.where(t.rating > 1)),
            "ratings: column 'rating' has missing or infinite values",
        ),
        (lambda t: t.assign(user=t.user.where(t.user != "u3")), "user: .* labels are missing"),
        (lambda t: t.assign(rating="good"), "must hold numbers"),
        (lambda t: t.iloc[:0], "ratings has no rows"),
        (lambda t: (t.user, t.item), "ratings are missing"),
        (lambda t: (t.user, t.item, t.rating[:5]), "give vectors of equal length"),
        (lambda t: t.to_numpy(), "must be a DataFrame with columns 'user', 'item', 'rating'"),
        (
            lambda t: sparse.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2)),
            "more than once",
        ),
    ],
)
def test_what_is_no_table_of_ratings_is_refused(change, words):
    with pytest.raises(DataError, match=words):
        sgmc.BPMF(change(small()[0]))


@pytest.mark.parametrize(
    "arguments, words",
    [
        (dict(dim=0), "dim=0"),
        (dict(dim=2000), "dim=2000 must be a whole number from 1 to 1000"),
        (dict(clip=(5, 1)), "first number is below the second"),
        (dict(clip="all"), "clip='all'"),
        (dict(hyper={"alfa": 2}), "did you mean 'alpha'"),
        (dict(hyper=3), "must be a dict"),
        (dict(hyper={"alpha": -1}), r"hyper\['alpha'\]=-1"),
        (dict(hyper={"update": "never"}), "'gibbs', 'sampled'"),
        (dict(hyper={"mu0": "x"}), "finite number"),
        (dict(hyper={"a": None}), "None"),
    ],
)
def test_arguments_that_are_none_are_refused(arguments, words):
    with pytest.raises(ArgumentError, match=words):
        sgmc.BPMF(small()[0], **arguments)


@pytest.mark.parametrize("shape", [0.002, 0.02])
def test_rates_beyond_single_precision_stay_positive_and_finite(shape):
    """Of logs that reach a thousand, with no counts to hold them."""
    i, j = np.nonzero(np.ones((4, 3)))
    model = sgmc.PPMF((i, j, np.zeros(12)), dim=2, hyper={"a": shape})
    res = model.fit(seed=1, chains=2, draws=200, keep=["e"])
    for whole, _ in res._banks:
        assert np.isfinite(whole).all() and (whole > 0).all()
    assert len(str(res.verdict)) > 20
