"""Effects of levels with a known structure: covariances, densities, posteriors, labels, files."""

import types
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

import sgmc
from sgmc import formula
from sgmc.core import engine
from sgmc.errors import DataError, FormulaError
from sgmc.fit.settings import check_settings
from sgmc.models.regression.latent.covariance.crossed_effects import effects_of_crossing
from sgmc.models.regression.latent.sampled import problem as crossed

from .areas import NAMES, NEIGHBOURS, PIECES, TREE, scaled_covariance, table
from .normality import departure

SCOPE = {"graph": NEIGHBOURS, "A": TREE}
KINDS = {"car(region, graph)": scaled_covariance(), "gr(region, cov=A)": TREE.to_numpy()}
SHARED = "bym2(region, graph)"
PRIOR = {
    "Intercept": sgmc.normal(0, 5), "sd": sgmc.half_normal(2), "sigma": sgmc.exponential(1)
}  # fmt: skip


@pytest.fixture
def frame():
    return table()


def places(frame):
    return [NAMES.index(one) for one in frame.region]


def grouping(text, frame, **scope):
    return formula.read(text, frame, outcome="numeric", scope={**SCOPE, **scope}).grouping()


def covariance(found):
    """Of the rows' effects, where the sd is one."""
    return found.curves @ found.curves.T


# ---- structure -----------------------------------------------------------------------------------


@pytest.mark.parametrize("term", KINDS)
def test_effects_have_their_covariance(term, frame):
    at = np.ix_(places(frame), places(frame))
    ours = covariance(grouping(f"y ~ {term}", frame))
    np.testing.assert_allclose(ours, KINDS[term][at], atol=1e-10)


def mixture(rho, K=scaled_covariance()):
    """Covariances of bym2, where the sd is one."""
    return rho * K + (1 - rho) * np.eye(8)


@pytest.mark.parametrize("rho", [0.02, 0.5, 0.9])
def test_effects_have_a_share_of_each_covariance(rho, frame):
    """By the variances of the columns that the compiled spectrum has at this share."""
    crossing = grouping(f"y ~ {SHARED}", frame)
    spectrum = effects_of_crossing(crossing).spectrum
    f, _ = spectrum.at([np.arctanh(2 * rho - 1)], crossing.sizes)
    at = np.ix_(places(frame), places(frame))
    ours = crossing.curves * f**2 @ crossing.curves.T
    np.testing.assert_allclose(ours, mixture(rho)[at], atol=1e-10)


def test_effects_of_regions_without_rows_have_theirs(frame):
    (one,) = grouping("y ~ car(region, graph)", frame).spec.smooths
    Z = one.matrix(*one.read(pd.DataFrame({"region": NAMES})))
    np.testing.assert_allclose(Z @ Z.T, scaled_covariance(), atol=1e-10)
    for piece in PIECES[:2]:
        np.testing.assert_allclose(
            Z[[NAMES.index(one) for one in piece]].sum(axis=0), 0, atol=1e-10
        )


def test_an_arithmetic_mean_would_be_seen():
    wrong = scaled_covariance(mean=np.mean)
    assert (
        abs(wrong / np.where(scaled_covariance() == 0, np.inf, scaled_covariance()) - 1).max()
        > 0.03
    )


def test_a_chain_has_the_variances_of_the_paper():
    """Of the path 1-2-3: the generalised inverse has the diagonal (5, 2, 5) / 9, by hand."""
    frame = pd.DataFrame({"y": [0.0, 1, 2], "t": [1, 2, 3]})
    Z = grouping("y ~ car(t, g)", frame, g={1: [2], 2: [1, 3], 3: [2]}).curves
    variances = np.array([5, 2, 5]) / 9
    np.testing.assert_allclose((Z**2).sum(axis=1), variances / np.cbrt(variances.prod()))


