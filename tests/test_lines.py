"""Each line of docs/lines.md runs, and answers as its neighbour in R or statsmodels does."""

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import special

import sgmc
from sgmc.errors import SGMCWarning

PAGE = Path(__file__).resolve().parents[1] / "docs" / "lines.md"
ROWS = [
    [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:3]]
    for line in PAGE.read_text().splitlines()
    if line.startswith("| `")
]
LINES = [re.fullmatch(r"`(.*)`", right)[1] for _, right in ROWS]


def table(n=400, seed=0):
    """Outcomes of every kind, two numbers and two factors."""
    rng = np.random.default_rng(seed)
    df = pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(size=n)})
    df["g"], df["h"] = rng.choice(list("abc"), n), np.arange(n) % 20
    eta = 0.3 + 0.5 * df.x
    group = rng.normal(size=20)[df.h] * 0.5
    df["y"] = 2 * eta + group + rng.normal(size=n)
    df["b"] = (rng.random(n) < special.expit(eta + group)).astype(int)
    df["size"], df["w"] = rng.gamma(2, np.exp(eta)), rng.integers(1, 4, n)
    df["count"] = rng.negative_binomial(3, 3 / (3 + np.exp(eta)))
    df["won"] = rng.binomial(10, special.expit(eta))
    df["lost"] = 10 - df.won
    latent = 2 * df.x + rng.logistic(size=n)
    df["grade"] = pd.cut(latent, [-np.inf, -1, 1, np.inf], labels=["low", "mid", "high"])
    df["share"] = rng.beta(5 * special.expit(eta), 5 * special.expit(-eta))
    life, seen = np.exp(eta) * rng.weibull(1.5, n), rng.exponential(3, n)
    df[["red", "green", "blue"]] = rng.multinomial(5, [0.2, 0.3, 0.5], size=n)
    df["time"], df["event"] = np.minimum(life, seen), (life <= seen).astype(int)
    return df


def test_there_are_sixty():
    assert len(LINES) >= 60 and len(set(LINES)) == len(LINES)


@pytest.mark.extended
def test_every_line_runs(tmp_path):
    place = {"sgmc": sgmc, "df": table(), "folder": tmp_path}
    ran = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        for line in LINES:
            try:
                exec(line, place)
            except Exception as error:
                error.add_note(f"in the line {line}")
                raise
            ran += 1
    assert ran == len(LINES)


def test_lines_answer_as_statsmodels_does():
    """Flat priors and 400 rows: means within .15 standard errors, sds within 8 %."""
    formula = pytest.importorskip("statsmodels.formula.api")
    df = table()
    pairs = {
        "y ~ x + z": (sgmc.ols, formula.ols("y ~ x + z", df)),
        "b ~ x + g": (sgmc.logit, formula.logit("b ~ x + g", df)),
        "count ~ x": (sgmc.poisson, formula.poisson("count ~ x", df)),
    }
    for text, (verb, rival) in pairs.items():
        mine = verb(text, df, prior="flat", seed=1, draws=2000)
        other = rival.fit(disp=0) if verb is not sgmc.ols else rival.fit()
        names = other.params.index
        apart = (mine.params[names] - other.params) / other.bse
        assert apart.abs().max() < 0.15, text
        assert (mine.bse[names] / other.bse - 1).abs().max() < 0.08, text
