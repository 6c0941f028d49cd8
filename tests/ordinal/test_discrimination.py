"""Ordinal regression with predictors of discrimination: densities against plain numpy, posteriors
against importance sampling, results, and what is refused.
"""

import pickle
from functools import cache

import numpy as np
import pandas as pd
import pytest
from _ext.probes import Probe, block
from scipy import special, stats

import sgmc
from sgmc.core.designs.design import design
from sgmc.errors import ArgumentError, FormulaError
from sgmc.models.regression.families.ordinal import DiscriminatingFamily

from ..importance import apart, around_the_mode
from .densities import assert_density
from .derivatives import assert_derivatives

FUNCTIONS = {
    "logit": special.expit,
    "probit": special.ndtr,
    "cloglog": lambda z: -np.expm1(-np.exp(z)),
}
GAPS = np.array([0.3, 1.7])  # of four levels
PLACES = [(e, u) for e in (-1.1, 0.0, 0.9) for u in (-1.2, 0.0, 0.7)]
N = 400


def probabilities(link, eta, zeta, cuts, mistake=None):
    """Of all levels, (row, level), by differences; `mistake` is a planted one."""
    s = np.exp(-zeta if mistake == "sign" else zeta)[:, None]
    z = cuts - s * eta[:, None] if mistake == "eta alone" else s * (cuts - eta[:, None])
    below = FUNCTIONS[link](z)
    edge = np.ones((len(eta), 1))
    return np.diff(np.hstack([0 * edge, below, edge]), axis=1)


def family(link, columns=(0, 1)):
    """Of four levels, an intercept and a column of discrimination."""
    return DiscriminatingFamily(
        np.array(columns), (0,), link=link, labels=tuple("abcd"), shares=np.full(4, 0.25),
        coefficients=["Intercept", "discrimination:z"], intercept=0,
    )  # fmt: skip


def compiled(link, y):
    """The compiled model of one outcome, its parameters being (eta, zeta, logs of gaps)."""
    return Probe(family(link).kernel(design(np.ones((1, 2))), np.array([float(y)])))


def by_numpy(link, y, theta, mistake=None):
    """log p(y) at (eta, zeta, logs of gaps), of probabilities down to 1e-15."""
    cuts = np.cumsum([0.0, *np.exp(theta[2:])])
    p = probabilities(link, np.array([theta[0]]), np.array([theta[1]]), cuts, mistake)
    return np.log(max(p[0, y], 1e-15))


@pytest.mark.parametrize("y", range(4))
@pytest.mark.parametrize("link", FUNCTIONS)
def test_densities_are_differences_of_distribution_functions(link, y):
    """To 1e-10: probabilities here are above 1e-4, so that differences have errors of 1e-12."""
    for place in PLACES:
        right = by_numpy(link, y, [*place, *np.log(GAPS)])
        if right < np.log(1e-4):
            continue
        assert_density(compiled(link, y), family(link), place, np.log(GAPS), y, right, GAPS)


@pytest.mark.parametrize("mistake", ["sign", "eta alone"])
@pytest.mark.parametrize("link", FUNCTIONS)
def test_mistakes_of_discrimination_are_seen_by_densities(link, mistake):
    """Planted: the sign of log s is turned; thresholds are not multiplied."""
    theta = [0.9, 0.7, *np.log(GAPS)]
    found = compiled(link, 2).value(theta, block(0, 1))
    assert abs(found - by_numpy(link, 2, theta, mistake)) > 0.1


@pytest.mark.parametrize("link", FUNCTIONS)
def test_scores_and_curvatures_are_those_of_numpys_densities(link):
    assert_derivatives(compiled, by_numpy, link, [0.4, -0.3, *np.log(GAPS)])


def test_nothing_overflows():
    for theta in ([800.0, 800.0, 0.0, 0.0], [-1e6, 300.0, 900.0, -900.0], [1.0, -900.0, 0.0, 0.0]):
        for link in FUNCTIONS:
            for y in range(4):
                probe = compiled(link, y)
                assert not np.isnan(probe.value(theta, block(0, 1)))
                assert np.isfinite(probe.gradient(theta, block(0, 1))).all()


# ---- posteriors ----------------------------------------------------------------------------------


def table(n=N, link="logit", seed=7):
    """Four levels, discrimination exp(0.5 z)."""
    rng = np.random.default_rng(seed)
    d = pd.DataFrame({"x": rng.normal(1, 1, n), "z": rng.normal(size=n)})
    d["g"], d["f"] = rng.integers(0, 10, n), rng.choice(["u", "v"], n)
    errors = {"logit": rng.logistic, "probit": rng.normal}[link](size=n)
    d["y"] = np.searchsorted([0.0, 1.2, 2.0], d.x + errors * np.exp(-0.5 * d.z))
    return d


