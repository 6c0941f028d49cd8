"""The command line: ``sgmc fit FORMULA DATA`` and ``sgmc samplers``."""

import argparse
import json
import signal
import sys
import textwrap
import warnings
from dataclasses import asdict

from sgmc.errors import SGMCError, SGMCWarning

OK, BAD_INPUT, INTERRUPTED = 0, 2, 130
FIT_ARGUMENTS = (
    "sampler",
    "gradient",
    "batch_size",
    "step_size",
    "draws",
    "chains",
    "seed",
    "time_limit",
    "checkpoint",
    "cov_type",
    "tune",
)
WIDTH = 78  # of what is printed


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message):
        """Say what is wrong and where help is, and exit."""
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see `{self.prog} --help`)\n")


def parser():
    """The argument parser."""
    top = Parser(prog="sgmc", description="Scalable Bayesian regression from the command line.")
    commands = top.add_subparsers(dest="command", required=True)
    fit = commands.add_parser("fit", help="fit a model and print its summary")
    fit.add_argument("formula", help='e.g. "y ~ ." or "y ~ x1 + C(g)"')
    fit.add_argument(
        "data", help="a .csv, .csv.gz or .parquet file, or dataset:NAME, e.g. dataset:fair"
    )
    fit.add_argument("--model", default="logit", help="the verb (default: logit)")
    fit.add_argument(
        "--sampler", default="auto", help="auto, lmsgld, sgld-cv, mala, ...; see `sgmc samplers`"
    )
    fit.add_argument("--gradient", help="taylor, cv, saga, svrg or simple")
    fit.add_argument("--batch-size", type=int)
    fit.add_argument("--step-size", type=float)
    fit.add_argument(
        "--tune",
        metavar="METHOD",
        help="mamba, grid, default or heuristic: choose step and minibatch by a race first",
    )
    fit.add_argument(
        "--cov-type",
        default="nonrobust",
        help="robust: the sandwich's covariance (default: nonrobust)",
    )
    fit.add_argument("--draws", type=int, default=1000, help="kept draws a chain (default: 1000)")
    fit.add_argument("--chains", type=int, default=4)
    fit.add_argument("--seed", type=int)
    fit.add_argument("--time-limit", type=float, help="seconds")
    fit.add_argument(
        "--checkpoint",
        help="a file for the state of the run; if it is there, the run goes on from it",
    )
    fit.add_argument("--json", action="store_true", help="print the summary as JSON")
    commands.add_parser("samplers", help="list samplers and their parameters")
    return top


def main(arguments=None):
    """Run the command line; returns the exit status."""
    options = parser().parse_args(arguments)
    try:
        return samplers() if options.command == "samplers" else fit(options)
    except KeyboardInterrupt:
        print("sgmc: interrupted before the first draw", file=sys.stderr)
        return INTERRUPTED
    except (SGMCError, OSError) as error:
        print(f"sgmc: {' '.join(str(error).split())}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        return OK


def samplers():
    """Print the registry."""
    from sgmc.registry import room

    for name, cls in sorted(room("samplers").items()):
        print(cls.describe())
    print("\ngradients: " + ", ".join(sorted(room("gradients"))))
    print("subsampling: " + ", ".join(sorted(room("subsampling"))))
    return OK


def fit(options):
    """Fit, print, and say by the exit status whether the run was interrupted."""
    from sgmc.api import verbs
    from sgmc.errors import ArgumentError
    from sgmc.registry import room

    # background jobs of a shell start with it ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    known = sorted(room("families"))
    if options.model not in known:
        raise ArgumentError(f"--model {options.model!r} is not known; known: {', '.join(known)}")
    verb = getattr(verbs, options.model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)  # the summary repeats them
        results = verb(
            options.formula,
            read(options.data),
            **{name: getattr(options, name) for name in FIT_ARGUMENTS},
        )
    print(as_json(results) if options.json else results.summary())
    if results.tuning is not None and not options.json:
        print("\n".join(textwrap.wrap(f"Tuning: {results.tuning}", WIDTH, subsequent_indent="  ")))
    return INTERRUPTED if results.interrupted == "Ctrl-C" else OK


def read(source):
    """A DataFrame from a file name or ``dataset:NAME``."""
    import pandas as pd

    from sgmc.errors import DataError

    if source.startswith("dataset:"):
        from sgmc import datasets

        return datasets.load(source.removeprefix("dataset:"))
    readers = {".csv": pd.read_csv, ".csv.gz": pd.read_csv, ".parquet": pd.read_parquet}
    for suffix, reader in readers.items():
        if source.endswith(suffix):
            try:
                return reader(source)
            except ImportError:
                raise DataError(
                    f"{source}: reading parquet needs pyarrow (pip install pyarrow)"
                ) from None
            except (ValueError, UnicodeDecodeError) as error:
                raise DataError(f"{source}: {error}") from error
    raise DataError(f"{source!r}: give a .csv, .csv.gz or .parquet file, or dataset:NAME")


def as_json(results):
    """The summary as one JSON object: facts, verdict, coefficients, warnings, and what a race
    chose (null: there was none).
    """
    left, right, lines = results.header
    tuning = None if results.tuning is None else tuning_facts(results.tuning)
    return json.dumps(
        {
            "facts": dict([*left, *right]),
            "notes": lines,
            "verdict": asdict(results.verdict),
            "coefficients": results.summary_frame().to_dict(orient="index"),
            "warnings": [
                {"code": w.code, "message": w.message, "advice": w.advice} for w in results.warnings
            ],
            "tuning": tuning,
            "seed": results.seed,
            "interrupted": results.interrupted,
        },
        indent=2,
        default=float,
    )


def tuning_facts(result):
    """What `TuneResult` says of the race, and of the arm that it chose."""
    return {
        "method": result.method,
        "metric": result.metric,
        "budget": result.budget,
        "reproducible": result.reproducible,
        "arms": len(result.arms),
        "arm": result.winner,
        "sampler": repr(result.best["sampler"]),
        **result.arms.loc[result.winner].drop("diverged"),
    }
