"""Independent proposals of crossed factors with outcomes of 0 and 1: against Metropolis steps in
numpy, in which the effects of one factor are integrated out by quadrature.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

import sgmc
from sgmc.coordinates.independent.grid import Grid
from sgmc.models.regression.latent.sampled.independent import proposals

N, G, H = 150, 12, 3
PRIOR = {
    "*": sgmc.normal(0, 1.5, autoscale=False),
    "Intercept": sgmc.normal(0, 2, autoscale=False),
    "sd": sgmc.half_normal(1, autoscale=False),
}
pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


def table(seed=3):
    """Rows of two factors, the second of three levels that hardly differ."""
    random = np.random.default_rng(seed)
    g, h, x = random.integers(0, G, N), random.integers(0, H, N), random.normal(size=N)
    eta = 0.3 + 0.6 * x + 0.8 * random.normal(size=G)[g] + 0.1 * random.normal(size=H)[h]
    return pd.DataFrame(
        {"x": x - x.mean(), "g": g, "h": h, "y": random.random(N) < special.expit(eta)}
    )


def reference(steps=40_000, seed=5):
    """Draws of (Intercept, x, sd(1|g), sd(1|h)) after a tenth of the steps: random walks of
    (beta, v, log sds), the effects of h being sd v, those of g integrated out by 15 nodes.
    """
    df, random = table(), np.random.default_rng(seed)
    sign = np.where(df.y, 1.0, -1.0)
    nodes, mass = np.polynomial.hermite_e.hermegauss(15)
    mass = np.log(mass / mass.sum())
    g, h, x = (df[name].to_numpy() for name in "ghx")
    order = np.argsort(g, kind="stable")
    starts = np.searchsorted(g[order], np.arange(G))

    def log_density(at):
        beta, v, logs = at[:2], at[2:5], at[5:]
        sds = np.exp(logs)
        eta = beta[0] + beta[1] * x + sds[1] * v[h]
        rows = -np.logaddexp(0, -(sign * (eta + sds[0] * nodes[:, None])).T[order])
        told = special.logsumexp(np.add.reduceat(rows, starts) + mass, axis=1).sum()
        prior = stats.norm.logpdf(beta, 0, [2, 1.5]).sum() - 0.5 * (v @ v + sds @ sds)
        return told + prior + logs.sum()

    at = np.append(np.zeros(5), [-0.5, -1.0])
    root, value, kept = 0.3 * np.eye(7), log_density(at), []
    for k in range(steps):
        if k in (steps // 40, steps // 20):  # the spread so far is that of the steps
            root = 0.9 * np.linalg.cholesky(np.cov(np.array(kept).T) + 1e-6 * np.eye(7))
        new = at + root @ random.normal(size=7)
        other = log_density(new)
        if np.log(random.random()) < other - value:
            at, value = new, other
        kept.append(at)
    kept = np.array(kept[steps // 10 :])
    return np.column_stack([kept[:, :2], np.exp(kept[:, 5:])])


def numbers(draws):
    """Means, mean squares and shares near zero, of draws (n, 4)."""
    return np.column_stack([draws, draws**2, draws[:, 2:] < 0.2])


def error(values):
    """Monte Carlo errors of the means of dependent values (n, k), by 30 batches."""
    parts = np.array([part.mean(axis=0) for part in np.array_split(values, 30)])
    return parts.std(axis=0, ddof=1) / np.sqrt(30)


def apart(expected):
    """The largest departure of a fit's numbers, in standard errors."""
    results = sgmc.logit("y ~ x + (1 | g) + (1 | h)", table(), prior=PRIOR, seed=1, draws=2000)
    assert results.sampler.name == "imh" and (results.draws[..., 2:] >= 0).all()
    found = numbers(np.concatenate(list(results.draws)))
    off = found.mean(axis=0) - expected.mean(axis=0)
    return np.abs(off / np.hypot(error(found), error(expected))).max()


@pytest.fixture(scope="module")
def expected():
    return numbers(reference())


@pytest.mark.extended
def test_posteriors_are_those_of_the_reference(expected):
    """Ten numbers within 4 standard errors: missed by chance in 1 of 1,600."""
    assert apart(expected) < 4


@pytest.mark.extended
@pytest.mark.mistake("independent proposals of crossed factors: {mistake}")
@pytest.mark.parametrize("name", ["logit"])
@pytest.mark.parametrize("mistake", ["density of the table forgotten", "the density at other sds"])
def test_mistakes_are_seen(name, mistake, expected, monkeypatch):
    if mistake == "density of the table forgotten":
        monkeypatch.setattr(Grid, "log_density", lambda self, points: np.zeros(len(points)))
    else:
        density, by = proposals.log_densities, np.append(np.zeros(2 + G + H), [0.2, 0.0])
        monkeypatch.setattr(proposals, "log_densities", lambda of, points: density(of, points + by))
    monkeypatch.setattr(proposals, "MOST_VARIED", np.inf)
    assert apart(expected) > 6


def test_parts_of_a_run_change_no_bit():
    """Neither do threads, which the first part has not."""

    def fit(**how):
        return sgmc.logit("y ~ x + (1 | g) + (1 | h)", table(), seed=1, **how)

    np.testing.assert_array_equal(fit(draws=25, threads=1).resume(35).draws, fit(draws=60).draws)


def test_linear_mixtures_of_nodes():
    """At nodes their rows; in a cell what is linear is itself."""
    tables = np.add.outer(np.arange(4.0), 10 * np.arange(3.0))[..., None] * [1.0, -2.0]
    places = np.array([[1.0, 2.0], [0.25, 1.5], [3.0, 0.0]])
    level = places @ [1.0, 10.0]
    np.testing.assert_allclose(proposals.blended(tables, places), level[:, None] * [1.0, -2.0])
