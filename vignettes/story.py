"""What every vignette has: a mode, claims that are checked in numbers, figures,
and a file of results.
"""

import argparse
import json
import os
import sys
import textwrap
import time
import warnings
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from stamps import stamp

import sgmc
from sgmc.plots.axes import PALETTE

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "data"))

from simulators import SIMULATORS  # noqa: E402

STYLE = {
    "axes.prop_cycle": matplotlib.cycler(color=PALETTE),
    "figure.constrained_layout.use": True,
    "figure.dpi": 110,
    "savefig.dpi": 160,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": "medium",
    "legend.frameon": False,
    "legend.fontsize": "small",
    "lines.linewidth": 1.4,
}


def quiet_fit(model, **how):
    """``model.fit(**how)`` without sgmc's warnings, for steps that are too long on purpose; None
    where every chain is lost at once.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)
        try:
            return model.fit(**how)
        except sgmc.errors.ArgumentError as error:
            if "diverged" not in str(error):
                raise
            return None


def because(*cases):
    """The reason why a claim does not hold, chosen by what came out.

    Parameters
    ----------
    *cases : (bool, str)
        Whether the numbers of the run show a reason, and the reason.

    Returns
    -------
    str
        The first reason that is shown; empty where none is, and the page of results then states
        that none was found.
    """
    return next((reason for shown, reason in cases if shown), "")


def quarters(path):
    """Means of the first column of a path, (step, column), in the four quarters of the steps."""
    return [part[:, 0].mean() for part in np.array_split(path, 4)]


class Story:
    """One vignette's mode, claims and figures.

    ``--fast`` (or SGMC_VIGNETTE_FAST=1) takes small settings; results of the full mode alone go
    beside the vignettes, others where ``--out`` says.

    Parameters
    ----------
    name : str
    minutes : float
        The budget of the full mode, on two cores.
    arguments : list of str, optional
        In the place of the command line's.
    """

    def __init__(self, name, minutes, arguments=None):
        parser = argparse.ArgumentParser(prog=f"vignettes/{name}.py")
        parser.add_argument(
            "--fast",
            action="store_true",
            default=os.environ.get("SGMC_VIGNETTE_FAST") == "1",
            help="small settings",
        )
        parser.add_argument("--data", help="folder of data sets, as SGMC_DATA")
        parser.add_argument(
            "--out",
            type=Path,
            help="folder of results and figures; of the full mode: vignettes/results",
        )
        # a notebook's kernel has arguments of its own
        given, _ = parser.parse_known_args(arguments)
        if given.data:
            os.environ["SGMC_DATA"] = given.data
        self.name, self.minutes, self.fast = name, minutes, given.fast
        elsewhere = os.environ.get("SGMC_VIGNETTE_OUT")  # where a site is built
        self.out = given.out or (
            Path(elsewhere) if elsewhere else None if given.fast else HERE / "results"
        )
        self.claims, self.figures, self.notes, self.simulated = [], [], [], []
        self.stamp = stamp(name, HERE)  # of the script as it is now, not as a run leaves it
        self.begun, self.worked = time.perf_counter(), time.process_time()
        if self.out:
            self.out.mkdir(parents=True, exist_ok=True)
        plt.rcParams.update(STYLE)
        pd.set_option("display.width", 130, "display.max_columns", 12)
        print(f"{name}: {'fast' if self.fast else 'full'} mode, sgmc {sgmc.__version__}")

    def pick(self, full, fast):
        """The setting of the mode."""
        return fast if self.fast else full

    def data(self, name):
        """A data set of `sgmc.datasets`, in fast mode not downloaded, or in its place a simulated
        table of its shape, which is said.
        """
        try:
            return sgmc.datasets.load(name, download=not self.fast)
        except sgmc.errors.SGMCError:
            self.note(
                f"{name} is not here: a simulated table of its shape instead, to which the paper's "
                "numbers do not apply"
            )
            self.simulated.append(name)
            return SIMULATORS[name]()

    def published(self, name):
        """A table of the folder SGMC_DATA/grouped, or None and a note where it is absent."""
        folder = Path(os.environ.get("SGMC_DATA", "")) / "grouped"
        for path in (folder / f"{name}.csv", folder / f"{name}.csv.gz"):
            if path.exists():
                return pd.read_csv(path)
        self.note(f"skipped: comparison with the published table {name}, not in SGMC_DATA")
        return None

    def note(self, text):
        """Something that a reader of the results should know."""
        self.notes.append(text)
        print(textwrap.fill(f"note: {text}", 110, initial_indent="  ", subsequent_indent="    "))

    def claim(self, where, paper, here, holds, why="", effect=None):
        """A statement of the paper beside what comes out here.

        Parameters
        ----------
        where : str
            ``"fig 3"``, ``"table 2"``, ``"section 5.1"``.
        paper, here : str
            In words and numbers.
        holds : bool
        why : str, optional
            Of one that does not hold, as `because` chooses it.
        effect : (float, float), optional
            The size of the effect in the paper and here, where `holds` has a softer criterion.
        """
        self.claims.append(
            {
                "where": where,
                "paper": paper,
                "here": here,
                "holds": bool(holds),
                "why": "" if holds else why,
            }
            | ({} if effect is None else {"effect": [float(f"{size:.3g}") for size in effect]})
        )
        for text, margin in (
            (f"{where}: {paper}", 2),
            (f"{'holds' if holds else 'DOES NOT HOLD'}: {here}", 4),
        ):
            print(
                textwrap.fill(
                    text, 110, initial_indent=" " * margin, subsequent_indent=" " * (margin + 2)
                )
            )

    def figure(self, label, figure=None):
        """Keep a figure, as NAME-LABEL.png."""
        figure = plt.gcf() if figure is None else figure
        self.figures.append(f"{self.name}-{label}.png")
        if self.out:
            figure.savefig(self.out / self.figures[-1])
        if matplotlib.get_backend().lower() == "agg":
            plt.close(figure)

    def end(self, **settings):
        """Write the results, a JSON file, and say how many claims hold."""
        seconds = time.perf_counter() - self.begun
        held = sum(claim["holds"] for claim in self.claims)
        found = {
            "name": self.name,
            "mode": "fast" if self.fast else "full",
            "version": sgmc.__version__,
            "seconds": round(seconds, 1),
            "cpu_seconds": round(time.process_time() - self.worked, 1),
            "budget_seconds": 60 * self.minutes,
            "settings": settings,
            "constants": self.stamp,
            "claims": self.claims,
            "figures": self.figures,
            "notes": self.notes,
            "simulated": self.simulated,
        }
        if self.out:
            (self.out / f"{self.name}.json").write_text(json.dumps(found, indent=1) + "\n")
        print(
            f"{self.name}: {held} of {len(self.claims)} claims hold, {len(self.figures)} figures, "
            f"{seconds:.0f} s"
        )
