"""What meets: the factors of the pairs test, their levels, the table, and what does not go
together.
"""

import itertools
import random
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..tiers import covering


class Case(NamedTuple):
    """A fit and the rows that its methods are asked for; a level of each factor."""

    family: str
    added: str
    weights: str
    terms: str
    groups: str
    table: str
    rows: str
    life: str

    def __str__(self):
        return "-".join(self)


# family: its outcomes, the verb and its arguments, the class of arrays
FAMILIES = {
    "ols": ("real", "ols", {}, "OLS"),
    "rlm": ("real", "rlm", {}, "RLM"),
    "logit": ("binary", "logit", {}, "Logit"),
    "probit": ("binary", "probit", {}, "Probit"),
    "cloglog": ("binary", "cloglog", {}, "Cloglog"),
    "poisson": ("count", "poisson", {}, "Poisson"),
    "negativebinomial": ("count", "negativebinomial", {}, "NegativeBinomial"),
    "gamma": ("positive", "glm", {"family": "gamma", "link": "log"}, "Gamma"),
    "inversegaussian": ("positive", "inversegaussian", {}, "InverseGaussian"),
    "beta": ("share", "beta", {}, "Beta"),
    "mnlogit": ("kind", "mnlogit", {}, "MNLogit"),
    "ordinal": ("grade", "ordinal", {}, "Ordinal"),
    "ordinal sequential": ("grade", "ordinal", {"kind": "sequential"}, "Ordinal"),
    "zeroinflated": ("count", "zeroinflated", {}, "ZeroInflated"),
    "hurdle": ("count", "hurdle", {}, "Hurdle"),
    "ols sigma": ("real", "ols", {"sigma": "~ 1"}, "OLS"),
    "gamma dispersion": ("positive", "gamma", {"dispersion": "~ 1"}, "Gamma"),
    "beta phi": ("share", "beta", {"phi": "~ 1"}, "Beta"),
}
ADDED = {  # what is added to the linear predictor: in the formula, and as arguments
    "nothing": ("", {}),
    "argument": ("", {"offset": "o"}),
    "formula": (" + offset(o)", {}),
    "log in formula": (" + offset(np.log(e))", {}),
    "exposure": ("", {"exposure": "e"}),
}
OFFSETS = {"formula": ("offset", "o"), "log in formula": ("offset", ("log", "e"))}
WEIGHTS = {"unweighted": None, "weighted": "w"}
x, z, f = ("column", "x"), ("column", "z"), ("column", "f")
TERMS = {
    "numeric": ("x + t", ("+", x, ("column", "t"))),
    "factor": ("x + C(k)", ("+", x, ("C", "k"))),
    "interaction": ("x * f", ("*", x, f)),
    "spline": ("bs(x, df=5) + t", ("+", ("bs", "x", 5), ("column", "t"))),
    "poly": ("poly(x, 2)", ("ortho", "x", 2)),
    "text": ("x + f", ("+", x, f)),
    "unused levels": ("x + c", ("+", x, ("column", "c"))),
    "centred": ("I(x - x.mean()) + t", ("+", ("center", "x"), ("column", "t"))),
    "monotonic": ("x + mo(k)", ("+", x, ("mo", "k"))),
    "by stage": ("x + cs(t)", x),
}
LABELS = {"factor": "k", "interaction": "f", "text": "f", "unused levels": "c", "monotonic": "k"}
STAGED = {"by stage": "t"}  # the number that has an effect for each stage
one, slope = ("1",), ("+", ("0",), ("column", "x"))
GROUPS = {  # the terms, and (covariates, columns of the level) of each factor of the product's
    "none": ("", ()),
    "intercepts": (" + (1 | s)", (((one,), ("s",)),)),
    "slopes": (" + (x | s)", (((one, slope), ("s",)),)),
    "nested": (" + (1 | s / v)", (((one,), ("s",)), ((one,), ("s", "v")))),
    "crossed": (" + (1 | s) + (1 | u)", (((one,), ("s",)), ((one,), ("u",)))),
    "smooth": (" + s(q, k=6)", ()),
    "walk": (" + rw1(s)", ()),
}
TABLES = ("frame", "polars", "dict", "arrays", "file", "prepared")
ROWS = ("of the fit", "new", "one", "reordered", "other label type", "missing", "new levels")
LIVES = ("fit", "resumed", "updated", "loaded", "pickled")
FACTORS = dict(
    family=tuple(FAMILIES),
    added=tuple(ADDED),
    weights=tuple(WEIGHTS),
    terms=tuple(TERMS),
    groups=tuple(GROUPS),
    table=TABLES,
    rows=ROWS,
    life=LIVES,
)
PLAIN = Case("poisson", "nothing", "unweighted", "numeric", "none", "frame", "new", "fit")

# ---- the table -----------------------------------------------------------------------------------


