"""Predictions of rows that need not be in memory: equal, to the bit, to those in memory."""

import resource
import tracemalloc

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.prepared.prepare import prepare
from sgmc.results.outcomes.data import large, rows, streams
from tests.updates.months import month

FITS = {
    "logit": (lambda t: sgmc.logit("won ~ x1 + g", t, seed=1), {}, "won"),
    "poisson": (
        lambda t: sgmc.poisson("count ~ x1 + x2", t, exposure="size", seed=1),
        {"exposure": "size"},
        "count",
    ),
    "ols": (lambda t: sgmc.ols("number ~ x1 + bs(x2, df=4)", t, seed=1), {}, "number"),
    "mnlogit": (lambda t: sgmc.mnlogit("g ~ x1 + x2", t, seed=1), {}, "g"),
    "counts": (lambda t: sgmc.logit("wins + losses ~ x1", t, seed=1), {"trials": "tries"}, "wins"),
}


def table(seed, n):
    rng = np.random.default_rng(seed)
    found = month(rng, n).assign(size=rng.uniform(0.5, 2, n), tries=rng.integers(1, 9, n))
    won = (found.won == "yes").astype(int)
    found = found.assign(wins=won * found.tries // 2, x2=found.x2.clip(-1, 1))
    return found.assign(losses=found.tries - found.wins)


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    """1,700 rows, some of them with gaps, in a table and in three files."""
    folder, found = tmp_path_factory.mktemp("new"), table(2, 1700)
    found.loc[[3, 900], "x1"] = np.nan
    pytest.importorskip("pyarrow")
    for k, part in enumerate(np.array_split(np.arange(1700), 3)):
        found.iloc[part].to_parquet(folder / f"part{k}.parquet")
    found.to_csv(folder / "all.csv", index=False)
    return found, str(folder / "part*.parquet"), str(folder / "all.csv")


@pytest.fixture(scope="module", params=FITS)
def fitted(request):
    fit, beside, outcome = FITS[request.param]
    return fit(table(1, 800)), beside, outcome


@pytest.fixture(params=[65536, 600])
def pieces(request, monkeypatch):
    """Pieces of all rows, and of some."""
    monkeypatch.setattr(streams, "CHUNK_ROWS", request.param)


def beside_of(beside, found):
    return {name: found[column] for name, column in beside.items()}


@pytest.mark.extended
def test_all_are_equal_to_the_bit(fitted, new, pieces):
    (res, beside, outcome), (found, files, csv) = fitted, new
    here = {k: v for k, v in beside_of(beside, found).items() if k != "trials"}
    given = {k: v for k, v in beside.items() if k != "trials"}
    assert np.array_equal(res.predict(files), res.predict(found, **here), equal_nan=True)
    assert np.array_equal(res.predict(csv, **given), res.predict(found, **here), equal_nan=True)
    here, given = beside_of(beside, found), beside
    frame = res.get_prediction(files, seed=4, **given).summary_frame(0.1)
    pd.testing.assert_frame_equal(
        frame, res.get_prediction(found, seed=4, **here).summary_frame(0.1), check_exact=True
    )
    how = dict(draws=60, seed=5)
    drawn = res.posterior_predict(files, **how, **given)
    assert np.array_equal(drawn, res.posterior_predict(found, **how, **here), equal_nan=True)
    density = res.log_lik(files, outcome, draws=60, **given)
    assert np.array_equal(density, res.log_lik(found, outcome, draws=60, **here), equal_nan=True)


@pytest.mark.extended
def test_files_have_the_same_numbers(fitted, new, pieces, tmp_path):
    (res, beside, outcome), (found, files, _) = fitted, new
    given = {k: v for k, v in beside.items() if k != "trials"}
    to = tmp_path / "out.parquet"
    assert res.predict(files, to=to, **given) == str(to)
    mean = np.asarray(res.predict(files, **given)).reshape(1700, -1)
    read = pd.read_parquet(to)
    assert list(read.row) == list(range(1700))
    assert np.array_equal(read.iloc[:, 1:], mean, equal_nan=True)
    res.predict(found, to=tmp_path / "out.csv", **beside_of(given, found))
    read = pd.read_csv(tmp_path / "out.csv").iloc[:, 1:]
    assert np.allclose(read, mean, rtol=1e-15, atol=0, equal_nan=True)  # as it is read
    frame = res.get_prediction(files, **beside).summary_frame()
    read = pd.read_parquet(res.get_prediction(files, **beside).summary_frame(to=to))
    assert np.array_equal(read["mean_ci_upper"], frame["mean_ci_upper"], equal_nan=True)
    drawn = res.log_lik(files, outcome, draws=7, **beside)
    read = pd.read_parquet(res.log_lik(files, outcome, draws=7, to=to, **beside))
    assert np.array_equal(read.iloc[:, 1:].to_numpy().T, drawn, equal_nan=True)


@pytest.mark.extended("logit", "mnlogit", "counts")
def test_rows_of_the_fit_in_their_order(fitted, tmp_path):
    pytest.importorskip("pyarrow")
    res, _, _ = fitted
    to = tmp_path / "own.parquet"
    read = pd.read_parquet(res.predict(to=to))
    assert np.array_equal(read.iloc[:, 1:], np.asarray(res.predict()).reshape(800, -1))
    if res.model.family.outcome != "category":
        read = pd.read_parquet(res.residuals("pearson", to=to))
        assert np.array_equal(read.residual, res.resid_pearson)


def test_draws_are_thinned_by_the_number_of_all_rows(new, monkeypatch, pieces):
    """With less work allowed for, in memory and of files."""
    found, files, _ = new
    res = sgmc.logit("won ~ x1", table(1, 800), seed=1)
    for room in (rows, streams):
        monkeypatch.setattr(room, "ROWS_WORK", 1e6)
    assert np.array_equal(res.predict(files), res.predict(found), equal_nan=True)


@pytest.mark.extended
def test_a_planted_mistake_is_seen(new, monkeypatch):
    """A stream of random numbers begun anew in each piece."""
    found, files, _ = new
    res = sgmc.ols("number ~ x1", table(1, 800), seed=1)
    monkeypatch.setattr(streams, "CHUNK_ROWS", 600)

    def anew(self, method):
        for start, one in self.rows(self.size(method)):
            from sgmc.results.outcomes.predicted.prediction import outcomes_of

            again = outcomes_of(self.results, None, 5)
            yield start, again.compute(again.select(one, self.pieces.n))

    here = res.posterior_predict(found, seed=5)
    assert np.array_equal(res.posterior_predict(files, seed=5), here, equal_nan=True)
    monkeypatch.setattr(streams.Stream, "computed", anew)
    there = res.posterior_predict(files, seed=5)
    assert not np.array_equal(there, here, equal_nan=True)


@pytest.mark.extended
def test_memory_does_not_grow_with_the_rows(tmp_path, monkeypatch):
    """The peak of four times the rows is at most a tenth higher."""
    pytest.importorskip("pyarrow")
    res, peaks = sgmc.logit("won ~ x1", table(1, 800), seed=1), []
    monkeypatch.setattr(streams, "CHUNK_ROWS", 4000)
    for n in (100_000, 400_000):
        path = tmp_path / f"{n}.parquet"
        pd.DataFrame({"x1": np.zeros(n)}).to_parquet(path, row_group_size=10_000)
        monkeypatch.setattr(rows, "ROWS_WORK", n * 200.0)  # 200 draws of both
        monkeypatch.setattr(streams, "ROWS_WORK", n * 200.0)
        tracemalloc.start()
        res.predict(path, to=tmp_path / "out.parquet")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]


