"""Formulas from outside: what would execute something is refused, and nothing of it happens; what
is ordinary has the design of a formula of one's own.
"""

import os
import random

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import DataError, FormulaError
from sgmc.formula import read
from sgmc.formula.evaluation import bounds, safe
from sgmc.formula.evaluation.safe import SafeFormula

RNG = np.random.default_rng(0)
N = 60
FRAME = pd.DataFrame(
    {
        "y": RNG.integers(0, 2, N),
        "x": RNG.normal(size=N),
        "z": RNG.uniform(0.5, 2, N),
        "k": RNG.integers(0, 9, N),
        "g": RNG.choice(["a", "b", "c"], N),
        "h": RNG.choice(["u", "v"], N),
        "my var": RNG.normal(size=N),
        "log": RNG.normal(size=N),
        "größe": RNG.normal(size=N),
    }
)
ATTACKS = [
    "__import__('os').system('touch made')", "open('made', 'w')", "eval('open(\"made\", \"w\")')",
    "exec('open(\"made\", \"w\")')", "compile('1', 'a', 'eval')", "canary(x)", "I(canary(x))",
    "x.__class__.__base__.__subclasses__()", "().__class__.__mro__[1].__subclasses__()[0](x)",
    "x.to_pickle('made')", "x.apply(canary)", "x.values.tofile('made')", "x.clip(0, 1)",
    "np.save('made', x)", "np.load('made', allow_pickle=True)", "np.lib.format.open_memmap('made')",
    "np.frompyfunc(canary, 1, 1)(x)", "np.vectorize(canary)(x)", "np.add.reduce(x)",
    "np.core.numeric.sys.modules", "np.__dict__", "np.log.__call__(x)", "np.fromfile('made')",
    "pd.read_pickle('made')", "pd.eval('x')", "pd.io.common.os.system('touch made')",
    "scipy.io.loadmat('made')", "math.factorial(99)", "patsy.dmatrix('canary(x)', data)",
    "getattr(x, '__class__')", "getattr(np, 'load')('made')", "vars(np)", "globals()", "locals()",
    "(lambda: canary(1))()", "(lambda v: v)(x)", "[canary(i) for i in (1, 2)]",
    "sum(canary(i) for i in (1, 2))", "{canary(i) for i in (1, 2)}", "{1: canary(1)}",
    "(x := 3)", "I((w := canary(1)))", "f'{canary(1)}'", "I(f'{canary(1)}' == g)",
    "'{0.__class__}'.format(x)", "'%s' % x", "x[0]", "x if canary(1) else z", "*x", "np.log(*x)",
    "np.log(**x)", "I(yield)", "await x", "print('made')", "type('A', (), {})", "input()",
    "breakpoint()", "help()", "Q(canary(1))", "Q('__import__(\"os\")')",
    "Q('x') .__class__", "\\x", "x\\\n+z", "ｏｐｅｎ('made', 'w')", "np.lｏad('made')",
    "_sgmc_0_.__class__", "_sgmc_99_",
    "__builtins__", "__name__", "__import__", "C(g, canary)", "C(g, levels=canary(1))",
    "C(canary(g))", "poly(canary(x), 2)", "np.log(x, out=z)", "np.log(x, where=False)",
    "np.add(x, 1, dtype='O')", "np.add(x, 1, signature='OO->O')", "I(x) ; canary(1)",
    "I(x)  # canary", "x\x00", "np.where(x > 0, canary, 1)", "I(canary)", "canary",
    "offset(canary(x))", "s(canary(x))", "s(x, by=canary)", "s(x, k=canary(1))", "(1 | canary(g))",
    "(canary(x) | g)", "standardize(x, canary)",
]  # fmt: skip
SIZES = [
    "9**9**9", "I(9**999999999)", "I(x**99999)", "I(max(k)**9999999)", "I(len(x)**len(x))",
    "np.power(max(k) * max(k), 64)", "np.power(10, 999999999)", "I(1000000000000000**2 * x)",
    "I(x + 99999999999999999999)", "poly(x, 99999)", "poly(x, len(x))", "bs(x, df=99999)",
    "pd.cut(x, 99999999)", "np.diff(x, 99999999)", "round(1, -999999999)", "s(x, k=99999)",
    "te(x, z, k=(999, 999))", "scipy.special.eval_legendre(999999999, x)", "math.prod(x)",
    "*".join(f"a{i}" for i in range(30)), "x*" * 40 + "z", "(x + z + k + log + g + h)**99",
    "I(" * 60 + "x" + ")" * 60, "-" * 700 + "x",
    "I(" + "(" * 300 + "x" + ")" * 300 + ")", " + ".join(["x"] * 700), "x" * 10001,
    " + ".join(f"(1 | g{i})" for i in range(60)), "[" * 5000,
]  # fmt: skip
ORDINARY = [
    "y ~ x", "y ~ .", "y ~ . - g + g:x", "y ~ x * z + g", "y ~ (x + z + k)^2", "y ~ g / x",
    "y ~ 0 + g * h", "y ~ C(g) + C(k)", "y ~ C(g, Sum) + C(h, Treatment('v'))", "y ~ 1",
    "y ~ C(g, levels=['c', 'b', 'a'])", "y ~ relevel(g, 'b') + factor(h)", "y ~ `my var` + log",
    "y ~ Q('my var') + größe", "y ~ poly(x, 2) + C(g)", "y ~ poly(x, 2, raw=True)",
    "y ~ ns(x, df=4)",
    "y ~ bs(x, df=5, degree=3) + cr(z, df=4)", "y ~ te(cr(x, df=3), cr(z, df=3))",
    "y ~ center(x) + scale(z) + standardize(k)", "y ~ log(z) + sqrt(z) + exp(x) + log1p(z)",
    "y ~ np.log(z) + np.sin(x) + I(np.pi * z)", "y ~ I(x**2) + I(x * z - 3) + I(z**-0.5)",
    "y ~ I(x > 0) + I((x > 0) & (z < 1))", "y ~ I(g == 'a') + I(k % 2 == 1)",
    "y ~ np.clip(x, -1, 1)",
    "y ~ np.where(x > 0, x, 0)", "y ~ np.maximum(x, 0) + abs(x)", "y ~ np.isin(g, ['a', 'b'])",
    "y ~ pd.cut(x, [-9, 0, 9])", "y ~ scipy.special.expit(x)", "y ~ round(x, 1) + np.round(z, 2)",
    "y ~ x + offset(log(z))", "I(y == 1) ~ x", "y ~ I(2**k) + I(10**3 * x)",
]  # fmt: skip


