"""Independent draws of ridges with normal outcomes against quadrature of dense covariances, with
fewer and with more rows than coefficients.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc.models.regression.latent.shrunk import direct

DRAWS = 5000  # of four chains: independent ones, so that standard errors are of 20,000
NODES = 70  # of either number of the grid, less than an sd apart: integrals are right to 1e-4
FAR = 4.5  # standard errors: more in one of 150,000 numbers, of which there are some hundred
PRIOR = {
    "*": sgmc.ridge(),
    "z": sgmc.normal(0.2, 0.5),
    "Intercept": sgmc.normal(0, 2),
    "sigma": sgmc.half_normal(1.5),
}
CASES = {  # rows, coefficients of the ridge, their size, sd of the noise
    "few coefficients": (60, 4, 0.5, 1.0),
    "more than rows": (30, 45, 0.3, 0.5),
    "as many as rows": (20, 19, 0.4, 0.3),
    "nothing there": (50, 8, 0.0, 1.0),
    "one": (15, 1, 0.6, 1.0),
}


def table(case):
    """A table with weights and an offset."""
    n, k, size, noise = CASES[case]
    random = np.random.default_rng(n + k)
    X = random.normal(size=(n, k)) @ (np.eye(k) + 0.3)
    z, off = random.normal(size=(2, n))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(k)])
    frame["y"] = X @ random.normal(size=k) * size + 0.5 * z + off + noise * random.normal(size=n)
    # rows that are there twice have a density without bound where coefficients can fit them
    w = random.integers(1, 4, n) if k + 2 < n else np.ones(n)
    return frame.assign(z=z, off=off, w=w.astype(float))


@cache
def exactly(case, factor=1.0):
    """Means and sds of (Intercept, z, x..., sd, sigma) on a grid of the last two; `factor` plants a
    mistake: of noise sds.
    """
    frame = table(case)
    X = frame.filter(regex="^x").to_numpy()
    w, y = frame.w.to_numpy(), (frame.y - frame.off).to_numpy()
    away = X - np.average(X, axis=0, weights=w)
    column = np.sqrt(w @ away**2 / (w.sum() - 1))
    unit = np.sqrt(np.average((y - np.average(y, weights=w)) ** 2, weights=w)) / column
    C = np.column_stack([np.ones(len(y)), frame.z, X * unit])
    k = X.shape[1]
    low = -2.0 if k + 2 < len(y) else -7.0  # where coefficients can fit all rows
    logs = np.log(y.std()) + np.linspace(low, 1.5, NODES)
    psi = np.linspace(-8, 4, NODES)
    values, moments = [], []
    of_sd, of_sigma = stats.t(3, 0, 2.5).logpdf, stats.norm(0, 1.5).logpdf
    own_prior = of_sd(np.exp(psi))[:, None] + psi[:, None] + of_sigma(np.exp(logs)) + logs
    for i, s in enumerate(np.exp(psi)):
        precision = np.r_[1 / 2**2, 1 / 0.5**2, np.full(k, s**-2)]
        prior = np.r_[0.0, 0.2, np.zeros(k)]
        for j, u in enumerate(logs):
            t = np.exp(-2 * u) / factor**2
            P = t * (C.T * w) @ C + np.diag(precision)
            b = np.linalg.solve(P, t * C.T @ (w * y) + precision * prior)
            e = y - C @ b
            own = -0.5 * t * w @ e**2 - w.sum() * u - 0.5 * precision @ (b - prior) ** 2
            own += 0.5 * np.log(precision).sum() - 0.5 * np.linalg.slogdet(P)[1]
            values.append(own + own_prior[i, j])
            moments.append((b, np.diag(np.linalg.inv(P)), s, np.exp(u)))
    weight = np.exp(np.array(values) - np.max(values))
    weight /= weight.sum()
    b, var, s, sigma = (np.array(one) for one in zip(*moments))
    centre = weight @ b
    sd = np.sqrt(weight @ (var + (b - centre) ** 2))
    rest = [(weight @ one, np.sqrt(weight @ one**2 - (weight @ one) ** 2)) for one in (s, sigma)]
    scale = np.r_[1, 1, unit]
    mean = np.r_[centre * scale, [one[0] for one in rest]]
    return mean, np.r_[sd * scale, [one[1] for one in rest]]


def fitted(frame, **how):
    xs = " + ".join(name for name in frame if name.startswith("x"))
    text = f"y ~ z + {xs} + offset(off)"
    return sgmc.ols(text, frame, prior=PRIOR, weights="w", draws=DRAWS, seed=2, **how)


def distances(res, truth):
    """Of means and sds from the exact ones, in standard errors of independent draws."""
    mean, sd = truth
    draws = res.draws.reshape(-1, res.draws.shape[2])
    n, away = len(draws), draws - draws.mean(axis=0)
    kurtosis = (away**4).mean(axis=0) / draws.var(axis=0) ** 2
    off = (draws.mean(axis=0) - mean) / (sd / np.sqrt(n))
    wide = (draws.std(axis=0) / sd - 1) / np.sqrt((kurtosis - 1) / (4 * n))
    return np.abs(np.concatenate([off, wide]))


@pytest.mark.parametrize("case", CASES)
def test_draws_are_of_the_posterior(case):
    res = fitted(table(case))
    assert type(res.sampler).__name__ == "Direct"
    assert distances(res, exactly(case)).max() < FAR


@pytest.mark.mistake("ridges")
@pytest.mark.parametrize("name", ["noise", "prior", "null", "ends"])
def test_planted_mistakes_are_seen(monkeypatch, name):
    """Noise x sqrt 2; coefficients of a wider prior; directions that rows tell nothing of, left
    at zero; slopes of coordinates that bend too little.
    """
    frame = table("more than rows")
    truth = exactly("more than rows", np.sqrt(2) if name == "noise" else 1.0)
    plain = direct.RidgeSums.effects
    if name == "prior":
        monkeypatch.setattr(direct.RidgeSums, "effects", lambda s, r, p, z: plain(s, 1.1 * r, p, z))
    elif name == "null":

        def without(self, ratios, pull, z):
            z = np.array(z)
            z[:, len(self.told) :] = 0.0
            return plain(self, ratios, pull, z)

        monkeypatch.setattr(direct.RidgeSums, "effects", without)
    elif name == "ends":
        bent = direct.Ratios.steepness
        monkeypatch.setattr(direct.Ratios, "steepness", lambda s, psi: bent(s, psi) * (1 + psi**2))
    assert distances(fitted(frame), truth).max() > 2 * FAR


def test_other_settings_and_several_scales_take_chains():
    frame = table("few coefficients")
    assert type(fitted(frame, sampler="hmc").sampler).__name__ == "HMC"
    two = {"x0": sgmc.ridge(group="a"), "x1": sgmc.ridge(group="b")}
    with pytest.warns(sgmc.errors.SGMCWarning):  # so few draws
        res = sgmc.ols("y ~ z + x0 + x1", frame, prior=two, draws=50, seed=1)
    assert type(res.sampler).__name__ == "HMC"


def test_by_name():
    frame = table("few coefficients")
    named = fitted(frame, sampler="direct")
    assert np.array_equal(named.draws, fitted(frame).draws)


def test_rows_that_count_twice_and_are_fitted_exactly_leave_no_posterior():
    frame = table("more than rows").assign(w=2.0)
    with pytest.raises(sgmc.errors.DataError, match="30 rows exactly, .* count these as 60"):
        fitted(frame)
