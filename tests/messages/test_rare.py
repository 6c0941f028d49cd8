"""Refusals that no other test makes: small fits and tables, one case for each message."""

import re
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.cluster.transforms import Spy
from sgmc.errors import SGMCError
from sgmc.formula.designs import coding
from sgmc.prepared.file.layout import Writer
from sgmc.results.outcomes.criticism import explained, stacking
from sgmc.results.outcomes.data.pieces import Pieces
from sgmc.results.outcomes.data.streams import Stream
from sgmc.results.path import Paths
from sgmc.sources.settling import cast

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


@cache
def frame(n=80):
    """Numbers, labels, a group, counts and pairs of counts."""
    rng = np.random.default_rng(8)
    df = pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(size=n), "g": [*"abcd"] * (n // 4)})
    df = df.assign(y=df.x + rng.normal(size=n), hit=(rng.random(n) < 0.5).astype(int))
    df = df.assign(kind=rng.choice([*"klm"], n), a=rng.integers(0, 5, n), b=rng.integers(1, 5, n))
    return df.assign(when=pd.date_range("2020-01-01", periods=n), odd=[1j] * n, one=1.0, zero=0.0)


@cache
def fitted(verb="ols", formula="y ~ x", **how):
    """A short fit."""
    return getattr(sgmc, verb)(formula, frame(), **{"draws": 100, "progress": False, **how})


class Short(Paths):
    """Results whose path has a single turn."""

    def _travelled(self, method):
        return [SimpleNamespace(turns=[0.0])]


OF_DATA = {
    "column 'odd' holds complex128, which are no groups": lambda: fitted(formula="y ~ (1 | odd)"),
    "the response 'when' must be an ordered categorical or numbers, it holds": lambda: fitted(
        "ordinal", "when ~ x"
    ),
    "ns() needs two different ends, in rising order, not (1.0, 1.0)": lambda: fitted(
        formula="y ~ ns(one, df=3)"
    ),
    "ns() has no finite number to place its knots by": lambda: fitted(
        formula="y ~ ns(z / 0, df=3)"
    ),
    "s(x):zero: the rows used do not determine any curve; leave it out": lambda: fitted(
        formula="y ~ x + s(x, by=zero)"
    ),
    "must be a number in each row, not 'a'": lambda: fitted(formula="y ~ x + offset('a')"),
    "'3' is not a column; groups are columns": lambda: fitted(formula="y ~ (1 | 3)"),
    "the response 'np.outer(y, y)' must be one column of 80 values": lambda: fitted(
        formula="np.outer(y, y) ~ x"
    ),
    "weights has masked values; fill them first": lambda: sgmc.ols(
        "y ~ x", frame(), weights=np.ma.masked_array(np.ones(80), np.arange(80) < 2)
    ),
}
OF_RESULTS = {
    "hypothesis 3 must be text, such as 'x1 > 0'": lambda: fitted().hypothesis(3),
    "is too large, or infinite": lambda: fitted().hypothesis("1e999 * x > 0"),
    "no coefficient is ever zero; use": lambda: fitted("logit", "hit ~ x").inclusion(),
    "expect: a chain has no line from turn to turn yet; take more draws": lambda: Short().expect(
        None
    ),
    "f gave an array of shape (1,) for coefficients": lambda: fitted(
        "logit", "hit ~ x", sampler="zigzag"
    ).expect(lambda theta: np.ones(1)),
    "prior densities of coefficients whose scale is learned are not known": lambda: fitted(
        prior=sgmc.horseshoe()
    ).plot_posterior(prior=True),
    "prior=True is for regressions": lambda: (
        sgmc.GaussianMixture(frame()[["x", "z"]], 2)
        .fit(draws=100, chains=1)
        .plot_posterior(prior=True)
    ),
    "a horseshoe prior has a pole at 0, and no density there": lambda: fitted(
        prior=sgmc.horseshoe()
    ).bayes_factor("x = 0"),
    "combines 'sigma' with others": lambda: fitted().bayes_factor("x = sigma"),
    "priors are not all normal and independent": lambda: fitted(
        formula="y ~ x + z", prior=sgmc.student_t(3)
    ).bayes_factor("x = z"),
    "sensitivity needs 100 draws, there are 40": lambda: fitted(draws=20, chains=2).sensitivity(),
    "sensitivity of draws with weights of their own": lambda: fitted(
        "logit", "hit ~ x", sampler="sgld", step_size=sgmc.Polynomial(0.1, 10, 0.6)
    ).sensitivity(),
    "bayes_factor 'sd(1|g) = 1' is about 'sd(1|g)'": lambda: fitted(
        formula="y ~ x + (1 | g)"
    ).bayes_factor("sd(1|g) = 1"),
    "offset has infinite values; leave such rows out": lambda: fitted().predict(
        frame(), offset=np.full(80, np.inf)
    ),
    "one number a row does not say to which": lambda: fitted("mnlogit", "kind ~ x").predict(
        frame(), offset=np.ones(80)
    ),
    "exposure does not apply to ols: it belongs to models of counts": lambda: fitted().predict(
        frame(), exposure=np.ones(80)
    ),
    "give one value a row, or the name of a column": lambda: fitted().predictions(
        frame(), weights=np.ones(3)
    ),
    "give the table, posterior_predict(df) or predict(df); everything": lambda: fitted(
        prior_only=True
    ).plot_pp_check(),
    "judge both by the same": lambda: sgmc.compare(
        fitted(formula="y ~ x + (1 | g)").loo(), fitted(formula="y ~ x + (1 | g)").loo(group=True)
    ),
    "compare needs at least two results": lambda: sgmc.compare(fitted()),
    "cov_type='robust' under a horseshoe prior": lambda: fitted(
        prior=sgmc.horseshoe(), cov_type="robust"
    ),
}


@pytest.mark.parametrize("message", [*OF_DATA, *OF_RESULTS])
def test_refusals(message, plt):
    with pytest.raises(SGMCError, match=re.escape(message)):
        (OF_DATA | OF_RESULTS)[message]()


# ---- what is found while a run goes on -----------------------------------------------------------


def test_variances_that_are_infinite_have_no_share(monkeypatch):
    monkeypatch.setattr(explained, "explained", lambda rows: np.array([0.5, np.nan]))
    with pytest.raises(SGMCError, match="the variance of an outcome is infinite at some draws"):
        fitted().r2()


def test_weights_that_are_not_the_best_are_refused(monkeypatch):
    monkeypatch.setattr(stacking, "WEIGHTS_TOLERANCE", -1.0)
    with pytest.raises(SGMCError, match="stacking did not converge, the log score may rise by"):
        sgmc.model_weights({"x": fitted(), "z": fitted(formula="y ~ z")})


def test_new_data_that_shrink_while_they_are_read_are_refused():
    shrunk = SimpleNamespace(frames=lambda size: iter(()), n=3, beside={}, narrow=False, needed=[])
    with pytest.raises(SGMCError, match="the new data had 3 rows and have 0 now: read them again"):
        list(Pieces.parts(shrunk, 10))


def test_streams_without_rows_are_refused():
    empty = SimpleNamespace(rows=lambda size: iter(()))
    with pytest.raises(SGMCError, match="predict: the new data have no rows"):
        Stream.size(empty, SimpleNamespace(name="predict"))


def test_factors_with_more_cells_than_numbers_are_refused(monkeypatch):
    monkeypatch.setattr(coding, "MOST_CELLS", 100)
    levels = frame().assign(g=[f"g{k:03}" for k in range(40)] * 2)
    with pytest.raises(SGMCError, match="the factors of the design have 123 combinations"):
        sgmc.ols("y ~ x + g:kind", levels, draws=100, progress=False)


def test_parts_of_a_file_that_are_not_whole_are_not_sealed():
    part = SimpleNamespace(bytes=16)
    with pytest.raises(ValueError, match="y has 8 of 16 bytes"):
        Writer.seal(SimpleNamespace(sections={"y": part}, written={"y": 8}), {})


CAST = {
    "it has categories that were not there before": (
        pd.Series(["a", "c"], dtype="category"),
        pd.CategoricalDtype(["a", "b"]),
    ),
    "it holds float64, and int64 before": (pd.Series([1.5, 2.0]), np.dtype("int64")),
    "it has missing values, and none before": (
        pd.Series([1, None], dtype=object),
        np.dtype("int64"),
    ),
}


@pytest.mark.parametrize("message", CAST)
def test_columns_that_change_their_type_are_refused(message):
    with pytest.raises(ValueError, match=message):
        cast(*CAST[message])


def test_transforms_take_one_column():
    with pytest.raises(SGMCError, match=r"center\(\) and scale\(\) of \(2,\) columns: give one"):
        Spy().transform(np.ones((3, 2)))