@pytest.mark.extended
def test_large_arrays_are_in_files(monkeypatch):
    res = sgmc.logit("won ~ x1 + g", table(1, 6000), seed=1)
    before = res.resid_deviance, res.predict(), res.loo(seed=1)
    monkeypatch.setattr(large, "MAPPED_BYTES", 1)
    assert isinstance(large.room_for(5), np.memmap)
    after = res.resid_deviance, res.predict(), res.loo(seed=1)
    assert np.array_equal(before[0], after[0]) and np.array_equal(before[1], after[1])
    assert before[2].elpd == after[2].elpd


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda res, files, to: res.predict(files, to=to + ".txt"), "must end in"),
        (lambda res, files, to: res.predict(files, to="nowhere/x.csv"), "folder that exists"),
        (lambda res, files, to: res.predict(files, offset="zz"), "offset='zz' is not a column"),
        (lambda res, files, to: res.predict("nothing/*.csv"), "nothing"),
        (lambda res, files, to: res.log_lik(files, to=to + ".csv"), "needs their outcomes"),
    ],
)
def test_one_sentence_for_what_is_wrong(new, tmp_path, call, words):
    res = sgmc.logit("won ~ x1", table(1, 800), seed=1)
    with pytest.raises(sgmc.errors.SGMCError, match=words):
        call(res, new[1], str(tmp_path / "out"))


