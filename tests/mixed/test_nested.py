"""Groups within groups: densities by other means, derivatives by differences, a posterior."""

import numpy as np
import pytest
from scipy import special, stats

from sgmc.core.designs.design import design
from sgmc.core.expansion import expand, of_rows
from sgmc.models.mixed.loading import Loading
from sgmc.models.regression.latent.densities.gaussian import GaussianMarginal
from sgmc.models.regression.latent.densities.nested import Nested
from sgmc.models.regression.latent.densities.quadrature import Quadrature
from sgmc.models.regression.latent.integrated.rows import subgroups

from .tables import family_of, slopes

ONE, TWO = [(1, False)], [(2, True)]
LEVELS = [(ONE, ONE), (TWO, ONE), (ONE, TWO)]
NAMES = ["ols", "logit", "poisson", "gamma"]
EVERY = [
    *NAMES,
    *(
        pytest.param(name, marks=pytest.mark.extended)
        for name in (
            "probit",
            "cloglog",
            "loglog",
            "negativebinomial",
            "inversegaussian",
            "rlm",
            "beta",
        )
    ),
]
OWN = [
    "ols",
    "gamma",
    "negativebinomial",
    "inversegaussian",
    "rlm",
    "beta",
]  # a parameter of its own
SIGMA = 0.7


class Rows:
    """Six groups of one to three subgroups of two to six rows, outcomes of a family."""

    def __init__(self, name, outer=ONE, inner=ONE, below=7):
        rng = np.random.default_rng(1)
        sizes = [rng.integers(2, below, rng.integers(1, 4)) for _ in range(6)]
        self.name, self.family = name, family_of(name)
        self.inner_starts = np.append(0, np.cumsum(np.concatenate(sizes)))
        self.subgroups = np.append(0, np.cumsum([len(one) for one in sizes]))
        self.starts = self.inner_starts[self.subgroups]
        n = self.starts[-1]
        self.X = np.column_stack([np.ones(n), rng.normal(size=n)])
        self.b, c = (sum(size for size, _ in one) for one in (outer, inner))
        self.Z, self.W = self.X[:, : self.b], self.X[:, :c]
        self.of_group = np.repeat(np.arange(6), np.diff(self.starts))
        self.of_subgroup = np.repeat(np.arange(self.subgroups[-1]), np.diff(self.inner_starts))
        eta = self.X @ [0.2, 0.5] + (self.Z * rng.normal(size=(6, self.b))[self.of_group]).sum(1)
        eta += 0.5 * (self.W * rng.normal(size=(20, c))[self.of_subgroup]).sum(1)
        scale = np.array([[SIGMA]]) if name in OWN else None
        self.y = {
            "ols": lambda: eta + SIGMA * rng.normal(size=n),
            "logit": lambda: (rng.random(n) < special.expit(eta)) * 1.0,
            "poisson": lambda: rng.poisson(np.exp(eta)) * 1.0,
            "gamma": lambda: rng.gamma(2, np.exp(eta) / 2),
        }.get(name, lambda: self.family.simulate(eta, rng, scale) * 1.0)()
        self.loading, self.outer = Loading(outer + inner), Loading(outer)
        self.inner = Loading(inner)
        q = self.loading.q
        phi = np.append(np.linspace(0.9, 0.5, q), 0.3 * np.ones(self.loading.size - q))
        self.weight = None
        auxiliary = [np.log(SIGMA)] if name in OWN else []
        self.theta = np.concatenate([[0.2, 0.5], phi, auxiliary])

    def within(self, apart, nodes):
        """The density of subgroups."""
        wide = design(np.ascontiguousarray(np.column_stack([self.X, self.Z])))
        glm = self.family.kernel(wide, self.y, apart, self.weight)
        if self.name == "ols":
            return GaussianMarginal(glm, self.inner_starts, self.W, self.inner)
        return Quadrature(glm, self.inner_starts, self.W, self.inner, None, nodes)

    def density(self, nodes=9):
        """The compiled density, anchored at theta."""
        glm = self.family.kernel(design(np.ascontiguousarray(self.X)), self.y, None, self.weight)
        Z = np.column_stack([self.Z, self.W])
        given = glm, self.starts, Z, self.loading, self.within, self.outer, self.subgroups
        return Nested(*given, nodes=nodes).anchored(self.theta)


def by_grids(rows, points=61):
    """The log density of one effect of either level by a product of Gauss-Hermite rules."""
    t, weight = np.polynomial.hermite_e.hermegauss(points)
    weight = np.log(weight / np.sqrt(2 * np.pi))
    total, theta = 0.0, rows.theta
    for a, b in zip(rows.subgroups[:-1], rows.subgroups[1:]):
        outer = weight.copy()
        for k, one in enumerate(t):
            for h in range(a, b):
                s = slice(*rows.inner_starts[h : h + 2])
                eta = (rows.X[s] @ theta[:2] + theta[2] * one)[:, None] + theta[3] * t
                y = rows.y[s, None]
                bend = np.logaddexp(0, eta) if rows.name == "logit" else np.exp(eta)
                outer[k] += special.logsumexp((y * eta - bend).sum(axis=0) + weight)
        total += special.logsumexp(outer)
    return total


@pytest.mark.parametrize("name", ["logit", "poisson"])
def test_the_density_is_the_integral(name):
    """25 nodes; 61 on a fixed grid leave errors below 1e-8."""
    rows = Rows(name)
    assert abs(of_rows(rows.density(25), rows.theta)[0] - by_grids(rows)) < 1e-6


def test_that_of_nine_nodes_is_near_it():
    rows = Rows("logit")
    assert abs(of_rows(rows.density(), rows.theta)[0] - by_grids(rows)) < 1e-5


