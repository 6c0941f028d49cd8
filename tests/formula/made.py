"""Frames and formulas made by hypothesis."""

import os

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from .reference import quoted

EXAMPLES = int(os.environ.get("SGMC_EXAMPLES", 0))  # of each property; 0: a few, always the same
NAMES = [
    *("x", "g", "h", "z w", "größe", "class", "a:b", "np", "C", "I", "1st", " ", "Intercept"),
    *("x.1", "tick`", "Q", "log", "it's", "T", "x[T.a]", "lambda", "Treatment", "²", "\\n"),
]
FLOATS = [-2.5, -1.0, 0.0, 0.5, 1.0, 3.0, 7.25, 1e-300, 1e200, -1e8]
TEXTS = ["a", "b", "c", "", " ", "T.a", "ß", "'a'", "a]", "nan", "x:y", "True", "a'b", "\n"]
KINDS = [
    *("float64", "float64", "float32", "int64", "int8", "uint8", "bool", "Int64", "Float64"),
    *("boolean", "object", "string", "str", "category", "ordered", "category of numbers"),
    *("datetime", "constant", "numbers as text", "empty", "identifier", "mixed", "infinite"),
    *("Float32", "category of truth"),
]


def several(few):
    """Settings: so many examples, always the same, or SGMC_EXAMPLES of them, always new."""
    return settings(
        max_examples=EXAMPLES or few,
        derandomize=not EXAMPLES,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


@st.composite
def columns(draw, n):
    """A column of n rows of any kind, with or without gaps."""
    kind = draw(st.sampled_from(KINDS))
    gaps = draw(st.sampled_from([0.0, 0.0, 0.1, 0.4]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    gap = rng.random(n) < gaps
    few = draw(st.integers(1, 4))

    def pick(pool):
        start = rng.integers(len(pool))
        return [pool[(start + k) % len(pool)] for k in rng.integers(0, few + 1, n)]

    def with_gaps(values, missing=None):
        return [missing if g else v for v, g in zip(values, gap)]

    if kind in ("float64", "float32"):
        values = np.round(rng.normal(size=n), 3) if few > 2 else pick(FLOATS)
        return pd.Series(with_gaps(values, np.nan), dtype="float64").astype(kind)
    if kind == "infinite":
        return pd.Series(with_gaps(pick([*FLOATS[:5], np.inf, -np.inf]), np.nan), dtype="float64")
    if kind in ("int64", "int8"):
        return pd.Series(rng.integers(-3, 4, n), dtype=kind)
    if kind == "uint8":
        return pd.Series(rng.integers(0, 256, n), dtype=kind)
    if kind == "bool":
        return pd.Series(rng.random(n) < 0.5)
    if kind in ("Int64", "Float64", "Float32"):
        return pd.Series(with_gaps(rng.integers(-3, 4, n).tolist()), dtype=kind)
    if kind == "boolean":
        return pd.Series(with_gaps((rng.random(n) < 0.5).tolist()), dtype=kind)
    if kind in ("object", "string", "str"):
        return pd.Series(with_gaps(pick(TEXTS)), dtype=kind)
    if kind in ("category", "ordered"):
        levels = list(rng.permutation(TEXTS))
        return pd.Series(
            pd.Categorical(with_gaps(pick(TEXTS)), categories=levels, ordered=kind == "ordered")
        )
    if kind == "category of numbers":
        return pd.Series(pd.Categorical(with_gaps(rng.integers(0, 4, n).tolist()), [3, 1, 0, 2, 9]))
    if kind == "category of truth":
        return pd.Series(pd.Categorical(with_gaps((rng.random(n) < 0.5).tolist()), [True, False]))
    if kind == "datetime":
        return pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 9, n), "D"))
    if kind == "constant":
        return pd.Series(pick([draw(st.sampled_from([0.0, 1.0, "a", True]))]), index=range(n))
    if kind == "numbers as text":
        return pd.Series(with_gaps(pick(["1", "2.5", "-3", "1e4"])), dtype=object)
    if kind == "empty":
        return pd.Series([draw(st.sampled_from([None, np.nan, pd.NaT]))] * n, dtype=object)
    if kind == "identifier":
        return pd.Series([f"row {k}" for k in rng.permutation(n)], dtype=object)
    return pd.Series(pick([1, "a", 2.5, None]), dtype=object)