def rows_of(n, seed):
    """Some rows; numbers are between the ends of those of the first 4, which every table has."""
    rng = np.random.default_rng(seed)
    ends = [-2.0, 2.0, -1.9, 1.9]
    d = pd.DataFrame(
        {
            "x": rng.uniform(-1.8, 1.8, n),
            "q": rng.uniform(-1.8, 1.8, n),
            "t": rng.integers(0, 2, n).astype(float),
            "k": rng.integers(0, 3, n) + 7,
            "f": rng.choice(["low", "mid", "top"], n),
            "s": rng.integers(0, 5, n) + 1,
            "u": rng.choice(list("pqrst"), n),
            "v": rng.choice(list("ab"), n),
            "w": rng.integers(1, 4, n),
            "o": rng.uniform(-0.7, 0.7, n),
            "e": rng.uniform(0.5, 2.0, n),
        }
    )
    d.loc[: len(ends) - 1, ["x", "q"]] = np.column_stack([ends, ends[::-1]])[: min(n, 4)]
    d["c"] = pd.Categorical(d.f.map({"low": "L", "mid": "M", "top": "T"}), list("TXMLY"))
    eta = 0.3 + 0.5 * d.x - 0.4 * d.t + 0.5 * (d.f == "mid") + np.sin(2 * d.q) / 2
    eta = eta + 0.5 * np.array([-1, 0.3, 1, -0.5, 0.4])[d.s - 1] + 0.3 * (d.u == "q") + d.o / 2
    d["real"] = 3 + 2 * eta + rng.normal(size=n)
    d["binary"] = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int)
    d["count"] = rng.poisson(np.exp(eta)) * (rng.random(n) < 0.8)
    d["positive"] = np.exp(eta) * rng.gamma(3, size=n) / 3
    d["share"] = rng.beta(2 / (1 + np.exp(-eta)) + 0.3, 1.5)
    d["kind"] = rng.choice(["ape", "bee", "cat"], n)
    d["grade"] = np.digitize(eta + rng.logistic(size=n), [0.0, 1.2])
    return d


N = 84
DATA = rows_of(N, 5).set_index(pd.RangeIndex(500, 500 + N, name="row"))
MORE = rows_of(40, 6)  # arrive later
NEW = rows_of(9, 7)

# ---- what does not go together -------------------------------------------------------------------

GROUPED = tuple(one for one in GROUPS if one != "none")
ZEROS = ("zeroinflated", "hurdle")
SECOND = ("ols sigma", "gamma dispersion", "beta phi")  # predictors of a second parameter
TWO_PARTS = (*ZEROS, *SECOND)
ORDERED = ("ordinal", "ordinal sequential")
SEVERAL = ("mnlogit", *TWO_PARTS)  # linear predictors: effects of levels are sampled
COUNTS = tuple(one for one in FAMILIES if FAMILIES[one][0] == "count")


def pairs(first, levels, second, others):
    """Pairs of settings: each level of one factor with each of another."""
    return [((first, a), (second, b)) for a in levels for b in others]


# pairs of settings that are refused, with words of which the error has one, at least
REFUSED = {}
for several, words in [
    (
        pairs("family", [f for f in FAMILIES if f not in COUNTS], "added", ("exposure",)),
        ("exposure",),
    ),
    (pairs("groups", GROUPED, "life", ("updated",)), ("groups", "smooths")),
    (pairs("terms", ("monotonic",), "life", ("updated",)), ("mo(x)",)),
    (pairs("family", ("mnlogit",), "added", ("argument", *OFFSETS)), ("mnlogit",)),
    (pairs("family", ZEROS, "table", ("arrays",)), ("two designs",)),
    (pairs("family", SECOND, "table", ("arrays",)), ("two designs", "belongs to from_formula")),
    (pairs("added", ("log in formula",), "table", ("prepared",)), ("offset(np.log(e))",)),
    (pairs("terms", ("centred",), "table", ("prepared",)), ("x.mean()",)),
    (
        pairs("family", [f for f in FAMILIES if f != "ordinal sequential"], "terms", STAGED),
        ("kind='sequential'",),
    ),
]:
    REFUSED.update(dict.fromkeys(several, words))
# pairs that no call can say, or that say nothing new
UNSAID = [
    *pairs("table", ("arrays",), "groups", GROUPED),
    *pairs("table", ("arrays",), "added", OFFSETS),
    *pairs("table", ("arrays",), "rows", ("other label type", "new levels")),
    *pairs("rows", ("of the fit",), "life", ("loaded", "pickled")),
    *pairs("rows", ("other label type",), "terms", [t for t in TERMS if t not in LABELS]),
    *pairs("table", ("arrays",), "terms", ("monotonic", *STAGED)),
    *pairs("rows", ("new levels",), "groups", ("none", "smooth", "walk")),
    *pairs("terms", ("centred",), "table", ("file",)),  # a small one is read; large ones refuse it
]
OUT = {frozenset(pair) for pair in [*REFUSED, *UNSAID]}


def possible(case):
    """Whether no pair of settings is refused or cannot be said."""
    pairs = itertools.combinations(zip(FACTORS, case), 2)
    return not any(frozenset(pair) in OUT for pair in pairs)


def cases(strength=2, fills=4, seed=1):
    """Cases in which all possible interactions of `strength` settings occur.

    Candidates are each interaction with all other factors at random, a few times: the product of
    all factors has two million cases.
    """
    choose, candidates = random.Random(seed).choice, {}
    for names in itertools.combinations(FACTORS, strength):
        for levels in itertools.product(*(FACTORS[name] for name in names)):
            fixed = dict(zip(names, levels))
            filled = (
                Case(*(fixed.get(name) or choose(some) for name, some in FACTORS.items()))
                for _ in range(200)
            )
            for case in itertools.islice(filter(possible, filled), fills):
                candidates[case] = None
    rows = list(candidates)
    return [rows[k] for k in covering([tuple(zip(FACTORS, one)) for one in rows], strength)]
