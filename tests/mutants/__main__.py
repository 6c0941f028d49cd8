"""``python -m tests.mutants``: plant each fault of `mutants.toml`, and note the test that sees it.

The tree has to be built in place.  Faults are planted in a copy of it (``--tree``), tests run
there, the nearest files first, until one fails.  Results are lines of JSON (``--results``), which
a later call adds to: ``{"id", "status", "test", "seconds", ...}`` with the status

``killed``
    a test of ``test`` fails, after ``seconds`` of CPU; the test itself takes ``test_seconds``
``survived``
    the whole tier passes
``budget``
    no test failed within ``--budget`` seconds of CPU, or none that is not slow
``error``
    the mutant does not compile, or the package cannot be imported: a mistake of the list

Tests that fail without a fault, too, count as nothing: those that killed run in this tree
afterwards, and what fails there is left out, and its mutants run again.
"""

import argparse
import json
import math
import resource
import signal
import subprocess
import sys
import tempfile
import tomllib
from itertools import chain, zip_longest
from pathlib import Path

from .nearest import nearest
from .tree import ROOT, Tree

FIRST, GROWS = 6, 2  # files of the first session, and how many times as many the next one has
LIST = Path(__file__).with_name("mutants.toml")


def mutants(only=None):
    """Return (id, room, file, old, new) of each mutant, rooms interleaved."""
    table = tomllib.loads(LIST.read_text())
    rooms = [[(f"{r}:{k}", r, *m) for k, m in some.items()] for r, some in table.items()]
    found = [one for one in chain(*zip_longest(*rooms)) if one]
    return [one for one in found if not only or one[0] in only or one[1] in only]


def spent():
    """Return the CPU seconds of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def session(tree, names, tier, budget, deselected=()):
    """Run pytest until a test fails, and return the lines that `watch` wrote."""
    with tempfile.NamedTemporaryFile("r") as file:
        command = ["env", f"SGMC_WATCHED={file.name}", sys.executable, "-m", "pytest", "-x", "-q"]
        command += ["-p", "no:cacheprovider", "-p", "tests.mutants.watch", "--tb=no", *tier]
        command += [f"--deselect={one}" for one in deselected]
        limits = max(int(budget), 1), max(int(budget), 1) + 5

        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, limits)

        how = dict(preexec_fn=limit, capture_output=True, timeout=10 * budget + 60)
        try:
            done = tree.run([*command, *names], **how).returncode
        except subprocess.TimeoutExpired:
            done = -signal.SIGXCPU
        return done, [json.loads(line) for line in file]


def judged(tree, mutant, asked, deselected):
    """Plant a mutant, run tests, and return what is known of it."""
    name, room, file, old, new = mutant
    path, begun = tree.find(room, file, old), spent()
    line = path.read_text().split(old)[0].count("\n")
    source, times = path.relative_to(tree.root / "sgmc"), asked.known
    order = [f"tests/{one}" for one in nearest(source, line, times)]
    order = [*asked.first, *(one for one in order if one not in asked.first)]
    slow = [one for one, seconds in times.items() if seconds > asked.slow]
    try:
        undo = tree.plant(path, old, new)
    except ValueError as error:
        return {"id": name, "status": "error", "message": str(error)}
    found, built, size = {"id": name, "status": "survived"}, spent(), FIRST
    tier = ["--all"] if asked.tier == "all" else []
    found |= {"build": round(built - begun, 1), "files": 0, "tests": 0}
    try:
        while order:
            left = asked.budget - (spent() - built)
            if left < 3:
                found["status"] = "budget"
                break
            some, order, size = order[:size], order[size:], size * GROWS
            out = [one for one in slow if one.split("::")[0] in some]
            done, lines = session(tree, some, tier, left, [*deselected, *out])
            failed = [one for one in lines if one.get("failed")]
            found["files"] += len(some)
            found["tests"] += sum("seconds" in one for one in lines)
            if failed and "::" in failed[0]["test"]:
                one = failed[0]
                found |= {"status": "killed", "test": one["test"], "test_seconds": one["seconds"]}
                break
            up = -done in (signal.SIGXCPU, signal.SIGKILL)
            if up or done < 0 and lines:  # the time was up, or the process has crashed
                found |= {"status": "budget" if up else "killed"}
                found |= {"test": lines[-1]["test"]} if lines else {}
                break
            if done not in (0, 5):  # 5: the tier has no test there
                found |= {"status": "error", "message": f"pytest ended with {done}"}
                break
        if slow and found["status"] == "survived":
            found["status"] = "budget"
    finally:
        undo()
    return found | {"seconds": round(spent() - built, 1)}


def false_kills(results):
    """Return the killing tests that fail without a fault."""
    tests = sorted({one["test"] for one in results.values() if one["status"] == "killed"})
    wrong, here = [], Tree(ROOT)
    while tests:
        _, lines = session(here, tests, [], 600)
        failed = [one["test"] for one in lines if one.get("failed")]
        wrong, tests = wrong + failed, [one for one in tests if one not in failed] if failed else []
    return wrong


def table(results):
    """Return the numbers by room as a page."""
    kinds = ("killed", "survived", "budget", "error")
    lines = ["| room | mutants | " + " | ".join(kinds) + " |", "|---|" + "---|" * (1 + len(kinds))]
    every = mutants()
    for room in [*dict.fromkeys(one[1] for one in every), "all rooms"]:
        names = [one[0] for one in every if room in (one[1], "all rooms")]
        has = [results[one]["status"] for one in names if one in results]
        cells = [len(names), *(has.count(kind) for kind in kinds)]
        lines.append(f"| {room} | " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def main():
    """Run what has no result yet, and print the table."""
    parser = argparse.ArgumentParser(prog="tests.mutants", description=__doc__.split("\n")[0])
    parser.add_argument("--tier", choices=("default", "all"), default="default")
    parser.add_argument("--budget", type=float, default=60.0, help="CPU seconds of a mutant")
    parser.add_argument("--times", help="JSON of CPU seconds by test: cheap files come first")
    parser.add_argument(
        "--slow", type=float, default=math.inf, help="leave out tests that take so long"
    )
    parser.add_argument("--only", nargs="+", help="rooms, or ids (room:name)")
    parser.add_argument("--first", nargs="+", default=[], help="files of tests that run first")
    parser.add_argument("--again", nargs="+", default=(), help="statuses that are run again")
    parser.add_argument("--tree", default=f"{tempfile.gettempdir()}/sgmc-mutants")
    parser.add_argument("--results", default="mutants.jsonl")
    parser.add_argument("--table", action="store_true", help="print the table, run nothing")
    asked = parser.parse_args()
    place, results, deselected = Path(asked.results), {}, []
    for line in place.read_text().splitlines() if place.exists() else ():
        results |= {json.loads(line)["id"]: json.loads(line)}
    asked.known = json.loads(Path(asked.times).read_text()) if asked.times else {}
    asked.again = [name for name, one in results.items() if one["status"] in asked.again]
    tree = None if asked.table else Tree(asked.tree)
    waiting = [] if asked.table else mutants(asked.only)
    waiting = [one for one in waiting if one[0] not in results or one[0] in asked.again]
    while waiting:
        for mutant in waiting:
            results[mutant[0]] = found = judged(tree, mutant, asked, deselected)
            with place.open("a") as file:
                print(json.dumps(found), file=file, flush=True)
        wrong = false_kills({one[0]: results[one[0]] for one in waiting})
        deselected += wrong
        waiting = [one for one in waiting if results[one[0]].get("test") in wrong]
    print(table(results))


if __name__ == "__main__":
    main()
