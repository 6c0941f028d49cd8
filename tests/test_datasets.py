"""Data sets: the right content or a clear refusal."""

import gzip
import io
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pooch
import pytest

import sgmc
from sgmc.datasets import checksum, load, names, readers
from sgmc.datasets.catalogue import CATALOGUE
from sgmc.errors import ArgumentError, DataError

LOADING = ("licences", "load", "names")
SEPSIS_COLUMNS = [
    "age_years",
    "sex_0male_1female",
    "episode_number",
    "hospital_outcome_1alive_0dead",
]
PUBLISHED = {  # rows, columns, and a count that is known from the literature
    "a9a": (
        32_561,
        124,
        lambda frame: frame["y"].sum() == 7_841 and frame.to_numpy().sum() == 451_592 + 7_841,
    ),
    "adult": (32_561, 15, lambda frame: (frame["income"] == ">50K").sum() == 7_841),
    "ap": (
        302_031,
        3,
        lambda frame: frame["count"].sum() == 435_838 and frame["document"].nunique() == 2246,
    ),
    "ap-words": (10_473, 1, lambda frame: frame["word"].is_unique and frame["word"][1] == "new"),
    "arrhythmia": (
        452,
        280,
        lambda frame: frame.isna().sum().sum() == 408 and (frame["diagnosis"] == 1).sum() == 245,
    ),
    "default": (10_000, 4, lambda frame: (frame["default"] == "Yes").sum() == 333),
    "diamonds": (53_940, 10, lambda frame: frame["price"].max() == 18_823),
    "flights": (
        336_776,
        16,
        lambda frame: list(frame.count()[["arr_delay", "tailnum"]]) == [327_346, 334_264],
    ),
    "meg": (
        17_730,
        10,
        lambda frame: (round(frame.min().min()), round(frame.max().max())) == (-1322, 1421),
    ),
    "mnist": (
        60_000,
        785,
        lambda frame: list(frame["label"].value_counts().sort_index()[:3]) == [5_923, 6_742, 5_958],
    ),
    "mnist-test": (10_000, 785, lambda frame: (frame["label"] == 1).sum() == 1_135),
    "movielens-100k": (100_000, 4, lambda frame: round(frame["rating"].mean(), 5) == 3.52986),
    "movielens-100k-u1-test": (20_000, 4, lambda frame: frame["user"].max() == 462),
    "movielens-100k-u1-train": (
        80_000,
        4,
        lambda frame: (frame["user"].nunique(), frame["item"].nunique()) == (943, 1_650),
    ),
    "sepsis": (
        110_204,
        4,
        lambda frame: frame[SEPSIS_COLUMNS[-1]].sum() == 102_099 and list(frame) == SEPSIS_COLUMNS,
    ),
}


@pytest.fixture
def default_copy(tmp_path, monkeypatch):
    """A folder of data with a small stand-in for the data set 'default',
    whose checksum is in the catalogue.
    """
    folder = tmp_path / "data"
    file = folder / (CATALOGUE["default"].file + ".gz")
    file.parent.mkdir(parents=True)
    file.write_bytes(gzip.compress(b"rownames,default,balance\n1,No,729.5\n2,Yes,\n"))
    frame = pd.DataFrame({"default": ["No", "Yes"], "balance": [729.5, np.nan]})
    entry = replace(CATALOGUE["default"], sha256=checksum.of_content(frame))
    monkeypatch.setitem(CATALOGUE, "default", entry)
    monkeypatch.setenv("SGMC_DATA", str(folder))
    return file


@pytest.fixture
def retrieve(monkeypatch, tmp_path):
    """Stand-in for the network: `pooch.retrieve` returns a file with these bytes,
    or raises this error.
    """

    def set_answer(answer):
        def stub(url, known_hash, fname, path):
            assert url.startswith("https://") and known_hash is None
            if isinstance(answer, Exception):
                raise answer
            (tmp_path / fname).write_bytes(answer)
            return str(tmp_path / fname)

        monkeypatch.delenv("SGMC_DATA", raising=False)
        monkeypatch.setattr(pooch, "retrieve", stub)

    return set_answer


def test_fair_is_always_there():
    frame = load("fair")
    assert frame.shape == (6_366, 9)
    assert (frame["affairs"] > 0).sum() == 2_053
    assert frame is not load("fair")


