"""Models against their definitions: gradients, score path, curvature, weights, storage, every form
of the kernels.
"""

import numpy as np
import pytest
from _ext.probes import Probe, block, listed
from _ext.toys import GaussianLocation, KnownSigma

from sgmc.core.contract import Anchor
from sgmc.core.designs.design import design

from .cases import REGRESSIONS, STORAGE, families, outcomes, regression, table
from .montecarlo import LIMIT

N = 61  # odd: kernels take rows by twos and fours
WIDTHS = [1, 3, 7, 8, 9, 16, 31, 32, 33, 40, 100]  # kernels differ for d < 8, 8..32 and beyond
BATCHES = {
    "one row": block(5, 1),
    "block": block(7, 33),
    "all": block(0, N),
    "listed": listed([3, 60, 3, 0, 17, 8, 8, 41, 59]),
}
ROUNDING = 1e-12  # of sums of some dozens of terms of order one


def close(a, b, tolerance):
    """Equal up to `tolerance` times the larger array's largest entry."""
    a, b = np.asarray(a), np.asarray(b)
    return np.abs(a - b).max() <= tolerance * max(np.abs(a).max(), np.abs(b).max())


def models():
    """Small models with a score path, of one and of several scores a row."""
    X, rng = table(N, 3), np.random.default_rng(2)
    return {
        "location": GaussianLocation(rng.normal(size=(N, 3)), 0.7),
        **{k: regression(k, X) for k in REGRESSIONS},
        **{
            f"{k} weighted, offset": regression(
                k, X, offset=rng.normal(size=N) / 3, weight=rng.random(N) + 0.5
            )
            for k in REGRESSIONS
        },
    }


SMALL = models()


TWO_PARTS = [name for name, family in families().items() if family.parts]
ONE_EQUATION = [name for name, family in families().items() if not (family.several or family.parts)]


def theta(model, seed=4):
    """Some point of order one."""
    return np.random.default_rng(seed).normal(size=model.dim) / 2


def differences(f, at, step=1e-5):
    """Central differences of f, one row a coordinate; error about step^2 and 1e-16 |f| / step."""
    return np.array([(f(at + e) - f(at - e)) / (2 * step) for e in step * np.eye(len(at))])


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("name", SMALL)
def test_gradient_is_the_derivative_of_the_value(name, batch):
    probe, at = Probe(SMALL[name]), theta(SMALL[name])
    assert close(
        probe.gradient(at, BATCHES[batch]),
        differences(lambda t: probe.value(t, BATCHES[batch]), at),
        1e-6,
    )


@pytest.mark.parametrize("name", SMALL)
def test_curvature_is_minus_the_derivative_of_the_gradient(name):
    probe, at, run = Probe(SMALL[name]), theta(SMALL[name]), BATCHES["listed"]
    assert close(probe.hessian(at, run), -differences(lambda t: probe.gradient(t, run), at), 1e-6)


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("name", SMALL)
def test_score_path_equals_add(name, batch):
    probe, at, run = Probe(SMALL[name]), theta(SMALL[name]), BATCHES[batch]
    scores, value = probe.scores(at, run)
    assert close(probe.add_scores(run, scores), probe.gradient(at, run), ROUNDING)
    assert value == pytest.approx(probe.value(at, run), rel=ROUNDING)


@pytest.mark.parametrize("name", SMALL)
def test_slopes_and_squares_are_those_of_row_gradients(name):
    probe, at, run = Probe(SMALL[name]), theta(SMALL[name]), BATCHES["listed"]
    rows = np.array([probe.gradient(at, block(i, 1)) for i in run.rows])
    scores, v = probe.scores(at, run)[0], theta(SMALL[name], 5)
    assert close((scores * probe.predictors(v, run)).sum(axis=1), rows @ v, ROUNDING)
    assert close(probe.add_scores(run, scores, squares=True), (rows**2).sum(axis=0), ROUNDING)


