"""Time of `import sgmc` in a fresh process, beside the packages that its users know.

    python benchmarks/import_time.py [--processes 7]

The figure is the median over processes of the import statement alone; the interpreter's own start
is not in it.  One process is spent beforehand on each module, so that its files are in the cache.
"""

import argparse
import statistics
import subprocess
import sys

MODULES = ("sgmc", "numpy", "pandas", "statsmodels.api")
TARGET = 0.5  # seconds
PROGRAM = "import time; begun = time.perf_counter(); import {}; print(time.perf_counter() - begun)"


def seconds(module):
    """Seconds that the import takes in a process of its own."""
    program = [sys.executable, "-c", PROGRAM.format(module)]
    return float(subprocess.run(program, check=True, capture_output=True, text=True).stdout)


def main():
    """Print one line a module."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--processes", type=int, default=7)
    processes = arguments.parse_args().processes
    medians = {}
    for module in MODULES:
        seconds(module)
        medians[module] = statistics.median(seconds(module) for _ in range(processes))
    for module, median in medians.items():
        verdict = (
            ""
            if module != "sgmc"
            else f"  target {TARGET} s: {'ok' if median < TARGET else 'MISS'}"
        )
        print(f"{module:16s} {median:6.3f} s  {medians['sgmc'] / median:5.2f} sgmc / this{verdict}")


if __name__ == "__main__":
    main()
