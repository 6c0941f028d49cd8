"""The command line: ``sgmc fit FORMULA DATA``, ``sgmc prepare FORMULA DATA PATH``,
``sgmc families``, ``sgmc samplers``, ``sgmc describe``.
"""

import argparse
import signal
import sys
import textwrap
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from sgmc.arguments.keywords import FORMULA, REGRESSION, TABLE, rows
from sgmc.arguments.parameter import Keyword
from sgmc.arguments.types import Frame
from sgmc.errors import ArgumentError, SGMCError, SGMCWarning
from sgmc.version import __version__

DATA = (
    "a CSV, TSV, Parquet or Arrow file, several, a folder, a quoted pattern ('data/*.parquet'), "
    "- (the standard input), or dataset:NAME, e.g. dataset:fair"
)
OK, BAD_INPUT, INTERRUPTED = 0, 2, 130


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where help is, and exit."""
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see `{self.prog} --help`)\n")


def parser() -> Parser:
    """The argument parser."""
    top = Parser(prog="sgmc", description="Scalable Bayesian regression from the command line.")
    top.add_argument("--version", action="version", version=f"sgmc {__version__}")
    commands = top.add_subparsers(dest="command", required=True)
    fit = commands.add_parser("fit", help="fit a model and print its summary")
    add_formula(fit, 'e.g. "y ~ ." or "y ~ x1 + C(g)"')
    fit.add_argument("data", nargs="+", help=DATA)
    fit.add_argument(
        "--model", default="logit", help="the verb (default: logit); see `sgmc families`"
    )
    add_options(fit, options())
    fit.add_argument("--json", action="store_true", help="print the summary as JSON")
    fit.add_argument(
        "--details", action="store_true", help="add sampler, step size, errors and memory"
    )
    prepare = commands.add_parser("prepare", help="write the table of a formula to a file")
    add_formula(prepare, "that of the fits to come")
    prepare.add_argument("data", nargs="+", help=DATA)
    prepare.add_argument("path", help="the file to write, e.g. table.sgmc")
    add_options(prepare, options_of_prepare())
    commands.add_parser("families", help="list the verbs and their models")
    commands.add_parser("samplers", help="list samplers and their parameters")
    describe = commands.add_parser("describe", help="explain a verb, a sampler or an argument")
    describe.add_argument("name", help="e.g. logit, sgld or batch_size")
    return top


def add_formula(command: argparse.ArgumentParser, brief: str) -> None:
    """Add the formula, and where it comes from."""
    command.add_argument("formula", help=brief)
    command.add_argument(
        "--safe",
        action="store_true",
        help="the formula and --subset come from outside: call listed functions alone",
    )


def formula_of(asked: argparse.Namespace) -> Any:
    """Return the formula of a command."""
    from sgmc.formula.outside import formula

    return formula(asked.formula, safe=asked.safe)


def add_options(command: argparse.ArgumentParser, rows: Iterable[Keyword]) -> None:
    """Add an option for each row of the table of keywords."""
    for row in rows:
        command.add_argument(
            "--" + row.name.replace("_", "-"),
            type=row.option or str,
            default=argparse.SUPPRESS,
            metavar=row.name.upper(),
            help=help_of(row),
        )


def given(asked: argparse.Namespace, rows: Iterable[Keyword]) -> dict[str, Any]:
    """Return the options that were given, by name."""
    return {row.name: vars(asked)[row.name] for row in rows if row.name in vars(asked)}


def options() -> list[Keyword]:
    """Return the rows of the keywords that are options of ``sgmc fit``."""
    return [row for row in rows(FORMULA, REGRESSION) if row.option is not None]


def options_of_prepare() -> list[Keyword]:
    """Return the rows of the keywords that are options of ``sgmc prepare``."""
    from inspect import signature

    from sgmc.prepared.prepare import prepare

    return [row for row in options() if row.name in signature(prepare).parameters]


def help_of(row: Keyword) -> str:
    """Return the help of an option: the row's first sentence, what is allowed, and the default."""
    default = "" if row.default is None else f"default: {row.default}"
    details = "; ".join(part for part in (row.typed, default) if part)
    return f"{row.brief.replace('`', '')}{details and f' ({details})'}".replace("%", "%%")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    asked = parser().parse_args(arguments)
    try:
        return COMMANDS[asked.command](asked)
    except KeyboardInterrupt:
        print("sgmc: interrupted before the first draw", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        return OK
    except (SGMCError, OSError) as error:
        print(f"sgmc: {' '.join(str(error).split())}", file=sys.stderr)
        return BAD_INPUT


def samplers(asked: argparse.Namespace) -> int:
    """Print the registry."""
    from sgmc.registry import room

    for _, cls in sorted(room("samplers").items()):
        print(cls.describe())
    print("\ngradients: " + ", ".join(sorted(room("gradients"))))
    print("subsampling: " + ", ".join(sorted(room("subsampling"))))
    return OK


def families(asked: argparse.Namespace) -> int:
    """Print the verbs, with the model and the outcomes of each."""
    from sgmc.registry import headline, room
    from sgmc.results.report.summary import WIDTH

    for name, model in sorted(room("families").items()):
        text = f"{name}: {headline(model)} Outcomes: {model.family.accepts}."
        print("\n".join(textwrap.wrap(text, WIDTH, subsequent_indent="    ")))
    return OK


def describe(asked: argparse.Namespace) -> int:
    """Print what a verb, a sampler or an argument is."""
    from sgmc.api import verbs
    from sgmc.registry import room

    name = asked.name.lower().replace("-", "_")
    entries = [line for row in TABLE if row.name == name for line in row.lines()]
    if name in room("samplers"):
        print(room("samplers")[name].describe())
    elif name in room("families"):
        print(getattr(verbs, name).__doc__)
    elif entries:
        print("\n".join(entries))
    else:
        raise ArgumentError(f"{asked.name!r} is neither a verb, a sampler nor an argument of a fit")
    return OK


def fit(asked: argparse.Namespace) -> int:
    """Fit, print, and say by the exit status whether the run was interrupted."""
    from sgmc.api import verbs
    from sgmc.api.as_json import as_json
    from sgmc.api.prior_text import prior_of
    from sgmc.arguments.choices import nearest
    from sgmc.registry import room

    # background jobs of a shell start with it ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    known = sorted(room("families"))
    if asked.model not in known:
        hint = nearest(asked.model, known, "known")
        raise ArgumentError(f"--model {asked.model!r} is not known{hint}")
    verb, chosen = getattr(verbs, asked.model), given(asked, options())
    if "prior" in chosen:
        chosen["prior"] = prior_of(chosen["prior"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)  # the summary repeats them
        results = verb(
            formula_of(asked),
            read(asked.data),
            **chosen,
        )
    print(as_json(results) if asked.json else results.summary(details=asked.details))
    if results.tuning is not None and not asked.json:
        from sgmc.results.report.summary import WIDTH

        print("\n".join(textwrap.wrap(f"Tuning: {results.tuning}", WIDTH, subsequent_indent="  ")))
    return INTERRUPTED if results.interrupted == "Ctrl-C" else OK


def prepare(asked: argparse.Namespace) -> int:
    """Prepare a file, and print what it is."""
    from sgmc.prepared.prepare import prepare as write

    # as it goes on where it was interrupted, nothing is lost
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(
        write(formula_of(asked), read(asked.data), asked.path, **given(asked, options_of_prepare()))
    )
    return OK


def read(sources: list[str]) -> Any:
    """Data of a verb: a table of ``dataset:NAME`` or of the standard input, a prepared file, or the
    paths as they are.
    """
    if len(sources) > 1:
        return sources
    (source,) = sources
    if source.startswith("dataset:"):
        from sgmc import datasets

        return datasets.load(source.removeprefix("dataset:"))
    if source == "-":
        return standard_input()
    if source.lower().endswith(".sgmc"):
        from sgmc.prepared.prepared import open

        return open(source)
    return source


def standard_input() -> Frame:
    """The table on the standard input: CSV, or TSV if its first line has a tab."""
    import io

    import pandas as pd

    from sgmc.sources.part import reading

    text = sys.stdin.read()
    with reading("the standard input"):
        return pd.read_csv(io.StringIO(text), sep="\t" if "\t" in text.partition("\n")[0] else ",")


COMMANDS = {
    "fit": fit,
    "prepare": prepare,
    "families": families,
    "samplers": samplers,
    "describe": describe,
}