@pytest.mark.extended
def test_fair_does_not_import_all_of_statsmodels():
    code = (
        "import sys, sgmc.datasets; print(len(sgmc.datasets.load('fair')), 'statsmodels.api' in "
        "sys.modules)"
    )
    assert subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split() == ["6366", "False"]


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", PUBLISHED)
def test_known_counts(name):
    folder = os.environ.get("SGMC_DATA")
    file = CATALOGUE[name].file
    if not folder or not (Path(folder, file).is_file() or Path(folder, file + ".gz").is_file()):
        pytest.skip(f"no copy of {file} in SGMC_DATA")
    rows, columns, known = PUBLISHED[name]
    frame = load(name)
    assert frame.shape == (rows, columns)
    assert known(frame)


def test_every_data_set_is_tested():
    assert {"fair", *PUBLISHED} == set(names())
    assert names() == sorted(names())


def test_row_names_are_left_out_and_plain_copies_read(default_copy):
    assert list(load("default")) == ["default", "balance"]
    plain = default_copy.with_suffix("")
    plain.write_bytes(gzip.decompress(default_copy.read_bytes()))
    default_copy.unlink()
    assert load("default")["default"].tolist() == ["No", "Yes"]


def test_changed_copy_is_refused(default_copy):
    default_copy.write_bytes(
        gzip.compress(gzip.decompress(default_copy.read_bytes()).replace(b"729.5", b"729.6"))
    )
    with pytest.raises(
        DataError, match=r"ISLR_Default\.csv\.gz does not hold the data set 'default'.*checksum"
    ):
        load("default")


@pytest.mark.parametrize(
    "damage", [lambda content: content[:-9], lambda content: content[:20], lambda content: b""]
)
def test_damaged_copy_is_refused(default_copy, damage):
    default_copy.write_bytes(damage(default_copy.read_bytes()))
    with pytest.raises(
        DataError, match="cannot be read as the data set 'default'.*Remove or replace it"
    ):
        load("default")


def test_changed_statsmodels_is_refused(monkeypatch):
    monkeypatch.setitem(CATALOGUE, "fair", replace(CATALOGUE["fair"], sha256="0" * 64))
    with pytest.raises(
        DataError, match="The installed statsmodels does not hold the data set 'fair'"
    ):
        load("fair")


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(ArgumentError, match="did you mean 'flights'"):
        load("flight")
    with pytest.raises(ArgumentError, match="known: a9a, adult"):
        load("zzz")


def test_offline_says_what_to_do(retrieve):
    retrieve(ConnectionError("no route to host\nand more"))
    with pytest.raises(DataError) as raised:
        load("a9a")
    message = str(raised.value)
    assert "\n" not in message
    for part in ("'a9a'", CATALOGUE["a9a"].url, "a9a/a9a", "SGMC_DATA", "ConnectionError"):
        assert part in message


def test_nothing_is_downloaded_where_it_may_not(retrieve):
    retrieve(AssertionError("downloaded"))
    with pytest.raises(
        DataError,
        match="'a9a' is not on this machine: let it be downloaded, or get it from http.*SGMC_DATA",
    ):
        load("a9a", download=False)
    assert len(load("fair", download=False)) == 6366


def test_flights_by_hand(monkeypatch, tmp_path):
    monkeypatch.setenv("SGMC_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"'flights' is not on this machine.*rdata.*to_csv"):
        load("flights")


def test_download_through_nested_archives(retrieve, monkeypatch):
    content = (",".join(SEPSIS_COLUMNS) + "\r\n21,1,1,1\r\n80,0,2,0\r\n").encode()
    frame = pd.DataFrame([[21, 1, 1, 1], [80, 0, 2, 0]], columns=SEPSIS_COLUMNS)
    entry = replace(CATALOGUE["sepsis"], sha256=checksum.of_content(frame))
    monkeypatch.setitem(CATALOGUE, "sepsis", entry)
    for member in reversed(entry.members):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr(member, content)
        content = archive.getvalue()
    retrieve(content)
    pd.testing.assert_frame_equal(load("sepsis"), frame)


def test_wrong_download_is_refused(retrieve):
    retrieve(b"<html>moved</html>")
    with pytest.raises(DataError, match="cannot be read as the data set 'a9a'"):
        load("a9a")


def test_libsvm_text():
    frame = readers.libsvm(b"-1 1:1 3:1 \n+1 2:1\n", features=4)
    assert frame.to_numpy().tolist() == [[1, 0, 1, 0, 0], [0, 1, 0, 0, 1]]
    assert list(frame) == ["f1", "f2", "f3", "f4", "y"]


def test_checksum_is_of_the_content():
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    same = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Series(["x", np.nan], dtype=object)})
    assert checksum.of_content(frame) == checksum.of_content(same)
    others = [
        frame.rename(columns={"a": "c"}),
        frame.iloc[::-1],
        frame.assign(a=[1, 3]),
        frame.assign(a=[1, np.nan]),
        frame.assign(b=["x", ""]),
        frame[["b", "a"]],
    ]
    assert len({checksum.of_content(other) for other in [frame, *others]}) == 1 + len(others)


