"""The default tier has what it promises, and all tiers together have every test."""

import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sgmc.registry import room

from .. import tiers

TESTS = Path(tiers.__file__).parent

# rows of parameters with numbers of values, and the rows that do not exist
TABLES = {
    "all rows": ((5, 4, 3, 2), lambda row: True),
    "ten by ten by ten": ((10, 10, 10), lambda row: True),
    "not all rows": ((6, 5, 4), lambda row: row[0] != 2 or row[1:] == (0, 0)),
    "one parameter": ((7,), lambda row: True),
}


def rows_of(name):
    """Rows as pairs of parameter and value."""
    sizes, exists = TABLES[name]
    return [tuple(enumerate(row)) for row in itertools.product(*map(range, sizes)) if exists(row)]


def pairs(rows, strength):
    """Everything that occurs together in some row, by plain loops."""
    return {some for row in rows for some in itertools.combinations(row, min(strength, len(row)))}


@pytest.mark.parametrize("strength", [0, 1, 2, 3])
@pytest.mark.parametrize("name", TABLES)
def test_a_covering_array_has_every_interaction(name, strength):
    rows = rows_of(name)
    chosen = tiers.covering(rows, strength)
    assert pairs([rows[k] for k in chosen], strength) == pairs(rows, strength)
    assert chosen == sorted(set(chosen)) == tiers.covering(rows, strength)


def test_a_covering_array_is_small():
    """At least 5 x 4 and 10 x 10 rows are needed; greedy choices take some more."""
    assert len(tiers.covering(rows_of("all rows"))) <= 24
    assert len(tiers.covering(rows_of("ten by ten by ten"))) <= 170
    assert len(tiers.covering(rows_of("all rows"), 1)) == 5
    assert tiers.covering(rows_of("all rows"), 0) == [0]


def test_a_row_too_few_is_seen():
    rows = rows_of("all rows")
    chosen = [rows[k] for k in tiers.covering(rows)]
    assert all(pairs(chosen[:k] + chosen[k + 1 :], 2) < pairs(rows, 2) for k in (0, 7))


def test_values_that_are_equal_but_differ_are_told_apart():
    assert len({tiers.comparable(value) for value in (1, 1.0, True, "1")}) == 4
    assert tiers.comparable([1, 2]) == tiers.comparable([1, 2]) != tiers.comparable([1, 3])


# ---- the tiers of this session -------------------------------------------------------------------


@pytest.fixture
def collected(request):
    """Every test as {node id: tier}, built or not, if all of `tests` was collected."""
    places = [request.config.invocation_params.dir / place for place in request.config.args]
    if not any(TESTS.is_relative_to(place.resolve()) for place in places):
        pytest.skip("only some of the files were collected")
    return request.config.stash[tiers.TIERS]


def test_every_folder_is_in_the_default_tier(collected):
    def folders(names):
        return {name.split("::")[0].rpartition("/")[0] for name in names}

    assert folders(collected) == folders(k for k, tier in collected.items() if tier == "default")


@pytest.mark.parametrize("kind", ["samplers", "gradients", "subsampling", "families"])
def test_every_leaf_is_in_the_default_tier(collected, kind):
    words = {
        word
        for name, tier in collected.items()
        if tier == "default" and ("/contracts/" in name or "/families/" in name)
        for word in re.split(r"[\W_]+", name)
    }
    assert set(room(kind)) - words == set()


def test_every_long_test_is_there(collected):
    """But for files that are skipped as a whole, for want of a package."""
    files = {name.split("::")[0] for name in collected}
    assert {name for name in tiers.long() - set(collected) if name.split("::")[0] in files} == set()


# ---- pytest with these tiers ---------------------------------------------------------------------

SESSION = """
import pytest

@pytest.mark.parametrize("c", "xyz")
@pytest.mark.parametrize("ab", [(a, b) for a in "pqr" for b in (1, 2, 3)])
@pytest.mark.cover
def test_many(ab, c):
    assert ab

@pytest.mark.extended
def test_slow():
    assert True

def test_long():
    assert True

@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.extended)])
def test_some(n):
    assert n

@pytest.mark.extended("2-a", "1-b")
@pytest.mark.parametrize("name", "ab")
@pytest.mark.parametrize("n", [1, 2])
def test_others(n, name):
    assert n

class TestOfAClass:
    pytestmark = pytest.mark.cover(1)

    @pytest.mark.parametrize("n", [1, 2])
    @pytest.mark.parametrize("name", "abc")
    def test_each(self, name, n):
        assert name

@pytest.mark.cover(1, by=lambda word: [word[0]])
@pytest.mark.parametrize("word", ["ab", "ac", "bc"])
def test_first_letters(word):
    assert word
"""
DEFAULT, ALL, LONG = (
    10 + 1 + 2 + 3 + 2,
    27 + 1 + 2 + 4 + 6 + 3,
    1,
)  # of 27, nine would do: the choice is greedy


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Run pytest in a folder with these tests; what it prints."""
    folder = tmp_path_factory.mktemp("tiers")
    (folder / "conftest.py").write_text(Path(tiers.__file__).read_text())
    (folder / "test_them.py").write_text(SESSION)
    (folder / "long.txt").write_text("# slow ones\ntest_them.py::test_long\n")

    def run(*arguments):
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        return done.stdout + done.stderr

    return run


@pytest.mark.extended
def test_each_tier_has_the_one_before(session):
    assert f"{DEFAULT} passed, 2 deselected" in session()  # the two without parameters
    assert f"{ALL} passed, {LONG} deselected" in session("--all")
    every = session("--long")
    assert f"{ALL + LONG} passed" in every and "deselected" not in every


@pytest.mark.extended
def test_a_named_test_runs_in_whatever_tier_it_is(session):
    assert "1 passed" in session("test_them.py::test_slow")
    assert "1 passed" in session("test_them.py::test_long")
    assert "27 passed" in session("test_them.py::test_many")


def test_the_table_counts_the_tiers(session):
    printed = session("--tiers")
    counts = f"{DEFAULT} | {ALL - DEFAULT} | {LONG} |"
    assert f"| test_them.py | {counts}" in printed
    assert f"| all files | {counts}" in printed and "passed" not in printed


@pytest.mark.extended
def test_workers_agree_on_the_tiers(session):
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    assert f"{DEFAULT} passed" in session("-n", "2", "--dist", "loadfile")
    assert "leave out -n" in session("-n", "2", "--tiers")
