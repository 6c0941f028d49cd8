"""``sgmc/__init__.pyi``: what editors and type checkers read, written by the build.

Verbs, models and samplers get their signatures from the functions themselves, and the types of
their arguments from the table of keywords.  Names whose module is plain Python are re-exported.
The build has only numpy and scipy, so nothing here may import more.
"""

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import sgmc
from sgmc.api.names import public_names
from sgmc.arguments.declared.keywords import ARRAYS, FIT, FORMULA, MODEL, REGRESSION, TUNE, rows
from sgmc.arguments.declared.signatures import PerClass, filled
from sgmc.arguments.types import FilePath
from sgmc.core.spec import SamplerSpec
from sgmc.models.bases.model import Model
from sgmc.models.regression.model import Regression

# of these modules the text says everything
PLAIN = (
    "sgmc.api.versions",
    "sgmc.core.system.deadline",
    "sgmc.errors",
    "sgmc.models.user.check",
    "sgmc.prepared.prepare",
    "sgmc.prepared.file.prepared",
    "sgmc.priors",
    "sgmc.registry",
    "sgmc.results.effects.grids",
    "sgmc.results.files",
    "sgmc.results.outcomes.criticism.loo",
    "sgmc.results.outcomes.criticism.stacking",
    "sgmc.results.results",
    "sgmc.tuning.result",
    "sgmc.tuning.fit_plan",
)
HEADER = """\
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sgmc import datasets as datasets, diagnostics as diagnostics
from sgmc import errors as errors, registry as registry
from sgmc.core.spec import SamplerSpec
from sgmc.formula.outside import formula as formula
from sgmc.formula.evaluation.safe import SafeFormula
from sgmc.models.regression.results import RegressionResults
from sgmc.priors import PriorSpec
from sgmc.version import __version__ as __version__
"""
ALIASES = """\
_Table: TypeAlias = Any  # pandas, polars or pyarrow; paths; lazy tables
_Column: TypeAlias = str | ArrayLike | None
_Prior: TypeAlias = str | PriorSpec
_Seed: TypeAlias = (
    int | np.random.SeedSequence | np.random.BitGenerator | np.random.Generator | None
)

class _Schedule: ...
"""
VERBS = {"glm": "RegressionResults", "sample": "Results", "tune": "TuneResult", "plan": "FitPlan"}
VERBS["gamma"] = "Any"  # a prior, or results
SIMPLE = (type(None), bool, int, float, str)


def write(folder: FilePath) -> None:
    """Write the stub into a built package."""
    Path(folder, "__init__.pyi").write_text(text(), encoding="utf-8")


def text() -> str:
    """Return the text of the stub."""
    homes = public_names()
    plain = {name: home for name, home in homes.items() if home in PLAIN}
    others = {
        name: getattr(importlib.import_module(home), name)
        for name, home in homes.items()
        if name not in plain
    }
    imports = sorted({results_of(one) for one in others.values() if is_a(one, Model)})
    blocks = [
        f'"""{sgmc.__doc__}"""\n\n# Written by the build: see sgmc/api/stubs.py.\n\n{HEADER}'
        + "".join(f"from {module} import {name}\n" for module, name in imports)
        + "".join(f"from {home} import {name} as {name}\n" for name, home in plain.items()),
        ALIASES,
        class_of("_Regression", Regression, "", regression_members(Regression)),
        class_of("Model", Model, "", [*members(Model, object), fit_of(Model)]),
        *(block(name, value) for name, value in others.items() if value is not Model),
    ]
    return "\n".join(blocks)


def is_a(value: Any, base: type) -> bool:
    """Return whether a value is a subclass."""
    return isinstance(value, type) and issubclass(value, base)


def block(name: str, value: Any) -> str:
    """Return the stub of a verb or a class."""
    if is_a(value, SamplerSpec):
        return class_of(name, value, "SamplerSpec", spec_members(value))
    if is_a(value, Regression):
        made = [method(value, "__init__", (ARRAYS,), "None")]
        made.append("@classmethod\n" + method(value, "from_formula", (FORMULA,), name))
        if value.defaults:
            made.append(method(value, "fit", (REGRESSION,), "RegressionResults"))
        return class_of(name, value, "_Regression", made)
    if is_a(value, Model):
        return class_of(name, value, "Model", [*members(value, Model), fit_of(value)])
    if isinstance(value, type):
        return class_of(name, value, "_Schedule", compiled_members(value))
    returned = VERBS.get(name, "RegressionResults")
    types = typed(FORMULA, *FIT, TUNE)
    return function(name, inspect.signature(value), types, returned, docstring(value))


def class_of(name: str, cls: Any, base: str, parts: Iterable[str]) -> str:
    """Return the stub of a class from those of its members."""
    head = f"class {name}({base}):" if base else f"class {name}:"
    body = [docstring(cls), *parts]
    return f"{head}\n{textwrap.indent(chr(10).join(part for part in body if part), '    ')}\n"


