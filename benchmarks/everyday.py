"""CPU seconds of default fits of small and middling tables: verbs by terms, and what was trusted.

    python benchmarks/everyday.py [WORD ...]

Each fit is a process of its own, forked when libraries are loaded; words are parts of lines, such
as `negativebinomial` or `"x | g"`, and leave out the others.  Seconds are of all threads.
"""

import os
import sys
import time
import warnings

import numpy as np
import pandas as pd

import sgmc

ROWS, COLUMNS, TIMES, AREAS = 240, 30, 40, 6
OUTCOMES = {
    "ols": "real",
    "rlm": "real",
    "logit": "binary",
    "poisson": "count",
    "negativebinomial": "spread_count",
    "gamma": "positive",
    "beta": "share",
    "ordinal": "grade",
    "zeroinflated": "count",
    "hurdle": "count",
}
MANY = " + ".join(f"v{j}" for j in range(COLUMNS))
FEW = ["x + z", "x + (1 | g)", "x + (1 + x | g)", "x + (1 | g) + (1 | b)", "x + (1 | g/h)"]
CURVES = ["z + s(q)", "s(q) + (1 | g)"]
STRUCTURED = ["x + (x | g/h)", "f + s(q, by=f)", "te(q, p)", "x + mo(level)", "x + ar1(t)"]
STRUCTURED += ["x + rw1(t)", "x + bym2(area, NEAR)", MANY]
NEAR = {
    f"{i}-{j}": [
        f"{a}-{b}" for a in range(AREAS) for b in range(AREAS) if abs(a - i) + abs(b - j) == 1
    ]
    for i in range(AREAS)
    for j in range(AREAS)
}


def shapes():
    """Pairs of a verb and terms."""
    found = [(verb, terms) for verb in OUTCOMES for terms in FEW + CURVES]
    found += [(verb, terms) for verb in ("ols", "logit", "poisson") for terms in STRUCTURED]
    return [*found, ("sigma", "x + (1 | g)"), ("sigma", "s(q)")]


def table(n, seed=1):
    """Predictors, groups and outcomes of all verbs, `n` rows."""
    rng = np.random.default_rng([seed, n])
    d = pd.DataFrame(rng.normal(size=(n, COLUMNS)), columns=MANY.split(" + "))
    d["x"], d["z"] = rng.normal(size=(2, n))
    d["q"], d["p"] = rng.uniform(-2, 2, (2, n))
    groups, inner, other = np.arange(n) % 20, rng.integers(0, 3, n), rng.integers(0, 15, n)
    d["g"], d["h"], d["b"] = groups, inner, other
    d["f"], d["level"] = np.array(list("abc"))[rng.integers(0, 3, n)], rng.integers(0, 5, n)
    d["t"], d["area"] = np.arange(n) % TIMES, np.array(list(NEAR))[rng.integers(0, len(NEAR), n)]
    eta = 0.5 * d.x - 0.3 * d.z + 0.7 * np.sin(2 * d.q) + 0.2 * (d.level - 2)
    eta += rng.normal(0, 0.6, 20)[groups] + rng.normal(0, 0.3, 20)[groups] * d.x
    eta += rng.normal(0, 0.4, (20, 3))[groups, inner] + rng.normal(0, 0.5, 15)[other]
    d["real"] = 3 + 2 * eta + rng.normal(size=n) * np.exp(0.2 * d.z)
    p, mean = 1 / (1 + np.exp(-eta)), np.exp(0.5 + eta / 2)
    d["binary"], d["count"] = (rng.random(n) < p).astype(int), rng.poisson(mean)
    d["spread_count"] = rng.poisson(mean * rng.gamma(2, size=n) / 2)
    d["positive"] = mean * rng.gamma(3, size=n) / 3
    d["share"] = np.clip(rng.beta(6 * p, 6 * (1 - p)), 1e-4, 1 - 1e-4)
    d["grade"] = np.digitize(eta + rng.logistic(size=n), [-1.5, 0, 1.3])
    return d


def fitted(verb, terms, data):
    """Results at the defaults."""
    if verb == "sigma":
        return sgmc.ols(f"real ~ {terms}", data, sigma=f"~ {terms}", seed=1)
    formula = f"{OUTCOMES[verb]} ~ {terms}"
    if verb == "gamma":
        return sgmc.glm(formula, data, family=verb, seed=1)
    return getattr(sgmc, verb)(formula, data, seed=1)


def timed(verb, terms, data):
    """Print a line of a fit."""
    begun = time.process_time()
    r = fitted(verb, terms, data)
    spent = time.process_time() - begun
    shown = terms if terms != MANY else f"{COLUMNS} columns"
    trusted = "trusted" if r.verdict.trustworthy else "not trusted"
    draws = f"{r.draws.shape[0]} x {r.draws.shape[1]}"
    print(f"{verb:17} {shown:22} {spent:7.2f} s  {draws:10} {trusted}", flush=True)


def main(words):
    """Print the lines that have all the words."""
    data = table(ROWS)
    fitted("ols", "x", data), fitted("logit", "x", data)  # libraries are loaded
    for verb, terms in shapes():
        if not all(word in f"{verb} {terms}" for word in words):
            continue
        child = os.fork()
        if not child:
            timed(verb, terms, data)
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
