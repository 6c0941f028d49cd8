"""The command line: ``sgmc fit FORMULA DATA``, ``sgmc predict FIT DATA``,
``sgmc prepare FORMULA DATA PATH``, ``sgmc families``, ``sgmc samplers``, ``sgmc datasets``,
``sgmc describe``.
"""

import argparse
import os
import re
import signal
import sys
import textwrap
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from sgmc.arguments.declared.keywords import FORMULA, REGRESSION, rows
from sgmc.arguments.declared.parameter import Keyword
from sgmc.arguments.types import Frame
from sgmc.elsewhere import COMMANDS_ELSEWHERE, OPTIONS_ELSEWHERE, SAME_IN_MODULE
from sgmc.errors import ArgumentError, DataError, SGMCError, SGMCWarning
from sgmc.version import __version__

DATA = (
    "a CSV, TSV, Parquet or Arrow file, several, a folder, a quoted pattern ('data/*.parquet'), "
    "- (the standard input), or dataset:NAME, e.g. dataset:fair"
)
KINDS = {"int": "a whole number", "float": "a number", "number_or_auto": "a whole number or auto"}
DEFAULT = "logit"  # the model of ``sgmc fit``
OK, BAD_INPUT, INTERRUPTED = 0, 2, 130
NO_COMMAND = re.compile(r"invalid choice: '(.*?)' \(choose from .*\)")  # of argparse
EXAMPLES = """\
examples:
  sgmc fit "affairs > 0 ~ age + religious" dataset:fair --seed 1
  sgmc fit "y ~ x + (1 | g)" table.csv --model ols --save fit.sgmcfit
  sgmc predict fit.sgmcfit new.csv --intervals
  sgmc describe batch_size
"""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where help is, and exit."""
        for kind, words in KINDS.items():
            message = message.replace(f"invalid {kind} value: ", f"must be {words}, not ")
        if (found := NO_COMMAND.search(message)) is not None:
            message = message.replace(found[0], f"{found[0]}{of_command(found[1])}")
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see `{self.prog} --help`)\n")


def of_command(name: str) -> str:
    """Return what to use for a command that there is not; empty where no table has it."""
    from sgmc.registry import room

    model = SAME_IN_MODULE.get(name, name)
    if model in room("families"):
        return f"; use `sgmc fit FORMULA DATA --model {model}`"
    return f"; {COMMANDS_ELSEWHERE[name]}" if name in COMMANDS_ELSEWHERE else ""


def parser() -> Parser:
    """The argument parser."""
    top = Parser(
        prog="sgmc",
        description="Scalable Bayesian regression from the command line.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"sgmc {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    fit = commands.add_parser("fit", help="fit a model and print its summary")
    add_formula(fit, 'e.g. "y ~ ." or "y ~ x1 + C(g)"')
    fit.add_argument("data", nargs="+", help=DATA)
    fit.add_argument("--model", help="the verb (default: logit); see `sgmc families`")
    add_options(fit, options())
    form = fit.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the summary as JSON")
    form.add_argument("--csv", action="store_true", help="print the table of coefficients as CSV")
    fit.add_argument("--save", metavar="FIT", help="write the fit to a file, for `sgmc predict`")
    fit.add_argument(
        "--details", action="store_true", help="add sampler, step size, errors and memory"
    )
    predict = commands.add_parser("predict", help="print predictions of a saved fit as CSV")
    predict.add_argument("fit", help="a file of `sgmc fit --save`, or of Results.save")
    predict.add_argument("data", nargs="+", help=DATA)
    predict.add_argument(
        "--intervals",
        action="store_true",
        help="add posterior sd and intervals of the mean, and of single outcomes",
    )
    predict.add_argument(
        "--level", type=float, default=None, help="probability of intervals (default: 0.95)"
    )
    for name in ("offset", "exposure"):
        predict.add_argument(f"--{name}", metavar="COLUMN", help=f"the column of the {name}")
    predict.add_argument("--to", metavar="FILE", help="a .csv or .parquet file to write to")
    prepare = commands.add_parser("prepare", help="write the table of a formula to a file")
    add_formula(prepare, "that of the fits to come")
    prepare.add_argument("data", nargs="+", help=DATA)
    prepare.add_argument("path", help="the file to write, e.g. table.sgmc")
    add_options(prepare, options_of_prepare())
    commands.add_parser("families", help="list the verbs and their models")
    commands.add_parser("samplers", help="list samplers and their parameters")
    commands.add_parser("datasets", help="list data sets for dataset:NAME")
    describe = commands.add_parser(
        "describe", help="explain a verb, sampler, argument, prior, result, warning or data set"
    )
    describe.add_argument("name", help="e.g. logit, sgld, batch_size, normal, LowESSWarning")
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
    top = parser()
    asked, asked_besides = top.parse_known_args(arguments)
    asked.own, unknown = own_options(asked, asked_besides)
    if unknown:
        top.error(f"unrecognized arguments: {' '.join(unknown)}{hint_of(unknown, asked.command)}")
    if asked.command is None:
        top.print_help()
        return OK
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


def own_options(asked: argparse.Namespace, besides: list[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments that the verb of a fit has for itself, such as ``kind`` of ``ordinal``
    and ``sigma`` of ``ols``, and the options that are unknown.
    """
    chosen = getattr(asked, "model", "") or DEFAULT
    model = SAME_IN_MODULE.get(chosen, chosen)
    if not besides or asked.command != "fit":
        return {}, besides
    own = Parser(prog="sgmc fit", add_help=False, allow_abbrev=False)
    for name in own_names(model):
        own.add_argument(f"--{name}", type=number_or_text, default=argparse.SUPPRESS)
    found, unknown = own.parse_known_args(besides)
    return vars(found), unknown


