"""Run a tutorial as its readers do, then check what it states.

    python vignettes/check.py getting-started --fast

A tutorial is a plain script in cells.  It imports nothing of this folder, so that its cells run
when they are pasted into an empty notebook.  Sizes that decide how long it takes are constants
with a smaller value beside them::

    ROWS = 1_000_000  # quick: 10_000

``--fast`` takes the smaller ones.  ``checks/NAME.py`` states claims about the variables that the
tutorial leaves, and names its figures.
"""

import argparse
import importlib
import re
from pathlib import Path
from types import SimpleNamespace

import matplotlib
from matplotlib import pyplot as plt

HERE = Path(__file__).resolve().parent
QUICK = re.compile(r"^((\w+) = ).*?  # quick: (.+)$", re.MULTILINE)
TUTORIALS = sorted(path.stem.replace("_", "-") for path in (HERE / "checks").glob("[a-z]*.py"))


def quick(text):
    """The text of a tutorial with the smaller values of its constants."""
    return QUICK.sub(r"\1\3", text)


def cells(text):
    """Code of the cells of a script in percent format, without its header and its prose."""
    parts = re.split(r"^# %%(.*)$", text, flags=re.MULTILINE)
    return [code for mark, code in zip(parts[1::2], parts[2::2]) if "[markdown]" not in mark]


def run(text, name):
    """Run the cells of a tutorial in an empty namespace.

    Parameters
    ----------
    text : str
        The script.
    name : str
        What tracebacks call it.

    Returns
    -------
    page : types.SimpleNamespace
        The variables that it leaves.
    figures : list of matplotlib.figure.Figure
        In the order in which they were drawn, in Matplotlib's own style.
    """
    variables, figures = {"__name__": "__main__"}, []
    with matplotlib.rc_context(matplotlib.rcParamsDefault | {"backend": matplotlib.get_backend()}):
        for number, code in enumerate(cells(text), 1):
            drawn = set(plt.get_fignums())
            exec(compile(code, f"{name}, cell {number}", "exec"), variables)
            figures += [plt.figure(k) for k in plt.get_fignums() if k not in drawn]
    return SimpleNamespace(**variables), figures


def main(arguments=None):
    """Run a tutorial, check it, and write figures and results as `story.Story` does."""
    parser = argparse.ArgumentParser(
        prog="vignettes/check.py",
        epilog="Other arguments are those of all vignettes.",
        add_help=False,
    )
    parser.add_argument("tutorial", choices=TUTORIALS)
    given, others = parser.parse_known_args(arguments)
    from story import Story  # a figure style for all that follows

    checks = importlib.import_module(f"checks.{given.tutorial.replace('-', '_')}")
    story = Story(given.tutorial, checks.MINUTES, others)
    text = (HERE / f"{given.tutorial}.py").read_text()
    settings = [constant for _, constant, _ in QUICK.findall(text)]
    page, figures = run(quick(text) if story.fast else text, f"{given.tutorial}.py")
    for label, figure in zip(checks.FIGURES, figures, strict=True):
        story.figure(label, figure)
    checks.check(story, page)
    story.end(**{constant.lower(): getattr(page, constant) for constant in settings})


if __name__ == "__main__":
    main()
