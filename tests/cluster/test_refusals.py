"""What does not go with partitions is refused in a sentence, before a pass where that can be."""

import pickle

import numpy as np
import pytest

import sgmc
from sgmc.errors import ArgumentError, DataError, FormulaError, OutOfMemoryError

from .frames import Frames, outcomes

FORMULA = "b ~ x + z"


@pytest.fixture(scope="module")
def table():
    return outcomes(2000)


class Unread:
    """Partitions that must not be looked at."""

    def map_blocks(self, function):
        """Never called."""
        raise AssertionError("a pass was made")


@pytest.mark.parametrize(
    "how, error, words",
    [
        (dict(weights=np.ones(3)), ArgumentError, "weights must be the name of a column"),
        (dict(offset=np.ones(3)), ArgumentError, "offset must be the name of a column"),
        (dict(subset=np.ones(3, bool)), ArgumentError, "subset must be an expression"),
        (dict(strata=np.ones(3)), ArgumentError, "strata must be the name of a column"),
        (dict(client=object()), ArgumentError, "client belongs to dask data"),
        (dict(reservoir=7), ArgumentError, "reservoir"),
    ],
)
def test_arguments_are_refused_before_a_pass(how, error, words):
    with pytest.raises(error, match=words):
        sgmc.logit(FORMULA, Unread(), **how)


@pytest.mark.parametrize(
    "formula, error, words",
    [
        ("b ~ I(x - np.mean(x))", DataError, "in a row depends on other rows"),
        ("y > y.mean() ~ x", DataError, "in a row depends on other rows"),
        ("b ~ absent", FormulaError, "'absent'"),
        ("absent ~ x", FormulaError, "'absent'"),
        ("kind ~ x", DataError, "3 levels"),
    ],
)
def test_formulas(table, formula, error, words):
    with pytest.raises(error, match=words):
        sgmc.logit(formula, Frames(table, 3))


def test_a_subset_that_looks_at_other_rows(table):
    for subset in ("x > x.mean()", lambda frame: frame.x > frame.x.median()):
        with pytest.raises(DataError, match="subset=.* in a row depends on other rows"):
            sgmc.logit(FORMULA, Frames(table, 3), subset=subset)


@pytest.mark.extended
def test_means_and_sds_in_terms_are_those_of_all_rows(table):
    """Sorted by x, partitions have other means."""
    frame = table.sort_values("x").reset_index(drop=True)
    formula = "b ~ scale(x) + center(np.log(e)) + standardize(z) + C(g)"
    res, whole = (sgmc.logit(formula, d, seed=1) for d in (Frames(frame, 4), frame))
    designs = [one.model.spec.matrix(frame) for one in (res, whole)]
    np.testing.assert_allclose(*designs, atol=1e-9)
    assert (abs(res.params - whole.params) / whole.bse).max() < 0.1
    assert "terms" in res.cluster.bytes


def spoiled(table, number, **columns):
    """Partitions of which one has other columns."""
    frames = Frames(table, 4)
    frames.frames[number] = frames.frames[number].assign(**columns)
    return frames


def test_a_partition_that_differs_is_named(table):
    frames = Frames(table, 4)
    frames.frames[2] = frames.frames[2].drop(columns="z")
    with pytest.raises(DataError, match="no column 'z' in partition 2"):
        sgmc.logit(FORMULA, frames)
    with pytest.raises(DataError, match="column 'z' holds text in partition 3 and number in"):
        sgmc.logit(FORMULA, spoiled(table, 3, z="1.5"))
    with pytest.raises(DataError, match="partition 1: predictor 'x' is not finite at row"):
        sgmc.logit(FORMULA, spoiled(table, 1, x=np.inf))
    with pytest.raises(DataError, match="weights must be finite numbers, zero or more"):
        sgmc.logit(FORMULA, spoiled(table, 2, w=-1.0), weights="w")
    with pytest.raises(DataError, match="missing values, in 'z'"):
        sgmc.logit(FORMULA, Frames(table, 4), missing="raise")
    with pytest.raises(DataError, match="partition"):
        sgmc.poisson("count ~ x", spoiled(table, 2, count=1.5))