@st.composite
def frames(draw):
    """A frame with a response y, perhaps weights w and a subset s; now and then a name twice."""
    n = draw(st.sampled_from([0, 1, 2, 3, 5, 8, 13, 30, 60, 60]))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    made = {name: draw(columns(n)) for name in names}
    y = np.round(rng.normal(size=n), 2)
    y[rng.random(n) < draw(st.sampled_from([0, 0, 0.2]))] = np.nan
    made["y"] = pd.Series(y)
    made["w"] = pd.Series(rng.integers(draw(st.sampled_from([0, 1, 1])), 4, n).astype(float))
    made["s"] = pd.Series(rng.random(n) < 0.7)
    frame = pd.DataFrame(made, index=range(n))
    frame = frame[draw(st.permutations(list(frame.columns)))]
    if draw(st.integers(0, 40)) == 0:
        frame = pd.concat([frame, frame.iloc[:, :1]], axis=1)
    frame.index = draw(st.sampled_from([range(n), range(10, 10 + n), [f"r{k}" for k in range(n)]]))
    return frame


def factors(frame):
    """Trees of one factor."""
    names = [name for name in frame.columns if name not in ("y", "w", "s")]
    levels = sorted({str(v) for v in TEXTS[:4]})
    name = st.sampled_from(names)
    plain = st.tuples(st.just("column"), name)
    return st.one_of(
        plain,
        plain,
        plain,
        st.tuples(st.sampled_from(["log", "square", "center", "positive"]), name),
        st.tuples(st.just("poly"), name, st.integers(1, 3)),
        st.tuples(st.just("C"), name),
        st.tuples(st.just("C"), name, st.just("Sum")),
        st.tuples(st.just("C"), name, st.just("Treatment"), st.sampled_from(levels)),
    )


@st.composite
def trees(draw, frame):
    """A tree, see `reference`."""
    factor = factors(frame)
    inner = st.recursive(
        factor,
        lambda part: st.one_of(
            st.tuples(st.sampled_from(["+", ":", "*", "-", ":", "*"]), part, part),
            st.tuples(st.just("/"), factor, part),
            st.tuples(st.just("**"), st.tuples(st.just("+"), part, part), st.integers(2, 3)),
        ),
        max_leaves=4,
    )
    tree = draw(st.one_of(st.just(("dot",)), inner, inner))
    for _ in range(draw(st.integers(0, 2))):
        end = st.one_of(
            inner, factor, st.sampled_from([("0",), ("1",), ("dot",)]), st.just(("offset", "s"))
        )
        part = draw(end)
        signs = "+" if part[0] in ("offset", "dot") else "+-"
        tree = (draw(st.sampled_from(signs)), tree, part)
    return tree


def text_of(tree, draw=None):
    """A tree as a formula."""
    head = tree[0]
    if head == "dot":
        return "."
    if head in "01":
        return head
    if head == "column":
        return quoted(tree[1])
    if head == "offset":
        return f"offset({quoted(tree[1])})"
    if head in ("+", "-", ":", "*", "/"):
        left, right = text_of(tree[1]), text_of(tree[2])
        nested = tree[2][0] in ("+", "-", ":", "*", "/", "**")
        if head not in "+-":
            left = f"({left})" if tree[1][0] in ("+", "-", ":", "*", "/", "**") else left
        return f"{left} {head} {f'({right})' if nested else right}"
    if head == "**":
        return f"({text_of(tree[1])})**{tree[2]}"
    name = quoted(tree[1])
    if head == "C":
        how = {2: "", 3: ", Sum"}.get(len(tree)) if len(tree) < 4 else f", Treatment({tree[3]!r})"
        return f"C({name}{how})"
    return {
        "log": f"np.log({name})",
        "square": f"I({name}**2)",
        "center": f"center({name})",
        "positive": f"I({name} > 0)",
        "poly": f"poly({name}, {tree[2] if head == 'poly' else ''}, raw=True)",
    }[head]
