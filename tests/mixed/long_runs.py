"""Posteriors at default priors by long runs of `hmc`, which shares nothing with the package: their
moments are in long_runs.json.

    python -m tests.mixed.long_runs [--draws 1500] [--cases cbpp ...]

Published tables are in the folder SGMC_DATA; only moments are kept of them.
"""

import argparse
import json
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import patsy

from ..verdict import grouped
from . import hmc
from .tables import published

STORED = Path(__file__).with_suffix(".json")
LEVELS = (0.05, 0.5, 0.95)

# name: verb, formula of the fixed part, group terms as (factor, slope or None), "0 + a" of slopes
# without an intercept
PUBLISHED = {
    "sleepstudy": ("ols", "Reaction ~ Days", [("Subject", "Days")]),
    "cbpp": ("logit", "incidence + healthy ~ C(period)", [("herd", None)]),
    "contraception": ("logit", "use ~ town + C(livch) + age + age2", [("district", None)]),
    "contraception, slopes": (
        "logit",
        "use ~ town + C(livch) + age + age2",
        [("district", "town")],
    ),
}
NESTED = [("g", None), ("g:h", None)]
CROSSED = [("g", None), ("h", None)]
# verb, group terms, outcomes and arguments of `table`; "nothing" has an sd with mass at zero
SIMULATED = {
    "poisson": ("poisson", [("g", None)], grouped.poisson, (21, 20, 8, 0.6)),
    "negativebinomial": ("negativebinomial", [("g", None)], None, (22, 25, 10, 0.6)),
    "logit, nothing": ("logit", [("g", None)], grouped.logit, (2, 8, 6, 0.3)),
    "ols, nothing": ("ols", [("g", None)], grouped.normal, (3, 15, 6, 0.0)),
    "ols, slopes": ("ols", [("g", "x")], grouped.normal, (5, 20, 9, 0.7, 0.0, 0.5)),
    "poisson, nested": ("poisson", NESTED, grouped.poisson, (6, 12, 9, 0.7, 0.4)),
    "logit, nested": ("logit", NESTED, grouped.logit, (23, 15, 18, 0.8, 0.5)),
    "logit, crossed": ("logit", CROSSED, grouped.logit, (24, 25, 12, 400, 0.8, 0.5)),
    "ols, crossed": ("ols", CROSSED, grouped.normal, (25, 20, 10, 200, 0.7, 0.4)),
    "negativebinomial, crossed": ("negativebinomial", CROSSED, None, (26, 20, 12, 300, 0.6, 0.4)),
    "poisson, crossed slopes": (
        "poisson",
        [("g", "x"), ("h", None)],
        grouped.poisson,
        (27, 20, 10, 300, 0.6, 0.4, 0.4),
    ),
}
FOUR = "logit, four effects"
SLOPES = ["a", "b", "c"]
CASES = [*PUBLISHED, *SIMULATED, FOUR]


def four_effects():
    """Forty groups of fifteen outcomes, with an intercept and three slopes each."""
    rng, sds = np.random.default_rng(4), [0.8, 0.7, 0.6, 0.5]
    g = np.repeat(np.arange(40), 15)
    X = np.column_stack([np.ones(len(g)), rng.normal(size=(len(g), 3))])
    eta = X @ [-0.2, 0.4, 0.2, -0.3] + (X * sds * rng.normal(size=(40, 4))[g]).sum(axis=1)
    frame = pd.DataFrame(X[:, 1:], columns=SLOPES)
    return frame.assign(g=g, y=(rng.random(len(g)) < 1 / (1 + np.exp(-eta))) * 1.0)


@cache
def case(name):
    """Verb, formula of the fixed part, group terms and table."""
    if name in PUBLISHED:
        frame = published(name.split(",")[0])
        if name == "cbpp":
            frame["healthy"] = frame["size"] - frame["incidence"]
        elif name.startswith("contraception"):
            frame["town"] = (frame.urban == "Y").astype(float)
        return *PUBLISHED[name], frame
    if name == FOUR:
        terms = [("g", None), *(("g", f"0 + {one}") for one in SLOPES)]
        return "logit", "y ~ a + b + c", terms, four_effects()
    verb, terms, outcomes, how = SIMULATED[name]
    frame, rng = (grouped.crossing if "crossed" in name else grouped.table)(*how)
    if verb == "negativebinomial":
        mean = np.exp(0.5 + frame["eta"])
        y = rng.poisson(mean * rng.gamma(2.0, 0.5, len(frame)))
    else:
        y = outcomes(frame, rng)
    return verb, "y ~ x", terms, frame.drop(columns="eta").assign(y=y)


