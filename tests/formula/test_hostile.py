"""Formulas that would take memory, time or the process itself: each is refused by an error that
names the piece, within seconds and a bound of memory, in a process of its own.
"""

import multiprocessing
import os
import re
import sys
import time

import numpy as np
import pandas as pd
import patsy
import pytest

import sgmc
from sgmc.errors import FormulaError, OutOfMemoryError, SGMCError
from sgmc.formula import read
from sgmc.formula.evaluation.allowlist import names_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of processes are Linux's")
N = 3_000
SECONDS, MEMORY = 10, 1 << 30  # of the processor, and above what the process has
RNG = np.random.default_rng(5)
FRAME = pd.DataFrame(
    {
        "y": RNG.integers(0, 2, N),
        "x": RNG.normal(size=N),
        "z": RNG.uniform(0.5, 2, N),
        "h": np.arange(N) % 900,
        "g": RNG.choice(["a", "b", "c"], N),
    }
)
# piece -> part of the message; of a formula from outside, refused before anything is computed
SAFE = {
    "bs(x, df=26, degree=21)": "degree",
    "bs(x, 26, None, 21)": "degree",
    "bs(x, df=30, degree=+21)": "degree",
    "patsy.bs(x, df=26, degree=21)": "degree",
    "te(bs(x, df=26, degree=21), cr(z, df=3))": "degree",
    "bs(x, df=101)": "at most 100 columns",
    "bs(x, 1e3)": "at most 100 columns",
    "cr(x, df=+101)": "at most 100 columns",
    "cc(x, df=500)": "at most 100 columns",
    "ns(x, df=1e9)": "numbers such as this one are at most 1,000",
    "ns(x, 300.0)": "at most 100 columns",
    "poly(x, 999)": "at most 100 columns",
    "poly(x, 101, raw=True)": "at most 100 columns",
    "poly(x, degree=101)": "at most 100 columns",
    f"bs(x, knots={[k / 1000 for k in range(200)]})": "at most 100 columns",
    f"cr(x, None, {[k / 1000 for k in range(200)]})": "at most 100 columns",
    "te(cr(x, df=100), cr(z, df=100))": "at most 400 columns",
    "te(cr(h, df=20), te(cr(x, df=20), cr(z, df=20)))": "at most 400 columns",
    "s(x, k=1000)": "at most 100 basis functions",
    "te(x, z, k=(100, 100))": "at most 400 basis functions",
    "pd.cut(x, 1001)": "at most 1,000",
    "pd.cut(x, 1e300)": "at most 1,000",
    "np.diff(x, 1001)": "at most 1,000",
    "scipy.special.lpmv(-1e8, 1e15, x)": "not in the list of functions of scipy.special",
    **{
        f"scipy.special.{call}": "not in the list of functions of scipy.special"
        for call in (
            "hyperu(1e8, 1e8, z)", "pbdv(1e8, x)", "pbvv(1e8, x)", "smirnovi(1000000000, z)",
            "btdtria(z, 1e300, z)", "chndtrinc(z, 1e9, z)", "chndtrix(z, 1e9, 1e9)",
            "chndtridf(z, 1e9, 1e9)", "hyp2f1(1e8, 1e8, 1e8, z)", "jv(1e9, x)", "zeta(x, 1e-9)",
            "gammaincinv(1e300, z)", "nrdtrisd(x, z, x)", "expn(1000000000, z)",
        )
    },
}  # fmt: skip
# a formula of one's own, or one from outside whose calls are small
ANY = {
    "np.diff(x, 1000)": "'np.diff(x, 1000)' must have a value in each of the 3,000 rows",
    "np.cumsum(np.diff(x))": "np.cumsum(np.diff(x))",
    "np.isin([1, 2], x)": "np.isin([1, 2], x)",
    "I(x * 1e308 * 10)": "x * 1e308 * 10",
    "np.exp(x * 1e5)": "np.exp(x * 1e5)",
    "C(h, Poly)": "C(h, Poly)",
    "poly(x, 90)": "poly(x, 90)",
    "bs(x, df=4.5)": "bs(x, df=4.5)",
    "cr(x, df=1)": "cr(x, df=1)",
    "bs(x, knots=[1, -90])": "bs(x, knots=[1, -90])",
    "bs(I(0 * x), df=4)": "bs(I(0 * x), df=4)",
}
OWN = {
    "bs(x, df=26, degree=21)": "bs(x, degree=21): the degree must be a whole number from 0 to 10",
    "bs(x, df=26, degree=int(21))": "bs(x, degree=21): the degree must be",
    "np.quantile(x, [0.1, 0.9])": "np.quantile(x, [0.1, 0.9])",
    "raw(x, df=26, degree=21)": "bs(x, degree=21): the degree must be",
    "patsy.bs(x, df=26, degree=21)": "after a dot bs() is not fitted to all rows",
    "patsy.splines.bs(x, df=26, degree=21)": "after a dot bs() is not fitted to all rows",
    "te(cr(x, df=300), cr(z, df=300))": "90,000 columns",
    "bs(x, df=10**5) : te(cr(x, df=300), cr(z, df=300))": "",
    "s(x, k=20000)": "s(x, k=20000) has 20,000 basis functions",
    "bs(x, df=1000000)": "1,000,000 columns",
    "poly(x, 5000)": "poly(x, 5000) needs more than 5000 different values",
    "cr(x, df=100000)": "100,000 columns",
    "C(u)": "C(u) has 20,000 levels",
}
NASTY = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 1e300, -1e300, 1e308, 5e-324, -5e-324, 1e-300, 1e15]
NASTY += [
    -1e15,
    -1e15 + 0.5,
    1e8,
    -1e8 - 0.3,
    170.5,
    -170.5,
    1e3,
    -1e3 + 0.5,
    1e-8,
    1 - 1e-16,
    709.0,
]
NASTY += [-745.0, 36.0, -20.1, np.nan, np.inf, -np.inf]
TIMES, SLOWEST = 20, 3e-5  # of a number: ten times what the slowest one takes
SMALL = [
    "bs(x, df=12, degree=10)", "te(cr(x, df=5), cr(z, df=5))", "s(x, k=20)", "poly(x, 20)",
    "scipy.special.erf(x)", "scipy.special.xlogy(z, z)", "pd.cut(x, 20)", "np.diff(x, prepend=0)",
]  # fmt: skip


