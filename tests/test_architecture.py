"""The house: who imports whom, how large a file is, what an import costs, what is public,
and the registry's rule.
"""

import ast
import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import sgmc
from sgmc import registry
from sgmc.core.spec import SamplerSpec
from sgmc.errors import ArgumentError

PACKAGE = Path(sgmc.__file__).parent
SOURCES = sorted(p for p in PACKAGE.rglob("*") if p.suffix in (".py", ".pyx", ".pxd"))
LEAVES = ("models", "gradients", "subsampling", "samplers")
BASES = (
    "glm",
    "bernoulli",
    "dispersed",
    "family",
    "rising",
    "binet",
    "known",
    "ratings",
    "windows",
    "hmm",
    "layers",
)
SHARED = {"models": {f"sgmc.models.{name}" for name in BASES} | {"sgmc.priors"}}
HEAVY = {
    "pandas",
    "scipy",
    "statsmodels",
    "matplotlib",
    "arviz_stats",
    "patsy",
    "tqdm",
    "pooch",
    "sklearn",
    "narwhals",
    "polars",
    "pyarrow",
}


def module_name(path):
    """Dotted name of a source file."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path):
    """Dotted names that a source file imports, anywhere in it; Cython's by their text."""
    if path.suffix == ".py":
        found = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {a.name for a in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}: relative import"
                found |= {submodule(node.module, a.name) for a in node.names}
        return found
    found = set()
    text = re.sub(
        r"\\\n|\(([^)]*)\)", lambda m: (m.group(1) or "").replace("\n", " "), path.read_text()
    )
    for module, names in re.findall(r"^\s*from ([\w.]+) c?import (.+)$", text, re.M):
        found |= {
            submodule(module, n.split(" as ")[0].strip()) for n in names.split("#")[0].split(",")
        }
    for names in re.findall(r"^\s*c?import (.+)$", text, re.M):
        found |= {n.split(" as ")[0].strip() for n in names.split("#")[0].split(",")}
    return found


def submodule(module, name):
    """``module.name`` where that is a module of the package, else ``module``."""
    base = PACKAGE.parent.joinpath(*module.split("."), name)
    is_module = module.split(".")[0] == "sgmc" and (
        base.is_dir() or any(base.with_suffix(s).exists() for s in (".py", ".pyx", ".pxd"))
    )
    return f"{module}.{name}" if is_module else module


def inside(name, rooms):
    """Whether a dotted name is one of the modules or packages `rooms`, or within."""
    return any(name == room or name.startswith(f"{room}.") for room in rooms)


def test_the_reading_of_imports_sees_them():
    known = imports(PACKAGE / "samplers" / "mala.pyx")
    assert {"sgmc.core.contract", "sgmc.core.spec", "numpy", "libc.math"} <= known
    assert "sgmc.core.kernels" in imports(PACKAGE / "samplers" / "sgbd.pyx")
    assert "sgmc.models.regression.bases.glm" in imports(PACKAGE / "models" / "logit.pyx")
    assert "statsmodels.iolib.table" in imports(PACKAGE / "results" / "summary.py")


@pytest.mark.parametrize(
    "path", [p for p in SOURCES if p.parent.name == "core"], ids=lambda p: p.name
)
def test_the_core_imports_numpy_alone(path):
    allowed = {"numpy", "libc", "cython", "cpython", "sgmc.core", "sgmc.errors"} | set(
        sys.stdlib_module_names
    )
    assert [name for name in sorted(imports(path)) if not inside(name, allowed)] == []


@pytest.mark.parametrize(
    "path",
    [p for p in SOURCES if p.parent.name in LEAVES],
    ids=lambda p: f"{p.parent.name}/{p.name}",
)
def test_leaves_import_the_core_and_no_sibling(path):
    room = path.parent.name
    allowed = {"sgmc.core", "sgmc.errors", module_name(path)} | SHARED.get(room, set())
    ours = [name for name in sorted(imports(path)) if name.split(".")[0] == "sgmc"]
    assert [name for name in ours if not inside(name, allowed)] == []


