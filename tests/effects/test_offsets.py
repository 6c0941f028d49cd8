"""Offsets of formulas, arguments and exposures: each is counted once, at the rows of the fit and at
new ones; every number is compared with one made from the draws by hand.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import special

import sgmc
from sgmc.errors import ArgumentError

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws

N = 200
EXACT = 1e-9  # sums of a few hundred numbers, in another order


@cache
def table():
    """A number x, exposures e and w, an offset z, and outcomes of several families."""
    rng = np.random.default_rng(5)
    df = pd.DataFrame({"x": rng.normal(size=N), "z": rng.normal(size=N)})
    df["e"], df["w"] = rng.uniform(1, 20, N), rng.uniform(0.5, 2, N)
    df["g"] = np.arange(N) % 10
    eta = 0.4 * df.x - 0.5 + np.log(df.e)
    df["n"], df["b"] = rng.poisson(np.exp(eta)), (rng.random(N) < 0.4).astype(int)
    df["y"], df["k"] = eta + rng.normal(size=N), np.digitize(eta, [1, 2])
    df["t"] = np.exp(0.2 * df.y)
    df["c"] = df.n * (rng.random(N) < 0.7)
    return df


@cache
def fitted(verb, formula, sampler="laplace", **how):
    """A short fit."""
    df = table()
    return getattr(sgmc, verb)(
        formula, df, seed=1, draws=50, sampler=sampler, progress=False, **how
    )


LINKS = {
    "poisson": np.exp,
    "negativebinomial": np.exp,
    "logit": special.expit,
    "ols": lambda eta: eta,
}
OFFSETS = [
    ("poisson", "n ~ x + offset(np.log(e))", {}, lambda d: np.log(d.e)),
    ("poisson", "n ~ x", {"exposure": "e"}, lambda d: np.log(d.e)),
    ("poisson", "n ~ x + offset(np.log(e))", {"exposure": "w"}, lambda d: np.log(d.e * d.w)),
    (
        "poisson",
        "n ~ x + offset(np.log(e))",
        {"exposure": "w", "offset": "z"},
        lambda d: np.log(d.e * d.w) + d.z,
    ),
    ("negativebinomial", "n ~ x + offset(np.log(e))", {}, lambda d: np.log(d.e)),
    ("logit", "b ~ x + offset(z)", {}, lambda d: d.z),
    ("logit", "b ~ x + offset(z) + offset(w)", {"offset": "e"}, lambda d: d.z + d.w + d.e),
    ("ols", "y ~ x + offset(np.log(e))", {}, lambda d: np.log(d.e)),
]


def by_hand(results, df, offset, moved=0.0):
    """Linear predictors (row, draw) of intercept and slope, with an offset."""
    draws = results.flat
    return draws[:, 0] + np.outer(df.x + moved, draws[:, 1]) + np.asarray(offset(df))[:, None]


@pytest.mark.parametrize("verb, formula, how, offset", OFFSETS)
def test_each_offset_counts_once(verb, formula, how, offset):
    df, res, mean = table(), fitted(verb, formula, **how), LINKS[verb]
    eta = by_hand(res, df, offset)
    new = {name: df[column] for name, column in how.items()}
    same = dict(rtol=EXACT, atol=EXACT)
    np.testing.assert_allclose(res.predictions().draws, mean(eta), **same)
    np.testing.assert_allclose(res.predictions(type="link").draws, eta, **same)
    np.testing.assert_allclose(res.avg_predictions().draws[0], mean(eta).mean(axis=0), **same)
    change = mean(by_hand(res, df, offset, 1.0)) - mean(eta)
    np.testing.assert_allclose(res.avg_comparisons("x").draws[0], change.mean(axis=0), **same)
    h = 1e-5
    slope = mean(by_hand(res, df, offset, h)) - mean(by_hand(res, df, offset, -h))
    slope = slope.mean(axis=0) / (2 * h)  # differences of both sides: errors of order h^2
    np.testing.assert_allclose(res.avg_slopes("x").draws[0], slope, rtol=1e-6)
    np.testing.assert_allclose(res.get_margeff().draws[:, 0], slope, rtol=1e-6)
    np.testing.assert_allclose(res.fittedvalues, mean(eta).mean(axis=1), **same)
    np.testing.assert_allclose(res.predict(df, **new), mean(eta).mean(axis=1), **same)
    few = {name: column.iloc[[7]] for name, column in new.items()}
    np.testing.assert_allclose(res.predict(df.iloc[[7]], **few), mean(eta)[7].mean(), **same)
    np.testing.assert_allclose(res.predictions(df.tail(9), **{k: v.tail(9) for k, v in new.items()})
                               .draws, mean(eta)[-9:], **same)  # fmt: skip


@pytest.mark.parametrize(
    "verb, formula", [("ordinal", "k ~ x + offset(z)"), ("survreg", "t ~ x + offset(z)")]
)
def test_other_families_agree_with_new_rows_and_with_the_argument(verb, formula):
    df, res = table(), fitted(verb, formula)
    argument = fitted(verb, formula.replace(" + offset(z)", ""), offset="z")
    for made in (lambda r, **how: r.predictions(**how), lambda r, **how: r.avg_slopes("x", **how)):
        found = made(res).estimate
        np.testing.assert_allclose(found, made(res, data=df).estimate, rtol=1e-9)
        np.testing.assert_allclose(found, made(argument).estimate, rtol=1e-7)


def test_variables_of_an_offset_move_it():
    """Twice the exposure is twice the count."""
    found = fitted("poisson", "n ~ x + offset(np.log(e))").avg_comparisons(
        {"e": [2.0, 4.0]}, comparison="ratio"
    )
    np.testing.assert_allclose(found.draws, 2.0, rtol=1e-12)


def test_groups_and_smooths():
    df, log_e = table(), np.log(table().e)
    for formula in ("n ~ x + (1 | g)", "n ~ s(x)"):
        res = fitted("poisson", f"{formula} + offset(np.log(e))", "auto")
        np.testing.assert_allclose(res.predictions().estimate, res.predictions(df).estimate)
        free = res.predictions(df.assign(e=1.0), type="link").estimate + log_e
        np.testing.assert_allclose(res.predictions(type="link").estimate, free, rtol=1e-9)


def test_later_fits_count_it_once_too(tmp_path):
    df = table()
    res = sgmc.poisson("n ~ x + offset(np.log(e))", df, seed=1, draws=50, progress=False)
    res.save(tmp_path / "fit.sgmc")
    loaded = sgmc.load(tmp_path / "fit.sgmc")
    later = [(res.resume(draws=20), None, df), (res.update(df[:50]), None, df[:50])]
    for one, at, rows in [*later, (loaded, df, df)]:
        eta = by_hand(one, rows, lambda d: np.log(d.e))
        np.testing.assert_allclose(one.predictions(at).draws, np.exp(eta), rtol=EXACT)


def test_polars_and_reordered_rows():
    polars = pytest.importorskip("polars")
    df = table()
    mixed = df.sample(frac=1, random_state=3)
    formula = "n ~ x + offset(np.log(e))"
    how = dict(seed=1, draws=50, sampler="laplace", progress=False)
    other = sgmc.poisson(formula, polars.from_pandas(df), **how)
    wanted = fitted("poisson", formula).predictions().estimate
    np.testing.assert_allclose(other.predictions().estimate, wanted, rtol=1e-12)
    found = fitted("poisson", formula).predict(mixed)
    assert found.index.equals(mixed.index)
    np.testing.assert_allclose(found.sort_index(), wanted, rtol=1e-9)


TWO_PARTS = [("zeroinflated", "c"), ("hurdle", "c"), ("negativebinomial", "n")]


@pytest.mark.cover(0)
@pytest.mark.parametrize("verb, outcome", TWO_PARTS)
def test_two_part_models_take_a_formulas_offset_to_new_rows(verb, outcome, tmp_path):
    df, res = table(), fitted(verb, f"{outcome} ~ x + offset(np.log(e)) | z")
    res.save(tmp_path / "fit.sgmc")
    new = df.iloc[20:60]
    for one in (res, sgmc.load(tmp_path / "fit.sgmc")):
        np.testing.assert_allclose(one.predict(new), res.fittedvalues.iloc[20:60], rtol=1e-9)
        assert one.posterior_predict(new, draws=5).shape == (5, 40)
        found = one.predictions(new)
        np.testing.assert_allclose(found.draws, res.predictions().draws[20:60], rtol=1e-9)
        double = one.avg_comparisons({"e": [1.0, 2.0]}, new, comparison="ratio")
        if verb != "hurdle":  # whose mean is that of positive counts
            np.testing.assert_allclose(double.draws, 2.0, rtol=1e-9)
    if verb != "negativebinomial":
        zero = res.zero_probability(new)
        np.testing.assert_allclose(zero, res.zero_probability().iloc[20:60], rtol=1e-9)
        draws, log_e = res.flat, np.log(new.e.to_numpy())[:, None]
        mu = np.exp(draws[:, 0] + np.outer(new.x, draws[:, 1]) + log_e)
        own = special.expit(draws[:, 2] + np.outer(new.z, draws[:, 3]))
        wanted = own + (1 - own) * np.exp(-mu) if verb == "zeroinflated" else own
        np.testing.assert_allclose(zero, wanted.mean(axis=1), rtol=1e-9)
    argument = fitted(verb, f"{outcome} ~ x | z", offset="z")
    with pytest.raises(ArgumentError, match="predict needs offset="):
        argument.predict(new)


@pytest.mark.parametrize("verb", [sgmc.ols, sgmc.rlm])
def test_priors_of_intercepts_are_about_what_offsets_leave(verb):
    """With offsets near 100 and 12 rows the draws are those of outcomes less offsets but for
    rounding (numbers have three decimals); before, sigma was 47 for 1.
    """
    rng = np.random.default_rng(7)
    d = pd.DataFrame({"x": rng.normal(size=12), "o": np.round(rng.normal(100, 1, 12), 3)})
    d["e"] = np.round(d.x + rng.normal(size=12), 3)
    d["y"] = d.e + d.o
    less = verb("e ~ x", d, seed=1, draws=100)
    for formula, given in (("y ~ x + offset(o)", {}), ("y ~ x", {"offset": "o"})):
        fit = verb(formula, d, seed=1, draws=100, **given)
        np.testing.assert_allclose(fit.params, less.params, rtol=1e-6)
