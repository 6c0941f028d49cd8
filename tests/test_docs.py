"""Pages that are made from the code say what the code does, and leave nothing public out."""

import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

import sgmc
from sgmc.core.spec import Parameter
from sgmc.registry import room

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {p.relative_to(DOCS).as_posix(): p for p in [*DOCS.rglob("*.md"), *DOCS.rglob("*.rst")]}


@pytest.fixture
def registered(monkeypatch):
    """docs/registered.py, as the site's build imports it."""
    monkeypatch.syspath_prepend(str(DOCS))
    for name in ("defaults", "registered"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module("registered")
    for name in ("defaults", "registered"):
        sys.modules.pop(name, None)


def filled(registered, name):
    """A page as the site has it."""
    return registered.filled(PAGES[name].read_text())


def test_every_generated_part_is_in_one_page(registered):
    marks = [a or b for p in PAGES.values() for a, b in registered.MARK.findall(p.read_text())]
    assert sorted(marks) == sorted(registered.PARTS)


def test_every_generated_part_is_made(registered):
    for name, made in registered.PARTS.items():
        assert made().strip(), name


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", PAGES)
def test_no_mark_is_left_in_a_page(name, registered):
    assert "generated:" not in filled(registered, name)


@pytest.mark.extended
@pytest.mark.parametrize(
    "place, name", [("tolerance", "VARIANCE_TOLERANCE"), ("plan", "KEPT_TIME")]
)
def test_the_tables_of_defaults_change_with_the_code(place, name, registered, monkeypatch):
    module = importlib.import_module(f"sgmc.fit.{place}")
    before = filled(registered, "defaults.md")
    monkeypatch.setattr(module, name, 2 * getattr(module, name))
    importlib.reload(sys.modules["defaults"])
    after = filled(importlib.reload(registered), "defaults.md")
    changed = set(before.splitlines()) - set(after.splitlines())
    assert any(line.startswith("| `sgld`") for line in changed)


@pytest.mark.extended
def test_every_sampler_of_the_registry_has_its_defaults_there(registered):
    rows = re.findall(r"^\| `(\w+)` \|", filled(registered, "defaults.md"), re.M)
    assert sorted(rows) == sorted(
        name for name, cls in room("samplers").items() if not cls.probabilities
    )


def test_every_family_of_the_registry_has_a_row(registered):
    page = filled(registered, "families.md")
    for name, model in room("families").items():
        verb = f"`{name}`" if registered.is_verb(model) else f'`glm(family="{name}"'
        row = next(line for line in page.splitlines() if line.startswith(f"| {verb}"))
        assert model.family.accepts in row
        assert all(f"`{own.name}` ~ {own.prior.called}(" in row for own in model.family.auxiliary)


@pytest.mark.extended
def test_a_new_sampler_is_in_the_pages_without_an_edit(registered, monkeypatch):
    class Mine(sgmc.SGLD):
        """Mine (I 2026)."""

        name = "mine"
        parameters = (Parameter("speed", 2.5, "how fast"),)

    monkeypatch.setitem(room("samplers"), "mine", Mine)
    monkeypatch.setattr(registered.names, "samplers", lambda: {"Mine": __name__, "SGLD": ""})
    monkeypatch.setattr(sgmc, "Mine", Mine, raising=False)
    assert ".. autoclass:: sgmc.Mine" in filled(registered, "api/samplers.rst")
    assert "| `mine` | speed 2.5 |" in filled(registered, "defaults.md")


def test_every_public_name_is_in_the_pages_of_the_api(registered):
    pages = "\n".join(filled(registered, name) for name in PAGES if name.startswith("api/"))
    found = re.findall(r"^\.\. auto(?:class|function):: (\S+)$", pages, re.M)
    written = set(found)
    assert len(found) == len(written)
    values = {name: getattr(sgmc, name) for name in sgmc.__all__}
    public = {
        f"sgmc.{name}" for name, one in values.items() if callable(one) or not inspect.ismodule(one)
    }
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


FIGURE = re.compile(r"^\.\. plot::\n   :include-source:\n\n(?:(?:   .*)?\n)+(.*)", re.M)
DRAWN = re.compile(r"\b(lines?|curves?|points?|bars?|colours?|histograms?)\b")


def unexplained(text):
    """Whether a page of the API has neither a figure with a sentence of what is drawn in it, nor
    a comment that says why there is none.
    """
    found = FIGURE.search(text)
    return not DRAWN.search(found[1]) if found else ".. no figure: " not in text


@pytest.mark.parametrize("name", sorted(n for n in PAGES if n.startswith("api/")))
def test_what_is_drawn_in_figures_of_the_api_is_explained(name):
    assert name == "api/index.rst" or not unexplained(PAGES[name].read_text())


def test_a_figure_without_a_sentence_is_seen():
    text = PAGES["api/verbs.rst"].read_text()
    assert unexplained(text.replace(FIGURE.search(text)[1], "A figure."))
    assert unexplained(text.replace(".. plot::", ".. code-block:: python"))
