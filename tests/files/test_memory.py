"""What a fit of a table in a file allocates does not grow with its rows, and how often it reads
them.
"""

import tracemalloc
import warnings

import numpy as np
import pytest

import sgmc
from sgmc.core.system import storage
from sgmc.errors import DataError, NotSupported, OutOfMemoryError, ReadingWarning
from sgmc.fit import chains
from sgmc.models.regression.rows.data import check_outcomes
from tests.files.tables import fitted, frame, prepared, streamed

SMALL, LARGE = 100_000, 300_000  # rows: both are more than any chunk has
# bytes per row by which peaks may differ: a vector of one number per row has 8, one of bools 1
GROWTH = 0.5
CASES = {
    "logit": ("logit", "binary ~ a + b + g + s", "binary", {}, {}),
    "coded": ("logit", "binary ~ a + s * h", "binary", {}, {}),
    "weighted": ("logit", "won + lost ~ a + b", "binary", {"weights": "w"}, {}),
    "ols": ("ols", "number ~ a + b + g", "numeric", {}, {}),
    "errors": ("ols", "number ~ a + b", "numeric", {"se": "e"}, {}),
    "poisson": ("poisson", "count ~ a + b", "numeric", {"exposure": "e"}, {}),
    "mnlogit": ("mnlogit", "kind ~ a + b", "category", {}, {}),
    "flat": ("logit", "binary ~ a + b", "binary", {}, {"prior": "flat"}),
    "robust": ("logit", "binary ~ a", "binary", {"weights": "w"}, {"cov_type": "robust"}),
    "svrg": ("logit", "binary ~ a", "binary", {}, {"sampler": "sgld", "gradient": "svrg"}),
    "separated": ("logit", "binary ~ a + t", "binary", {}, {}),
}


def data_of(n):
    """With a column that is 1 in few rows, all of them successes."""
    data = frame(n)
    data["t"] = 0.0
    data.loc[data.index[data.binary == 1][-3:], "t"] = 1.0
    return data


def peak(case, n, path):
    """Bytes that a fit and its summary allocate at most."""
    verb, formula, outcome, given, how = CASES[case]
    table = prepared(path, data_of(n), formula, outcome, **given)
    tracemalloc.start()
    try:
        str(fitted(verb, table, draws=20, **given, **how).summary())
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.cover(0)
@pytest.mark.parametrize("case", CASES)
def test_nothing_allocated_grows_with_the_rows(case, tmp_path, monkeypatch):
    streamed(monkeypatch)
    peak(case, 5000, tmp_path / "warm.sgmc")  # what is imported late is not the fit's
    small, large = (peak(case, n, tmp_path / f"{n}.sgmc") for n in (SMALL, LARGE))
    assert large - small < GROWTH * (LARGE - SMALL)


@pytest.mark.extended
def test_the_comparison_sees_a_vector(tmp_path, monkeypatch):
    """Planted mistake: control values kept after all."""
    streamed(monkeypatch)
    monkeypatch.setattr(storage, "is_large", lambda *args: False)
    from sgmc.core.targets import anchor

    monkeypatch.setattr(anchor, "too_many", lambda *args: False)
    small, large = (peak("logit", n, tmp_path / f"{n}.sgmc") for n in (SMALL, LARGE))
    assert large - small > 8 * (LARGE - SMALL)


class Counted:
    """Counts the rows of models that compiled loops go over, by the kernels' own functions."""

    def __init__(self, monkeypatch, n):
        self.n, self.seen = n, {}
        from sgmc.coordinates.approximations import mode
        from sgmc.coordinates.shapes import dispersion
        from sgmc.fit import noise, problem

        self.wrap(monkeypatch, mode, "expand", lambda model, theta, rows=0: rows or model.n)
        self.wrap(monkeypatch, dispersion, "expand", lambda model, theta, rows=0: rows or model.n)
        for module in (mode, problem):
            self.wrap(monkeypatch, module, "Anchor", lambda model, *_: model.n)
        self.wrap(
            monkeypatch,
            noise,
            "leverages",
            lambda model, white, anchor, rows: rows.stop - rows.start,
        )

    def wrap(self, monkeypatch, module, name, rows):
        plain = getattr(module, name)

        def counting(*args, **how):
            some = rows(*args, **{k: v for k, v in how.items() if k == "rows"})
            self.seen[name] = self.seen.get(name, 0) + some
            return plain(*args, **how)

        monkeypatch.setattr(module, name, counting)

    @property
    def passes(self):
        return sum(self.seen.values()) / self.n


@pytest.mark.parametrize("verb, formula, most", [("logit", "binary ~ a + b + g", 6)])
def test_passes_over_the_rows(verb, formula, most, tmp_path, monkeypatch):
    """Three or four of Newton's method, with the anchor in its last, warm starts on parts of the
    rows, and one for leverages.
    """
    table = prepared(tmp_path / "a.sgmc", frame(200_000), formula, "binary")
    streamed(monkeypatch)
    counted = Counted(monkeypatch, table.n)
    fitted(verb, table)
    assert 2 < counted.passes <= most


