"""Densities of groups with their effects integrated out: published figures, grids, closed forms,
differences.
"""

import numpy as np
import patsy
import pytest
from scipy import special, stats

from sgmc.core.expansion import expand, of_rows
from sgmc.models.mixed.loading import Loading

from .tables import OWN, by_group, family_of, log_integrals, marginal, published, simulated, slopes

BINARY = ["logit", "probit", "cloglog", "loglog", "cauchit"]
FAMILIES = [*BINARY, "poisson", "negativebinomial", "gamma", "inversegaussian", "rlm"]
FAMILIES += ["beta", "survreg"]
# errors that 25 nodes leave where integrands have no tails of a normal law: of log densities of one
# effect and of two, and of second derivatives
SLOW = {
    "rlm": (1e-4, 1e-4, 1e-3),
    "cauchit": (1e-6, 1e-4, 1e-3),
    "inversegaussian": (1e-5, 3e-3, 1e-3),
}


def parts(name, effects, seed=1):
    """Rows of a family, and theta near what they were drawn from."""
    family, extra = family_of(name), OWN.get(name, [])
    rows = simulated(family, seed, effects=effects, extra=extra)
    phi = {1: [0.6], 2: [0.6, -0.8, 0.3], 3: [0.6, -0.8, 0.5, 0.3, -0.2, 0.4]}[effects]
    return family, rows, np.concatenate([[0.1, 0.4, -0.2], phi, np.log(extra)])


def constant(family, rows, extra):
    """What compiled densities of rows leave out: it does not depend on predictors."""
    eta = np.zeros((len(rows["y"]), 1))
    scale = np.reshape(extra, (-1, 1)) if len(extra) else None
    glm = marginal(family, rows, np.append([0, 0, 0, 0.0], np.log(extra)), [(1, False)]).glm
    theta = np.append(np.zeros(glm.X.d), np.log(extra))
    bare = family.kernel(glm.X, rows["y"], None, rows["weight"])
    whole = rows["weight"] @ family.log_density(rows["y"][:, None], eta, scale)[:, 0]
    return whole - of_rows(bare, theta)[0]


def binomial(frame):
    """Shares of successes of the herds, their sizes, and the binomial coefficients."""
    n, y = frame["size"].to_numpy(float), frame["incidence"].to_numpy(float)
    ways = special.gammaln(n + 1) - special.gammaln(y + 1) - special.gammaln(n - y + 1)
    return y / n, n, ways.sum()


# lme4 1.1-31 prints four decimals, of parameters that are given to four digits here: at a maximum
# their rounding adds less than 1e-3
@pytest.mark.parametrize("nodes, deviance", [(1, 184.0531), (25, 183.9667)])
def test_counts_of_herds_as_lme4(nodes, deviance):
    frame, starts = by_group(published("cbpp"), "herd")
    y, n, ways = binomial(frame)
    rows = dict(X=np.asarray(patsy.dmatrix("C(period)", frame)), y=y, weight=n, starts=starts)
    rows["Z"] = np.ones((len(y), 1))
    theta = np.array([-1.3992, -0.9914, -1.1278, -1.5795, 0.6475])
    model = marginal(family_of("logit"), rows, theta, [(1, False)], nodes)
    assert abs(-2 * (of_rows(model, theta)[0] + ways) - deviance) < 1e-3


@pytest.mark.parametrize("nodes, deviance, within", [(1, 2372.7287, 5e-3), (25, 2372.4589, 1e-4)])
def test_contraception_as_lme4(nodes, deviance, within):
    """At the maximum by 25 nodes, to which the published parameters belong."""
    frame, starts = by_group(published("contraception"), "district")
    X = np.asarray(patsy.dmatrix("urban + livch + age + age2", frame))
    rows = dict(X=X, y=frame["use"].to_numpy(float), starts=starts, Z=np.ones((len(X), 1)))
    theta = np.array([-1.0354, 0.6967, 0.8151, 0.9165, 0.9153, 0.0035, -0.00456, 0.4786])
    model = marginal(family_of("logit"), rows, theta, [(1, False)], nodes)
    assert abs(-2 * of_rows(model, theta)[0] - deviance) < within


# lme4 1.1-31 with 25 nodes, printed with 15 digits: deviances at the maximum and at another point
def test_quadrature_is_that_of_lme4_away_from_its_maximum():
    """Constants of counts of successes are dropped there: differences are compared."""
    frame, starts = by_group(published("cbpp"), "herd")
    y, n, _ = binomial(frame)
    rows = dict(X=np.asarray(patsy.dmatrix("C(period)", frame)), y=y, weight=n, starts=starts)
    rows["Z"] = np.ones((len(y), 1))
    best = [-1.3992237278292, -0.991408883812732, -1.12780959415794, -1.57948095070482]
    best.append(0.647519914522493)
    apart = deviance(rows, [-1.2, -0.8, -1, -1.5, 0.9]) - deviance(rows, best)
    assert abs(apart - (103.037626552748 - 100.010030540191)) < 1e-6

    frame, starts = by_group(published("contraception"), "district")
    X = np.asarray(patsy.dmatrix("urban + livch + age + age2", frame))
    rows = dict(X=X, y=frame["use"].to_numpy(float), starts=starts, Z=np.ones((len(X), 1)))
    best = np.array([-1.03543877082224, 0.696717398200932, 0.815158193558196, 0.916535230316256])
    best = np.append(best, [0.915380057627453, 0.00353168981617889, -0.00456318385223424])
    assert abs(deviance(rows, [*best, 0.478642846392052]) - 2372.4588849417) < 1e-6
    assert abs(deviance(rows, [*(1.1 * best), 0.6]) - 2375.61169800674) < 1e-6


