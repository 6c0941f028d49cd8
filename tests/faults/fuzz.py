"""Files, checkpoints, tables and safe formulas as a stranger may send them, each tried in a process
of its own with limits on seconds and memory.

    python -m tests.faults.fuzz [--tries 20000] [--seed 1] [--kinds saved prepared ...] [--cold]

A try opens what was changed and uses it: it is refused by an error of the package, or it works.
A crash, a process that does not end, an error of Python's own and too much memory are faults.
"""

import argparse
import faulthandler
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import sgmc
from sgmc.errors import SGMCError

from . import mutations
from .children import Child, Crashed, Hung

SECONDS = 20.0  # of a try: those that work take less than one
MEMORY = 1 << 30  # bytes that a try may take besides what the process has at its start
N = 60
LIMIT = 3.0  # time_limit= of fits to formulas and tables
KINDS = ("saved", "prepared", "checkpoint", "formula", "table")


def frame():
    """A table with two numbers, factors of few and of many levels, groups and gaps nowhere."""
    rng = np.random.default_rng(11)
    made = pd.DataFrame({"x": rng.normal(size=N), "z": rng.uniform(1, 2, N)})
    made["g"] = rng.choice(list("abc"), N)
    made["h"] = rng.choice([f"k{k}" for k in range(6)], N)
    made["w"] = [f"w{k}" for k in rng.integers(0, 200, N)]  # stays codes in a file
    return made.assign(y=(rng.random(N) < 1 / (1 + np.exp(0.3 - made.x))).astype(int))


def fit(formula, data=None, **how):
    """A short fit."""
    how = {"seed": 1, "draws": 20, "chains": 2, **how}
    return sgmc.logit(formula, frame() if data is None else data, **how)


@dataclass(frozen=True)
class Samples:
    """Whole files of each kind, as bytes."""

    saved: list
    prepared: list
    checkpoint: list
    table: list

    @classmethod
    def written(cls, folder):
        """Made anew in a folder."""
        saved, prepared, checkpoint = [], [], []
        for k, formula in enumerate(["y ~ x + g", "y ~ bs(x, df=5) + z", "y ~ x + (1 | g)"]):
            path = folder / f"fit{k}"
            fit(formula, sampler="laplace").save(path)
            saved.append(path.read_bytes())
        for k, formula in enumerate(["y ~ x + g", "y ~ poly(z, 2) + x + (1 | h)", "y ~ w + x"]):
            path = folder / f"table{k}"
            sgmc.prepare(formula, frame(), path, seed=1)
            prepared.append(path.read_bytes())
        fit("y ~ x + g", sampler="mala", checkpoint=folder / "run")
        checkpoint.append((folder / "run").read_bytes())
        return cls(saved, prepared, checkpoint, [frame().to_csv(index=False).encode()])


def changed(kind, samples, rng):
    """Bytes, or a text, to be tried."""
    if kind == "formula":
        return mutations.a_formula(rng)
    contents = getattr(samples, kind)
    content = contents[rng.integers(len(contents))]
    if kind == "table":
        return mutations.of_commas(content, rng)
    if rng.random() < 0.25:
        return mutations.of_bytes(content, rng)
    sealed = mutations.of_prepared if kind == "prepared" else mutations.of_sealed
    return sealed(content, rng)


def used(kind, content, folder):
    """Open what was changed, and use it as people do."""
    if kind == "formula":
        results = fit(sgmc.formula(content, safe=True), time_limit=LIMIT)
        results.predict(frame().head(3))
        return
    path = folder / ("table.csv.gz" if content[:2] == b"\x1f\x8b" else f"{kind}.csv")
    path.write_bytes(content)
    if kind == "saved":
        results = sgmc.load(path)
        str(results.summary())
        results.predict(frame().head(3))
    elif kind == "prepared":
        table = sgmc.open(path)
        table = sgmc.open(path)
        results = fit(table.formula, table, time_limit=LIMIT)
        results.predict(frame().head(3))
    elif kind == "checkpoint":
        fit("y ~ x + g", sampler="mala", checkpoint=path)
    else:
        fit("y ~ x + g", path, time_limit=LIMIT)