def test_partitions_may_be_empty_or_without_a_kind(table):
    frames = Frames(table, 4)
    frames.frames.insert(1, table.iloc[:0])
    res = sgmc.logit(FORMULA, frames, seed=1, draws=300)
    assert res.cluster.partitions == 5 and res.nobs == len(table.dropna(subset=["z"]))
    with pytest.raises(DataError, match="the data are empty"):
        sgmc.logit(FORMULA, Frames(table.iloc[:0], 3))


def test_missing_rows_are_dropped_and_counted(table):
    res = sgmc.logit(FORMULA, Frames(table, 4), seed=1, draws=300)
    missing = int(table.z.isna().sum())
    assert res.cluster.dropped == missing and f"{missing} rows with missing" in str(res.summary())


def test_the_dot_and_levels_of_all_partitions(table):
    """Sorted by g, no partition but one has a level; a constant in each is none in all."""
    frame = table[["b", "x", "g"]].sort_values("g").reset_index(drop=True)
    res, whole = (sgmc.logit("b ~ .", d, seed=1) for d in (Frames(frame, 3), frame))
    assert list(res.params.index) == list(whole.params.index)
    assert (abs(res.params - whole.params) / whole.bse).max() < 0.1


def test_what_needs_the_rows_is_refused_and_new_rows_are_not(table):
    res = sgmc.logit(FORMULA, Frames(table, 4), seed=1, draws=300)
    for ask in (
        lambda: res.predict(),
        lambda: res.loo(),
        lambda: res.fittedvalues,
        lambda: res.resid_response,
        lambda: res.log_lik(),
    ):
        with pytest.raises(ArgumentError, match="not in this process"):
            ask()
    assert res.predict(table.head(3).fillna(0.0)).shape == (3,)
    assert res.log_lik(table.head(3).fillna(0.0), "b").shape[1] == 3


def test_results_are_saved_resumed_and_say_what_moved(table, tmp_path):
    res = sgmc.logit(FORMULA, Frames(table, 4), seed=1, draws=300, reservoir=500)
    res.save(tmp_path / "fit")
    again = sgmc.load(tmp_path / "fit")
    assert again.cluster.bytes == res.cluster.bytes and again.cluster.reservoir == 500
    assert (again.params == res.params).all() and pickle.loads(pickle.dumps(res)).nobs == res.nobs
    longer = res.resume(draws=100)
    assert longer.draws.shape[1] == 400 and (longer.draws[:, :300] == res.draws).all()
    assert longer.cluster.passes == res.cluster.passes
    text = str(res.summary(details=True))
    assert "4 partitions" in text and "reservoir of 500" in text.replace("\n  ", " ")
    assert "Pass 2 (survey)" in text
    sizes = [one["bytes"] for one in res.cluster.traffic.passes if one["phase"] == "mode"]
    p = len(res.params)  # p (p + 3) / 2 + 1 numbers a partition, and what pickle adds
    assert max(sizes) < 4 * (8 * (p * (p + 3) // 2 + 1) + 700)


def test_time_and_memory_that_are_not_there_are_told(table, monkeypatch):
    from sgmc.cluster import gathering

    with pytest.raises(ArgumentError, match="time_limit=1e-06 was up before the passes"):
        sgmc.Logit.from_formula(FORMULA, Frames(table, 4)).fit(time_limit=1e-6)
    monkeypatch.setattr(gathering, "most_rows", lambda d: 600)
    with pytest.raises(OutOfMemoryError, match="at most reservoir=600"):
        sgmc.logit(FORMULA, Frames(table, 4), reservoir=1500)


def test_a_reservoir_argument_needs_partitions(table):
    with pytest.raises(ArgumentError, match="nodes=3 applies to terms"):
        sgmc.logit(FORMULA, Frames(table, 3), nodes=3)
    with pytest.raises(ArgumentError, match="reservoir applies to data in partitions"):
        sgmc.logit(FORMULA, table, reservoir=500)
    with pytest.raises(ArgumentError, match="client must be a dask.distributed.Client"):
        sgmc.logit(FORMULA, table, client="tcp://here")