def deviance(rows, theta, nodes=25):
    """-2 log p(y) without constants, with nodes around theta."""
    theta = np.array(theta, dtype=float)
    return -2 * of_rows(marginal(family_of("logit"), rows, theta, [(1, False)], nodes), theta)[0]


def sleepstudy():
    """Rows of the sleep study, with intercepts and slopes by subject."""
    frame, starts = by_group(published("sleepstudy"), "Subject")
    X = np.asarray(patsy.dmatrix("Days", frame))
    return dict(X=X, y=frame["Reaction"].to_numpy(), Z=X, starts=starts)


def test_sleepstudy_as_lme4():
    """The maximum of the likelihood, 1751.9393, by Newton's method from elsewhere."""
    rows = sleepstudy()
    model = marginal(family_of("ols"), rows, None, [(2, True)])
    theta = np.array([250.0, 10.0, 20.0, 6.0, 0.1, 3.2])
    for _ in range(8):
        value, gradient, hessian = expand(model, theta)
        theta = theta + np.linalg.solve(hessian, gradient)
    deviance = -2 * (value - 0.5 * len(rows["y"]) * np.log(2 * np.pi))
    assert abs(deviance - 1751.939344) < 1e-6
    assert np.allclose(theta[:2], [251.4051, 10.4673], atol=1e-4)
    assert np.allclose(np.append(theta[2:4], np.exp(theta[5])), [23.780, 5.717, 25.592], atol=1e-3)


def gaussian_by_matrices(rows, theta, root):
    """Log density of normal outcomes by the covariance matrices of groups."""
    total, sigma = 0.0, np.exp(theta[-1])
    for a, b in zip(rows["starts"][:-1], rows["starts"][1:]):
        spread = rows["Z"][a:b] @ root
        V = spread @ spread.T + sigma**2 * np.eye(b - a)
        mean = rows["X"][a:b] @ theta[: rows["X"].shape[1]] + rows["offset"][a:b]
        total += stats.multivariate_normal(mean, V).logpdf(rows["y"][a:b])
    return total


@pytest.mark.parametrize("effects, phi", [(1, [0.6]), (2, [0.6, -0.8, 0.3])])
def test_normal_outcomes_by_matrices(effects, phi):
    rows = simulated(family_of("ols"), 2, effects=effects, extra=[0.9])
    rows["weight"] = None
    theta = np.concatenate([[0.1, 0.4, -0.2], phi, [np.log(0.9)]])
    blocks = [(effects, True)]
    model = marginal(family_of("ols"), rows, None, blocks)
    expected = gaussian_by_matrices(rows, theta, Loading(blocks).root(phi))
    got = of_rows(model, theta)[0] - 0.5 * len(rows["y"]) * np.log(2 * np.pi)
    assert abs(got - expected) < 1e-8


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("effects", [1, pytest.param(2, marks=pytest.mark.extended)])
def test_quadrature_is_the_integral(name, effects):
    """25 nodes an effect."""
    family, rows, theta = parts(name, effects)
    blocks, extra = [(effects, True)], OWN.get(name, [])
    model = marginal(family, rows, theta, blocks, 25)
    root = Loading(blocks).root(theta[3 : 3 + model.loading.size])
    expected = log_integrals(family, rows, theta[:3], root, extra or None)
    got = of_rows(model, theta)[0] + constant(family, rows, extra)
    assert abs(got - expected) < SLOW.get(name, [1e-6] * 2)[effects - 1]


@pytest.mark.mistake("likelihood of groups: {mistake}")
@pytest.mark.parametrize("name", ["quadrature"])
@pytest.mark.parametrize("mistake", ["offset forgotten", "weights squared", "sd x sqrt 2"])
def test_grid_sees_mistakes(name, mistake):
    """Each moves the log-likelihood by more than a thousand times what the test above allows."""
    family, rows, theta = parts("logit", 1)
    wrong, at = dict(rows), theta.copy()
    if mistake == "offset forgotten":
        wrong["offset"] = None
    elif mistake == "weights squared":
        wrong["weight"] = rows["weight"] ** 2
    else:
        at[3] *= np.sqrt(2)
    expected = log_integrals(family, rows, theta[:3], theta[3:4, None])
    assert abs(of_rows(marginal(family, wrong, at, [(1, True)]), at)[0] - expected) > 1e-2