@pytest.mark.parametrize("outer, inner", LEVELS)
def test_normal_outcomes_by_matrices(outer, inner):
    """Also away from the anchor: nothing depends on where nodes are."""
    rows = Rows("ols", outer, inner)
    theta, total = rows.theta + 0.3 * np.cos(np.arange(len(rows.theta))), 0.0
    root = rows.loading.root(theta[2 : 2 + rows.loading.size])
    same = rows.of_subgroup[:, None] == rows.of_subgroup
    spread = rows.W @ root[rows.b :, rows.b :]
    V = (spread @ spread.T) * same + np.exp(2 * theta[-1]) * np.eye(len(rows.y))
    spread = rows.Z @ root[: rows.b, : rows.b]
    V += (spread @ spread.T) * (rows.of_group[:, None] == rows.of_group)
    total = stats.multivariate_normal(rows.X @ theta[:2], V).logpdf(rows.y)
    got = of_rows(rows.density(), theta)[0] - 0.5 * len(rows.y) * np.log(2 * np.pi)
    assert abs(got - total) < 1e-8


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("outer, inner", LEVELS)
def test_gradients_by_differences(name, outer, inner):
    """Of few nodes, away from their anchor; differences are good to 1e-8 of the largest slope."""
    rows = Rows(name, outer, inner)
    model, away = rows.density(5), rows.theta + 0.1 * np.cos(np.arange(len(rows.theta)))
    expected = slopes(lambda t: of_rows(model, t)[0], away)
    error = np.abs(of_rows(model, away)[1] - expected).max()
    assert error < 1e-7 * np.abs(expected).max()


@pytest.mark.extended("outer1-inner1-gamma", "outer2-inner2-gamma")
@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("outer, inner", LEVELS)
def test_information_by_differences(name, outer, inner):
    """Nodes that stay where they are differ by the quadrature's own error, 2e-5 with 15 nodes, and
    0.02 of outcomes of the inverse Gaussian law, 0.004 with 35.
    """
    rows = Rows(name, outer, inner)
    model = rows.density(15)
    expected = -slopes(lambda t: of_rows(model, t)[1], rows.theta)
    error = np.abs(expand(model, rows.theta)[2] - expected).max()
    assert error < (0.03 if name == "inversegaussian" else 1e-4) * np.abs(expected).max()


@pytest.mark.parametrize("place", [2, 3])
def test_signs_of_sds_mean_nothing(place):
    rows = Rows("logit")
    model, turned = rows.density(), rows.theta.copy()
    turned[place] *= -1
    assert abs(of_rows(model, turned)[0] - of_rows(model, rows.theta)[0]) < 1e-9


@pytest.mark.mistake("likelihood of nested groups: {mistake}")
@pytest.mark.parametrize("name", ["quadrature"])
@pytest.mark.parametrize("mistake", ["levels exchanged", "inner sd x sqrt 2", "one level alone"])
def test_grids_see_mistakes(name, mistake):
    """Each moves the log density by more than a thousand times what the test above allows."""
    rows = Rows("logit")
    expected, at = by_grids(rows), rows.theta.copy()
    if mistake == "levels exchanged":
        at[[2, 3]] = at[[3, 2]]
    elif mistake == "inner sd x sqrt 2":
        at[3] *= np.sqrt(2)
    else:
        at[3] = 0.0
    assert abs(of_rows(rows.density(), at)[0] - expected) > 1e-2


def assert_values_agree(rows, theta):
    """Densities alone are those beside gradients, but for rounding: 1e-12 of their size."""
    model = rows.density(7)
    value = of_rows(model, theta)[0]
    assert of_rows(model, theta, slope=False)[0] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("outer, inner", LEVELS)
def test_densities_alone(name, outer, inner):
    rows = Rows(name, outer, inner)
    away = rows.theta + 0.2 * np.cos(np.arange(len(rows.theta)))
    assert_values_agree(rows, rows.theta)
    assert_values_agree(rows, away)
    rows.weight = np.random.default_rng(2).integers(1, 4, len(rows.y)) * 1.0
    assert_values_agree(rows, away)


def test_densities_alone_of_subgroups_whose_nodes_are_given_in_parts():
    rows = Rows("logit", below=1500)
    assert np.diff(rows.inner_starts).max() * 7 > 4096 > np.diff(rows.inner_starts).min() * 7
    assert_values_agree(rows, rows.theta + 0.02)


@pytest.mark.mistake("densities of nested groups alone: {mistake}")
@pytest.mark.parametrize("name", ["quadrature"])
@pytest.mark.parametrize("mistake", ["fewer nodes", "other coefficients"])
def test_densities_alone_see_mistakes(name, mistake):
    """Of the same integral by other nodes, and at other coefficients: above 1e-6 of its size."""
    rows = Rows("logit")
    theta = rows.theta + 0.2 * np.cos(np.arange(len(rows.theta)))
    model = rows.density(3)
    other = rows.density(5) if mistake == "fewer nodes" else model
    at = theta + 1e-4 * (mistake != "fewer nodes")
    value = of_rows(model, theta)[0]
    assert abs(of_rows(other, at, slope=False)[0] / value - 1) > 1e-6


class Codes:
    """Rows of four subgroups: the first group has those of rows 1 and 2, the second the others."""

    codes, sub = np.array([1, 0, 0, 1, 1]), np.array([2, 0, 1, 3, 2])


def test_subgroups_follow_their_groups():
    found = subgroups(Codes, np.array([1, 0]))
    assert list(found.first) == [0, 2, 4] and list(found.level) == [2, 3, 0, 1]
    assert list(found.starts) == [0, 2, 3, 4, 5]