def docstring(value: Any) -> str:
    """Return a docstring as source, or an empty text."""
    told = inspect.getdoc(value)
    if not told:
        return ""
    told = told.replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{told}\n"""' if "\n" in told or told.endswith('"') else f'"""{told}"""'


def typed(*takers: str) -> dict[str, str]:
    """Return the types of the arguments of those takers: name -> annotation."""
    return {row.name: row.annotation for row in rows(*takers)}


def function(
    name: str, signature: inspect.Signature, types: Mapping[str, str], returned: str, told: str = ""
) -> str:
    """Return the stub of a function, with types by the names of its arguments."""
    parts = [argument(p, types) for p in signature.parameters.values()]
    kinds = [p.kind for p in signature.parameters.values()]
    by_name = inspect.Parameter.KEYWORD_ONLY
    if by_name in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        parts.insert(kinds.index(by_name), "*")
    lines = "".join(f"    {part},\n" for part in parts)
    body = f"\n{textwrap.indent(told, '    ')}\n    ..." if told else " ..."
    return f"def {name}(\n{lines}) -> {returned}:{body}\n"


def argument(p: inspect.Parameter, types: Mapping[str, str]) -> str:
    """Return the stub of an argument."""
    stars: dict[Any, str] = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}
    name = stars.get(p.kind, "") + p.name
    if p.name == "self" or p.name == "cls":
        return name
    default = "" if p.default is p.empty else f" = {shown(p.default)}"
    annotation = types.get(p.name, "Any")
    if p.default is None and annotation != "Any" and "None" not in annotation:
        annotation += " | None"
    return f"{name}: {annotation}{default}"


def shown(default: object) -> str:
    """Return a default as source, or dots where it has none."""
    plain = isinstance(default, SIMPLE) or (
        isinstance(default, tuple) and all(isinstance(one, SIMPLE) for one in default)
    )
    return repr(default) if plain else "..."


def method(cls: Any, name: str, takers: Sequence[str], returned: str) -> str:
    """Return the stub of a method whose keywords are in the table."""
    value = getattr(cls, name)
    signature = of_class(value) if inspect.ismethod(value) else inspect.signature(value)
    types = {row.name: row.annotation for row in cls._keywords(*takers)}
    return function(name, signature, types, returned, docstring(value))


def fit_of(cls: Any) -> str:
    """Return the stub of `fit` of a model that is no regression."""
    return method(cls, "fit", (MODEL,), results_of(cls)[1])


def results_of(cls: Any) -> tuple[str, str]:
    """Return the module and name of the class that `result_class` imports, without importing it."""
    source = textwrap.dedent(inspect.getsource(cls.result_class))
    (found,) = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    return str(found.module), found.names[0].name


def regression_members(cls: Any) -> list[str]:
    """Return the stubs of what all regressions have."""
    shared = [part for part in members(cls, object) if not part.startswith("def __init__")]
    return [*shared, method(cls, "fit", (REGRESSION,), "RegressionResults")]


def members(cls: Any, base: Any) -> list[str]:
    """Return the stubs of a class's own members, and of its bases' up to `base`."""
    found: dict[str, Any] = {}
    attributes: set[str] = set()
    for one in reversed(cls.__mro__[: cls.__mro__.index(base)]):
        attributes |= assigned(one)
        found |= {name: value for name, value in vars(one).items() if shows(name, value)}
    parts = [member(name, value) for name, value in found.items() if not hasattr(base, name)]
    if "__init__" in found and base is not object:
        parts.append(function("__init__", inspect.signature(found["__init__"]), {}, "None"))
    seen = {*found, *dir(base)} | (assigned(base) if base is not object else set())
    return [*(f"{name}: Any" for name in sorted(attributes - seen)), *parts]


def shows(name: str, value: Any) -> bool:
    """Return whether a member is public, and no method that is made from the table."""
    return not isinstance(value, PerClass) and (not name.startswith("_") or name == "__init__")


def assigned(cls: Any) -> set[str]:
    """Return the public attributes that the methods of a class assign to `self`."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and not node.attr.startswith("_")
    }


def member(name: str, value: Any) -> str:
    """Return the stub of an attribute, a property or a method."""
    if isinstance(value, (property, cached_property)):
        return f"@property\ndef {name}(self) -> Any: ...\n"
    head = ""
    if isinstance(value, (classmethod, staticmethod)):
        head, value = f"@{type(value).__name__}\n", value.__func__
    if not inspect.isroutine(value):
        return f"{name}: Any"
    return head + function(name, inspect.signature(value), {}, "Any", docstring(value))


def spec_members(cls: Any) -> list[str]:
    """Return the stubs of a specification's parameters."""
    types = {row.name: row.annotation for row in cls.parameters}
    made = function("__init__", filled(cls.__init__, cls.parameters), types, "None")
    return [*(f"{name}: {annotation}" for name, annotation in types.items()), made]


def compiled_members(cls: Any) -> list[str]:
    """Return the stubs of a compiled class: Cython writes signatures into the docstrings."""
    first = re.findall(r"\w+", cls.__doc__.partition("\n")[0].partition("(")[2])
    types = dict(re.findall(r"^ *(\w+) : (int|float)\b", cls.__doc__, re.M))
    given = ", ".join(f"{name}: {types.get(name, 'float')}" for name in first)
    parts = [
        f"def __init__(self, {given}) -> None: ...",
        "def __call__(self, t: int) -> float: ...",
    ]
    for name, value in vars(cls).items():
        if isinstance(value, classmethod):
            made, told = getattr(cls, name), docstring(getattr(cls, name))
            stub = function(name, of_class(made), {}, cls.__name__, told)
            parts.append(f"@classmethod\n{stub}")
        elif inspect.isgetsetdescriptor(value):
            parts.append(f"{name}: float")
    return parts


def of_class(method: Any) -> inspect.Signature:
    """Return the signature of a class method, with the class that it is bound to."""
    first = inspect.Parameter("cls", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return inspect.Signature([first, *inspect.signature(method).parameters.values()])
