"""Every message of the package is in the list, with a test that makes it."""

import ast

import pytest

from . import page, places, recorder

SOURCE = '''
from sgmc.errors import ArgumentError, DataError, SGMCWarning


class Model:
    def check(self, x, wide=False):
        """Raise DataError("in a docstring")."""
        kind = ArgumentError if wide else DataError
        if x < 0:
            raise DataError(f"x={x:g} must be positive; " + "leave such rows out")
        if x == 0:
            raise kind("x is zero")
        if x > 9:
            raise NotImplementedError("check")
        return [SGMCWarning(f"x is {x}.", "Take less.")]


def again(error):
    raise error


def __getattr__(name):
    raise AttributeError(name)
'''
CYTHON = '''
cdef class Kernel:
    """raise ValueError("in a docstring")"""

    cdef int add(self, double x) except -1:
        if x < 0:
            raise ValueError(f"x is {x:g} "
                             "(it must be positive)")
        raise NotImplementedError("add")

def made(x):
    raise must_be("x", x, "a number")
'''
FOUND = [
    ("Model.check", "DataError", "x={x} must be positive; leave such rows out"),
    ("Model.check", "kind", "x is zero"),
    ("Model.check", "SGMCWarning", "x is {x}. Take less."),
]
FOUND_IN_CYTHON = [
    ("Kernel.add", "ValueError", "x is {x} (it must be positive)"),
    ("made", "must_be", "x={x} must be a number"),
]
REMEDY = (
    "write a test that makes this message, run `pytest --messages=tests/MESSAGES.md` with its "
    "file, and commit the list"
)


def listed():
    """The committed list, {key of a place: test}."""
    return page.read(page.LIST.read_text(encoding="utf-8"))


def wrong(there, found):
    """What is not right about a list `there`, of the places `found` in the sources."""
    keys = {place.key for place in found}
    return {
        "not in the list": sorted(keys - set(there)),
        "gone from the sources": sorted(set(there) - keys),
        "tests that are gone": sorted({test for test in there.values() if test} - existing(there)),
    }


def existing(there):
    """Those of the listed tests that exist."""
    return {test for test in there.values() if test and page.exists(test)}


def untested(there, found):
    """The places without a test."""
    return [place.key for place in found if not there.get(place.key)]


def test_every_message_has_a_test():
    there, found = listed(), places.everywhere()
    assert wrong(there, found) == dict.fromkeys(wrong({}, []), []), REMEDY
    assert untested(there, found) == [], REMEDY


def test_a_message_without_a_test_is_seen():
    found, there = places.everywhere(), listed()
    new = places.Place("sgmc/errors.py", "warn", "DataError", "a new message")
    first, second = [key for key, test in there.items() if test][:2]
    there[first], there["sgmc/gone.py | f | DataError | gone"] = "tests/none.py::test_none", ""
    del there[second]
    assert wrong(there, [*found, new]) == {
        "not in the list": sorted([second, new.key]),
        "gone from the sources": ["sgmc/gone.py | f | DataError | gone"],
        "tests that are gone": ["tests/none.py::test_none"],
    }
    assert len(untested(there, [*found, new])) == 2


def test_places_are_found():
    found = places.of_python(SOURCE, "sgmc/some.py")
    assert [(place.function, place.kind, place.template) for place in found] == FOUND
    assert SOURCE.splitlines()[found[0].lines[0] - 1].lstrip().startswith("raise DataError")


def test_places_in_cython_are_found():
    found = places.of_cython(CYTHON, "sgmc/some.pyx")
    assert [(place.function, place.kind, place.template) for place in found] == FOUND_IN_CYTHON
    assert [place.lines for place in found] == [(7, 8), (12, 12)]


def test_a_page_is_read_as_it_was_written():
    found = places.everywhere()
    tests = {place.key: f"tests/test_{k}.py::test_it" for k, place in enumerate(found[::2])}
    assert page.read(page.written(tests)) == {
        place.key: tests.get(place.key, "") for place in found
    }


def test_the_listed_test_catches_the_message_itself_and_makes_few():
    made = {
        "a": {"t.py::one": False, "t.py::two": True, "t.py::three": True, "": True},
        "b": {"t.py::two": True},
        "c": {"": True},
    }
    assert page.chosen(made) == {"a": "t.py::three", "b": "t.py::two"}


# ---- the recorder --------------------------------------------------------------------------------


@pytest.fixture
def noted(monkeypatch):
    """What is noted in this test, with a record of its own."""
    made = {}
    for name, value in dict(made=made, last={}, current="t.py::test").items():
        monkeypatch.setattr(recorder, name, value)
    return made


def test_messages_are_noted_when_they_are_made(noted):
    finder = places.Finder("sgmc/some.py", recorder.wrapped)
    tree = ast.fix_missing_locations(finder.visit(ast.parse(SOURCE)))
    space = {recorder.NOTE: recorder.note, "__name__": "some"}
    exec(compile(tree, "some.py", "exec"), space)
    keys, model = [place.key for place in finder.places], space["Model"]()
    assert noted == {}
    with pytest.raises(ValueError, match="x is zero") as raised:
        model.check(0, wide=True)
    recorder.caught(raised.value)
    assert raised.traceback[-1].lineno + 1 == finder.places[1].lines[0]
    model.check(1)
    assert noted == {keys[1]: {"t.py::test": True}, keys[2]: {"t.py::test": False}}


def test_messages_of_cython_are_noted_by_their_lines(noted):
    from sgmc.core.schedules import Polynomial

    with pytest.raises(ValueError, match="must be less than start=1.0") as raised:
        Polynomial.between(1.0, 2.0, 10)
    recorder.caught(raised.value)
    (key,) = [key for key in noted if "schedules.pyx" in key]
    assert "Polynomial.between: end=" in key and noted[key] == {"t.py::test": True}


def test_workers_send_what_they_noted(noted):
    recorder.take({"a": {"t.py::one": False}})
    recorder.take({"a": {"t.py::one": True, "t.py::two": False}})
    assert noted == {"a": {"t.py::one": True, "t.py::two": False}}
