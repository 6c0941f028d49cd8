"""Places that make messages are found, and `pytest --messages` notes which tests make them."""

import ast
from types import SimpleNamespace

import pytest

from . import places, recorder

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
    ("Model.check", "DataError(f'x={x:g} must be positive; ' + 'leave such rows out')"),
    ("Model.check", "kind('x is zero')"),
    ("Model.check", "SGMCWarning(f'x is {x}.', 'Take less.')"),
]
FOUND_IN_CYTHON = [
    ("Kernel.add", "ValueError(f'x is {x:g} (it must be positive)')"),
    ("made", "must_be('x', x, 'a number')"),
]


def test_places_are_found():
    found = places.of_python(SOURCE, "sgmc/some.py")
    assert [(place.function, place.call) for place in found] == FOUND
    assert SOURCE.splitlines()[found[0].lines[0] - 1].lstrip().startswith("raise DataError")


def test_places_in_cython_are_found():
    found = places.of_cython(CYTHON, "sgmc/some.pyx")
    assert [(place.function, place.call) for place in found] == FOUND_IN_CYTHON
    assert [place.lines for place in found] == [(7, 8), (12, 12)]


@pytest.mark.extended
def test_the_package_has_places_of_both_kinds():
    found = places.everywhere()
    assert len(found) > 1000 and {place.file.rpartition(".")[2] for place in found} == {"py", "pyx"}


# ---- the recorder --------------------------------------------------------------------------------


@pytest.fixture
def noted(monkeypatch):
    """What is noted in this test, with a record of its own."""
    made = {}
    monkeypatch.setattr(recorder, "made", made)
    monkeypatch.setattr(recorder, "current", "t.py::test")
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
    assert raised.traceback[-1].lineno + 1 == finder.places[1].lines[0]
    model.check(1)
    assert noted == {keys[1]: {"t.py::test"}, keys[2]: {"t.py::test"}}


def test_messages_of_cython_are_noted_by_their_lines(noted):
    from sgmc.core.schedules import Polynomial

    with pytest.raises(ValueError, match="must be less than start=1.0") as raised:
        Polynomial.between(1.0, 2.0, 10)
    recorder.caught(raised.value)
    (key,) = [key for key in noted if "schedules.pyx" in key]
    assert " | Polynomial.between | " in key and noted[key] == {"t.py::test"}


# ---- a session -----------------------------------------------------------------------------------


def session(path, source="TESTPATHS", **options):
    """A session that ended well, of all tests with these options."""
    sources = pytest.Config.ArgsSource
    config = SimpleNamespace(
        rootpath=path,
        args_source=sources[source],
        ArgsSource=sources,
        getoption=lambda name, default=None: ({"--messages": True} | options).get(name, default),
    )
    return SimpleNamespace(config=config, exitstatus=pytest.ExitCode.OK)


def test_workers_send_what_they_noted(noted, tmp_path):
    recorder.take({"a": ["t.py::one"]})
    recorder.take({"a": ["t.py::one", "t.py::two"], "b": ["t.py::two"]})
    assert noted == {"a": {"t.py::one", "t.py::two"}, "b": {"t.py::two"}}
    worker = session(tmp_path)
    worker.config.workeroutput = {}
    recorder.pytest_sessionfinish(worker)
    assert worker.config.workeroutput["messages"]["a"] == ["t.py::one", "t.py::two"]


def test_a_whole_run_fails_for_a_message_that_no_test_makes(noted, tmp_path):
    *others, last = places.everywhere()
    noted.update({place.key: {"t.py::test"} for place in others})
    run = session(tmp_path)
    recorder.pytest_sessionfinish(run)
    lines = []
    terminal = SimpleNamespace(write_line=lambda line, red: lines.append(line))
    recorder.pytest_terminal_summary(terminal, run.config)
    assert run.exitstatus == pytest.ExitCode.TESTS_FAILED
    assert lines == [f"no test makes this message: {last.key}"]
    assert (tmp_path / recorder.PAGE).read_text(encoding="utf-8").endswith(": none\n")
    noted[last.key] = {"t.py::last"}
    run = session(tmp_path)
    recorder.pytest_sessionfinish(run)
    assert run.exitstatus == pytest.ExitCode.OK


@pytest.mark.parametrize(
    "options",
    [{"source": "ARGS"}, {"source": "INVOCATION_DIR"}, {"keyword": "ols"}, {"lf": True}],
    ids=["a file", "a folder", "by name", "failed ones"],
)
def test_a_run_of_some_tests_fails_for_none(noted, tmp_path, options):
    run = session(tmp_path, **options)
    recorder.pytest_sessionfinish(run)
    assert run.exitstatus == pytest.ExitCode.OK and (tmp_path / recorder.PAGE).exists()


def test_the_page_has_tests_that_make_few_messages_first(noted):
    first, second = places.everywhere()[:2]
    noted[first.key], noted[second.key] = {"t.py::few", "t.py::all"}, {"t.py::all"}
    assert f"`` {first.call} `` in `{first.function}`: t.py::few, t.py::all\n" in recorder.page()
