"""Leaving out rows and groups: densities at a draw by grids, sums by fits without them."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import special

import sgmc
from sgmc import registry
from sgmc.errors import ArgumentError, NotSupported

from .test_nested_effects import fitted as fitted_nested

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
DRAW = 7
FAMILIES = ["ols", "logit", "poisson", "gamma", "rlm"]


def table(name, groups=8):
    """Groups of one to six rows; of counts the first row alone tells nearly all of its group."""
    rng = np.random.default_rng(5)
    g = np.repeat(np.arange(groups), rng.integers(1, 7, groups))
    x = rng.normal(size=len(g))
    eta = 0.3 + 0.4 * x + 0.8 * rng.normal(size=groups)[g]
    frame = pd.DataFrame(dict(x=x, g=g, w=rng.integers(1, 4, len(g)), base=0.0))
    if name == "poisson":
        frame.loc[[0, len(g) - 1], "base"] = 4.0
        eta = eta + frame.base
    family = registry.room("families")[name].family
    frame["y"] = family.simulate(eta, rng, np.array([[0.7]]) if family.auxiliary else None)
    return frame


@cache
def fitted(name):
    """A fit with frequency weights and, for counts, an offset."""
    frame = table(name)
    more = dict(offset="base") if name == "poisson" else {}
    model = registry.room("families")[name].from_formula(
        "y ~ x + (1 | g)", frame, weights="w", **more
    )
    return model.fit(seed=1, draws=300), frame


def grid_of(results, frame, draw):
    """Log densities (row, point) over a grid of the effect, log masses of the points."""
    theta, family = results.flat[draw], results.model.family
    b = np.linspace(-9 * theta[2], 9 * theta[2], 8001)
    eta = results.model.spec.matrix(frame) @ theta[:2] + frame.get("base", 0.0)
    extra = theta[3:].reshape(-1, 1, 1) if len(theta) > 3 else None
    value = family.log_density(frame.y.to_numpy()[:, None], eta.to_numpy()[:, None] + b, extra)
    mass = -0.5 * (b / theta[2]) ** 2
    return value, mass - special.logsumexp(mass)


def by_grid(results, frame, rows):
    """Log densities of rows given the others of their groups at a draw, and given all."""
    value, mass = grid_of(results, frame, DRAW)
    out = []
    for i in rows:
        mine = (frame.g == frame.g[i]).to_numpy()
        whole = frame.w.to_numpy()[mine] @ value[mine] + mass
        total = special.logsumexp(whole)
        without = special.logsumexp(whole - value[i])
        out.append((total - without, special.logsumexp(whole + value[i]) - total))
    return np.array(out).T


@pytest.mark.extended("gamma", "rlm")
@pytest.mark.parametrize("name", FAMILIES)
def test_densities_of_rows_are_those_of_a_grid(name):
    """Nodes are right to a few thousandths: of rows that tell more than half by themselves, too."""
    results, frame = fitted(name)
    left = results.left_out(False).with_draws(np.array([DRAW]))
    found = left.densities(np.arange(left.n))[..., 0]
    expected = by_grid(results, frame, left.order)
    assert np.abs(found - expected).max() < (1e-8 if name == "ols" else 5e-3)


@pytest.mark.parametrize("name", FAMILIES)
def test_densities_of_groups_are_those_of_a_grid(name):
    results, frame = fitted(name)
    left = results.left_out(True).with_draws(np.array([DRAW]))
    found = left.densities(np.arange(left.n))[0, :, 0]
    value, mass = grid_of(results, frame, DRAW)
    value = value * frame.w.to_numpy()[:, None]
    expected = [special.logsumexp(value[frame.g == g].sum(axis=0) + mass) for g in left.order]
    assert np.abs(found - expected).max() < (1e-8 if name == "ols" else 2e-3)


@pytest.mark.mistake("leaving out: {mistake}")
@pytest.mark.parametrize("name", ["logit", "ols"])
@pytest.mark.parametrize("mistake", ["effects have seen the row", "weights forgotten"])
def test_mistakes_move_densities(name, mistake):
    results, frame = fitted(name)
    left = results.left_out(False).with_draws(np.array([DRAW]))
    found = left.densities(np.arange(left.n))[..., 0]
    if mistake == "weights forgotten":
        frame = frame.assign(w=1)
    expected = by_grid(results, frame, left.order)
    away = found[1] - expected[0] if mistake.startswith("effects") else found[0] - expected[0]
    assert np.abs(away).max() > 0.05


@pytest.mark.extended
@pytest.mark.parametrize("name", ["ols", "logit"])
def test_nested_groups_sum_to_the_likelihood(name):
    """Groups' densities at a draw add up to that of all rows; a row given the others is the ratio
    of two such, with the row counted once less.
    """
    results, frame = fitted_nested(name)
    left = results.left_out(True).with_draws(np.array([DRAW]))
    found = left.densities(np.arange(left.n))[0, :, 0]
    theta = results.flat[DRAW]
    t, weight = np.polynomial.hermite_e.hermegauss(61)
    weight = np.log(weight / weight.sum())
    eta = results.model.spec.matrix(frame) @ theta[:2]
    extra = theta[4:].reshape(-1, 1, 1) if len(theta) > 4 else None
    for value, g in zip(found, left.order):
        outer = weight.copy()
        for h in range(3):
            one = ((frame.g == g) & (frame.h == h)).to_numpy()
            at = eta[one][:, None, None] + theta[2] * t[:, None] + theta[3] * t
            density = results.model.family.log_density(
                frame.y.to_numpy()[one][:, None, None], at, extra
            ).sum(axis=0)
            outer = outer + special.logsumexp(density + weight, axis=1)
        assert abs(value - special.logsumexp(outer)) < 1e-3


@cache
def long(name, without=None):
    """A long exact fit under a prior that does not depend on the rows."""
    frame = table(name, 10)
    kept = frame if without is None else frame[~without(frame)]
    prior = {"*": sgmc.normal(0, 2), "sd": sgmc.half_normal(1)}
    return getattr(sgmc, name)(
        "y ~ x + (1 | g)", kept, prior=prior, seed=3, draws=4000, sampler="mala"
    ), frame


@pytest.mark.extended
@pytest.mark.parametrize("name", ["logit", "ols"])
def test_rows_against_fits_without_them(name):
    """log E[p(y_i | x, g)] of a fit without the row: errors of both are about 0.01."""
    results, _ = long(name)
    loo = results.loo()
    for i in (3, int(np.argmin(loo.elpd_i))):
        other, frame = long(name, lambda t, i=i: t.index == i)
        density = other.log_lik(frame.loc[[i]], "y")
        assert loo.elpd_i[i] == pytest.approx(np.log(np.exp(density).mean()), abs=0.05)


@pytest.mark.extended
@pytest.mark.parametrize("name", ["logit", "ols"])
def test_groups_against_fits_without_them(name):
    """log E[p(y_g)] by fresh draws of the group's effect: Monte Carlo errors are about 0.02."""
    results, _ = long(name)
    loo = results.loo(group=True)
    assert loo.n == 10 and str(loo).endswith("groups")
    for g in (1, int(np.argmin(loo.elpd_i))):
        other, frame = long(name, lambda t, g=g: t.g == g)
        density = other.log_lik(frame[frame.g == g], "y").sum(axis=1)
        assert loo.elpd_i[g] == pytest.approx(np.log(np.exp(density).mean()), abs=0.1)