# names that are not called: of columns, for all that is known before there is a table
NAMES = {
    "__builtins__", "__name__", "__import__", "C(g, canary)", "np.where(x > 0, canary, 1)",
    "I(canary)", "canary", "s(x, by=canary)", "standardize(x, canary)", "I(yield)",
    "Q('__import__(\"os\")')",
}  # fmt: skip


def canary(*_):
    """What no formula from outside may call."""
    with open("made", "w"):
        return np.zeros(N)


def design(formula, scope=None):
    """Names and numbers of a design."""
    table = read(formula, FRAME, scope=scope)
    out = np.empty((len(table.y), len(table.spec.exog_names)))
    table.fill(out)
    return table.spec.exog_names, out, table.y, table.offset


@pytest.mark.parametrize("piece", ATTACKS + SIZES)
def test_attacks_are_refused_and_nothing_is_executed(piece, tmp_path, monkeypatch):
    """When a formula is made, and by the reader of one that was made in another way."""
    monkeypatch.chdir(tmp_path)
    text = f"y ~ x + {piece}"
    if piece not in NAMES:
        with pytest.raises(FormulaError):
            sgmc.formula(text, safe=True)
    scope = {"canary": canary, "w": 1, "special": np}
    with pytest.raises(FormulaError):
        read(SafeFormula(text), FRAME, scope=scope)
    with pytest.raises((FormulaError, DataError)):
        read(SafeFormula(f"{piece} ~ x"), FRAME, scope=scope)
    assert os.listdir() == []