@pytest.mark.parametrize("name", SMALL)
def test_an_anchor_keeps_predictors_that_move_with_its_centre(name):
    a, b = theta(SMALL[name], 4), theta(SMALL[name], 5)
    kept = [np.asarray(Anchor(SMALL[name], at, True).predictors) for at in (a, b)]
    assert close(
        kept[1] - kept[0], Probe(SMALL[name]).predictors(b - a, block(0, N)).ravel(), ROUNDING
    )


@pytest.mark.parametrize("name", SMALL)
def test_an_anchor_with_exact_rows_is_the_one_made_with_them(name):
    at, rows = theta(SMALL[name]), [8, 3]
    late = Anchor(SMALL[name], at, True).with_exact(rows)
    early = Anchor(SMALL[name], at, True, rows)
    for what in (
        "centre",
        "full",
        "scores",
        "predictors",
        "curvature",
        "hessian",
        "exact",
        "is_exact",
    ):
        np.testing.assert_array_equal(getattr(late, what), getattr(early, what))


@pytest.mark.parametrize("name", SMALL)
def test_a_batch_is_the_scaled_sum_of_its_rows(name):
    probe, at = Probe(SMALL[name]), theta(SMALL[name])
    rows = np.array([probe.gradient(at, block(i, 1)) for i in range(N)])
    values = np.array([probe.value(at, block(i, 1)) for i in range(N)])
    for run in (block(7, 33, scale=2.5), listed(range(39, 6, -1), scale=-1.5)):
        some = list(run.rows or range(run.start, run.start + run.m))
        assert close(probe.gradient(at, run), run.scale * rows[some].sum(axis=0), ROUNDING)
        assert probe.value(at, run) == pytest.approx(run.scale * values[some].sum(), rel=ROUNDING)


@pytest.mark.parametrize("name", SMALL)
def test_a_batch_weight_of_k_is_a_row_met_k_times(name):
    probe, at, weight = Probe(SMALL[name]), theta(SMALL[name]), (2, 1, 3, 1, 1)
    repeated = listed(np.repeat(np.arange(20, 25), weight))
    assert close(
        probe.gradient(at, block(20, 5, weight=weight)), probe.gradient(at, repeated), ROUNDING
    )
    assert close(
        probe.gradient(at, listed(range(20, 25), weight=weight)),
        probe.gradient(at, repeated),
        ROUNDING,
    )


@pytest.mark.parametrize("name", REGRESSIONS)
def test_a_row_weight_of_k_is_a_row_written_k_times(name):
    X, count = table(9, 3), np.array([1, 2, 0, 3, 1, 1, 2, 1, 4])
    again = np.repeat(np.arange(9), count)
    y, build = outcomes(name, 9), REGRESSIONS[name]
    model = build(design(X), y, None, count)
    weighted, repeated, at = Probe(model), Probe(build(design(X[again]), y[again])), theta(model)
    for what in ("value", "gradient", "hessian"):
        assert close(
            getattr(weighted, what)(at, block(0, 9)),
            getattr(repeated, what)(at, block(0, len(again))),
            ROUNDING,
        )


# mnlogit has no offset, and of those of two parts the count's predictor alone has one
WITHOUT_OFFSET = "mnlogit", "mnlogit | z", *TWO_PARTS


@pytest.mark.parametrize("name", [k for k in REGRESSIONS if k not in WITHOUT_OFFSET])
def test_an_offset_is_a_column_with_coefficient_one(name):
    X, at, y = table(N, 3), np.array([0.3, -0.2, 1.0]), outcomes(name, N)
    model = REGRESSIONS[name](design(X), y)
    column = Probe(model)
    offset = Probe(REGRESSIONS[name](design(np.ascontiguousarray(X[:, :2])), y, X[:, 2]))
    at = np.concatenate([at, np.full(model.dim - 3, -0.4)])
    kept = [j for j in range(len(at)) if j != 2]
    for run in BATCHES.values():
        assert column.value(at, run) == pytest.approx(offset.value(at[kept], run), rel=ROUNDING)
        assert close(column.gradient(at, run)[kept], offset.gradient(at[kept], run), ROUNDING)


