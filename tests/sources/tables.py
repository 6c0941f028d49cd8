"""A table with columns of every kind, and what writes it in parts."""

import numpy as np
import pandas as pd

N = 900
CUTS = (0, 400, 410, N)  # of three files: their ends are no ends of chunks
CHUNK = 128  # rows, in the tests of chunks


def table():
    """A frame of N rows: y follows x, b has no gaps, gaps has some."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=N)
    frame = pd.DataFrame(
        {
            "y": (rng.random(N) < 1 / (1 + np.exp(-x))).astype(int),
            "x": x,
            "small": rng.integers(-9, 9, N).astype("int8"),
            "single": rng.normal(size=N).astype("float32"),
            "gaps": pd.Series(rng.normal(size=N)).mask(rng.random(N) < 0.02),
            "text": rng.choice(["no", "yes", "maybe"], N),
            "b": rng.random(N) < 0.5,
            "count": rng.poisson(2, N),
        }
    )
    # a single gap, in the last file: the column is float64 from the first row on
    frame["late"] = pd.Series(rng.integers(0, 5, N)).mask(frame.index == N - 3)
    frame["flag"] = frame.b.astype(object).mask(frame.index == N - 5, None)
    # only numbers in the first two files and text in the third, see `text_files`
    frame["word"] = pd.Series(rng.choice(["a", "b"], N)).mask(rng.random(N) < 0.1)
    return frame


def typed(frame):
    """The same with what text files cannot hold: categories, dates, nullable integers."""
    levels = ["low", "mid", "high", "never"]
    rng = np.random.default_rng(6)
    return frame.assign(
        grade=pd.Categorical.from_codes(rng.integers(0, 3, N), categories=levels),
        ordered=pd.Categorical.from_codes(rng.integers(0, 4, N), categories=levels, ordered=True),
        day=pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, N), "D"),
        whole=pd.array(np.where(rng.random(N) < 0.1, None, rng.integers(0, 5, N)), dtype="Int64"),
    )


def parts(frame):
    """The rows of three files."""
    return [frame.iloc[a:b].reset_index(drop=True) for a, b in zip(CUTS, CUTS[1:])]


def written(frame, folder, suffix):
    """Write three files; their paths, in order."""
    paths = [str(folder / f"part-{k}{suffix}") for k in range(3)]
    for part, path in zip(parts(frame), paths):
        write(part, path)
    return paths


def write(frame, path):
    """Write a frame as the suffix tells."""
    path = str(path)
    if path.endswith((".parquet", ".pq")):
        frame.to_parquet(path, row_group_size=70, index=False)
    elif path.endswith((".arrow", ".feather")):
        frame.to_feather(path, chunksize=90)
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in path else ",")


READERS = {
    ".csv": pd.read_csv,
    ".csv.gz": pd.read_csv,
    ".tsv": lambda path: pd.read_csv(path, sep="\t"),
    ".tsv.gz": lambda path: pd.read_csv(path, sep="\t"),
    ".parquet": pd.read_parquet,
    ".feather": pd.read_feather,
}
TEXT_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
