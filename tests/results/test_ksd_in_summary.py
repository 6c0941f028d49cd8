"""Every default summary has the kernel Stein discrepancy, that of `ksd()`, or why there is none."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc


def table(n=300):
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=n), rng.uniform(size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(-x))).astype(int)
    g, h = (rng.integers(0, k, n).astype(str) for k in (12, 10))
    w = x + np.sin(6 * z) + 0.3 * rng.normal(size=n)
    return pd.DataFrame(dict(x=x, z=z, y=y, g=g, h=h, w=w))


D = table()


class Waits(sgmc.Model):
    """Exponential waiting times, in numpy."""

    parameters = {"rate": ()}
    constraints = {"rate": "positive"}

    def __init__(self, y):
        self.y, self.n = y, len(y)

    def log_lik(self, theta, rows):
        y = self.y[rows]
        return len(y) * np.log(theta["rate"]) - theta["rate"] * y.sum()


def ratings():
    rng = np.random.default_rng(1)
    u, v = rng.normal(size=(15, 2)), rng.normal(size=(10, 2))
    table = [(i, j, u[i] @ v[j] + 0.3 * rng.normal()) for i in range(15) for j in range(10)]
    return pd.DataFrame(table, columns=["user", "item", "rating"])


def hidden_states():
    rng = np.random.default_rng(2)
    return np.where(np.arange(200) % 40 < 20, 0.0, 3.0) + rng.normal(size=200)


def network(**how):
    model = sgmc.BNN(D[["x", "z"]].to_numpy(), D.w.to_numpy(), hidden=2, outcome="gaussian")
    return model.fit(**how)


def sources():
    rng = np.random.default_rng(3)
    return rng.laplace(size=(200, 2)) @ rng.normal(size=(2, 2))


FITS = {
    "mini-batches": lambda **how: sgmc.logit("y ~ x", D, **how),
    "mala": lambda **how: sgmc.logit("y ~ x", D, sampler="mala", **how),
    "laplace": lambda **how: sgmc.logit("y ~ x", D, sampler="laplace", **how),
    "imh": lambda **how: sgmc.logit("y ~ x", D, sampler="imh", **how),
    "piecewise deterministic": lambda **how: sgmc.logit("y ~ x", D, sampler="zigzag", **how),
    "ols": lambda **how: sgmc.ols("w ~ x", D, **how),
    "groups": lambda **how: sgmc.logit("y ~ x + (1|g)", D, **how),
    "crossed": lambda **how: sgmc.ols("w ~ x + (1|g) + (1|h)", D, **how),
    "smooth": lambda **how: sgmc.ols("w ~ x + s(z, k=5)", D, **how),
    "BPMF": lambda **how: sgmc.BPMF(ratings(), "user", "item", "rating", dim=2).fit(**how),
    "HMM": lambda **how: sgmc.HMM(hidden_states(), states=2).fit(**how),
    "own": lambda **how: Waits(np.random.default_rng(0).exponential(size=200)).fit(**how),
    "network": network,
    "ICA": lambda **how: sgmc.ICA(sources()).fit(**how),
    "mixture": lambda **how: sgmc.GaussianMixture(hidden_states()[:, None], 2).fit(**how),
}


def fitted(kind, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FITS[kind](**{"seed": 1, "draws": 100, "chains": 2, **how})


def sampling(results):
    """The line on sampling of the summary, unwrapped."""
    text = re.sub(r"\n +", " ", str(results.summary()))
    return next(line for line in text.splitlines() if line.startswith("Sampling:"))


@pytest.mark.cover(0)
@pytest.mark.parametrize("kind", FITS)
def test_every_kind_of_fit_has_it(kind):
    """The printed number is `ksd()`, to the digits that are printed."""
    results = fitted(kind)
    printed = re.search(r"; KSD ([\d.e+-]+)\.$", sampling(results))
    assert printed, sampling(results)
    assert results.ksd() > 0 and printed[1] == f"{results.ksd():.2g}"
    assert results.summary_frame().attrs["ksd"] == results.ksd()
    assert f"KSD {printed[1]}" in str(results.summary2()).replace("\n", " ")


def test_it_is_the_double_sum_over_scored_draws():
    """By its definition in plain numpy, kernel (1 + r^2)^(-1/2), from the same draws and scores."""
    results = fitted("mala", draws=150)
    some = results.scored_draws("exact", draws=300)
    x, s = some.draws, some.scores
    assert some.scale is None
    apart = x[:, None] - x[None]
    r = (apart**2).sum(axis=-1)
    k, slope = (1 + r) ** -0.5, -((1 + r) ** -1.5)
    total = (s @ s.T) * k + x.shape[1] * -slope - 3 * r * (1 + r) ** -2.5
    total += slope * ((s[None] - s[:, None]) * apart).sum(axis=-1)
    # 1e-9: sums of 9e4 terms of order one
    assert results.ksd() == pytest.approx(np.sqrt(total.mean()), rel=1e-9)


@pytest.mark.parametrize(
    "fit, reason",
    [
        (
            lambda: sgmc.logit("y ~ x", D, cov_type="robust", sampler="laplace", draws=100),
            "KSD not available (a robust posterior is no density).",
        ),
        (
            lambda: sgmc.logit("y ~ x", D, time_limit=1e-5, draws=50),
            "KSD not available (time_limit left no time).",
        ),
        (
            lambda: sgmc.ICA(np.random.default_rng(0).laplace(size=(99, 2))).fit(
                sampler=sgmc.SGRLD(divergence=False), step_size=0.01, draws=1, chains=1, seed=1
            ),
            "KSD not available (one draw has no spread).",
        ),
        (
            lambda: sgmc.LDA(np.random.default_rng(0).poisson(1.0, (12, 8)), topics=2).fit(
                draws=50, seed=1
            ),
            "KSD not available (the sampler's coordinates end at probabilities of zero).",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_where_there_is_none_the_reason_is_printed(fit, reason):
    results = fit()
    assert reason in sampling(results)
    assert results.summary_frame().attrs["ksd"] is None


def test_of_a_saved_fit_it_is_still_there(tmp_path):
    results = fitted("laplace")
    results.save(tmp_path / "fit.sgmc")
    loaded = sgmc.load(tmp_path / "fit.sgmc")
    assert loaded.ksd() == results.ksd() and sampling(loaded) == sampling(results)