@pytest.mark.parametrize(
    "room, allowed",
    [
        ("diagnostics", {"sgmc.diagnostics", "sgmc.errors"}),
        ("datasets", {"sgmc.datasets", "sgmc.errors"}),
        ("formula", {"sgmc.formula", "sgmc.errors"}),
        ("errors.py", set()),
        ("priors.py", {"sgmc.errors"}),
        ("registry.py", {"sgmc.core", "sgmc.errors"}),
        ("plots", {"sgmc.plots", "sgmc.diagnostics", "sgmc.errors"}),
        (
            "results",
            {
                "sgmc.results",
                "sgmc.plots",
                "sgmc.diagnostics",
                "sgmc.fit",
                "sgmc.core",
                "sgmc.errors",
                "sgmc.models.regression.model",
                "sgmc.formula",
                "sgmc.subsampling",
            },
        ),
        (
            "tuning",
            {
                "sgmc.tuning",
                "sgmc.results",
                "sgmc.plots",
                "sgmc.diagnostics",
                "sgmc.fit",
                "sgmc.core",
                "sgmc.errors",
                "sgmc.models.regression.model",
            },
        ),
        (
            "fitting",
            {
                "sgmc.fit",
                "sgmc.core",
                "sgmc.errors",
                "sgmc.registry",
                "sgmc.priors",
                "sgmc.subsampling",
                "sgmc.version",
            },
        ),
    ],
)
def test_rooms_import_inward(room, allowed):
    for path in SOURCES:
        if room in path.relative_to(PACKAGE).parts[:1]:
            ours = [name for name in imports(path) if name.split(".")[0] == "sgmc"]
            assert [name for name in ours if not inside(name, allowed)] == [], path


def test_no_circles():
    graph = {}
    for path in SOURCES:
        graph.setdefault(module_name(path), set()).update(
            n for n in imports(path) if n.startswith("sgmc.") and not lazy(path, n)
        )
    done, walking = set(), []

    def visit(name):
        assert name not in walking, " -> ".join([*walking[walking.index(name) :], name])
        if name not in done:
            walking.append(name)
            for other in sorted(graph.get(name, set()) - {name}):
                visit(other)
            done.add(walking.pop())

    for name in sorted(graph):
        visit(name)


def lazy(path, name):
    """Whether a Python file imports `name` only within functions."""
    if path.suffix != ".py":
        return False
    at_once = set()
    for node in ast.parse(path.read_text()).body:
        for part in ast.walk(node) if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) else []:
            if isinstance(part, ast.Import):
                at_once |= {a.name for a in part.names}
            elif isinstance(part, ast.ImportFrom):
                at_once |= {submodule(part.module, a.name) for a in part.names}
    return name not in at_once


WRITTEN = [
    p
    for p in PACKAGE.rglob("*")
    if p.suffix in (".py", ".pyx", ".pxd", ".inc", ".h")
    or p.suffix == ".c"
    and not p.name.startswith("_")
] + [*Path(__file__).parent.rglob("*.py")]


@pytest.mark.parametrize("path", WRITTEN, ids=lambda p: "/".join(p.parts[-3:]))
def test_files_are_small(path):
    lines = path.read_text().splitlines()
    assert len(lines) <= 400 and max(map(len, lines), default=0) <= 140


def python(code, **how):
    """Run code in a fresh interpreter outside the source tree."""
    return subprocess.run(
        [sys.executable, "-c", code], text=True, capture_output=True, timeout=60, **how
    )


@pytest.mark.parametrize(
    "code",
    [
        "import sgmc",
        "import sgmc; sgmc.normal(0, 1); sgmc.MALA(); sgmc.errors; sgmc.registry",
        "import sgmc; dir(sgmc); sgmc.__all__",
    ],
)
def test_an_import_loads_nothing_heavy(code):
    done = python(f"{code}\nimport sys; print(*sorted(m for m in sys.modules if '.' not in m))")
    assert done.returncode == 0, done.stderr
    assert HEAVY & set(done.stdout.split()) == set()


@pytest.mark.parametrize("name", sgmc.__all__)
def test_public_names_resolve_and_have_docstrings(name):
    value = getattr(sgmc, name)
    assert len(inspect.getdoc(value)) > 20
    if inspect.isclass(value) or inspect.isfunction(value):
        assert value.__module__.startswith("sgmc") and name in dir(sgmc)


def test_unknown_public_names():
    with pytest.raises(AttributeError, match="module 'sgmc' has no attribute 'logti'"):
        sgmc.logti
    assert len(set(sgmc.__all__)) == len(sgmc.__all__)
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", sgmc.__version__)


@pytest.mark.parametrize(
    "path",
    [p for p in SOURCES if p.suffix == ".py"],
    ids=lambda p: p.relative_to(PACKAGE).as_posix(),
)
def test_public_functions_and_classes_have_docstrings(path):
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree) or not tree.body
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{path}: {node.name}"


