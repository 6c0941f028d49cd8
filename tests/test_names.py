"""Constants and classes: one name, one meaning, one place."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "sgmc"  # the wheel has no Cython sources
# constants at the start of a line, and members of an enum
PLAIN = re.compile(
    r"^(?:cdef (?:double|int|Py_ssize_t) )?((?:[A-Z][A-Z0-9_]{2,}, )*[A-Z][A-Z0-9_]{2,}) = (.+)$"
)
MEMBER = re.compile(r"^    ([A-Z][A-Z0-9_]{2,}) = (.+)$")
NUMBERS = re.compile(r"[-+*/<(), \d.e_]+")
CLASS = re.compile(r"^[ \t]*(?:cdef |cpdef )?class (\w+)[ \t]*[(:\[]", re.M)
# classes of one name that stay two, and why
TWO = {
    "Model": "users derive from `sgmc.Model`, and their Cython code from `core.contract.Model`",
}


def constants(text):
    """(name, value) of the numeric constants that the text of a module defines."""
    found, within = [], False
    for line in text.splitlines():
        line = line.split("#")[0].rstrip()
        if line and not line.startswith(" "):
            within = line.startswith("cdef enum")
        match = PLAIN.match(line) or (within and MEMBER.match(line))
        if match and NUMBERS.fullmatch(match[2]) and re.search(r"\d", match[2]):
            names, values = match[1].split(", "), eval(match[2])  # digits and operators alone
            found += zip(names, values if len(names) > 1 else [values])
    return found


def repeated(sources):
    """Names that several modules define: {name: [(module, value), ...]}.

    Parameters
    ----------
    sources : dict of str
        Texts by path; a pyx file and its pxd file are one module.
    """
    places = defaultdict(set)
    for path, text in sources.items():
        for name, value in constants(text):
            places[name].add((path.rsplit(".", 1)[0], value))
    return {name: sorted(where) for name, where in places.items() if len(where) > 1}


def test_no_constant_is_defined_twice():
    """The same value in two modules is a copy, another value another meaning."""
    sources = {
        path.relative_to(PACKAGE).as_posix(): path.read_text()
        for path in PACKAGE.rglob("*.p*")
        if path.suffix in (".py", ".pyx", ".pxd") and not path.name.startswith("_")
    }
    assert len(sources) > 100
    assert repeated(sources) == {}


@pytest.mark.parametrize(
    "one, other, found",
    [
        ("MOST = 50", "MOST = 50  # numbers", True),
        ("MOST = 50", "cdef double MOST = 60.0", True),
        ("MOST = 50", "cdef enum:\n    LEAST = 1\n    MOST = 50", True),
        ("FEW, MOST = 1, 1 << 20", "MOST = 10**6", True),
        ("MOST = 50", "LEAST = 50", False),
        ("MOST = 50", "from a import MOST\nFEW = MOST", False),
        ("MOST = 50", "cdef double MOST = limits.MOST", False),
        ("MOST = 50", "def f():\n    MOST = 50", False),
    ],
)
def test_copies_are_found(one, other, found):
    assert bool(repeated({"a.py": one, "b.pyx": other})) is found


def test_a_module_and_its_declarations_are_one():
    assert repeated({"a.pyx": "MOST = 50", "a.pxd": "cdef enum:\n    MOST = 50"}) == {}


def same_classes(sources):
    """Names of classes that are defined more than once: {name: [path, ...]}.

    Parameters
    ----------
    sources : dict of str
        Texts by path; pxd files declare what pyx files define, and are not among them.
    """
    places = defaultdict(list)
    for path, text in sorted(sources.items()):
        for name in CLASS.findall(text):
            places[name].append(path)
    return {name: paths for name, paths in places.items() if len(paths) > 1}


def test_no_class_has_the_name_of_another():
    sources = {
        path.relative_to(PACKAGE).as_posix(): path.read_text()
        for path in PACKAGE.rglob("*.p*")
        if path.suffix in (".py", ".pyx")
    }
    assert len(CLASS.findall("\n".join(sources.values()))) > 500
    found = same_classes(sources)
    assert {name: paths for name, paths in found.items() if name not in TWO} == {}
    assert set(TWO) <= set(found), "no longer defined twice"


@pytest.mark.parametrize(
    "one, other, found",
    [
        ("class Rows:", "class Rows:", True),
        ("class Rows(Base):", "@final\ncdef class Rows(Base):", True),
        ("class Rows:", "def f():\n    class Rows(NamedTuple):", True),
        ("class Rows:", "class Cells(Rows):", False),
        ("class Rows:", '"""Rows, in one\nclass Rows is not of."""', False),
        ("class Rows:", "from a import Rows", False),
    ],
)
def test_classes_of_one_name_are_found(one, other, found):
    assert bool(same_classes({"a.py": one, "b.pyx": other})) is found
