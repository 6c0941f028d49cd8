"""An editable install compiles changed sources when `sgmc` is imported, and nothing else."""

import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SETUP = """
import sys
from pathlib import Path
log = Path("log")
log.write_text((log.read_text() if log.exists() else "") + " ".join(sys.argv[1:]) + "\\n")
if "wrong" in Path("sgmc/core/one.pyx").read_text():
    print("one.pyx:1:0: this is wrong")
    sys.exit(1)
"""


@pytest.fixture
def hook(monkeypatch):
    """The names of editable.py, switched on."""
    monkeypatch.setenv("SGMC_REBUILD", "1")
    return runpy.run_path(str(ROOT / "editable.py"))


@pytest.fixture
def tree(tmp_path, hook):
    """A tree that is up to date; its setup.py logs each build."""
    for folder in ("core", "api"):
        (tmp_path / "sgmc" / folder).mkdir(parents=True)
    for path in ("__init__.py", "core/one.pyx", "core/two.pxd", "core/loops.inc", "api/names.py"):
        (tmp_path / "sgmc" / path).write_text("# first\n")
    (tmp_path / "setup.py").write_text(SETUP)
    hook["remember"](str(tmp_path), hook["sources"](str(tmp_path)))
    return tmp_path


def builds(tree):
    """How often the tree was built."""
    log = tree / "log"
    return len(log.read_text().splitlines()) if log.exists() else 0


@pytest.mark.parametrize("path", ["core/one.pyx", "core/two.pxd", "core/loops.inc", "api/names.py"])
def test_a_change_is_compiled_once(path, hook, tree):
    hook["refresh"](str(tree))
    assert builds(tree) == 0
    (tree / "sgmc" / path).write_text("# second, longer\n")
    hook["refresh"](str(tree))
    hook["refresh"](str(tree))
    assert (tree / "log").read_text() == "-q build_ext --inplace\n"


def test_other_files_need_no_build(hook, tree):
    (tree / "sgmc" / "core" / "other.py").write_text("x = 1\n")
    (tree / "sgmc" / "__init__.py").write_text("x = 1\n")
    hook["refresh"](str(tree))
    assert builds(tree) == 0


def test_an_error_shows_the_compilers_output_until_it_is_corrected(hook, tree):
    source = tree / "sgmc" / "core" / "one.pyx"
    source.write_text("wrong\n")
    for _ in range(2):
        with pytest.raises(ImportError, match="one.pyx:1:0: this is wrong\n\n.*SGMC_REBUILD=0"):
            hook["refresh"](str(tree))
    source.write_text("# right again\n")
    hook["refresh"](str(tree))
    assert builds(tree) == 3


def test_packages_that_are_missing_are_named(hook, tree, monkeypatch):
    hook["refresh"].__globals__["NEEDED"] = ("Nothing_of_this_name", "numpy")
    (tree / "sgmc" / "core" / "one.pyx").unlink()
    with pytest.raises(ImportError, match="Run `pip install nothing_of_this_name`"):
        hook["refresh"](str(tree))


def test_a_module_without_source_is_removed(hook, tree):
    from importlib.machinery import EXTENSION_SUFFIXES

    module = tree / "sgmc" / "core" / f"one{EXTENSION_SUFFIXES[0]}"
    module.touch()
    (tree / "sgmc" / "core" / "one.pyx").rename(tree / "sgmc" / "core" / "new.pyx")
    (tree / "setup.py").write_text("")
    hook["refresh"](str(tree))
    assert not module.exists()


def test_a_copy_that_looks_older_is_compiled_too(hook, tree):
    """Compilation goes by the times of files, and `cp -p` brings old ones."""
    source = tree / "sgmc" / "core" / "one.pyx"
    source.write_text("# an older version\n")
    os.utime(source, (1e9, 1e9))
    hook["refresh"](str(tree))
    assert builds(tree) == 1 and source.stat().st_mtime > 1e9
    hook["refresh"](str(tree))
    assert builds(tree) == 1


def test_two_processes_build_once(tree):
    (tree / "sgmc" / "core" / "one.pyx").write_text("# second, longer\n")
    with open(tree / "setup.py", "a") as file:
        file.write("import time; time.sleep(0.3)\n")
    code = f"import runpy; runpy.run_path({str(ROOT / 'editable.py')!r})['refresh']({str(tree)!r})"
    running = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    assert [process.wait() for process in running] == [0, 0]
    assert builds(tree) == 1