@pytest.mark.parametrize("kind", sorted(registry.ROOMS))
def test_rooms_hold_classes_with_a_name_of_their_own(kind):
    room = registry.room(kind)
    assert room
    for name, cls in room.items():
        assert vars(cls)["name"] == name == name.lower()
        assert name.isidentifier()
        assert cls.room == kind
        assert registry.lookup(kind, name.upper(), kind) is cls
        assert inspect.getdoc(cls)


def test_a_plain_subclass_replaces_nobody(monkeypatch):
    rooms = {kind: dict(registry.room(kind)) for kind in registry.ROOMS}
    room = rooms["samplers"]
    monkeypatch.setattr(registry, "room", rooms.__getitem__)

    class Mine(sgmc.SGLD):
        """A variant."""

    with pytest.raises(ArgumentError, match="Mine needs a class attribute `name` of its own"):
        registry.register(Mine)
    assert room["sgld"] is sgmc.SGLD

    class Named(sgmc.SGLD):
        """A variant with a name."""

        name = "mine"

    assert registry.register(Named) is Named and room["mine"] is Named and room["sgld"] is sgmc.SGLD
    assert registry.sampler_and_gradient("mine-cv", None) == (Named(), "cv")
    with pytest.raises(ArgumentError, match="Homeless is neither a sampler"):
        registry.register(type("Homeless", (), {"name": "homeless"}))


def test_a_module_that_imports_a_class_does_not_rename_it(monkeypatch):
    module = importlib.import_module("sgmc.samplers.langevin")
    monkeypatch.setattr(
        module,
        "Copy",
        type("Copy", (module.SGLD,), {"__doc__": "A plain subclass."}),
        raising=False,
    )
    registry.room.cache_clear()
    try:
        assert registry.room("samplers")["sgld"] is module.SGLD
    finally:
        registry.room.cache_clear()


@pytest.mark.parametrize("name", sorted(registry.room("samplers")))
def test_specifications_are_small_picklable_values(name):
    import pickle

    cls = registry.room("samplers")[name]
    for spec in [cls(), *(cls(**{p.name: c}) for p in cls.parameters for c in p.choices)]:
        again = pickle.loads(pickle.dumps(spec))
        assert again == spec and hash(again) == hash(spec) and repr(again) == repr(spec)
        assert eval(repr(spec), {cls.__name__: cls}) == spec
    assert cls.describe().startswith(f"{name}: ")
    assert all(p.name in cls.describe() for p in cls.parameters)
    assert issubclass(cls, SamplerSpec)


def test_a_source_tree_that_is_not_built_says_so(tmp_path):
    for path in PACKAGE.rglob("*.py"):
        target = tmp_path / path.relative_to(PACKAGE.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    assert not list(tmp_path.rglob(f"*{sysconfig.get_config_var('EXT_SUFFIX')}"))
    done = python("import sgmc", cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1
    message = done.stderr.split("ImportError: ")[1].strip().split("\n")
    assert len(message) == 2 and "not built" in message[0] and "pip install ." in message[1]
    assert "During handling" not in done.stderr


# ---- the tests themselves ------------------------------------------------------------------------

TESTS = Path(__file__).parent


def asserts(node, helpers):
    """Whether a function asserts: a statement, pytest.raises or warns, numpy's assert_...,
    or a helper that does.
    """
    for part in ast.walk(node):
        if isinstance(part, ast.Assert):
            return True
        name = getattr(
            getattr(part, "func", None), "attr", getattr(getattr(part, "func", None), "id", "")
        )
        if name in ("raises", "warns") or name.startswith("assert_") or name in helpers:
            return True
    return False


def without_assertion(source):
    """Names of the tests in it that assert nothing, be it by functions of the same file."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    helpers = set()
    for _ in functions:
        helpers |= {
            f.name for f in functions if not f.name.startswith("test_") and asserts(f, helpers)
        }
    return [f.name for f in functions if f.name.startswith("test_") and not asserts(f, helpers)]


@pytest.mark.parametrize(
    "path", sorted(TESTS.rglob("test_*.py")), ids=lambda p: p.relative_to(TESTS).as_posix()
)
def test_no_test_is_without_an_assertion(path):
    assert without_assertion(path.read_text()) == []


def test_a_test_without_an_assertion_is_seen():
    code = (
        "def run(): return 1\ndef check(): assert run()\ndef test_a(): run()\ndef test_b(): "
        "check()\n"
        "def test_c():\n    with pytest.raises(E): run()"
    )
    assert without_assertion(code) == ["test_a"]
