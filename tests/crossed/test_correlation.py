"""What Gibbs sampling by factor would have for an autocorrelation, against dense matrices."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import SGMCWarning
from sgmc.models.regression.latent.sampled.blocks.gram import Gram
from sgmc.models.regression.latent.sampled.centre.correlation import at_centre

from .tables import problem_of, table


def dense(problem):
    """X, and for each factor Z Lambda, as matrices; weights of the rows."""
    rows, theta = problem.own.rows, problem.coordinates.natural(np.zeros(problem.dim))
    root = rows.blocks.loading.root(theta[rows.blocks.phi])
    X = np.asarray(rows.fixed.X, dtype=float)
    columns = []
    for k, own in enumerate(Gram(rows).effects):
        Z = np.zeros((len(rows.Z), rows.levels[k], len(own)))
        Z[np.arange(len(Z)), rows.codes[:, k]] = rows.Z[:, own] @ root[np.ix_(own, own)]
        columns.append(Z.reshape(len(Z), -1))
    eta = X @ theta[: X.shape[1]]
    b = [theta[rows.places(k)] for k in range(len(columns))]
    for k, own in enumerate(Gram(rows).effects):
        eta += (rows.Z[:, own] * b[k][rows.codes[:, k]]).sum(axis=1)
    return X, columns, eta, np.exp(theta[-1])


def by_dense(X, one, other, w, ridge=1.0):
    """The largest eigenvalue of A^-1 C B^-1 C' with the coefficients integrated out."""
    out = w[:, None] * X
    rest = np.diag(w) - out @ np.linalg.solve(X.T @ out, out.T)
    A = one.T @ rest @ one + ridge * np.eye(one.shape[1])
    B = other.T @ rest @ other + ridge * np.eye(other.shape[1])
    C = one.T @ rest @ other
    return np.linalg.eigvals(np.linalg.solve(A, C) @ np.linalg.solve(B, C.T)).real.max()


@pytest.mark.parametrize("kind", ["crossed", "slopes", "two terms"])
@pytest.mark.parametrize("verb", ["ols", "logit", "poisson"])
def test_the_largest_autocorrelation_is_that_of_dense_matrices(verb, kind):
    """Lanczos' method stops at a relative 1e-4; without weights, or with the coefficients fixed,
    the answer is another one.
    """
    problem = problem_of(verb, kind, 300)
    X, (one, other), eta, sigma = dense(problem)
    p = 1 / (1 + np.exp(-eta))
    w = {"ols": np.full(len(eta), sigma**-2), "logit": p * (1 - p), "poisson": np.exp(eta)}[verb]
    found = at_centre(problem)[0, 1]
    assert found == pytest.approx(by_dense(X, one, other, w), rel=1e-3)
    assert found != pytest.approx(by_dense(X, one, other, 2 * w), rel=1e-2)
    nothing = 1e-9 * np.random.default_rng(0).normal(size=X.shape)
    assert found != pytest.approx(by_dense(nothing, one, other, w), rel=1e-2)


def test_without_shrinkage_it_is_the_second_canonical_correlation():
    """Sds so large that priors of effects count for nothing: rho_2 of the incidence matrix."""
    frame = table("ols", 400)
    W = pd.crosstab(frame["g"], frame["h"]).to_numpy(float)
    X, codes = np.ones((len(frame), 1)), [frame["g"].to_numpy(), frame["h"].to_numpy()]
    one, other = (np.eye(code.max() + 1)[code] for code in codes)
    scaled = W / np.sqrt(np.outer(W.sum(axis=1), W.sum(axis=0)))
    rho = np.linalg.svd(scaled)[1][1] ** 2
    found = by_dense(X, one, other, np.ones(len(frame)), ridge=1e-9)
    assert found == pytest.approx(rho, rel=1e-4)


def test_gibbs_sampling_has_the_predicted_autocorrelation():
    """A numpy sweep over effects at fixed sds: along the slowest direction the lag-one correlation
    of 20,000 sweeps is the eigenvalue, within five standard errors (0.006 each).
    """
    problem = problem_of("ols", "crossed", 300)
    X, (one, other), eta, sigma = dense(problem)
    w, rng = np.full(len(eta), sigma**-2), np.random.default_rng(1)
    rest = np.diag(w) - w[:, None] * X @ np.linalg.solve(X.T @ (w[:, None] * X), (X * w[:, None]).T)
    A, B = (Z.T @ rest @ Z + np.eye(Z.shape[1]) for Z in (one, other))
    C = one.T @ rest @ other
    forth, back = -np.linalg.solve(A, C), -np.linalg.solve(B, C.T)
    roots = [np.linalg.cholesky(np.linalg.inv(M)) for M in (A, B)]
    values, vectors = np.linalg.eig((forth @ back).T)
    slowest = vectors[:, np.argmax(values.real)].real
    u, trace = np.zeros(len(A)), np.empty(20_000)
    for t in range(len(trace)):
        v = back @ u + roots[1] @ rng.normal(size=len(B))
        u = forth @ v + roots[0] @ rng.normal(size=len(A))
        trace[t] = slowest @ u
    seen = np.corrcoef(trace[1:], trace[:-1])[0, 1]
    assert abs(seen - at_centre(problem)[0, 1]) < 0.03


def test_three_factors_have_three_pairs_and_the_summary_the_worst():
    frame = table("ols", 300)
    frame = frame.assign(k=np.where(np.arange(300) % 20 == 0, 0, frame["h"]))
    with pytest.warns(SGMCWarning):
        fit = sgmc.ols("y ~ x + (1 | g) + (1 | h) + (1 | k)", frame, seed=1, draws=100, chains=2)
    text = " ".join(str(fit.summary(details=True)).split())
    found = at_centre(fit._fit.problem)
    assert set(found) == {(0, 1), (0, 2), (1, 2)} and max(found, key=found.get) == (1, 2)
    assert f"{found[1, 2]:.3g} between sweeps (h and k)" in text
    assert "Autocorrelation of effects" not in str(fit.summary())


@pytest.mark.extended
def test_a_loaded_fit_has_no_such_line(tmp_path):
    fit = sgmc.ols("y ~ x + (1 | g) + (1 | h)", table("ols", 300), seed=1)
    assert "Autocorrelation of effects" in str(fit.summary(details=True))
    fit.save(tmp_path / "fit.pkl")
    assert "Autocorrelation of effects" not in str(
        sgmc.load(tmp_path / "fit.pkl").summary(details=True)
    )