def test_the_hook_is_for_this_tree_alone_and_can_be_switched_off(hook, tree, monkeypatch):
    (tree / "sgmc" / "core" / "one.pyx").write_text("# second, longer\n")
    find = hook["Hook"](str(tree)).find_spec
    assert find("sgmc") is None and find("numpy") is None and builds(tree) == 0  # not on the path
    monkeypatch.syspath_prepend(str(tree))
    monkeypatch.setenv("SGMC_REBUILD", "0")
    assert find("sgmc") is None and builds(tree) == 0
    monkeypatch.setenv("SGMC_REBUILD", "1")
    assert find("sgmc") is None and builds(tree) == 1


SMALL = {  # a package that our setup.py builds
    "sgmc/__init__.py": "from sgmc.core.one import value",
    "sgmc/version.py": '__version__ = "1.0"',
    "sgmc/core/one.pxd": "cdef int one() noexcept",
    "sgmc/core/one.pyx": """
cdef int one() noexcept:
    return 1

def value():
    from sgmc.core.two import two
    return two()
""",
    "sgmc/core/two.pyx": """
from sgmc.core.one cimport one

cdef extern from "number.h":
    const int NUMBER

def two():
    return 2 * one() + NUMBER
""",
    "sgmc/core/number.h": "#define NUMBER 0",
    "sgmc/core/three.pyx": "cimport foreign",
    "sgmc/api/names.py": "def write(place): pass",
    "sgmc/api/stubs.py": "def write(place): pass",
}


@pytest.fixture
def installed(tmp_path):
    """A small tree, installed in an environment of its own: (tree, its Python)."""
    if not all(find_spec(name) for name in ("pip", "Cython", "setuptools")):
        pytest.skip("needs pip, Cython and setuptools")
    if shutil.which("cc") is None:
        pytest.skip("no compiler")
    tree = tmp_path / "tree"
    for path, text in SMALL.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    for name in ("setup.py", "pyproject.toml", "editable.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    venv.create(tmp_path / "venv")
    python = next((tmp_path / "venv").glob("*/python"))
    (place,) = (tmp_path / "venv").rglob("site-packages")
    (place / "zz.pth").write_text(sysconfig.get_path("purelib"))  # Cython and others are lent
    (place / "foreign.pxd").touch()
    how = ("--no-deps", "--no-build-isolation", "--disable-pip-version-check", "-q", "-e")
    run(sys.executable, "-m", "pip", "--python", python, "install", *how, tree)
    (place / "foreign.pxd").touch()  # as if it were installed now: no reason to compile anything
    return tree, python


def run(*command, **how):
    """Run a command; return what it prints."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, cwd=Path(words[0]).parent, **how)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def times(tree):
    """When each compiled module was made, by its name."""
    return {
        path.name.partition(".")[0]: path.stat().st_mtime_ns
        for path in tree.rglob(f"*{sysconfig.get_config_var('EXT_SUFFIX')}")
    }


@pytest.mark.extended
def test_editable_installs_compile_what_has_changed_and_what_includes_it(installed):
    tree, python = installed
    value = (python, "-c", "import sgmc; print(sgmc.value())")
    environment = {key: word for key, word in os.environ.items() if key != "PYTHONPATH"}
    made = times(tree)
    assert set(made) == {"one", "two", "three", "_cyutility"}
    assert run(*value, env=environment) == "2\n" and times(tree) == made

    changes = {  # file: (text before, after, modules that are compiled, what is printed)
        "one.pyx": ("return 1", "return 10", {"one"}, "20"),
        "one.pxd": ("cdef", "# another line\ncdef", {"one", "two"}, "20"),
        "number.h": ("0", "5", {"two"}, "25"),
    }
    for name, (old, new, compiled, printed) in changes.items():
        source = tree / "sgmc" / "core" / name
        source.write_text(source.read_text().replace(old, new))
        run(*value, env=environment)
        now = times(tree)
        assert {name for name in now if now[name] != made[name]} == compiled
        made = now
        assert run(*value, env=environment) == f"{printed}\n" and times(tree) == made

    (tree / "sgmc" / "core" / "one.pyx").write_text("cdef int one() noexcept\n")
    with pytest.raises(AssertionError, match="one.pyx"):
        run(*value, env=environment)
    assert run(*value, env={**environment, "SGMC_REBUILD": "0"}) == "25\n"