def forms():
    """The same graph in each form, by name; the island is left out of pairs."""
    pairs = [(a, b) for a in NAMES for b in NEIGHBOURS[a]]
    matrix = pd.DataFrame(0, NAMES, NAMES)
    for a, b in pairs:
        matrix.loc[a, b] = 1
    return {
        "tuples": {one: tuple(those) for one, those in NEIGHBOURS.items()},
        "libpysal": types.SimpleNamespace(neighbors=NEIGHBOURS),
        "table": matrix,
        "pairs": [pair for pair in pairs if pair[0] < pair[1]],
        "pairs both ways": np.array(pairs),
    }


@pytest.mark.parametrize("form", forms())
def test_graphs_have_many_forms(form, frame):
    graph, frame = forms()[form], frame[frame.region != "rock"]
    found = grouping("y ~ car(region, g)", frame, g=graph)
    np.testing.assert_allclose(
        covariance(found), scaled_covariance()[np.ix_(places(frame), places(frame))], atol=1e-10
    )


def test_a_sparse_matrix_has_numbers_as_labels(frame):
    graph = sparse.csr_array(forms()["table"].to_numpy())
    found = grouping("y ~ car(k, g)", frame.assign(k=places(frame)), g=graph)
    same = grouping("y ~ car(region, graph)", frame)
    np.testing.assert_allclose(covariance(found), covariance(same), atol=1e-10)


# ---- density and posterior -----------------------------------------------------------------------


def by_numpy(theta, frame, rows, every, K=scaled_covariance(), jacobian=1.0):
    """Log density of (beta, b, phi, eta) of counts with bym2, at the default priors: the effects of
    regions by their covariance, not by columns; `jacobian` is the weight of that of rho.
    """
    order, blocks = rows.fixed.order, rows.blocks
    y, x = (frame[name].to_numpy()[order] for name in ("count", "x"))
    beta, phi, scale = theta[:2], theta[blocks.phi], np.asarray(blocks.loading.scale)
    b = theta[blocks.d : blocks.d + blocks.effects]
    (sd,), turned, effects = scale * np.sinh(phi), np.tanh(theta[blocks.eta][0]), every @ b
    eta = beta[0] + beta[1] * (x - x.mean()) + effects[places(frame.iloc[order])]
    value = stats.poisson.logpmf(y, np.exp(eta)).sum()
    value += stats.norm.logpdf(beta, 0, [2.5, 2.5 / x.std(ddof=1)]).sum()
    value += (stats.t.logpdf(sd, 3, 0, 2.5) + np.log(scale * np.cosh(phi))).sum()
    value += jacobian * np.log(1 - turned**2)  # rho is uniform
    mixed = sd**2 * mixture((1 + turned) / 2, K)
    return value + stats.multivariate_normal(cov=mixed).logpdf(effects)


@cache
def posterior():
    """That of counts with bym2: the problem, and the term."""
    model = sgmc.Poisson.from_formula("count ~ x + bym2(region, graph)", table(), scope=SCOPE)
    return model.problem(None, check_settings(seed=1)), model.grouping.spec.smooths[0]


def apart(frame, **how):
    """Largest difference of log densities but for a constant."""
    problem, one = posterior()
    rows = problem.own.rows
    every = one.matrix(*one.read(pd.DataFrame({"region": NAMES})))
    map, gradient, found = problem.coordinates.map, problem.all_rows(), []
    told = map.outer.inner
    for x in np.random.default_rng(5).normal(size=(5, problem.dim)):
        inner = map.inner(x)
        root, narrow, _ = rows.blocks.loads(told(inner))
        jacobian = (np.log(np.abs(np.diag(root))) * np.asarray(rows.blocks.levels)).sum()
        jacobian += np.log(narrow).sum() + np.log(np.linalg.det(told.root(inner)))
        ours = engine.density(gradient, x) - jacobian
        found.append(ours - by_numpy(map(x), frame, rows, every, **how))
    return np.ptp(found)


def test_densities_are_those_of_precisions(frame):
    """To rounding, of values of a hundred."""
    assert apart(frame) < 1e-9