def fill(text, safe):
    """Read a formula, write its design and make its groups and smooths; u has a level a row."""
    formula = sgmc.formula(text, safe=safe)
    scope = {"np": np, "pd": pd, "patsy": patsy, "raw": patsy.bs}
    data = FRAME if "(u" not in text else pd.DataFrame({"u": range(20_000), "z": 1.0, "y": 0.0})
    table = read(formula, data, outcome="numeric", scope=scope)
    for rows, _ in table.blocks(np.float64):
        assert rows.stop <= N
    table.grouping()


def child(work, given, told):
    """In a process with limits: send what work returns, or classes and message of its error."""
    import resource

    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        told.send(work(*given))
    except Exception as error:
        told.send((type(error).__mro__[:-1], str(error)))


def outcome(work, *given):
    """What some work ends in, see `child`; or the code by which the process ended, a text."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=child, args=(work, given, there))
    process.start()
    there.close()
    begun = time.monotonic()
    while process.is_alive() and not here.poll(0.05) and time.monotonic() - begun < 60 * SECONDS:
        pass
    try:
        found = here.recv() if here.poll() else "nothing"
    except EOFError:
        found = "nothing"
    process.join(5)
    if found == "nothing":
        process.kill()
        return f"the process ended with {process.exitcode}"
    return found


def check(piece, part, safe):
    found = outcome(fill, f"y ~ z + {piece}", safe)
    assert isinstance(found, tuple), found
    kinds, message = found
    assert SGMCError in kinds, (kinds, message)
    assert part in message, message
    assert "_sgmc_" not in message


@pytest.mark.parametrize("piece", SAFE)
def test_formulas_from_outside(piece):
    with pytest.raises(FormulaError) as caught:
        sgmc.formula(f"y ~ z + {piece}", safe=True)
    assert SAFE[piece] in str(caught.value)


@pytest.mark.extended("C(h, Poly)-True", "C(h, Poly)-False")
@pytest.mark.parametrize("safe", [True, False])
@pytest.mark.parametrize("piece", ANY)
def test_formulas_of_any_origin(piece, safe):
    check(piece, ANY[piece], safe)


@pytest.mark.extended("poly(x, 5000)")
@pytest.mark.parametrize("piece", OWN)
def test_formulas_of_ones_own(piece):
    check(piece, OWN[piece], safe=False)


@pytest.mark.parametrize(
    "piece", [*ANY, "bs(x, df=26, degree=int(11))", "C(True)", "pd.notnull(1)"]
)
def test_what_is_refused_in_time_needs_no_other_process(piece):
    with pytest.raises(
        SGMCError, match=re.escape(ANY.get(piece, piece.replace(", df=26", "")[:4]))
    ):
        fill(f"y ~ z + {piece}", safe=False)


def test_memory_that_ends_in_a_term_names_it(monkeypatch):
    """Where the forecast has let it pass."""

    def full(*given):
        raise MemoryError

    monkeypatch.setattr(patsy, "design_matrix_builders", full)
    for text, told in (("poly(x, 5)", "poly(x, 5) has 5 columns; give fewer"), ("z", "use fewer")):
        with pytest.raises(OutOfMemoryError, match=re.escape(told)):
            read(f"y ~ {text}", FRAME)


def test_a_safe_formula_keeps_its_widest_terms():
    """At the bounds, not beyond."""
    for piece in (
        "poly(x, 100)",
        "te(cr(x, df=20), cr(z, df=20))",
        "s(x, k=100)",
        "bs(x, 10, None, 10)",
    ):
        assert sgmc.formula(f"y ~ {piece}", safe=True)


@pytest.mark.extended
def test_small_ones_are_read():
    for piece in SMALL:
        assert outcome(fill, f"y ~ z + {piece}", True) is None, piece


def seconds(home, names):
    """For each function the most time that a number has taken, beside any other."""
    found = {}
    for name in names:
        function = getattr(home, name)
        for first in NASTY:
            for second in NASTY if function.nin == 2 else [0.0]:
                given = [np.full(TIMES, one) for one in (first, second)][: function.nin]
                took = min(timed(function, given) for _ in range(2))
                found[name] = max(found.get(name, 0.0), took / TIMES)
    return found


def timed(function, given):
    begun = time.process_time()
    with np.errstate(all="ignore"):
        function(*given)
    return time.process_time() - begun


def test_listed_functions_take_a_bounded_time():
    import scipy.special

    found = outcome(seconds, scipy.special, sorted(names_of("scipy.special")))
    assert isinstance(found, dict) and len(found) > 40, found
    assert max(found.values()) < SLOWEST, max(found.items(), key=lambda one: one[1])
