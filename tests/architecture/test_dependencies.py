"""Who may import whom: the table of rooms holds for every file, and nothing imports in a circle."""

import sys

import pytest

from .rooms import DOORS, LEAVES, MOST, PARTS, TABLE
from .sources import (
    PACKAGE,
    SOURCES,
    circles,
    cython_imports,
    imports,
    imports_that_run,
    module_name,
    python_imports_that_run,
    room_of,
)

CORE = {"numpy", "libc", "cython", "cpython", "threadpoolctl"} | set(sys.stdlib_module_names)


def name_of(path):
    """Return a readable name of a file for a test."""
    return path.relative_to(PACKAGE).as_posix()


def own(path):
    """Return the names of the package that a file imports, without its own."""
    ours = {name for name in imports(path) if name.split(".")[0] == "sgmc"}
    return sorted(ours - {module_name(path), "sgmc", "sgmc._names"})


def test_the_reading_of_imports_sees_them():
    known = imports(PACKAGE / "samplers" / "mala.pyx")
    assert {"sgmc.core.contract", "sgmc.core.spec", "numpy", "libc.math"} <= known
    leaf = PACKAGE / "models" / "regression" / "families" / "logit.pyx"
    assert {"sgmc.core.contract", "sgmc.models.regression.bases.glm"} <= imports(leaf)
    summary = PACKAGE / "results" / "report" / "summary.py"
    assert "statsmodels.iolib.table" in imports(summary)
    code = "from sgmc.core.random.rng cimport (Rng,\n    seed)\ncimport numpy as np"
    assert cython_imports(code) == {"sgmc.core.random.rng", "numpy"}


def wrong(rule):
    """What a rule says of each file, where it says something: {name: finding}."""
    found = {name_of(path): rule(path, room_of(module_name(path))) for path in SOURCES}
    return {name: finding for name, finding in found.items() if finding}


def test_a_file_imports_what_its_room_may():
    """See rooms.py."""

    def rule(path, room):
        allowed = {room, *TABLE[room][1].split()}
        return [name for name in own(path) if room_of(name) not in allowed]

    assert wrong(rule) == {}


def test_a_leaf_imports_no_sibling():
    def rule(path, room):
        return room in LEAVES and [name for name in own(path) if room_of(name) == room]

    assert wrong(rule) == {}


def test_front_doors():
    def rule(path, room):
        shut = tuple(f"sgmc.{door}." for door in DOORS if room in DOORS[door])
        return [name for name in own(path) if name.startswith(shut)]

    assert wrong(rule) == {}


def test_the_core_needs_numpy_alone():
    """But for products of matrices, which are of scipy's BLAS."""

    def rule(path, room):
        allowed = CORE | {"sgmc"} | ({"scipy"} if path.stem in ("matrices", "gram") else set())
        return room == "core" and {name.split(".")[0] for name in imports(path)} - allowed

    assert wrong(rule) == {}


def test_the_table_names_rooms_that_are_there():
    assert all((PACKAGE / room).is_dir() or (PACKAGE / f"{room}.py").is_file() for room in TABLE)
    assert {room for _, allowed in TABLE.values() for room in allowed.split()} <= set(TABLE)
    folders = {path.parent.relative_to(PACKAGE).as_posix() for path in SOURCES}
    assert all(room_of(f"sgmc.{folder.replace('/', '.')}") for folder in folders - {"."})


def test_the_table_descends():
    """Each room imports only rooms above its own line: the table is an order, not just a graph."""
    lines = list(TABLE)
    for room, (_, allowed) in TABLE.items():
        assert [one for one in allowed.split() if lines.index(one) >= lines.index(room)] == [], room


def part_of(name, room):
    """The part of a room that a dotted name lies in, "" for the room itself; None outside."""
    inside = "/".join(name.split(".")[1:])
    place = inside if (PACKAGE / inside).is_dir() else inside.rpartition("/")[0]
    if place != room and not place.startswith(f"{room}/"):
        return None
    return place.removeprefix(room).removeprefix("/")


def rising(room, part, names):
    """Those of some imported names that lie in parts of a room above the importing one."""
    places = {one: PARTS[room].index(one) for one in PARTS[room]}
    return [name for name in names if places.get(part_of(name, room), -1) > places[part]]


@pytest.mark.parametrize("room", PARTS)
def test_parts_of_a_room_descend(room):
    """Each imports only those before it, but for types: see PARTS, which names every one."""
    parts = {path: part_of(module_name(path), room) for path in SOURCES}
    parts = {path: part for path, part in parts.items() if part is not None}
    assert set(parts.values()) - {""} == set(PARTS[room]) - {""}
    found = {
        name_of(path): rising(room, part, sorted(imports_that_run(path)))
        for path, part in parts.items()
    }
    assert {name: names for name, names in found.items() if names} == {}


def test_an_import_of_a_part_above_is_seen():
    names = ["sgmc.core.contract", "sgmc.core.numerics.simd", "sgmc.formula.syntax.parser"]
    assert rising("core", "random", names) == ["sgmc.core.contract"]
    assert rising("core", "designs", names) == []


def test_rooms_are_small():
    """Whoever looks into a folder sees one subject: see MOST."""
    rooms = {}
    for path in SOURCES:
        if path.stem != "__init__":
            rooms.setdefault(path.parent.relative_to(PACKAGE).as_posix(), set()).add(path.stem)
    large = {room: len(files) for room, files in rooms.items() if len(files) > MOST}
    assert large.keys() - set(LEAVES) == set(), large


def test_no_circles():
    """Two files that need each other are one: what both need belongs in a third.  An import within
    a function counts, as it hides a circle and does not open it.
    """
    graph = {}
    for path in SOURCES:
        name = module_name(path)
        names = {one for one in imports_that_run(path) if one not in (name, "sgmc")}
        graph.setdefault(name, set()).update(names)
    assert circles(graph) == []


def test_a_circle_is_seen():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == [["b", "c"]]
    assert circles({"a": {"b", "c"}, "b": {"c"}, "c": {"d"}, "d": {"a"}}) == [["a", "b", "c", "d"]]
    assert circles({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": {"e"}}) == []
    code = "def f():\n    from sgmc.core import engine\nif TYPE_CHECKING:\n    import sgmc.fit\n"
    assert python_imports_that_run(code, "") == {"sgmc.core.engine"}