def test_a_mistake_in_the_precision_is_seen(frame):
    """The island without a density of its own, the pair left out."""
    plain = scaled_covariance(mean=lambda v: 1.0)
    without = {**NEIGHBOURS, "north": ["east"], "west": ["south"]}
    for wrong in (plain, scaled_covariance(neighbours=without)):
        assert apart(frame, K=wrong) > 0.1
    assert apart(frame, jacobian=0.0) > 0.1


def with_one_sd(K):
    """Covariances, log prior and what is printed at logs of sds (n, 1), and these."""

    def law(at):
        sd = np.exp(at)
        prior = stats.halfnorm(scale=2).logpdf(sd).sum(axis=1) + at.sum(axis=1)
        return sd[:, :, None] ** 2 * K, prior, sd

    return law, [np.linspace(-5, 2, 60)]


def with_share(K):
    """The same of bym2 at logs of sds and shares (n, 2)."""
    law, axes = with_one_sd(np.eye(8))

    def mixed(at):
        _, prior, sd = law(at[:, :1])
        K_at = np.array([mixture(one, K) for one in at[:, 1]])
        return sd[:, :, None] ** 2 * K_at, prior, np.c_[sd, at[:, 1]]

    return mixed, [axes[0][::2], (np.arange(20) + 0.5) / 20]


def quadrature(frame, law, axes):
    """Means and sds of (sd, share, sigma, effects of all regions), by a grid; given the former
    regions have a normal law, and sums of rows tell all.
    """
    y = frame.y.to_numpy() - 0.4 * frame.x.to_numpy()
    counts, sums = np.zeros((2, 8))
    np.add.at(counts, places(frame), 1)
    np.add.at(sums, places(frame), y)
    points = np.stack(np.meshgrid(*axes, np.linspace(-1.1, 0.2, 30), indexing="ij"), axis=-1)
    points = points.reshape(-1, len(axes) + 1)
    (K, prior, printed), sigma = law(points[:, :-1]), np.exp(points[:, -1])
    whole = K + 25.0  # with the intercept
    left = sigma[:, None, None] ** 2 * np.eye(8) + whole * counts
    told = np.linalg.solve(left, whole)
    logs = -0.5 * (y @ y - told @ sums @ sums) / sigma**2 - 0.5 * np.linalg.slogdet(left)[1]
    logs -= (len(y) - 8) * np.log(sigma)
    logs += prior - sigma + points[:, -1]
    weight = np.exp(logs - logs.max())
    inner = (np.eye(8) - counts[:, None] * told) / sigma[:, None, None] ** 2
    mean = (K @ inner) @ sums
    spread = K - K @ (inner * counts) @ K
    moments = np.c_[printed, sigma, mean, printed**2, sigma**2]
    moments = np.c_[moments, mean**2 + np.diagonal(spread, axis1=1, axis2=2)]
    found, second = np.split(np.average(moments, axis=0, weights=weight), 2)
    return found, np.sqrt(second - found**2)


@cache
def moments(term):
    """Means and sds of (sd, share, sigma, effects of all regions) of a fit."""
    graph, A = NEIGHBOURS, TREE  # noqa: F841  of the formula
    res = sgmc.ols(f"y ~ {term} + offset(0.4 * x)", table(), prior=PRIOR, draws=2000, seed=1)
    effects, names = res.smooth(at=NAMES), [one for one in res.params.index if one != "Intercept"]
    return np.r_[res.params[names], effects["mean"]], np.r_[res.bse[names], effects["sd"]]


def departures(term, frame, law, axes):
    """Of means in sds, and of sds as shares, from quadrature."""
    (found, spread), (mean, sd) = moments(term), quadrature(frame, law, axes)
    return np.abs((found - mean) / sd).max(), np.abs(spread / sd - 1).max()


@pytest.mark.parametrize("term", [*KINDS, SHARED])
def test_posteriors_are_those_of_quadrature(term, frame):
    """8,000 draws, independent or nearly so: means to .011 sd, sds to .8 % or, of the skewed sd,
    some 2 % as standard errors; four of these are allowed.
    """
    law = with_share(scaled_covariance()) if term == SHARED else with_one_sd(KINDS[term])
    mean, sd = departures(term, frame, *law)
    assert mean < 0.05
    assert sd < 0.08