def own_names(verb: str) -> list[str]:
    """Return the names of the arguments that a verb has for itself, none if there is no such."""
    from inspect import signature

    from sgmc.api import verbs

    if not hasattr(verbs, verb):
        return []
    names = list(signature(getattr(verbs, verb)).parameters)
    return names[names.index("data") + 1 : names.index("prior")]


def number_or_text(text: str) -> float | str | None:
    """Return a number, None for "none", or the text."""
    try:
        return None if text == "none" else float(text)
    except ValueError:
        return text


def hint_of(unknown: list[str], command: str | None) -> str:
    """Return the end of the message about unknown options: what is meant by the first of them."""
    from sgmc.arguments.choices import nearest
    from sgmc.registry import room

    name = unknown[0].lstrip("-").partition("=")[0]
    told = OPTIONS_ELSEWHERE.get(f"{command}.{name}")
    if told is None and command in ("fit", "prepare"):
        told = OPTIONS_ELSEWHERE.get(name)
    if told is not None:
        return f"; {told}"
    if not unknown[0].startswith("--") or command not in ("fit", "prepare"):
        return ""
    if name in ("family", "verb"):
        return "; a family is chosen by its verb, as in --model poisson: see `sgmc families`"
    if name.replace("-", "_") in {one.name for one in rows(FORMULA, REGRESSION)}:
        return f"; {name.replace('-', '_')}= is an argument in Python alone"
    takers = [verb for verb in sorted(room("families")) if name in own_names(verb)]
    if takers and command == "fit":
        return f"; it goes with --model {', '.join(takers)}"
    known = options() if command == "fit" else options_of_prepare()
    names = [f"--{one.name.replace('_', '-')}" for one in known]
    names += ["--model", "--save", "--json", "--csv", "--details"]
    return nearest(f"--{name}", names, misspelt=True)


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


def data_sets(asked: argparse.Namespace) -> int:
    """Print the names of the data sets, with their sources."""
    from sgmc.datasets import licences, names
    from sgmc.results.report.summary import WIDTH

    found = licences()
    for name in names():
        text = f"{name}: {found.loc[name, 'source']}"
        print("\n".join(textwrap.wrap(text, WIDTH, subsequent_indent="    ")))
    return OK


def describe(asked: argparse.Namespace) -> int:
    """Print what a name of this package is."""
    from sgmc.api.descriptions import description

    print(description(asked.name))
    return OK


