"""A simulated table of any size in Parquet files, sorted by time, with known coefficients.

    python benchmarks/big_table.py FOLDER [--rows 400_000_000] [--file-rows 10_000_000] [--seed 0]

Eight numeric predictors and an outcome of 0 and 1.  Both drift with time, and files are in the
order of time, as logs are: consecutive rows are alike, so that blocks of them are no random sample.
"""

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

NAMES = [f"x{j}" for j in range(1, 9)]
TRUTH = np.array([-1.0, 0.5, -0.5, 0.25, -0.25, 0.1, -0.1, 0.05, 0.0])  # intercept, then slopes
DRIFT = 2.0  # of x1 from the first row to the last, in its own sds
GROUP = 1 << 18  # rows


def part(first, count, rows, seed):
    """Rows `first` to `first + count` of a table of so many rows."""
    rng = np.random.Generator(np.random.PCG64([seed, first]))
    x = rng.standard_normal((len(NAMES), count), dtype=np.float32)
    time = (first + np.arange(count)) / rows
    x[0] += (DRIFT * (time - 0.5)).astype(np.float32)
    eta = np.full(count, TRUTH[0], dtype=np.float32)
    for column, slope in zip(x, TRUTH[1:], strict=True):
        eta += np.float32(slope) * column
    y = rng.random(count, dtype=np.float32) < 1 / (1 + np.exp(-eta))
    columns = [pa.array(y.astype(np.int8)), *(pa.array(column) for column in x)]
    return pa.table(columns, names=["y", *NAMES])


def write(folder, rows, file_rows=10_000_000, seed=0):
    """Write the table into a folder; files that are there already are left alone."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for number, begin in enumerate(range(0, rows, file_rows)):
        path = folder / f"part-{number:05d}.parquet"
        if path.exists():
            continue
        aside, end = path.with_suffix(".part"), min(begin + file_rows, rows)
        with pq.ParquetWriter(
            aside, part(0, 1, rows, seed).schema, compression="none", use_dictionary=False
        ) as writer:
            for first in range(begin, end, GROUP):
                count = min(GROUP, end - first)
                writer.write_table(part(first, count, rows, seed), row_group_size=GROUP)
        aside.rename(path)


def main():
    """Write the table that is asked for."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("folder")
    options.add_argument("--rows", type=int, default=400_000_000)
    options.add_argument("--file-rows", type=int, default=10_000_000)
    options.add_argument("--seed", type=int, default=0)
    asked = options.parse_args()
    write(asked.folder, asked.rows, asked.file_rows, asked.seed)


if __name__ == "__main__":
    main()