def test_another_share_is_seen(frame):
    """That of independent effects in the place of the other."""
    mean, _ = departures(SHARED, frame, *with_share(2 * np.eye(8) - scaled_covariance()))
    assert mean > 0.1


def test_an_unscaled_graph_is_seen(frame):
    """The plain generalised inverse, and neighbours that are not there."""
    plain = scaled_covariance(mean=lambda v: 1.0)
    without = {**NEIGHBOURS, "north": ["east"], "west": ["south"]}
    for wrong in (plain, scaled_covariance(neighbours=without)):
        mean, sd = departures("car(region, graph)", frame, *with_one_sd(wrong))
        assert max(mean / 0.05, sd / 0.08) > 1.5


def by_importance(frame, K, prior, draws=2000):
    """Means and sds of (sd, effects) of counts: a grid over the log of sd, and at each of its
    places draws of a Gaussian at the mode of (intercept, effects), weighted by the density.
    """
    rng = np.random.default_rng(3)
    Z, y, x = np.eye(8)[places(frame)], frame["count"].to_numpy(), frame.x.to_numpy()
    values, vectors = np.linalg.eigh(K)
    L = (vectors * np.sqrt(np.maximum(values, 0)))[:, values > 1e-9]
    weight, moments = [], []
    for log_sd in np.linspace(-4, 1.5, 45):
        sd = np.exp(log_sd)
        X, v = np.column_stack([5 * np.ones(len(y)), sd * Z @ L]), np.zeros(1 + L.shape[1])
        for _ in range(50):
            mu = np.exp(X @ v + 0.4 * x)
            H = X.T @ (mu[:, None] * X) + np.eye(len(v))
            v = v + np.clip(np.linalg.solve(H, X.T @ (y - mu) - v), -1, 1)
        e = rng.normal(size=(draws, len(v)))
        at = v + np.linalg.solve(np.linalg.cholesky(H).T, e.T).T
        eta = at @ X.T + 0.4 * x
        log = eta @ y - np.exp(eta).sum(axis=1) - 0.5 * (at**2).sum(axis=1)
        log += 0.5 * (e**2).sum(axis=1) - 0.5 * np.linalg.slogdet(H)[1]
        weight.append(log + prior.logpdf(sd) + log_sd)
        moments.append(np.column_stack([np.full(draws, sd), sd * at[:, 1:] @ L.T]))
    weight, moments = np.concatenate(weight), np.concatenate(moments)
    weight = np.exp(weight - weight.max())
    mean = np.average(moments, axis=0, weights=weight)
    return mean, np.sqrt(np.average((moments - mean) ** 2, axis=0, weights=weight))


def test_posteriors_of_counts_are_those_of_weighted_gaussians(frame):
    """8,000 draws of an ESS of some thousands: four standard errors are .06 sd and 6 % of sds."""
    graph = NEIGHBOURS  # noqa: F841  of the formula
    prior = {"Intercept": sgmc.normal(0, 5), "sd": sgmc.half_normal(1)}
    text = "count ~ car(region, graph) + offset(0.4 * x)"
    res = sgmc.poisson(text, frame, prior=prior, draws=2000, seed=1)
    ours = np.c_[res.flat[:, 1], res.curve(at=NAMES)[1].T]
    mean, sd = by_importance(frame, scaled_covariance(), stats.halfnorm(scale=1))
    np.testing.assert_allclose((ours.mean(axis=0) - mean) / sd, 0, atol=0.06)
    np.testing.assert_allclose(ours.std(axis=0), sd, rtol=0.06)
    mean, _ = by_importance(frame, np.eye(8), stats.halfnorm(scale=1))
    assert np.abs((ours.mean(axis=0) - mean) / sd).max() > 0.3


