"""Directions of recession, against linear programmes of all rows and against planted mistakes."""

import itertools
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

import sgmc
from sgmc.coordinates.identification.half_spaces import CategoryHalfSpaces, Sides, directions
from sgmc.coordinates.identification.recession import Programme, independent, recessions
from sgmc.core.designs.design import design
from sgmc.errors import SeparationWarning
from sgmc.fit.settings import check_settings
from sgmc.models.regression.mode import recession
from sgmc.models.regression.mode.recession import Likelihood

BINARY, COUNTS = "binary", "counts"


def random_table(seed):
    """A small table of whole numbers with an intercept, and outcomes 0, 1, 2."""
    random = np.random.default_rng(seed)
    n, d = random.integers(3, 14), random.integers(1, 4)
    X = np.column_stack([np.ones(n), random.integers(0, 3, size=(n, d))]).astype(float)
    return X, random.integers(0, 3, n)


def every(X):
    """The basis of all coefficients."""
    d = X.shape[1]
    return directions(np.ones(d, dtype=bool), 0, np.zeros(d), X.mean(axis=0), X.std(axis=0))


def sides(X, y, kind, storage=np.asarray):
    """Half-spaces of binary outcomes y > 0, or of counts y."""
    up = (y > 0) if kind == BINARY else np.zeros(len(y), dtype=bool)
    table = storage(X)
    return Sides(table, design(table), every(X), up, y == 0)


def constraints(X, y, kind):
    """(rows A with A delta >= 0, rows E with E delta = 0), all of them."""
    if kind == BINARY:
        return X * np.where(y > 0, 1, -1)[:, None], X[:0]
    return -X[y == 0], X[y > 0]


def exists(A, E):
    """Whether A delta >= 0, E delta = 0 for some delta with A delta != 0, by one programme."""
    if not len(A):
        return False
    found = linprog(
        -A.sum(axis=0),
        A_ub=-A,
        b_ub=np.zeros(len(A)),
        A_eq=E if len(E) else None,
        b_eq=np.zeros(len(E)) if len(E) else None,
        bounds=(-1, 1),
    )
    return found.fun < -1e-6


def allowed(delta, A, E):
    """Whether a direction is one of recession that moves some linear predictor."""
    size = np.abs(delta).max()
    return bool(
        (A @ delta > -1e-6 * size).all()
        and (np.abs(E @ delta) < 1e-6 * size).all()
        and (A @ delta).max() > 1e-6 * size
    )


@pytest.mark.extended
@pytest.mark.parametrize("kind", [BINARY, COUNTS])
def test_directions_exist_where_all_rows_have_one(kind):
    found = []
    for seed in range(150):
        X, y = random_table(seed)
        A, E = constraints(X, y, kind)
        delta = next(recessions(sides(X, y, kind), 8, (0,)), None)
        assert (delta is not None) == exists(A, E), seed
        if delta is not None:
            assert allowed(delta, A, E), seed
            assert not allowed(-delta, A, E), seed  # a planted mistake is seen
        found.append(delta is not None)
    assert 15 < sum(found) < 120  # both answers are tested


def test_half_spaces_by_enumeration_of_directions():
    """With one slope of whole numbers, a few directions are all there are to try."""
    ways = list(itertools.product(np.arange(-8, 8.5, 0.5), [-1.0, 0.0, 1.0]))
    for seed in range(100):
        X, y = random_table(seed)
        X = np.ascontiguousarray(X[:, :2])
        A, E = constraints(X, y, BINARY)
        by_hand = any(allowed(np.array(way), A, E) for way in ways if any(way))
        assert (next(recessions(sides(X, y, BINARY), 8), None) is not None) == by_hand


@pytest.mark.extended
def test_complete_separation_where_all_rows_are_classified():
    answers = []
    for seed in range(150):
        X, y = random_table(seed)
        A, _ = constraints(X, y, BINARY)
        clear = linprog(  # maximise t <= 1 with A delta >= t
            np.append(np.zeros(X.shape[1]), -1.0),
            A_ub=np.column_stack([-A, np.ones(len(A))]),
            b_ub=np.zeros(len(A)),
            bounds=[(-1, 1)] * X.shape[1] + [(0, 1)],
        )
        answers.append(clear.fun < -1e-6)
        assert independent(sides(X, y, BINARY), 8).complete() == answers[-1]
    assert 15 < sum(answers) < 135