def fit(asked: argparse.Namespace) -> int:
    """Fit, print, and say by the exit status whether the run was interrupted."""
    from sgmc.api import verbs
    from sgmc.api.as_json import as_json
    from sgmc.api.prior_text import prior_of, sampler_of
    from sgmc.arguments.choices import nearest
    from sgmc.registry import room

    # background jobs of a shell start with it ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    known = sorted(room("families"))
    model = SAME_IN_MODULE.get(asked.model, asked.model or DEFAULT)
    if model not in known:
        hint = nearest(model, known, "known")
        by_family = "; it is chosen by its family, see `sgmc families`" if model == "glm" else hint
        raise ArgumentError(f"--model {asked.model!r} is not known{by_family}")
    verb, chosen = getattr(verbs, model), {**given(asked, options()), **asked.own}
    if "prior" in chosen:
        chosen["prior"] = prior_of(chosen["prior"])
    if "sampler" in chosen:
        chosen["sampler"] = sampler_of(chosen["sampler"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)  # the summary repeats them
        try:
            results = verb(formula_of(asked), read(asked.data), **chosen)
        except DataError as error:
            if asked.model is not None or " must be 0 or 1, " not in str(error):
                raise
            raise DataError(
                f"{error}.  Without --model the model is logit; of other numbers it is --model "
                "ols, or another of `sgmc families`"
            ) from None
    if asked.save is not None:
        results.save(asked.save)
    if asked.csv:
        print(results.summary_frame().to_csv(index_label="parameter"), end="")
    else:
        print(as_json(results) if asked.json else results.summary(details=asked.details))
    if results.tuning is not None and not asked.json and not asked.csv:
        from sgmc.results.report.summary import WIDTH

        print("\n".join(textwrap.wrap(f"Tuning: {results.tuning}", WIDTH, subsequent_indent="  ")))
    return INTERRUPTED if results.interrupted == "Ctrl-C" else OK


def predict(asked: argparse.Namespace) -> int:
    """Print predictions of a saved fit, or write them to a file."""
    from sgmc.results.files import load
    from sgmc.results.outcomes.data.beside import asks_offset
    from sgmc.results.outcomes.data.streams import written

    if asked.level is not None and not asked.intervals:
        raise ArgumentError("--level is of --intervals: give both")
    results = load(asked.fit)
    frame = rows_in_memory(asked.data)
    beside = {
        name: column_of(frame, f"--{name}", vars(asked)[name])
        for name in ("offset", "exposure")
        if vars(asked)[name] is not None
    }
    asks = {"offset": asks_offset(results), "exposure": "exposure" in results.model.given}
    for name in (one for one in asks if asks[one] and one not in beside):
        raise ArgumentError(f"the model was fitted with an {name}: give --{name} COLUMN")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)  # such as new levels, which are drawn
        if asked.intervals:
            level = 0.95 if asked.level is None else asked.level
            found = results.get_prediction(frame, **beside).summary_frame(level=level)
        else:
            found = results.predict(frame, **beside)
    if asked.to is not None:
        print(written(found, asked.to))
        return OK
    several = found.index.nlevels > 1
    found = found if hasattr(found, "columns") else found.to_frame("mean")
    print(found.to_csv(index_label=None if several else "row"), end="")
    return OK


def rows_in_memory(sources: list[str]) -> Any:
    """The rows of files, or of what else is a command's data, as a table in memory."""
    from sgmc.sources.opening import of

    data = read(sources)
    source = of(data)
    return (data if source is None else source.read()).reset_index(drop=True)


def column_of(frame: Any, option: str, name: str) -> Any:
    """A column of the data by the name that an option has."""
    if name not in frame.columns:
        raise ArgumentError(f"{option} {name!r}: the data have no such column")
    return frame[name]


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
    if source.lower().endswith(".sgmc") or is_prepared(source):
        from sgmc.prepared.file.prepared import open

        return open(source)
    return source


def is_prepared(path: str) -> bool:
    """Whether a file is one of ``sgmc prepare``, whatever its name."""
    from sgmc.prepared.file.layout import MAGIC

    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


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
    "predict": predict,
    "prepare": prepare,
    "families": families,
    "samplers": samplers,
    "datasets": data_sets,
    "describe": describe,
}
