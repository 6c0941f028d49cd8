"""The gallery has every figure, and pictures of all that it draws."""

import importlib.util
import re
from pathlib import Path

import pytest

from sgmc.models.regression.latent.sampled.results import CrossedResults

DOCS = Path(__file__).resolve().parents[2] / "docs"
pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="an installation has no docs")

PICTURES = Path(__file__).parents[2] / "docs" / "_static" / "gallery"
needs_pictures = pytest.mark.skipif(not PICTURES.exists(), reason="pictures are in the repository")


@pytest.fixture(scope="module")
def gallery():
    """docs/gallery.py."""
    spec = importlib.util.spec_from_file_location("gallery", DOCS / "gallery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_figure_of_results_is_in_the_gallery():
    text = (DOCS / "gallery.md").read_text()
    drawn = set(re.findall(r"\.(plot\w*)\(", text))
    public = {name for name in dir(CrossedResults) if name == "plot" or name.startswith("plot_")}
    assert public - drawn == set()


@needs_pictures
def test_each_block_that_draws_has_its_picture(gallery):
    steps = gallery.steps(gallery.PAGE.read_text())
    for (code, _), (_, name) in zip(steps[1:], steps[2:]):
        if code:
            assert ".plot" in code and name, code
    names = [name for _, name in steps if name]
    assert len(set(names)) == len(names) > 15
    assert {path.name for path in gallery.PICTURES.iterdir()} == set(names)


@needs_pictures
def test_tutorials_are_as_the_script_writes_them(gallery):
    text = gallery.PAGE.read_text()
    assert gallery.written(text) == text
    assert text.count(".. image:: /vignettes/results/") >= 15


def test_the_script_saves_what_is_drawn(gallery, tmp_path):
    code = "```python\nimport matplotlib.pyplot as p\np.plot([1])\n```\n"
    gallery.draw(code + "![a](_static/gallery/a.png)\n", tmp_path)
    assert (tmp_path / "a.png").read_bytes()[1:4] == b"PNG"


@needs_pictures
def test_each_of_the_five_papers_has_its_picture(gallery):
    steps = gallery.steps(gallery.FIVE.read_text())
    names = [name for _, name in steps if name]
    assert len(names) == 5 and [bool(code) for code, _ in steps] == [True] + [True, False] * 5
    assert {path.name for path in gallery.FIVE_PICTURES.iterdir()} == set(names)
