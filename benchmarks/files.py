"""Fits of tables in prepared files, in bounded memory.

    python benchmarks/files.py [--rows 100_000 1_000_000 10_000_000] [--folder DIR] [--limit MB]

For each number of rows, in a fresh process whose file is not in the system's cache: seconds of the
fit and of its printed summary, what both read from the disk in units of the file, and that rate
beside a plain read; time of a draw, by the difference of two fits; the largest resident memory,
without pages of files.  `--limit` runs the process in a control group (version 1, as root) with so
much memory, pages of files included.  A table of 100 million rows takes 5 GB, and twice that while
it is prepared.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

FORMULA = "y ~ " + " + ".join(f"x{j}" for j in range(1, 9))
IN_MEMORY = 10_000_000  # rows that are made at once
DRAWS = 1000, 5000
GROUP = Path("/sys/fs/cgroup/memory/sgmc_benchmark")
MB = 1 << 20


def prepared(folder, rows):
    """Path of the prepared table of so many rows; it is made where it is not there."""
    import big_table

    import sgmc

    path = Path(folder) / f"rows-{rows}.sgmc"
    if path.exists():
        return path
    if rows <= IN_MEMORY:
        source = big_table.part(0, rows, rows, seed=0).to_pandas()
    else:
        big_table.write(Path(folder) / f"rows-{rows}", rows)
        source = str(Path(folder) / f"rows-{rows}" / "*.parquet")
    begun = time.perf_counter()
    sgmc.prepare(FORMULA, source, str(path), dtype="float32", seed=0)
    seconds = time.perf_counter() - begun
    rate = os.path.getsize(path) / MB / seconds
    print(f"{rows:>12,} rows prepared in {seconds:.1f} s, {rate:.0f} MB of the file a second")
    return path


def forget(path):
    """Drop a file from the system's cache."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def plain_read(path):
    """MB per second of reading a file from one end to the other."""
    forget(path)
    begun, size = time.perf_counter(), os.path.getsize(path)
    with open(path, "rb", buffering=0) as file:
        while file.read(8 * MB):
            pass
    return size / MB / (time.perf_counter() - begun)


def of_process(file, name):
    """A number of /proc/self, in MB."""
    unit = MB if file == "io" else 1024
    for line in Path(f"/proc/self/{file}").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / unit
    return float("nan")


def measured(path):
    """Figures of a fit in this process, a dict."""
    import sgmc

    warnings.simplefilter("ignore")
    table = sgmc.open(path)
    before, begun = of_process("io", "read_bytes"), time.perf_counter()
    results = sgmc.logit(FORMULA, table, seed=1, draws=DRAWS[0])
    fitted = time.perf_counter()
    verdict = next(line for line in str(results.summary()).splitlines() if "Verdict" in line)
    done, read = time.perf_counter(), of_process("io", "read_bytes") - before
    memory = of_process("status", "RssAnon")
    begun_again = time.perf_counter()
    sgmc.logit(FORMULA, table, seed=1, draws=DRAWS[1])
    again = time.perf_counter() - begun_again
    begun_again = time.perf_counter()
    sgmc.logit(FORMULA, table, seed=1, draws=DRAWS[0])
    warm = time.perf_counter() - begun_again
    return {
        "fit": fitted - begun,
        "summary": done - fitted,
        "read": read,
        "memory": memory,
        "draw": (again - warm) / (4 * (DRAWS[1] - DRAWS[0])),
        "verdict": verdict,
    }


def limited(limit):
    """Put this process into a control group with so many MB."""
    GROUP.mkdir(exist_ok=True)
    (GROUP / "memory.limit_in_bytes").write_text(str(limit * MB))
    (GROUP / "cgroup.procs").write_text(str(os.getpid()))


def in_fresh_process(path, limit):
    """`measured` in a process of its own."""
    forget(path)
    command = [sys.executable, __file__, "--of", str(path), "--limit", str(limit)]
    try:
        run = subprocess.run(command, check=True, capture_output=True, text=True)
    finally:
        if GROUP.exists():
            GROUP.rmdir()
    return json.loads(run.stdout.splitlines()[-1])


def fits(folder, rows, limit):
    """Print a line for each number of rows."""
    titles = "file MB", "fit s", "summary s", "file read", "rate/plain", "draw us", "memory MB"
    print(f"{'rows':>12}" + "".join(f"{title:>12}" for title in titles))
    for n in rows:
        path = prepared(folder, n)
        size, plain = os.path.getsize(path) / MB, plain_read(path)
        seen = in_fresh_process(path, limit)
        rate = seen["read"] / (seen["fit"] + seen["summary"]) / plain
        figures = size, seen["fit"], seen["summary"], seen["read"] / size, rate
        figures = *figures, 1e6 * seen["draw"], seen["memory"]
        print(f"{n:>12,}" + "".join(f"{one:>12.4g}" for one in figures), seen["verdict"])


def main():
    """Run what is asked for."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rows", type=int, nargs="+", default=[10**5, 10**6, 10**7])
    options.add_argument("--folder", help="for the files; default: a temporary one")
    options.add_argument("--limit", type=int, default=0, help="MB of memory; default: no limit")
    options.add_argument("--of", help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.of:
        if asked.limit:
            limited(asked.limit)
        print(json.dumps(measured(asked.of)))
        return
    with tempfile.TemporaryDirectory() as folder:
        fits(asked.folder or folder, asked.rows, asked.limit)


if __name__ == "__main__":
    main()