def test_comparisons():
    """A model without groups is compared by rows; groups are not compared with rows."""
    results, frame = long("ols")
    flat = sgmc.ols("y ~ x", frame, seed=1)
    found = sgmc.compare(mixed=results, flat=flat)
    assert list(found.index) == ["mixed", "flat"]
    assert found.elpd["mixed"] == pytest.approx(results.loo().elpd, abs=1e-6)
    with pytest.raises(ArgumentError, match="leaves out groups and .* rows"):
        sgmc.compare(a=results.loo(), b=results.loo(group=True))


@pytest.mark.extended
def test_samples_of_rows_and_groups():
    """A sample estimates the sum over all, within four of its errors."""
    results, _ = long("logit")
    whole, some = results.loo(), results.loo(rows=15)
    assert len(some.rows) == 15
    assert abs(some.elpd - whole.elpd) < 4 * some.subsampling_se + 1e-9
    assert len(results.loo(rows=6, group=True).rows) == 6


def test_inner_levels_are_refused():
    results, _ = fitted_nested("ols")
    outer, inner = results.model.effects.factors
    with pytest.raises(NotSupported, match=f"{inner} is within {outer}"):
        results.loo(group=inner)
    assert results.left_out(outer).n == results.left_out(True).n


def test_loaded_results_cannot_leave_out(tmp_path):
    results, _ = fitted("ols")
    results.save(tmp_path / "fit.sgmc")
    with pytest.raises(ArgumentError, match="loo needs the data"):
        sgmc.load(tmp_path / "fit.sgmc").loo(group=True)