def squares(side):
    """Neighbours of the squares of a map."""
    cells = [(i, j) for i in range(side) for j in range(side)]
    return {
        f"{i}-{j}": [f"{a}-{b}" for a, b in cells if abs(a - i) + abs(b - j) == 1] for i, j in cells
    }


@pytest.mark.parametrize("side", [3, 10], ids=["all modes together", "the smoothest ones together"])
def test_coordinates_of_tiny_errors_are_nearly_standard_normal(side, monkeypatch):
    """Means of squared gradients beyond those of a standard normal law, at standard normal points:
    below 0.2; where modes are told one by one, the level of the map and the intercept, of which the
    rows tell no more than their sum, have a thousand times as much.
    """
    rng, near = np.random.default_rng(1), squares(side)
    region = np.repeat(list(near), 4)
    y = np.repeat(rng.normal(size=len(near)), 4) + 0.01 * rng.normal(size=len(region))
    frame = pd.DataFrame({"region": region, "y": y})
    model = sgmc.OLS.from_formula("y ~ bym2(region, g)", frame, scope={"g": near})
    settings = check_settings(seed=1, sampler="hmc")  # normal outcomes need no chains
    assert departure(model.problem(None, settings)) < 0.2
    monkeypatch.setattr(crossed, "overlapping", lambda *of: [])
    assert departure(model.problem(None, settings)) > 200


def test_truth_is_recovered_and_trusted_at_defaults():
    """A 10 x 10 map, 2,000 rows: effects are as often in their 90 % intervals, to 3 binomial sds of
    a hundred that are correlated a little, and the sd within its own interval.
    """
    near, rng = squares(10), np.random.default_rng(7)
    K = scaled_covariance([list(near)], near)
    effects = 0.6 * np.linalg.cholesky(K + 1e-10 * np.eye(100)) @ rng.normal(size=100)
    code = rng.integers(0, 100, 2000)
    frame = pd.DataFrame({"x": rng.normal(size=2000), "cell": np.array(list(near))[code]})
    frame["y"] = rng.poisson(np.exp(0.3 + 0.4 * frame.x + effects[code]))
    res = sgmc.poisson("y ~ x + car(cell, near)", frame, seed=1)
    assert res.verdict.trustworthy
    low, high = res.conf_int(alpha=0.01).loc["sd(car(cell))"]
    assert low < 0.6 < high
    table = res.smooth(at=list(near), alpha=0.1)
    inside = (table["5%"] < effects) & (effects < table["95%"])
    assert 0.81 <= inside.mean() <= 0.99


# ---- labels --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    graph = NEIGHBOURS  # noqa: F841  of the formula
    return sgmc.ols("y ~ x + car(region, graph)", table(), draws=1000, seed=1)


def test_a_table_names_all_regions(fitted):
    """That without rows among them; its effect has more spread than that of any neighbour."""
    found = fitted.smooth()
    assert list(found["region"]) == NAMES
    assert found.set_index("region")["sd"].drop("rock").idxmax() == "cape"
    some = fitted.smooth(at=["rock", "cape"])
    np.testing.assert_allclose(some["mean"], found.set_index("region")["mean"][["rock", "cape"]])


def test_predictions_have_the_effects_of_labels(fitted):
    new = pd.DataFrame({"region": ["cape", "rock", None], "x": 0.5})
    effects = fitted.smooth(at=["cape", "rock"])["mean"]
    line = fitted.params["Intercept"] + 0.5 * fitted.params["x"]
    found = fitted.predict(new)
    np.testing.assert_allclose(found[:2], line + effects, atol=1e-6)
    assert np.isnan(found[2])
    with pytest.raises(
        DataError, match=r"'region' has labels that car\(region\) does not have: 'sea'"
    ):
        fitted.predict(pd.DataFrame({"region": ["sea"], "x": [0.0]}))


def test_effects_are_of_predictors_and_of_regions_that_are_asked_for(fitted):
    assert set(fitted.avg_slopes()["term"]) == {"x"}
    (found,) = fitted.avg_comparisons({"region": ["rock", "cape"]})["estimate"]
    rock, cape = fitted.smooth(at=["rock", "cape"])["mean"]
    assert found == pytest.approx(cape - rock)