@pytest.mark.parametrize("name", ONE_EQUATION)
@pytest.mark.parametrize("eta", [-800.0, 800.0])
def test_extreme_predictors_give_finite_numbers(name, eta):
    y = outcomes(name, 2)
    model = REGRESSIONS[name](design(np.ones((2, 1))), y)
    probe, at = Probe(model), [eta] + [0.1] * (model.dim - 1)
    for i in range(2):
        for what in (probe.value, probe.gradient, probe.hessian):
            assert np.isfinite(what(at, block(i, 1))).all()


# entries of informations that are no expected curvatures, as their docstrings say
OTHERWISE = {"negativebinomial": (1, 1)}
EACH = 20_000


def simulated(name, seed=7):
    """(at, model) with outcomes of the family at that place, EACH for each of four rows."""
    family, rng = families()[name], np.random.default_rng(seed)
    X = np.repeat(table(4, 2, seed), EACH, axis=0)
    at = np.array([0.6, -0.8, *np.linspace(-0.3, 1.2, len(family.auxiliary))])
    extra = np.exp(at[2:, None]) if family.auxiliary else None
    y = family.simulate((X @ at[:2])[:, None], rng, extra)[:, 0]
    return at, family.kernel(design(X), y, None, None)


def departures(found, expected, otherwise=()):
    """|mean difference| of each entry, for each of the four rows, in standard errors."""
    e = (found - expected).reshape(4, EACH, -1)
    error = np.abs(e.mean(axis=1)) / np.maximum(e.std(axis=1) / np.sqrt(EACH), 1e-12)
    error = error.reshape(4, *found.shape[1:])
    if otherwise:
        error[(slice(None), *otherwise)] = 0
    return error


@pytest.mark.parametrize("name", [k for k in ONE_EQUATION if not families()[k].working])
def test_informations_are_expected_curvatures(name):
    """Over 20,000 outcomes a row, to LIMIT standard errors of the mean; positive definite."""
    at, model = simulated(name)
    probe, run = Probe(model), block(0, model.n)
    found = probe.curvatures(at, run, expected=True)
    assert np.linalg.eigvalsh(found[::EACH]).min() > 0
    assert departures(probe.curvatures(at, run), found, OTHERWISE.get(name, ())).max() < LIMIT


@pytest.mark.parametrize("name", [name for name, family in families().items() if family.auxiliary])
def test_expected_curvatures_of_another_place_are_caught(name):
    """Planted: informations 0.1 to the side in every parameter."""
    at, model = simulated(name)
    probe, run = Probe(model), block(0, model.n)
    wrong = probe.curvatures(at + 0.1, run, expected=True)
    assert departures(probe.curvatures(at, run), wrong, OTHERWISE.get(name, ())).max() > LIMIT


def by_numpy(X, scores, run, delta):
    """Predictors, sum and sum of squares of scored rows, and the Gram matrix of a batch,
    by numpy in float64.
    """
    rows = X[list(run.rows) if run.rows else slice(run.start, run.start + run.m)]
    return rows @ delta, rows.T @ scores, (rows.T**2) @ scores**2, rows.T @ rows


# 1100: more than one tile
@pytest.mark.parametrize("rows, d", [(N, d) for d in WIDTHS] + [(1100, 3), (1100, 20)])
@pytest.mark.parametrize(
    "storage, tolerance", [("dense64", 1e-12), ("csr", 1e-12), ("dense32", 1e-5)]
)
def test_storages_agree_with_numpy_at_every_width(storage, tolerance, rows, d):
    X, rng = table(rows, d), np.random.default_rng(d)
    probe = Probe(KnownSigma(design(STORAGE[storage](X)), np.zeros(rows)))
    delta = rng.normal(size=d)
    for run in (*BATCHES.values(), block(0, rows), listed(range(rows - 1, -1, -1))):
        scores = rng.normal(size=run.m)
        eta, total, squares, gram = by_numpy(X, scores, run, delta)
        assert close(probe.predictors(delta, run)[:, 0], eta, tolerance)
        assert close(probe.add_scores(run, scores), total, tolerance)
        assert close(probe.add_scores(run, scores, squares=True), squares, tolerance)
        assert close(probe.hessian(delta, run), gram, tolerance)
