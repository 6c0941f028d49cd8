"""Parts of pages that are made from the code when the site is built.

A page has a comment where a part belongs: ``.. generated: NAME`` in reStructuredText,
``<!-- generated: NAME -->`` in Markdown.  A new family, sampler or warning is then in the pages
without an edit.  ``python docs/registered.py PAGE`` prints a page with its parts.
"""

import re
import sys
from pathlib import Path

import defaults

import sgmc
from sgmc import datasets, errors
from sgmc.api import names
from sgmc.registry import headline, room

MARK = re.compile(r"^(?:\.\. generated: (.+)|<!-- generated: (.+) -->)$", re.M)
FIRST = "Logit"  # whose page has the members that all regressions share


def filled(page):
    """Return the text of a page with its generated parts."""
    return MARK.sub(lambda mark: PARTS[mark[1] or mark[2]](), page)


def entries(directive, shown, members=()):
    """Return an overview of public names, and an entry of each; those in `members` with theirs."""
    lines = [".. autosummary::", "   :nosignatures:", "", *(f"   {name}" for name in shown)]
    for name in shown:
        lines += ["", f".. {directive}:: {name}"]
        if name in members:
            lines += ["   :members:", "   :inherited-members:"]
    return "\n".join(lines)


def models():
    """Return the regression classes: the first one, then the others by their verbs."""
    found = [model for _, model in sorted(room("families").items())]
    return sorted(found, key=lambda model: model.__name__ != FIRST)


def is_verb(model):
    """Return whether the family's name is its verb: `sgmc.gamma` is a prior."""
    return names.public_names()[model.family.name] == "sgmc.api.verbs"


def verbs():
    """Return the entries of the verbs."""
    shown = [model.family.name for model in models() if is_verb(model)]
    return entries("autofunction", [f"sgmc.{name}" for name in [*shown, "glm", "sample"]])


def regressions():
    """Return the entries of the regression classes."""
    shown = [f"sgmc.{model.__name__}" for model in models()]
    return entries("autoclass", shown, [f"sgmc.{FIRST}"])


def group(spec):
    """Return the section of the samplers' page that a specification belongs to."""
    if spec.continuous:
        return "continuous"
    if not spec.by_name or not (spec.exact or spec.uses_gradient):
        return "other"
    return "exact" if spec.exact else "stochastic"


def samplers(section):
    """Return the function that makes the entries of one section of the samplers' page."""

    def made():
        found = [getattr(sgmc, name) for name in sorted(names.samplers(), key=str.lower)]
        shown = [f"sgmc.{spec.__name__}" for spec in found if group(spec) == section]
        return entries("autoclass", shown)

    return made


def named(base):
    """Return the function that makes the entries of the subclasses of an error or warning."""

    def made():
        found = [
            f"sgmc.errors.{name}"
            for name, value in vars(errors).items()
            if isinstance(value, type) and issubclass(value, base) and value is not base
        ]
        return entries("autoclass", found)

    return made


def families():
    """Return the table of regression families."""
    head = ["| verb | outcomes | model | own parameters, default priors |", "|---|---|---|---|"]
    return "\n".join([*head, *map(family_row, models())])


def family_row(model):
    """Return a family's row: verb, outcomes, model, own parameters with their default priors."""
    family = model.family
    verb = family.name
    if not is_verb(model):
        link = "" if family.default_link else f', link="{family.link}"'
        verb = f'glm(family="{family.distribution}"{link})'
    own = ", ".join(f"`{one.name}` ~ {one.prior}".replace("*", r"\*") for one in family.auxiliary)
    formula = headline(model).split(": ", 1)[1].removesuffix(".").replace("|", r"\|")
    return f"| `{verb}` | {family.accepts} | {formula} | {own} |"


def licences():
    """Return the table of sources and licences of data sets."""
    rows = datasets.licences().itertuples()
    lines = [
        f"   * - ``{name}``\n     - {source}\n     - {licence}" for name, source, licence in rows
    ]
    head = [
        ".. list-table::",
        "   :header-rows: 1",
        "",
        "   * - data",
        "     - source",
        "     - licence",
    ]
    return "\n".join([*head, *lines])


PARTS = {
    "verbs": verbs,
    "regressions": regressions,
    "stochastic samplers": samplers("stochastic"),
    "exact samplers": samplers("exact"),
    "piecewise-deterministic samplers": samplers("continuous"),
    "other samplers": samplers("other"),
    "errors": named(errors.SGMCError),
    "warnings": named(errors.SGMCWarning),
    "families": families,
    "licences of data": licences,
    "defaults of stochastic samplers": defaults.stochastic_samplers,
    "defaults of exact samplers": defaults.exact_samplers,
    "defaults of piecewise-deterministic samplers": defaults.continuous_samplers,
    "constants": defaults.constants,
}

if __name__ == "__main__":
    print(filled(Path(sys.argv[1]).read_text()))
