"""Sequential models with predictors of discrimination: densities against plain numpy, posteriors
against importance sampling, results.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from _ext.probes import Probe, block
from scipy import special, stats

import sgmc
from sgmc.core.designs.design import design
from sgmc.errors import NotSupported
from sgmc.models.regression.families.ordinal import DiscriminatingStagesFamily

from ..importance import apart, around_the_mode
from ..sbc import p_values, ranks
from .densities import assert_density
from .derivatives import assert_derivatives

FUNCTIONS = {
    "logit": special.expit,
    "probit": special.ndtr,
    "cloglog": lambda z: -np.expm1(-np.exp(z)),
}
STEPS = np.array([-0.8, 1.3])  # of four levels
CUTS = np.array([0.4, -0.6, 0.9])
N = 500


def probabilities(link, eta, zeta, cuts, mistake=None):
    """Of all levels, (row, level); `mistake` is a planted one."""
    s = np.exp(-zeta if mistake == "sign" else zeta)[:, None]
    z = cuts - s * eta[:, None] if mistake == "eta alone" else s * (cuts - eta[:, None])
    stops, edge = FUNCTIONS[link](z), np.ones((len(eta), 1))
    return np.hstack([edge, np.cumprod(1 - stops, axis=1)]) * np.hstack([stops, edge])


def family(link):
    """Of four levels, an intercept and a column of discrimination."""
    return DiscriminatingStagesFamily(
        np.array([0, 1]), (0,), link=link, labels=tuple("abcd"), shares=np.full(4, 0.25),
        coefficients=["Intercept", "discrimination:z"], intercept=0,
    )  # fmt: skip


def compiled(link, y):
    """The compiled model of one outcome, its parameters being (eta, zeta, steps)."""
    return Probe(family(link).kernel(design(np.ones((1, 2))), np.array([float(y)])))


def by_numpy(link, y, theta, mistake=None):
    """log p(y) at (eta, zeta, steps)."""
    cuts = np.cumsum([0.0, *theta[2:]])
    p = probabilities(link, np.array([theta[0]]), np.array([theta[1]]), cuts, mistake)
    return np.log(max(p[0, y], 1e-15))


@pytest.mark.parametrize("y", range(4))
@pytest.mark.parametrize("link", FUNCTIONS)
def test_densities_are_products_of_stages(link, y):
    """To 1e-10: passing has an error of 1e-16 over its probability, here above 1e-5."""
    for place in [(e, u) for e in (-1.1, 0.0, 0.9) for u in (-1.2, 0.0, 0.7)]:
        right = by_numpy(link, y, [*place, *STEPS])
        if right < np.log(1e-5):
            continue
        assert_density(compiled(link, y), family(link), place, STEPS, y, right)


@pytest.mark.parametrize("mistake", ["sign", "eta alone"])
@pytest.mark.parametrize("link", FUNCTIONS)
def test_mistakes_are_seen_by_densities(link, mistake):
    """Planted: the sign of log s is turned; thresholds are not multiplied."""
    theta = [0.5, 0.7, *STEPS]
    off = [
        compiled(link, y).value(theta, block(0, 1)) - by_numpy(link, y, theta, mistake)
        for y in range(4)
    ]
    assert np.abs(off).max() > 0.1


@pytest.mark.parametrize("link", FUNCTIONS)
def test_scores_and_curvatures_are_those_of_numpys_densities(link):
    assert_derivatives(compiled, by_numpy, link, [0.4, -0.3, *STEPS])


def test_nothing_overflows():
    for theta in ([800.0, 800.0, 0.0, 0.0], [-1e6, 300.0, 900.0, -900.0], [1.0, -900.0, 0.0, 0.0]):
        for link in FUNCTIONS:
            for y in range(4):
                probe = compiled(link, y)
                assert not np.isnan(probe.value(theta, block(0, 1)))
                assert np.isfinite(probe.gradient(theta, block(0, 1))).all()


def drawn(x, z, slope, own, cuts, rng):
    """Outcomes of the logit model."""
    p = probabilities("logit", slope * x, own * z, cuts)
    return (rng.random((len(x), 1)) > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)


def table(n=N, seed=3):
    """Four levels, discrimination exp(0.5 z)."""
    rng = np.random.default_rng(seed)
    d = pd.DataFrame({"x": rng.normal(1, 1, n), "z": rng.normal(size=n)})
    d["g"] = rng.integers(0, 8, n)
    d["y"] = drawn(d.x.to_numpy(), d.z.to_numpy(), 0.8, 0.5, CUTS, rng)
    return d


@cache
def fitted():
    """The fit at default settings."""
    return sgmc.ordinal("y ~ x", table(), kind="sequential", discrimination="~ z", seed=1)


@cache
def reference(mistake=None):
    """Means and sds of what is printed, and the effective number of draws."""
    d = table()
    x, z, y = d.x.to_numpy(), d.z.to_numpy(), d.y.to_numpy()
    scale = 2.5 / d[["x", "z"]].std().to_numpy()

    def value(points):
        cuts, out = points[:, 2:], np.empty(len(points))
        for k, (b, c) in enumerate(points[:, :2]):
            p = probabilities("logit", b * x, c * z, cuts[k], mistake)[np.arange(N), y]
            out[k] = np.log(np.maximum(p, 1e-300)).sum()
        out += stats.norm.logpdf(points[:, :2], 0, scale).sum(axis=1)
        out += stats.norm.logpdf(-points[:, 2] + points[:, 0] * x.mean(), 0, 2.5)
        return out + stats.norm.logpdf(np.diff(cuts, axis=1), 0, 2.5).sum(axis=1)

    points, w = around_the_mode(value, np.zeros(5), np.ones(5))
    mean = w @ points
    return mean, np.sqrt(w @ (points - mean) ** 2), 1 / (w**2).sum()


def test_posteriors_are_right_at_default_settings():
    """0.1 sd and 5 % are promised; the reference has more than 5,000 effective draws, so that its
    own errors are below 0.03 sd and 2 %.
    """
    mean, sd, size = reference()
    assert size > 5_000
    off, wide = apart(fitted(), mean, sd)
    assert off < 0.1 and wide < 0.05
    assert str(fitted().verdict).startswith("trustworthy")


def test_mistakes_are_seen_by_posteriors():
    mean, sd, _ = reference("sign")
    assert apart(fitted(), mean, sd)[0] > 1


def test_names_and_predictions():
    results, d = fitted(), table()[:50]
    assert results.names == ["x", "discrimination:z", "0|1", "1|2", "2|3"]
    c = results.flat
    p = np.mean(
        [
            probabilities("logit", one[0] * d.x.to_numpy(), one[1] * d.z.to_numpy(), one[2:])
            for one in c
        ],
        axis=0,
    )
    np.testing.assert_allclose(results.predict(d), p, rtol=1e-9)
    s = np.exp(c[:, 1:2] * d.z.to_numpy()).mean(axis=0)
    np.testing.assert_allclose(results.predict(d, which="discrimination"), s, rtol=1e-9)
    assert results.pp_check(seed=3).p.min() > 0.01
    assert np.isfinite(results.loo().elpd) and "step" in str(results.prior_summary())


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_it_goes_with_groups_and_not_with_effects_of_stages():
    how = dict(kind="sequential", seed=1, draws=50, discrimination="~ z + (1 | g)")
    results = sgmc.ordinal("y ~ x + (1 | g)", table(200), **how)
    assert "sd(discrimination:1|g)" in results.names
    with pytest.raises(NotSupported, match="tell the same") as refused:
        sgmc.ordinal("y ~ cs(x)", table(200), **how)
    assert refused.value.because == "limit"


def test_ranks_are_uniform():
    """40 replicates of the calibration that `python tests/sbc.py` makes with 200."""
    assert p_values(ranks("sharper stages", 40)).min() > 1e-3
