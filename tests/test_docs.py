"""Pages that are written from the code say what the code does, and leave nothing public out."""

import importlib.util
import inspect
import re
from pathlib import Path

import pytest

import sgmc

DOCS = Path(__file__).parents[1] / "docs"


def test_the_table_of_defaults_is_that_of_the_code():
    spec = importlib.util.spec_from_file_location("defaults", DOCS / "defaults.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text() == module.page(), "run: python docs/defaults.py"


@pytest.mark.parametrize("name", ["TOLERANCE", "KEPT_TIME"])
def test_the_table_would_change_with_the_code(name, monkeypatch):
    from sgmc.fit import plan

    monkeypatch.setattr(plan, name, 2 * getattr(plan, name))
    with pytest.raises(AssertionError, match="run: python docs/defaults.py"):
        test_the_table_of_defaults_is_that_of_the_code()


def test_every_public_name_is_in_the_pages_of_the_api():
    written = set(
        re.findall(
            r"^\.\. auto(?:class|function):: (\S+)$",
            "\n".join(p.read_text() for p in (DOCS / "api").glob("*.rst")),
            re.M,
        )
    )
    public = {f"sgmc.{name}" for name in sgmc.__all__ if not inspect.ismodule(getattr(sgmc, name))}
    public |= {f"sgmc.diagnostics.{name}" for name in sgmc.diagnostics.__all__}
    public |= {f"sgmc.datasets.{name}" for name in sgmc.datasets.__all__}
    public |= {
        f"sgmc.errors.{name}"
        for name, value in vars(sgmc.errors).items()
        if inspect.isclass(value) and f"sgmc.{name}" not in public
    }
    assert public - written == set()
    assert {
        name for name in written - public if not name.startswith(("sgmc.results.", "sgmc.models."))
    } == set()
