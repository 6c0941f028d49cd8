"""Pages that are written from the code say what the code does."""
import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


def test_the_table_of_defaults_is_that_of_the_code():
    spec = importlib.util.spec_from_file_location("defaults", DOCS / "defaults.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text() == module.page(), "run: python docs/defaults.py"


@pytest.mark.parametrize("name", ["TOLERANCE", "KEPT_TIME"])
def test_the_table_would_change_with_the_code(name, monkeypatch):
    from sgmc.fitting import plan

    monkeypatch.setattr(plan, name, 2 * getattr(plan, name))
    with pytest.raises(AssertionError, match="run: python docs/defaults.py"):
        test_the_table_of_defaults_is_that_of_the_code()