def tried(kind, content, folder, memory=MEMORY):
    """What a process of its own says: "works", "refused", or a fault, and the memory it took."""
    faulthandler.disable()  # a crash is reported once
    begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    if memory:
        held = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_DATA, (held + memory,) * 2)
    warnings.simplefilter("ignore")
    try:
        used(kind, content, folder)
        found = "works"
    except SGMCError as error:
        found = "refused" if str(error) else "an error without words"
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        found = f"{type(error).__name__} at {place}: {error}"[:300]
    taken = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10) - begun
    if memory and taken > memory:
        found = f"{found}, with {taken >> 20} MB"
    return found, taken


def outcome(kind, content, folder, seconds=SECONDS, memory=MEMORY):
    """What becomes of a try."""
    child = Child(lambda: tried(kind, content, folder, memory))
    try:
        return child.done(seconds)
    except Hung:
        return "does not end", 0
    except Crashed as error:
        return f"crash: {error}", 0


def apart(kind, content, folder, seconds=SECONDS):
    """What becomes of a try in an interpreter that has not yet imported anything."""
    (folder / "content").write_bytes(content.encode() if isinstance(content, str) else content)
    code = f"from tests.faults import fuzz; fuzz.alone({kind!r}, {str(folder)!r})"
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=seconds + 30
        )
    except subprocess.TimeoutExpired:
        return "does not end", 0
    if done.returncode:
        return f"crash: ended with {done.returncode}: {done.stderr[-200:]}", 0
    return tuple(json.loads(done.stdout.splitlines()[-1]))


def alone(kind, folder):
    """See `apart`; prints what it found."""
    content = (Path(folder) / "content").read_bytes()
    found = tried(kind, content.decode() if kind == "formula" else content, Path(folder), 0)
    print(json.dumps(found))


@dataclass
class Report:
    """Counts of a run, and its faults."""

    counts: Counter
    faults: list
    most: int
    seconds: float

    def __str__(self):
        kinds = sorted({kind for kind, _ in self.counts})
        lines = [
            f"{kind:11s}{self.counts[kind, 'works']:7d} work {self.counts[kind, 'refused']:7d} "
            f"refused {self.counts[kind, 'fault']:4d} faults"
            for kind in kinds
        ]
        lines.append(f"{self.seconds:.0f} s, at most {self.most >> 20} MB more than at the start")
        return "\n".join(lines)


def run(kinds, tries, seed=1, first=0, attempt=outcome, loud=False, keep=None):
    """Try so many changes in turns of the kinds; what made a fault is kept in the folder `keep`."""
    report, begun = Report(Counter(), [], 0, 0.0), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        samples = Samples.written(folder)
        for number in range(first, first + tries):
            kind = kinds[number % len(kinds)]
            content = changed(kind, samples, np.random.default_rng([seed, number]))
            found, memory = attempt(kind, content, folder)
            report.most = max(report.most, memory)
            known = found in ("works", "refused")
            report.counts[kind, found if known else "fault"] += 1
            if not known:
                shown = f" {content!r}" if kind == "formula" else ""
                report.faults.append(f"{kind} {number}{shown}: {found}")
                if keep and kind != "formula":
                    (Path(keep) / f"{kind}-{seed}-{number}").write_bytes(content)
                if loud:
                    print(report.faults[-1], flush=True)
            if loud and number % 1000 == 999:
                print(f"{number + 1} tries, {len(report.faults)} faults", flush=True)
    report.seconds = time.perf_counter() - begun
    return report


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tries", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--cold", action="store_true", help="an interpreter of its own for each")
    parser.add_argument("--keep", help="a folder for the files that made faults")
    parser.add_argument("--memory", type=int, default=MEMORY, help="bytes; 0: no limit")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    def limited(kind, content, folder):
        return outcome(kind, content, folder, memory=given.memory)

    attempt = apart if given.cold else limited
    report = run(given.kinds, given.tries, given.seed, given.first, attempt, True, given.keep)
    print(report)
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
