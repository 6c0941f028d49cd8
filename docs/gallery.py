"""The pictures of docs/index.md, docs/gallery.md and docs/five-papers.md: run the code of each,
save the figure of each block under the name that the page has for it, and write the gallery's part
about tutorials.

    python docs/gallery.py
"""

import re
import warnings
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PAGE, PICTURES = DOCS / "gallery.md", DOCS / "_static" / "gallery"
FIVE, FIVE_PICTURES = DOCS / "five-papers.md", DOCS / "_static" / "five"
README, HOME = DOCS.parent / "README.md", DOCS / "_static" / "home"
AT_HOME = {  # pictures of the fit that README begins with
    "odds-ratios.png": "res.plot(exponentiate=True)",
    "predictions.png": 'res.plot_predictions("age")',
}
RESULTS = DOCS.parent / "vignettes" / "results"
STEP = re.compile(
    r"^```python\n(.*?)^```$|^!\[.*?\]\(_static/(?:gallery|five)/(.*?)\)$", re.M | re.S
)
TUTORIALS = (
    "bring-your-own-model", "choosing-a-sampler", "crossed", "curves", "getting-started", "groups",
    "larger-than-memory", "trust",
)  # fmt: skip
HEADING, DPI = "## From the tutorials\n", 80


def steps(text):
    """Pairs of a page: code and "", or "" and the name of a picture, in their order."""
    return [(code, name) for code, name in STEP.findall(text)]


def draw(text, folder):
    """Run the page's code and save the last figure before each picture."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    names = {"__name__": "__main__"}
    for code, name in steps(text):
        if code:
            pyplot.close("all")
            exec(code, names)
        else:
            pyplot.gcf().savefig(folder / name, dpi=DPI)


def home():
    """README's first block, and what the home page draws of its fit, in the form of a page."""
    first = re.search(r"^```python\n(.*?)^```$", README.read_text(), re.M | re.S)[0]
    parts = [
        f"```python\n{code}\n```\n![{name}](_static/gallery/{name})\n"
        for name, code in AT_HOME.items()
    ]
    return "\n".join([first, *parts])


def tutorials():
    """The part about tutorials: a block of pictures with links, for pictures that exist."""
    lines = []
    for name in TUTORIALS:
        for path in sorted(RESULTS.glob(f"{name}-*.png")):
            lines += [
                f".. image:: /vignettes/results/{path.name}",
                "   :width: 32%",
                f"   :alt: {path.stem.replace('-', ' ')}",
                f"   :target: ../vignettes/{name}.html",
                "",
            ]
    return "\n".join(["```{eval-rst}", *lines[:-1], "```", ""])


def written(text):
    """The page with its part about tutorials."""
    head, _, rest = text.partition(HEADING)
    return head + HEADING + rest.partition("```")[0] + tutorials()


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
    pages = (home(), HOME), (PAGE.read_text(), PICTURES), (FIVE.read_text(), FIVE_PICTURES)
    for text, folder in pages:
        folder.mkdir(exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            draw(text, folder)