def test_a_figure_has_a_line_per_region(fitted):
    axes = fitted.plot_smooth()
    assert {one.get_text() for one in axes.get_yticklabels()} == set(NAMES)


def test_numbers_and_categories_are_labels(frame):
    graph = {10 * NAMES.index(a): [10 * NAMES.index(b) for b in NEIGHBOURS[a]] for a in NAMES}
    plain = covariance(grouping("y ~ car(region, graph)", frame))
    for codes in (frame.code, frame.code.astype("category"), frame.code.astype("Int64")):
        found = grouping("y ~ car(code, graph)", frame.assign(code=codes), graph=graph)
        np.testing.assert_allclose(covariance(found), plain, atol=1e-10)
    with pytest.raises(DataError, match=r"another type than in car\(code\): text such as '0'"):
        grouping("y ~ car(code, graph)", frame.assign(code=frame.code.astype(str)), graph=graph)


def test_rows_without_a_region_are_left_out(frame):
    table = formula.read(
        "y ~ . + car(region, graph)", frame.replace({"region": {"rock": None}}),
        outcome="numeric", scope=SCOPE,
    )  # fmt: skip
    assert len(table.y) == (frame.region != "rock").sum()
    assert "region" not in "".join(table.spec.exog_names)


def test_slopes_of_regions_have_a_common_slope(frame):
    found = formula.read("y ~ car(region, graph, by=x)", frame, outcome="numeric", scope=SCOPE)
    assert found.spec.exog_names == ["Intercept", "x"]
    x, at = frame.x.to_numpy(), places(frame)
    expected = np.outer(x, x) * scaled_covariance()[np.ix_(at, at)]
    np.testing.assert_allclose(covariance(found.grouping()), expected, atol=1e-10)


def test_known_correlations_are_written_as_group_terms(frame):
    one, other = (
        sgmc.OLS.from_formula(f"y ~ x + {term}", frame, scope=SCOPE)
        for term in ("(1 | gr(region, cov=A))", "gr(region, cov=A)")
    )
    np.testing.assert_array_equal(one.grouping.curves, other.grouping.curves)
    pair = (sparse.csr_array(TREE.to_numpy()), NAMES)
    found = grouping("y ~ gr(region, pair)", frame, pair=pair)
    np.testing.assert_array_equal(found.curves, one.grouping.curves)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws
@pytest.mark.parametrize("term", [*KINDS, SHARED])
def test_a_file_needs_no_graph(term, frame, tmp_path):
    graph, A = NEIGHBOURS, TREE
    res = sgmc.ols(f"y ~ {term} + x", frame, draws=50, seed=1)
    res.save(tmp_path / "fit.sgmc")
    del graph, A
    again = sgmc.load(tmp_path / "fit.sgmc")
    np.testing.assert_array_equal(again.predict(frame), res.predict(frame))
    pd.testing.assert_frame_equal(again.smooth(), res.smooth())


# ---- what is refused -----------------------------------------------------------------------------

WITHOUT = {one: [other for other in those if other != "cape"] for one, those in NEIGHBOURS.items()}
SINGULAR = TREE.copy()
SINGULAR.loc["north"], SINGULAR["north"] = SINGULAR.loc["rock"], SINGULAR["rock"]
OBJECTS = {
    "loop": {**NEIGHBOURS, "rock": ["rock"]},
    "one_way": WITHOUT,
    "absent": {**NEIGHBOURS, "rock": ["moon"]},
    "alone": {one: [] for one in NAMES},
    "weighted": sparse.csr_array(np.array([[0, 0.5], [0.5, 0]])),
    "wide": sparse.csr_array(np.ones((2, 3))),
    "triples": [("north", "east", "west")],
    "text": "north",
    "number": 3,
    "skew": pd.DataFrame(np.triu(np.ones((8, 8))), NAMES, NAMES),
    "singular": SINGULAR,
    "negative": -TREE,
    "turned": TREE[NAMES[::-1]],
    "bare": TREE.to_numpy(),
    "short": (np.eye(3), NAMES),
    "twice": (np.eye(8), [*NAMES[:7], "north"]),
    "part": {"north": ["east"], "east": ["north"]},
    "none": None,
}