@cache
def fitted(link="logit", discrimination="~ z"):
    """The fit at default settings."""
    return sgmc.ordinal(
        "y ~ x", table(link=link), link=link, discrimination=discrimination, seed=1
    )  # fmt: skip


@cache
def reference(link, mistake=None):
    """Means and sds of what is printed, and the effective number of draws."""
    d = table(link=link)
    x, z, y = d.x.to_numpy(), d.z.to_numpy(), d.y.to_numpy()
    scale = 2.5 / d[["x", "z"]].std().to_numpy()

    def value(points):
        gaps, out = np.exp(points[:, 3:]), np.empty(len(points))
        cuts = points[:, 2:3] + np.cumsum(np.insert(gaps, 0, 0.0, axis=1), axis=1)
        for k, (b, c) in enumerate(points[:, :2]):
            p = probabilities(link, b * x, c * z, cuts[k], mistake)[np.arange(N), y]
            out[k] = np.log(np.maximum(p, 1e-300)).sum()
        out += stats.norm.logpdf(points[:, :2], 0, scale).sum(axis=1)
        out += stats.norm.logpdf(-points[:, 2] + points[:, 0] * x.mean(), 0, 2.5)
        return out - gaps.sum(axis=1) / 2.5 + points[:, 3:].sum(axis=1)  # the Jacobian of the logs

    points, w = around_the_mode(value, np.zeros(5), np.array([1, 1, 1, 1, 1.0]))
    points[:, 2:] = np.cumsum(np.hstack([points[:, 2:3], np.exp(points[:, 3:])]), axis=1)
    mean = w @ points
    return mean, np.sqrt(w @ (points - mean) ** 2), 1 / (w**2).sum()


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_posteriors_are_right_at_default_settings(link):
    """0.1 sd and 5 % are promised; the reference has more than 5,000 effective draws, so that its
    own errors are below 0.03 sd and 2 %.
    """
    mean, sd, size = reference(link)
    assert size > 5_000
    off, wide = apart(fitted(link), mean, sd)
    assert off < 0.1 and wide < 0.05
    assert str(fitted(link).verdict).startswith("trustworthy")


@pytest.mark.extended
@pytest.mark.parametrize("mistake", ["sign", "eta alone"])
def test_mistakes_of_discrimination_are_seen_by_posteriors(mistake):
    mean, sd, _ = reference("logit", mistake)
    assert apart(fitted(), mean, sd)[0] > 1


@pytest.mark.extended
def test_the_truth_of_many_rows():
    """100,000 rows, five columns of the predictor and two of discrimination: within four sds."""
    rng, n = np.random.default_rng(4), 100_000
    d = pd.DataFrame(rng.normal(size=(n, 7)), columns=list("abcdepq"))
    slopes, own, cuts = [0.8, -0.5, 0.3, 0.0, 0.1], [0.4, -0.2], [-1.0, 0.0, 0.6, 1.5]
    scale = np.exp(-d[["p", "q"]].to_numpy() @ own)
    d["y"] = np.searchsorted(
        cuts, d[list("abcde")].to_numpy() @ slopes + rng.logistic(size=n) * scale
    )
    results = sgmc.ordinal("y ~ a + b + c + d + e", d, discrimination="~ p + q", seed=1)
    assert str(results.verdict).startswith("trustworthy")
    z = (results.params.to_numpy() - [*slopes, *own, *cuts]) / results.bse.to_numpy()
    assert np.abs(z).max() < 4


# ---- results -------------------------------------------------------------------------------------


def by_draws(results, d):
    """Probabilities (draw, row, level) and discriminations (draw, row), by numpy."""
    c, x, z = results.flat, d.x.to_numpy(), d.z.to_numpy()
    s = np.exp(c[:, 1:2] * z)
    below = FUNCTIONS["logit"](s[..., None] * (c[:, None, 2:] - (c[:, :1] * x)[..., None]))
    return np.diff(below, axis=-1, prepend=0, append=1), s


def test_names_and_predictions():
    results, d = fitted(), table()
    assert results.names == ["x", "discrimination:z", "0|1", "1|2", "2|3"]
    p, s = by_draws(results, d[:50])
    np.testing.assert_allclose(results.predict(d[:50]), p.mean(axis=0), rtol=1e-9)
    found = results.predict(d[:50], which="discrimination")
    np.testing.assert_allclose(found, s.mean(axis=0), rtol=1e-9)
    assert results.pp_check(seed=3).p.min() > 0.01
    y = d.y.to_numpy()[:50]
    chosen = np.log(p[:, np.arange(50), y])
    np.testing.assert_allclose(results.log_lik(d[:50], endog="y"), chosen, rtol=1e-7)
    loo = results.loo().elpd
    assert loo > sgmc.ordinal("y ~ x", d, seed=1).loo().elpd + 5  # by 0.5 z the law is another