def test_vectors_lie_in_a_file_without_a_name(tmp_path, monkeypatch):
    table = prepared(tmp_path / "a.sgmc", frame(5000), "binary ~ a", "binary")
    streamed(monkeypatch)
    made = storage.made(5000, table.X, lambda rows: table.y[rows] + 1)
    np.testing.assert_array_equal(made, table.y + 1)
    assert storage.mapping(made) is not None and storage.folder_of(table.X) == str(tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["a.sgmc"]


def test_a_full_disk_is_reported(tmp_path, monkeypatch):
    table = prepared(tmp_path / "a.sgmc", frame(5000), "binary ~ a", "binary")
    streamed(monkeypatch)
    monkeypatch.setattr(storage.shutil, "disk_usage", lambda folder: type("Use", (), {"free": 99}))
    with pytest.raises(OutOfMemoryError, match="has no room for"):
        storage.vector(5000, table.X)


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_in_spans(weighted, tmp_path, monkeypatch):
    table = prepared(tmp_path / "a.sgmc", frame(20_000), "number ~ a", "numeric", weights="w")
    weight = table.weights if weighted else None
    exact = storage.mean_and_variance(np.array(table.y), weight)
    streamed(monkeypatch)
    np.testing.assert_allclose(storage.mean_and_variance(table.y, weight), exact, rtol=1e-13)


def test_outcomes_are_checked_in_spans(tmp_path, monkeypatch):
    """A wrong outcome in any span is found, and spans of outcomes that are all the same are not
    refused for that.
    """
    data = frame(20_000).sort_values("number")
    table = prepared(tmp_path / "a.sgmc", data, "number ~ a", "numeric")
    streamed(monkeypatch)
    model = sgmc.OLS.from_formula("number ~ a", table)
    for value, kind in ((np.r_[np.zeros(10_000), np.ones(10_000)], sgmc.Logit), (7.0, sgmc.OLS)):
        y = np.memmap(tmp_path / "y", float, "w+", shape=(20_000,))
        y[:] = value
        model.data.y = y
        if kind is sgmc.Logit:
            check_outcomes(kind.family, model.data)
            for place in (0, 15_000, 19_999):
                y[place] = 0.5
                with pytest.raises(DataError, match="binary|0 and 1|0 or 1|0/1"):
                    check_outcomes(kind.family, model.data)
                y[place] = 1.0
        else:
            with pytest.raises(DataError):
                check_outcomes(kind.family, model.data)


@pytest.mark.parametrize(
    "how, words",
    [
        ({"subsample": "uniform"}, "order of the rows"),
        ({"subsample": "stratified"}, "lists of the rows"),
        ({"subsample": "preferential"}, "probabilities of the rows"),
        ({"sampler": "sgld", "gradient": "saga"}, "scores of the rows"),
        ({"sampler": "zigzag"}, "bounds of each row"),
    ],
)
def test_what_keeps_numbers_per_row_is_refused_by_name(how, words, tmp_path, monkeypatch):
    from sgmc.models.regression import memory

    table = prepared(tmp_path / "a.sgmc", frame(60_000), "binary ~ a", "binary")
    model = sgmc.Logit.from_formula(table.formula, table)
    streamed(monkeypatch)
    monkeypatch.setattr(memory, "FIXED", 0)
    monkeypatch.setattr(memory, "LOADED", 0)
    expected = model.memory(**how)
    assert words in expected.blame
    monkeypatch.setattr(memory, "available", lambda: 1.0)
    with pytest.raises(OutOfMemoryError, match=words):
        fitted("logit", table, **how)
    blocks = model.memory().parts
    assert not any(name in blocks for name in ("uniform", "stratified", "saga"))


def test_exact_samplers_say_what_reading_costs(tmp_path, monkeypatch):
    table = prepared(tmp_path / "a.sgmc", frame(5000), "binary ~ a", "binary")
    monkeypatch.setattr(chains, "LARGE", 1)
    monkeypatch.setattr(chains, "MOST_PASSES", 100)
    how = {"sampler": "mala", "draws": 30, "seed": 1, "chains": 2}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = sgmc.logit(table.formula, table, **how)
    text = next(str(one.message) for one in caught if one.category is ReadingWarning)
    assert "at least 1,060 times (2 chains x 530 steps)" in text
    assert "reads all" in " ".join(str(results.summary()).split())
    monkeypatch.setattr(chains, "MOST_PASSES", 2000)
    assert "reads all" not in str(fitted("logit", table, **how).summary())


def test_papers_coordinates_need_columns_as_they_are(tmp_path):
    table = prepared(tmp_path / "a.sgmc", frame(500), "binary ~ a", "binary")
    with pytest.raises(NotSupported, match="its columns are centred"):
        fitted("logit", table, sampler="sgld", precondition=None, step_size=1e-4)