def formula(name):
    """As a user writes it."""
    _, fixed, terms, _ = case(name)
    if terms == NESTED:
        return f"{fixed} + (1 | g/h)"
    if name == FOUR:
        return f"{fixed} + (a + b + c || g)"
    bars = [f"(1 + {slope} | {factor})" if slope else f"(1 | {factor})" for factor, slope in terms]
    return " + ".join([fixed, *bars])


def joint(name):
    """The posterior, and the names of its parameters as summaries have them."""
    verb, fixed, terms, frame = case(name)
    outcome, right = fixed.split(" ~ ")
    X = patsy.dmatrix(right, frame)
    names, sds, cors, factors = list(X.design_info.column_names), [], [], []
    for factor, slope in terms:
        codes = frame.groupby(factor.split(":"), sort=True).ngroup().to_numpy()
        alone = slope is not None and slope.startswith("0 + ")
        columns = [slope[4:]] if alone else ["1"] + [slope] * (slope is not None)
        ones = frame.assign(**{"1": 1.0})
        factors.append(hmc.Factor(codes, ones[columns].to_numpy(float)))
        sds += [f"sd({column}|{factor})" for column in columns]
        cors += [f"cor(1,{slope}|{factor})"] * (len(columns) == 2)
    columns = outcome.split(" + ")
    y = frame[columns[0]].to_numpy(float)
    trials = frame[columns].sum(axis=1).to_numpy(float) if len(columns) == 2 else 1.0
    own = {"ols": ["sigma"], "negativebinomial": ["alpha"]}.get(verb, [])
    made = hmc.Joint(getattr(hmc, verb), np.asarray(X), y, factors, trials)
    return made, [*names, *sds, *cors, *own]


def effective(draws):
    """Effective draws of columns of (chains, draws, p), by variances within chains and the first
    negative sum of two neighbouring autocorrelations (Geyer 1992).
    """
    chains, n, p = draws.shape
    within = draws - draws.mean(axis=1, keepdims=True)
    f = np.fft.rfft(within, 2 * n, axis=1)
    auto = np.fft.irfft(f * f.conj(), axis=1)[:, :n].mean(axis=0) / n
    total = auto[0] + draws.mean(axis=1).var(axis=0, ddof=1)
    rho = 1 - (auto[0] - auto) / total
    pairs = rho[0 : n - n % 2 : 2] + rho[1::2]
    pairs = np.where(np.cumprod(pairs > 0, axis=0), pairs, 0)
    return chains * n / (2 * pairs.sum(axis=0) - 1)


def moments(name, draws, seed=1):
    """Mean, sd, quantiles of LEVELS and effective draws (of values and of their squares, the fewer)
    of each parameter, as a frame.
    """
    made, names = joint(name)
    found = hmc.sample(made, draws, seed=seed)
    flat = found.reshape(-1, len(names))
    centred = found - flat.mean(axis=0)
    size = np.minimum(effective(found), effective(centred**2))
    rows = [flat.mean(axis=0), flat.std(axis=0), *np.quantile(flat, LEVELS, axis=0), size]
    columns = ["mean", "sd", *map(str, LEVELS), "effective"]
    return pd.DataFrame(np.transpose(rows), index=names, columns=columns)


def stored(name):
    """The moments that were found."""
    return pd.DataFrame.from_dict(json.loads(STORED.read_text())[name], orient="index")


def main():
    """Run, print and store."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--draws", type=int, default=1500)
    arguments.add_argument("--cases", nargs="+", default=CASES)
    options = arguments.parse_args()
    for name in options.cases:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # paths that diverge are rejected
            found = moments(name, options.draws)
        print(f"{name}\n{found.round(4)}\n", flush=True)
        kept = json.loads(STORED.read_text()) if STORED.exists() else {}
        rounded = found.map(lambda value: float(f"{value:.5g}"))
        kept[name] = rounded.to_dict(orient="index")
        STORED.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