@pytest.mark.parametrize(
    "text, message",
    [
        ("car(region)", r"graph is not given: write car\(region, graph\)"),
        ("car(region, grpah)", "no variable 'grpah' .* did you mean 'graph'"),
        ("car(region, none)", "no variable 'none'"),
        ("car(region, np)", "no variable 'np'"),
        ("car(region, graph, k=4)", "there is no option 'k'"),
        ("car(C(region), graph)", "is not a column"),
        ("car(region, x, graph)", "3 are given"),
        ("car(region, graph, graph=graph)", "2 are given"),
        ("x |", "a group term stands in parentheses"),
        ("car(y, graph)", "the response"),
        ("car(region, graph) : x", "can only be added"),
        ("car(region, graph) + car(region, graph)", "is there twice"),
        ("car(region, graph) + bym2(region, graph)", r"bym2\(region\) has car\(region\) in it"),
        ("(1 | region) + bym2(region, graph)", r"has \(1 \| region\) in it"),
        ("(x | gr(region, cov=A))", r"write \(1 \| gr\(region, cov=A\)\) alone, .*, by=x\)"),
        ("(1 | gr(region, cov=A):x)", "alone"),
        ("car(region, loop)", "'rock' is its own neighbour"),
        ("car(region, one_way)", "not the other way round"),
        ("car(region, absent)", "'moon' is a neighbour of 'rock' and has no list"),
        ("car(region, alone)", "no pair of neighbours"),
        ("car(region, weighted)", "no other numbers"),
        ("car(region, wide)", r"it has the shape \(2, 3\)"),
        ("car(region, triples)", "each has two labels"),
        ("car(region, text)", "graph must be a dict"),
        ("car(region, number)", "graph must be a dict .* not int"),
        ("gr(region, cov=skew)", "cov must be symmetric"),
        ("gr(region, cov=singular)", "not positive definite"),
        ("gr(region, cov=negative)", "not positive definite"),
        ("(1 | region, cov=A)", r"known correlations are \(1 \| gr\(g, cov=A\)\)"),
        ("gr(region, cov=turned)", "in one order"),
        ("gr(region, cov=bare)", "a pair .matrix, labels., not ndarray"),
        ("gr(region, cov=short)", "8 x 8 of as many labels"),
        ("gr(region, cov=twice)", "the label 'north' twice"),
    ],
)
def test_what_is_refused(text, message, frame):
    with pytest.raises(FormulaError, match=message):
        formula.read(f"y ~ {text}", frame, outcome="numeric", scope={**SCOPE, **OBJECTS, "np": np})


def test_slopes_of_the_same_regions_are_not_refused(frame):
    found = grouping("y ~ (0 + x | region) + bym2(region, graph)", frame)
    assert len(found.terms) == len(found.spec.smooths) == 1


def test_regions_that_a_graph_lacks_are_refused(frame):
    with pytest.raises(DataError, match="labels that car.region. does not have: 'south', 'west'"):
        grouping("y ~ car(region, part)", frame, part=OBJECTS["part"])


def test_a_single_region_is_refused(frame):
    with pytest.raises(FormulaError, match="a single level"):
        grouping("y ~ car(region, graph)", frame[frame.region == "east"])


def test_too_many_levels_are_refused(frame):
    graph = {k: [j for j in (k - 1, k + 1) if 0 <= j < 2001] for k in range(2001)}
    with pytest.raises(FormulaError, match="2,001 levels, at most 2,000; join regions"):
        grouping("y ~ car(code, graph)", frame, graph=graph)


def test_safe_formulas_have_no_objects():
    with pytest.raises(FormulaError, match="'graph' is an object of Python"):
        sgmc.formula("y ~ car(region, graph)", safe=True)