@pytest.mark.extended
def test_kinds_against_all_rows():
    found = []
    for seed in range(100):
        X, y = random_table(seed)
        n, d = X.shape
        spaces = CategoryHalfSpaces(X, design(X), np.eye(2 * d), y.astype(np.intp))
        A = np.zeros((n, 3, 3 * d))  # x'(delta_y - delta_k), first kind's coefficients included
        for i, k in itertools.product(range(n), range(3)):
            A[i, k, d * y[i] : d * (y[i] + 1)] += X[i]
            A[i, k, d * k : d * (k + 1)] -= X[i]
        A = A.reshape(-1, 3 * d)[:, d:]
        delta = next(recessions(spaces, 8), None)
        assert (delta is not None) == exists(A, A[:0]), seed
        assert delta is None or allowed(delta, A, A[:0]), seed
        found.append(delta is not None)
    assert 20 < sum(found) < 100


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, np.float32])
def test_contrary_rows_among_many_are_found(storage):
    """One row of 40,000 decides; it is not among those that the programme begins with."""
    random = np.random.default_rng(3)
    X = np.column_stack([np.ones(40_000), random.normal(size=(40_000, 5))])
    X = X.astype(np.float32).astype(float)
    eta = X @ [0.5, 1.0, -1.0, 2.0, 0.0, 0.0]
    X, eta = X[np.abs(eta) > 0.1], eta[np.abs(eta) > 0.1]
    y = (eta > 0).astype(int)
    bytes = 4 if storage is np.float32 else 8
    delta = next(recessions(sides(X, y, BINARY, storage), bytes, (0,)))
    tolerance = 1e-4 if bytes == 4 else 1e-6
    assert (np.where(y > 0, 1, -1) * (X @ delta) > -tolerance * np.abs(delta).max()).all()
    assert Programme(sides(X, y, BINARY, storage), bytes).complete()
    y[np.abs(eta).argmax()] ^= 1
    assert next(recessions(sides(X, y, BINARY, storage), bytes, (0,)), None) is None


def test_collinear_columns_are_found_whatever_rows_are_first():
    random = np.random.default_rng(4)
    X = np.column_stack([np.ones(5000), random.normal(size=(5000, 3))])
    y = random.integers(0, 2, 5000)
    assert not Programme(sides(X, y, BINARY)).aliased().size
    X = np.column_stack([X, X[:, 1] - 2 * X[:, 2] + 3])
    spaces = sides(X, y, BINARY)
    null = spaces.basis @ Programme(spaces).aliased()
    assert null.shape == (5, 1)
    np.testing.assert_allclose((null / null[4]).ravel(), [-3, -1, 2, 0, 1], atol=1e-9)
    X[np.setdiff1d(np.arange(5000), Programme(spaces).chosen)[0], 4] += 1.0  # one row differs
    assert not Programme(sides(X, y, BINARY)).aliased().size


@pytest.mark.parametrize("many", [1, 2, 4, 8])
def test_directions_follow_one_another_until_none_is_left(many, monkeypatch):
    """Three levels of four have a single outcome each, whatever rows a programme begins with."""
    monkeypatch.setattr("sgmc.coordinates.identification.recession.PER_COEFFICIENT", many)
    level = np.repeat(np.arange(4), 6)
    y = np.where(level < 2, 1, np.where(level == 2, 0, np.arange(24) % 2))
    X = np.column_stack([np.ones(24), level == 0, level == 1, level == 2]).astype(float)
    found = [delta / np.abs(delta).max() for delta in recessions(sides(X, y, BINARY), 8, (0,))]
    places = sorted((int(np.abs(delta[1:]).argmax()) + 1, delta) for delta in found)
    assert [place for place, _ in places] == [1, 2, 3]
    for place, delta in places:
        np.testing.assert_allclose(delta, np.eye(4)[place] * (1 if place < 3 else -1), atol=1e-9)


@pytest.mark.cover(0)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize(
    "kind, model", [(BINARY, sgmc.Logit), (BINARY, sgmc.Cauchit), (COUNTS, sgmc.Poisson)]
)
def test_scores_at_the_mode_rule_directions_out_only_where_there_are_none(kind, model, monkeypatch):
    """The scores say so of most tables without a direction, and never of one with."""
    found = []
    certain = Likelihood.overlaps

    def spied(self, mode):
        found.append(certain(self, mode))
        return found[-1]

    monkeypatch.setattr(Likelihood, "overlaps", spied)
    said = {True: [], False: []}
    for seed in range(60):
        X, y = random_table(seed)
        if np.linalg.matrix_rank(X) < X.shape[1]:
            continue
        X, y = np.tile(X, (3, 1)), np.concatenate([y, np.random.default_rng(seed).permuted(y), y])
        if len(np.unique(y > 0)) < 2:
            continue
        found.clear()
        model((y > 0) * 1.0 if kind == BINARY else y, X).problem(None, check_settings(seed=1))
        said[exists(*constraints(X, y, kind))] += found
    assert not any(said[True])
    assert len(said[False]) > 20 and np.mean(said[False]) > 0.8


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_wrong_weights_are_no_proof(monkeypatch):
    """Without the step to the maximum of the likelihood scores would certify separated outcomes."""
    X = np.column_stack([np.ones(40), np.arange(40) - 19.5])
    model = sgmc.Logit((X[:, 1] > 0) * 1.0, X)

    def warned():
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            model.fit(seed=1, sampler="laplace", draws=20)
        return any(issubclass(one.category, SeparationWarning) for one in found)

    assert warned()
    monkeypatch.setattr(recession.linalg, "cho_solve", lambda factor, full: np.zeros_like(full))
    assert not warned()