def test_unseen_levels_name_the_rows(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    res, found = sgmc.logit("won ~ g", table(1, 800), seed=1), table(3, 2000)
    found.loc[1500, "g"] = "new"
    found.to_parquet(tmp_path / "late.parquet")
    monkeypatch.setattr(streams, "CHUNK_ROWS", 600)
    with pytest.raises(sgmc.errors.FormulaError, match=r"rows 1\d\d\d to .*level 'new'"):
        res.predict(tmp_path / "late.parquet", to=tmp_path / "out.csv")
    assert not list(tmp_path.glob("out.csv*"))


def test_a_full_disk_leaves_nothing(new, tmp_path):
    res = sgmc.logit("won ~ x1", table(1, 800), seed=1)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(sgmc.errors.ArgumentError, match="cannot be written"):
            res.predict(new[1], to=tmp_path / "out.csv")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.glob("out.csv*"))


def test_too_much_for_memory_asks_for_a_file(new, monkeypatch):
    res = sgmc.logit("won ~ x1", table(1, 800), seed=1)
    monkeypatch.setattr(streams, "ROWS_MEMORY", 1 << 20)
    with pytest.raises(sgmc.errors.ArgumentError, match="give to="):
        res.posterior_predict(new[1])


@pytest.mark.extended
def test_a_prepared_file_has_the_order_of_its_source(tmp_path, monkeypatch):
    """Residuals, predictions and loo of the rows that were not dropped, as in memory."""
    found = table(4, 3000)
    found.loc[::7, "x1"] = np.nan
    prepared = prepare("number ~ x1 + g", found, tmp_path / "it.sgmc", weights="tries")
    res = sgmc.ols("number ~ x1 + g", prepared, seed=1)
    here = sgmc.ols("number ~ x1 + g", found, weights="tries", seed=1)
    kept = found.dropna()
    mean = res.predict()
    assert np.allclose(mean, res.predict(kept), rtol=1e-9)
    assert np.allclose(res.resid_response, kept.number - mean, rtol=1e-9)
    assert abs(res.loo(seed=1).elpd - here.loo(seed=1).elpd) < 5  # of -8,000; orders differ
    monkeypatch.setattr(large, "MAPPED_BYTES", 1)
    assert np.array_equal(mean, res.predict())
    assert res.update(found.head(20)).nobs == here.update(found.head(20)).nobs


def test_updates_from_files(new):
    found, files, _ = new
    res = sgmc.logit("won ~ x1 + g", table(1, 800), seed=1)
    kept = found.dropna()
    assert res.update(files).nobs == 800 + len(kept)
