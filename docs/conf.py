"""The documentation site: README, guides, vignettes (executed) and the docstrings.

    pip install ".[docs]"
    SGMC_VIGNETTE_FAST=1 sphinx-build -W -c docs . build/site

Without SGMC_VIGNETTE_FAST vignettes have their full settings.

The sources are the files of the repository where they are: its root is the source directory.
"""

import os
import re
import sys
from pathlib import Path

from sphinx.ext import autosummary

import sgmc

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))
import registered  # noqa: E402

FIRST = (
    "getting-started",
    "groups",
    "crossed",
    "curves",
    "larger-than-memory",
    "trust",
    "choosing-a-sampler",
    "bring-your-own-model",
)
PAPERS = ("sgld", "sgbd", "sbps", "review", "mamba")
FAST = os.environ.get("SGMC_VIGNETTE_FAST") == "1"

project, author, copyright = "sgmc", "The sgmc developers", "The sgmc developers"
version = release = sgmc.__version__
extensions = [
    "myst_nb",
    "sphinx_design",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "matplotlib.sphinxext.plot_directive",
]

# ---- sources -------------------------------------------------------------------------------------
root_doc = "docs/index"
stories = sorted(
    path.stem for path in (ROOT / "vignettes").glob("*.py") if "\n# %%" in path.read_text()
)
results = ["vignettes/RESULTS"] if (ROOT / "vignettes" / "RESULTS.md").exists() else []
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "docs/*.md",
    "docs/api/*.rst",
    "vignettes/RESULTS.md",
    *(f"vignettes/{name}.py" for name in stories),
]
templates_path, html_static_path, html_css_files = ["_templates"], ["_static"], ["site.css"]
html_sidebars = {
    name: [] for name in ("README", "CHANGELOG", "CONTRIBUTING", "CODE_OF_CONDUCT", "docs/index")
}
html_additional_pages = {"index": "redirect.html"}

# ---- vignettes -----------------------------------------------------------------------------------
nb_custom_formats = {".py": "reader.notebook"}
nb_execution_mode = "cache"
nb_execution_cache_path = str(ROOT / "build" / f"notebooks-{'fast' if FAST else 'full'}")
nb_execution_timeout, nb_execution_raise_on_error, nb_merge_streams = 7200, True, True
# results of record are those of the scripts
os.environ.setdefault("SGMC_VIGNETTE_OUT", str(ROOT / "build" / "vignettes"))
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
os.environ.pop("MPLBACKEND", None)  # figures belong on the page
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(Path(sgmc.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
)
os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")

# ---- figures of the API's pages ----------------------------------------------------------------
plot_html_show_formats, plot_html_show_source_link = False, False
plot_formats, plot_rcparams = [("png", 110)], {"figure.figsize": (6, 3.5), "savefig.bbox": "tight"}
plot_apply_rcparams = True

# ---- text ----------------------------------------------------------------------------------------
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["mystnb.unknown_mime_type"]
default_role, highlight_language = "py:obj", "text"
numpydoc_show_class_members = False
autosummary_generate = False
# no sentence ends at x . y
autosummary.extract_summary = lambda doc, document: " ".join(
    "\n".join(doc).strip().split("\n\n")[0].split()
)
autodoc_member_order, toc_object_entries_show_parents = "bysource", "hide"
autodoc_default_options = {
    "exclude-members": (
        "of_fit, besides, info, kernel, prior_kernel, problem, recorder_class, result_class, "
        "usual, continue_from, refuse"
    )
}

# ---- pages ---------------------------------------------------------------------------------------
html_theme, html_title, html_show_sourcelink = "pydata_sphinx_theme", f"sgmc {release}", False
html_theme_options = {
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_nav_level": 2,
    "pygments_light_style": "tango",
    "logo": {"text": "sgmc"},
}


def listed(app, docname, source):
    """Fill in what is in the vignettes' folder: the papers in their order, the parts of one
    together, others after them.
    """
    if docname == "docs/vignettes":
        parts = [name for paper in PAPERS for name in stories if name.split("-")[0] == paper]
        others = [name for name in stories if name not in (*FIRST, *parts)]
        for mark, names in (
            ("FIRST", [n for n in FIRST if n in stories]),
            ("PAPERS", parts + others),
        ):
            source[0] = source[0].replace(
                f"%{mark}%", "\n".join(f"/vignettes/{name}" for name in names)
            )
        source[0] = source[0].replace("%RESULTS%", "\n".join(f"/{name}" for name in results))


def generated(app, docname, source):
    """Fill in what is made from the code."""
    source[0] = registered.filled(source[0])


def linked(app, docname, source):
    """The README as a page: under the name that the navigation has for it;
    what is no page of the site is no link.
    """
    if docname in ("README", "docs/index"):
        source[0] = re.sub(r"\[([^\]]*)\]\((examples/[^)]*)\)", r"`\1`", source[0])
        source[0] = source[0].replace("%VERSION%", release)
    if docname == "README":
        source[0] = source[0].replace("# sgmc\n", "# Start\n", 1)


def plain(app, what, name, thing, options, lines):
    """Bars and stars of formulas in docstrings are themselves: |v|, x*."""
    for k, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...", "*")):
            parts = re.split(r"(`+[^`]*`+)", line)
            parts[::2] = [re.sub(r"(?<!\\)([|*])", r"\\\1", part) for part in parts[::2]]
            lines[k] = "".join(parts)


def setup(app):
    """Connect the above."""
    app.connect("source-read", listed)
    app.connect("source-read", generated)
    app.connect("source-read", linked)
    app.connect("autodoc-process-docstring", plain, priority=90)