# ---- simulated tables ----------------------------------------------------------------------------
SIMULATED = {
    "reaction_times": (
        sgmc.ols,
        "reaction ~ day + (1 + day | subject)",
        {"subjects": 200, "days": 10},
    ),
    "recoveries": (
        sgmc.logit,
        "recovered ~ age + severe + (1 + severe | clinic)",
        {"patients": 6_000, "clinics": 150},
    ),
    "course_ratings": (
        sgmc.ols,
        "rating ~ service + (1 | student) + (1 | lecturer) + (1 | department)",
        {"ratings": 3_000, "students": 60, "lecturers": 40, "departments": 8},
    ),
    "hospital_stays": (sgmc.logit, "alive ~ age + female + episode", {"stays": 20_000}),
}


# course_ratings has an sd that may be zero, and nuts warns that it may miss values near zero
@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
@pytest.mark.filterwarnings("ignore::sgmc.errors.DivergentTransitionsWarning")
@pytest.mark.parametrize(
    "name",
    ["hospital_stays"]
    + [pytest.param(n, marks=pytest.mark.extended) for n in SIMULATED if n != "hospital_stays"],
)
def test_simulated_tables_have_their_truth(name):
    """All parameters within 4 posterior sds: missed by chance in 1 of 1,000 such tests."""
    verb, formula, sizes = SIMULATED[name]
    table, truth = getattr(sgmc.datasets, name)(**sizes)
    res = verb(formula, table, seed=1, draws=400)
    assert list(res.params.index) == list(truth.index)
    assert ((res.params - truth) / res.bse).abs().max() < 4
    # planted mistake: a coefficient of the other sign is seen
    slope = truth.index[1]
    wrong = truth.where(truth.index != slope, -truth)
    assert ((res.params - wrong) / res.bse).abs().max() > 4


@pytest.mark.parametrize("name", SIMULATED)
def test_simulated_tables_depend_on_sizes_and_seed(name):
    simulate, sizes = getattr(sgmc.datasets, name), SIMULATED[name][2]
    table = simulate(**sizes)[0]
    assert table.equals(simulate(**sizes)[0]) and not table.equals(simulate(**sizes, seed=1)[0])
    assert not table.isna().any().any()
    first = next(iter(sizes))
    with pytest.raises(ArgumentError, match=f"{first}=0 must be"):
        simulate(**sizes | {first: 0})


def test_every_data_set_has_a_source_and_a_licence():
    table = sgmc.datasets.licences()
    simulated = [f"{name}()" for name in sgmc.datasets.__all__ if name not in LOADING]
    assert list(table.index) == names() + simulated
    assert (table.map(str.strip) != "").all(axis=None)
    assert table.licence["adult"] == "CC BY 4.0" and table.licence["fair"].endswith("the author")
    assert "licence" in sgmc.datasets.__doc__


def test_what_statsmodels_says_of_its_copyright():
    from statsmodels.datasets import fair

    # where this changes, so does the entry of the catalogue
    assert "permission of the author" in fair.data.COPYRIGHT


def test_a_data_set_without_a_licence_is_seen(monkeypatch):
    monkeypatch.setitem(CATALOGUE, "adult", replace(CATALOGUE["adult"], licence=""))
    with pytest.raises(AssertionError):
        test_every_data_set_has_a_source_and_a_licence()