def test_without_the_check_code_is_executed(tmp_path, monkeypatch):
    """The planted mistake: what the check is for."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(safe, "refuse_code", lambda *_: None)
    read(sgmc.formula("y ~ x + I(open('made', 'w').fileno() * x)", safe=True), FRAME)
    assert os.listdir() == ["made"]


def test_a_refusal_names_the_piece_the_reason_and_the_way_out():
    with pytest.raises(FormulaError) as caught:
        sgmc.formula("y ~ x + open('secrets')", safe=True)
    told = str(caught.value)
    assert "'open'" in told and "not in the list of functions" in told
    assert "make a column" in told and "docs/security.md" in told
    with pytest.raises(FormulaError, match=r"'x\.clip'.*a dot takes"):
        sgmc.formula("y ~ x.clip(0, 1)", safe=True)
    with pytest.raises(FormulaError, match="too large: its operators make more than .* terms"):
        sgmc.formula("y ~ (x + z + a + b + c + d)**9", safe=True)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_formulas_have_the_same_design(text):
    import scipy.special

    ours = design(sgmc.formula(text, safe=True), {"log": canary, "C": canary, "np": None})
    theirs = design(text, {"np": np, "pd": pd, "scipy": scipy})
    assert ours[0] == theirs[0]
    for one, other in zip(ours[1:], theirs[1:]):
        np.testing.assert_array_equal(one, other)


def test_names_of_the_caller_are_not_used():
    """Not even where they have the names of listed functions."""

    def log(x):
        raise AssertionError

    C = poly = np_ = log  # noqa: F841
    model = sgmc.Logit.from_formula(sgmc.formula("y ~ log(z) + C(g)", safe=True), FRAME)
    np.testing.assert_array_equal(model.data.source.frame["z"], FRAME["z"])
    with pytest.raises(FormulaError, match="AssertionError"):
        sgmc.Logit.from_formula("y ~ log(z) + C(g)", FRAME)


def test_a_wide_design_is_refused_before_it_is_made():
    frame = FRAME.assign(a=np.arange(N), b=np.arange(N) % 50, c=np.arange(N) % 40)
    for text in ("y ~ C(a):C(b):C(c)", "y ~ poly(x, 9):C(a):C(b)"):
        with pytest.raises(FormulaError, match="more than 10,0.. columns"):
            read(sgmc.formula(text, safe=True), frame)
    many = pd.DataFrame({"y": np.arange(1100) % 2, "a": np.arange(1100.0)})
    with pytest.raises(FormulaError, match=r"C\(a\) has more than 1,000 levels"):
        read(sgmc.formula("y ~ C(a)", safe=True), many)
    letters = {f"c{i}": RNG.choice(["u", "v"], N) for i in range(9)}
    with pytest.raises(FormulaError, match="9 factors, at most 8"):
        read(sgmc.formula("y ~ " + ":".join(letters), safe=True), FRAME.assign(**letters))


def test_counts_of_terms_are_those_of_patsy():
    for code in (
        "a + b",
        "a * b * c",
        "(a + b) : c - 1",
        "(a + b + c)**2",
        "a / (b + c)",
        "-1 + a",
    ):
        tree = safe.tree_of(code)
        made = safe.patsy.ModelDesc.from_formula(tree).rhs_termlist
        assert bounds.size_of(tree, 99)[0] >= len(made) - 1
    assert bounds.size_of(safe.tree_of("a * b * c"), 99) == (7 + 0, {"a", "b", "c"})


def test_text_without_safe_is_the_text():
    assert sgmc.formula("y ~ canary(x)") == "y ~ canary(x)"
    with pytest.raises(sgmc.errors.ArgumentError, match="text must be a formula as str"):
        sgmc.formula(3, safe=True)


def test_the_package_and_the_function_are_one_name():
    """Whatever was imported first."""
    import sgmc.formula.syntax.parser as dot
    from sgmc import formula

    assert formula is sgmc.formula and formula.syntax.parser is dot
    assert str(formula("y ~ x", safe=True)) == "y ~ x"


@pytest.mark.parametrize("text", ["x > @canary(1)", "x.map(@canary) > 0", "canary(x) > 0", "x"])
def test_texts_of_subset_are_looked_through(text):
    made = sgmc.formula("y ~ x", safe=True)
    with pytest.raises(DataError, match="beside a safe formula has|must be true or false"):
        sgmc.Logit.from_formula(made, FRAME, subset=text)
    assert sgmc.Logit.from_formula(made, FRAME, subset="x > 0 and `my var` < 1").data.n > 0


PARTS = ["x", "z", "g", "+", "-", "*", "/", ":", "**", "(", ")", "|", "~", ".", ",", "'", '"', "`"]
PARTS += [
    "C(",
    "s(",
    "I(",
    "np.",
    "open(",
    "Q(",
    "[",
    "]",
    "{",
    "}",
    "=",
    "\\",
    "\n",
    "2",
    "offset(",
]
PARTS += [
    "lambda",
    " if ",
    "@",
    ";",
    "#",
    "!",
    "$",
    "_sgmc_0_",
    "_sgmc_dot_",
    "é",
    "１",
    "\x00",
    "%",
]


def test_junk_is_refused_in_one_way(tmp_path, monkeypatch):
    """Texts of nothing but pieces: a formula, or a FormulaError."""
    monkeypatch.chdir(tmp_path)
    pick, made = random.Random(1), 0
    for _ in range(1500):
        text = "y ~ " + "".join(pick.choices(PARTS, k=pick.randint(1, 12)))
        try:
            sgmc.formula(text, safe=True)
            made += 1
        except FormulaError:
            pass
    assert 0 < made < 1500 and os.listdir() == []