@pytest.mark.parametrize("name", [*FAMILIES, "ols"])
@pytest.mark.parametrize(
    "blocks",
    [
        [(1, False)],
        [(2, True)],
        [(1, False), (1, False)],
        [(2, False)],
        pytest.param([(3, True)], marks=pytest.mark.extended),
        pytest.param([(2, True), (1, False)], marks=pytest.mark.extended),
        pytest.param([(3, False)], marks=pytest.mark.extended),
    ],
)
def test_gradients_by_differences(name, blocks):
    """Of few nodes, away from their anchor, where the places of nodes matter; differences are good
    to 1e-7 of the largest slope.
    """
    family, rows, theta = parts(name, sum(size for size, _ in blocks))
    size, effects = Loading(blocks).size, rows["Z"].shape[1]
    theta = np.delete(theta, np.arange(3 + size, 3 + effects * (effects + 1) // 2))
    model = marginal(family, rows, theta, blocks, nodes=5)
    away = theta + 0.1 * np.cos(np.arange(len(theta)))
    _, gradient = of_rows(model, away)
    expected = slopes(lambda t: of_rows(model, t)[0], away)
    assert np.abs(gradient - expected).max() < 1e-6 * np.abs(expected).max()


@pytest.mark.extended("blocks1-beta", "blocks2-beta")
@pytest.mark.parametrize("name", [*FAMILIES, "ols"])
@pytest.mark.parametrize("blocks", [[(1, False)], [(2, True)], [(2, False)]])
def test_information_by_differences(name, blocks):
    """Nodes that stay where they are have the same second derivatives up to the quadrature's own
    error, which 25 of them leave below 1e-5 (t errors 1e-3).
    """
    family, rows, theta = parts(name, blocks[0][0])
    theta = np.delete(
        theta, np.arange(3 + Loading(blocks).size, len(theta) - len(OWN.get(name, [])))
    )
    model = marginal(family, rows, theta, blocks, nodes=25)
    expected = -slopes(lambda t: of_rows(model, t)[1], theta)
    error = np.abs(expand(model, theta)[2] - expected).max()
    assert error < SLOW.get(name, [1e-5])[-1] * np.abs(expected).max()


def test_signs_of_sds_mean_nothing():
    """The density is the same for an sd and its negative, with the correlation's sign turned."""
    family, rows, theta = parts("poisson", 2)
    turned = theta * [1, 1, 1, -1, 1, -1]
    values = [of_rows(marginal(family, rows, t, [(2, True)]), t)[0] for t in (theta, turned)]
    assert abs(values[0] - values[1]) < 1e-9


@pytest.mark.parametrize("scale", [None, [0.5, 2.0, 1.0]])
def test_three_effects_make_a_correlation_matrix(scale):
    loading, phi = Loading([(3, True)], scale), np.array([1.0, 2.0, -0.5, 0.4, -0.7, 0.9])
    root = loading.root(phi)
    sds = np.sqrt(np.diag(root @ root.T))
    expected = phi[:3] if scale is None else scale * np.sinh(phi[:3])
    assert np.allclose(sds, np.abs(expected))
    assert np.allclose(loading.curved(loading.sds(phi[:3])), phi[:3])
    assert np.allclose(loading.sds(phi[:3]), expected)
    entries = np.arange(1.0, 7.0)
    J, bends = loading.derivatives(phi, entries)

    def lower(at):
        return loading.root(at)[loading.row, loading.column]

    assert np.allclose(J.T, slopes(lower, phi), atol=1e-9)
    second = slopes(lambda at: loading.derivatives(at, entries)[0].T @ entries, phi)
    assert np.allclose(bends, second, atol=1e-9)


def test_logits_without_weights_are_those_with_weights_of_one():
    """Sums over rows have a form of their own without weights; groups of 1 to 2,500 rows, linear
    predictors up to 900 in size.
    """
    rng = np.random.default_rng(3)
    sizes = [1, 7, 2500, 30, 1000, 1001]
    n, starts = sum(sizes), np.append(0, np.cumsum(sizes))
    X = np.column_stack([np.ones(n), rng.normal(size=n)])
    X[::97, 1] = rng.choice([-900, 900], size=len(X[::97]))
    rows = dict(X=X, y=(rng.random(n) < 0.4).astype(float), Z=np.ones((n, 1)), starts=starts)
    family, theta = family_of("logit"), np.array([-0.3, 1.0, 0.8])
    own = of_rows(marginal(family, rows, theta, [(1, False)]), theta)
    ones = of_rows(marginal(family, rows | {"weight": np.ones(n)}, theta, [(1, False)]), theta)
    assert own[0] == pytest.approx(ones[0], rel=1e-12)
    np.testing.assert_allclose(own[1], ones[1], rtol=1e-9, atol=1e-9)