def test_effects():
    """On discrimination; and of z on the probabilities, by differences of these."""
    results, d = fitted(), table()
    s = np.exp(results.flat[:, 1:2] * d.z.to_numpy())
    right = (s * results.flat[:, 1:2]).mean()
    assert results.avg_slopes("z", of="discrimination").estimate[0] == pytest.approx(
        right, rel=1e-3
    )
    link = results.predictions(of="discrimination", type="link").estimate
    np.testing.assert_allclose(link, np.log(s).mean(axis=0), rtol=1e-9, atol=1e-12)
    some = results.flat[::40]
    x, z, h = d.x.to_numpy(), d.z.to_numpy(), 1e-4

    def shares(step):
        p = [probabilities("logit", b[0] * x, b[1] * (z + step), b[2:]) for b in some]
        return np.mean(p, axis=(0, 1))

    right = (shares(h) - shares(-h)) / (2 * h)
    found = results.avg_slopes("z").estimate
    np.testing.assert_allclose(found, right, atol=4e-3)  # of a 40th of the draws
    margins = np.ravel(results.get_margeff().margeff)  # of x on each level, then of z
    np.testing.assert_allclose(margins[4:], found, atol=1e-3)


def test_factors_are_coded_against_their_first_level():
    """An intercept of discrimination is taken out after coding; `0 +` and numbers are the same."""
    results = fitted(discrimination="~ f + z")
    assert results.names[1:3] == ["discrimination:f[T.v]", "discrimination:z"]
    d = table()[:9]
    s = np.exp(
        results.flat[:, 1:2] * (d.f == "v").to_numpy(float) + results.flat[:, 2:3] * d.z.to_numpy()
    )
    found = results.predict(d, which="discrimination")
    np.testing.assert_allclose(found, s.mean(axis=0), rtol=1e-9)
    same = fitted(discrimination="~ 0 + z")
    np.testing.assert_array_equal(same.draws, fitted().draws)


def test_files_pickles_and_changed_formulas(tmp_path):
    results, d = fitted(), table()
    results.save(tmp_path / "fit.sgmc")
    for one in (sgmc.load(tmp_path / "fit.sgmc"), pickle.loads(pickle.dumps(results))):
        for which in ("mean", "discrimination"):
            np.testing.assert_array_equal(
                one.predict(d[:9], which=which), results.predict(d[:9], which=which)
            )
    plain = results.update("~ .", d, discrimination=None)
    assert plain.names == ["x", "0|1", "1|2", "2|3"]
    again = plain.update("~ .", d, discrimination="~ z")
    np.testing.assert_array_equal(again.draws, results.draws)


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_groups_stand_in_either_part():
    """A hundred rows: names, and effects that move the discrimination of their level alone."""
    d = table(100)
    results = sgmc.ordinal(
        "y ~ x + (1 | f)", d, discrimination="~ (1 | g)", seed=1, chains=2, draws=200
    )
    sds = [name for name in results.names if name.startswith("sd(")]
    assert sds == ["sd(1|f)", "sd(discrimination:1|g)"]
    s = results.predict(d, which="discrimination")
    assert s.groupby(d.g).std().max() < 1e-9 < s.std()
    p = results.predict(d).to_numpy()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.isfinite(results.loo().elpd)


def of(discrimination, formula="y ~ x", **how):
    """A call that is refused."""
    return sgmc.ordinal(formula, table(60), discrimination=discrimination, seed=1, **how)


REFUSED = {
    "none": (FormulaError, "no predictor, and its intercept is fixed", lambda: of("~ 1")),
    "levels": (FormulaError, "a column for each level of a factor", lambda: of("~ 0 + f")),
    "number": (ArgumentError, "must be a formula", lambda: of(2.0)),
    "left side": (FormulaError, "without a left side", lambda: of("y ~ z")),
    "offset": (FormulaError, "would belong to discrimination", lambda: of("~ z + offset(x)")),
    "name": (ArgumentError, "'discrimination'", lambda: fitted().predict(which="discrim")),
    "arrays": (
        ArgumentError,
        "a formula of from_formula",
        lambda: sgmc.Ordinal(table().y, table()[["x"]].assign(one=1.0), discrimination="~ z"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_there_is_said_in_a_sentence(case):
    error, text, call = REFUSED[case]
    with pytest.raises(error, match=text):
        call()
