"""The scoreboard: seconds until a posterior is right, tasks x contestants.

    SGMC_DATA=... python benchmarks/scoreboard/run.py [--quick] [--tasks NAME ...]
        [--contestants NAME ...] [--limit 300] [--seeds 3] [--cpu 1] [--missing]
    python benchmarks/scoreboard/page.py

Each contestant works on each task in a process of its own, on one core.  It runs with its shortest
length and doubles it until posterior means are within 0.1 posterior sd and sds within 5 % of the
exact answer (``exact/``), all numbers reported, for every seed; a length is left at the first seed
that is not.  Seconds are CPU time; ``--limit`` is for all lengths together.  Results go to
``runs/``, a JSON each; packages that are not installed are skipped with a message.
"""

import argparse
import importlib.util
import json
import os
import platform
import queue
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

from metric import EXACT, first_length
from tasks import QUICK, TASKS, Absent, problem
from worker import ONE_CORE

HERE = Path(__file__).parent
CONTESTANTS = {  # name: packages that must be there
    "sgmc_default": ["sgmc"],
    "sgmc_exact": ["sgmc"],
    "numpyro_nuts": ["numpyro", "jax"],
    "blackjax_nuts": ["blackjax", "numpyro", "jax"],
    "nutpie_nuts": ["nutpie", "pymc", "numba"],
    "pymc_nuts": ["pymc"],
    "bambi_nuts": ["bambi", "pymc"],
    "bayesian_ridge": ["sklearn"],
    "statsmodels_mle": ["statsmodels"],
    "glum_mle": ["glum"],
    "gpboost_mle": ["gpboost"],
    "lme4_mle": [],
    "glmmtmb_mle": [],
    "mgcv_mle": [],
    "pygam_mle": ["pygam"],
}
PATIENCE = 6  # elapsed seconds per CPU second, on a machine that others use
OUT_OF_TIME = -getattr(signal, "SIGXCPU", 0)  # how the system ends who exceeds its CPU time
FAST = ["sgmc_default", "numpyro_nuts", "nutpie_nuts", "statsmodels_mle"]


def machine():
    """What ran this, without names of hosts or users."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [x for x in info.read_text().splitlines() if x.startswith("model name")]
        model = lines[0].partition(":")[2].strip() if lines else model
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def load_average():
    """Of the machine: what else ran."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def watched(process, limit):
    """What a worker said until it ended or the limit passed, and whether it was ended."""
    lines = queue.Queue()

    def read():
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    said, ends = [], time.monotonic() + limit
    while True:
        try:
            line = lines.get(timeout=max(ends - time.monotonic(), 0.01))
        except queue.Empty:
            process.kill()
            process.wait()
            return said, True
        if line is None:
            process.wait()
            return said, False
        if line.startswith("@"):
            said.append(json.loads(line[1:]))


def race(task, contestant, options):
    """The record of one contestant on one task."""
    settings = dict(
        task=task,
        contestant=contestant,
        seeds=list(range(1, options.seeds + 1)),
        cpu=options.cpu,
        gigabytes=options.memory,
        limit=options.limit,
    )
    process = subprocess.Popen(
        [sys.executable, str(HERE / "worker.py"), json.dumps(settings)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | ONE_CORE,
    )
    said, ended = watched(process, PATIENCE * options.limit + 60)
    record = dict(
        task=task,
        contestant=contestant,
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        machine=machine(),
        load_average=load_average(),
        seeds=options.seeds,
        limit=options.limit,
        runs=[one for one in said if "length" in one],
        failure=None,
    )
    for one in said:
        if "length" not in one:
            record |= one
    if ended or process.returncode == OUT_OF_TIME != 0:
        record["failure"] = f"not within the tolerance in {options.limit:g} s of CPU time"
    elif process.returncode and not record["failure"]:
        record["failure"] = f"the process ended with status {process.returncode}"
    elif "not_expressible" not in record and not record["failure"]:
        record["failure"] = None if record["runs"] else "no run"
    return record


def line(record):
    """A line for the terminal."""
    found = first_length(record["runs"], record["seeds"])
    if "not_expressible" in record:
        return f"NA: {record['not_expressible']}"
    if found:
        return f"{found[-1]['seconds']:.3f} s, {found[0]['length']} draws"
    last = record["runs"][-1] if record["runs"] else None
    seen = f"mean {last['error_mean']:.3f} sd, sd {last['error_sd']:.3f}" if last else "no run"
    return f"{record['failure'] or 'outside'} ({seen})"


def main():
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two tiny tasks, one seed")
    parser.add_argument("--tasks", nargs="+", choices=list(TASKS))
    parser.add_argument("--contestants", nargs="+", choices=list(CONTESTANTS))
    parser.add_argument("--limit", type=float, help="CPU seconds per contestant and task (300)")
    parser.add_argument("--seeds", type=int, help="3")
    parser.add_argument("--memory", type=float, default=16, help="GB a process; 0: no limit")
    parser.add_argument("--cpu", type=int, help="the core to run on (Linux)")
    parser.add_argument("--out", type=Path, help="folder of the results")
    parser.add_argument("--missing", action="store_true", help="only what has no result yet")
    options = parser.parse_args()
    options.limit = options.limit or (20 if options.quick else 300)
    options.seeds = options.seeds or (1 if options.quick else 3)
    out = options.out or HERE / ("quick" if options.quick else "runs")
    out.mkdir(parents=True, exist_ok=True)
    everything = [name for name in TASKS if name != "tiny"]
    contestants = options.contestants or (FAST if options.quick else list(CONTESTANTS))
    for name in list(contestants):
        if missing := [p for p in CONTESTANTS[name] if importlib.util.find_spec(p) is None]:
            print(f"{name}: skipped, not installed: {', '.join(missing)}")
            contestants.remove(name)
    for task in options.tasks or (QUICK if options.quick else everything):
        try:
            problem(task)
        except Absent as reason:
            print(f"{task}: skipped, {reason}")
            continue
        if not (EXACT / f"{task}.json").exists():
            print(f"{task}: skipped, no exact answer; make it by exact_answers.py {task}")
            continue
        for name in contestants:
            path = out / f"{task}.{name}.json"
            if options.missing and path.exists():
                continue
            record = race(task, name, options)
            path.write_text(json.dumps(record, indent=1) + "\n")
            print(f"{task:16s} {name:16s} {line(record)}", flush=True)


if __name__ == "__main__":
    main()
