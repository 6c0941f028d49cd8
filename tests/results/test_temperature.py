"""Temperatures of draws, by scores: one for draws of the posterior, whatever its shape."""

import numpy as np
import pytest

import sgmc
from sgmc.results.checks.scores import temperature
from sgmc.results.checks.scores.temperature import temperatures

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")

DRAWS = 4, 2000


class Gaussian(sgmc.Model):
    """Independent numbers with sds 0.1 and 1 (narrow), and 10 (wide)."""

    n, parameters, prior, scaled = 1, {"narrow": 4, "wide": 2}, "flat", False
    sd = np.array([0.1, 1, 0.1, 1, 10, 10])

    def log_lik(self, theta, rows):
        return -0.5 * sum(float(np.sum(self.z(theta, k) ** 2)) for k in theta)

    def z(self, theta, name):
        return theta[name] / (self.sd[:4] if name == "narrow" else self.sd[4:])

    def grad(self, theta, rows):
        sd = {"narrow": self.sd[:4], "wide": self.sd[4:]}
        return {k: -self.z(theta, k) / sd[k] for k in theta}

    def draws(self, rng):
        return self.sd * rng.normal(size=(*DRAWS, 6))


class Modes(sgmc.Model):
    """x is N(-4, 1) or N(4, 1), y is x^2 / 4 + N(0, 1)."""

    n, parameters, prior, scaled = 1, {"x": (), "y": ()}, "flat", False

    def log_lik(self, theta, rows):
        x, y = theta["x"], theta["y"]
        near, far = -0.5 * (x - 4) ** 2, -0.5 * (x + 4) ** 2
        return float(np.logaddexp(near, far) - 0.5 * (y - x**2 / 4) ** 2)

    def grad(self, theta, rows):
        x, y = theta["x"], theta["y"]
        off = y - x**2 / 4
        return {"x": -x + 4 * np.tanh(4 * x) + off * x / 2, "y": -off}

    def draws(self, rng):
        x = rng.normal(size=DRAWS) + 4 * rng.choice([-1, 1], DRAWS)
        return np.stack([x, x**2 / 4 + rng.normal(size=DRAWS)], axis=2)


def fit_of(model):
    """A short fit, for its problem."""
    return model.fit(sampler="mala", draws=50, warmup=50, chains=2, seed=1)._fit


def spread(model, stretch=1.0):
    """Temperatures of exact draws, and of ones that are too wide about their centre."""
    x = model.draws(np.random.default_rng(2))
    return temperatures(fit_of(model), stretch * (x - x.mean((0, 1))) + x.mean((0, 1)), 3)


@pytest.mark.parametrize("model", [Gaussian(), Modes()], ids=["gaussian", "modes"])
def test_draws_of_the_posterior_have_temperature_one(model):
    """4,000 draws: within 3.5 Monte Carlo errors, which are below 0.15."""
    found = spread(model)
    assert found.mcse.max() < 0.15
    assert (np.abs(found.wide) < 3.5 * found.mcse + 1e-12).all()


@pytest.mark.cover(0)
@pytest.mark.parametrize("stretch", [0.8, 1.1, 1.5])
def test_of_a_gaussian_they_are_the_square_of_the_ratio_of_sds(stretch):
    found = spread(Gaussian(), stretch)
    assert found.blocks == ["all parameters", "narrow", "wide"]
    off = found.wide - (stretch**2 - 1) / 2
    assert (np.abs(off) < 3.5 * found.mcse + 1e-12).all()


@pytest.mark.parametrize("model", [Gaussian(), Modes()], ids=["gaussian", "modes"])
def test_noise_times_root_two_is_seen(model):
    found = spread(model, np.sqrt(2))
    assert (found.wide[:, 0] > 5 * found.mcse[:, 0]).all()


def test_scores_of_half_the_data_are_seen(monkeypatch):
    real = temperature.scores_at
    monkeypatch.setattr(temperature, "scores_at", lambda *of: real(*of) / 2)
    found = spread(Gaussian())
    assert (np.abs(found.wide[:, 0]) > 5 * found.mcse[:, 0]).all()


def test_coordinates_without_scores_are_left_out(monkeypatch):
    """They have updates of their own."""
    real = temperature.scores_at

    def some(*of):
        found = real(*of)
        found[:, 4:] = 0
        return found

    monkeypatch.setattr(temperature, "scores_at", some)
    assert spread(Gaussian()).blocks == ["all parameters", "narrow"]


def simulated(monkeypatch, seed_of):
    """Scores with noise as large as they are, the same for an entropy and a place in the list."""
    real = temperature.scores_at

    def noisy(fit, points, entropy, kind):
        noise = np.random.default_rng(seed_of(entropy)).normal(size=(1, len(points))).T
        return real(fit, points, entropy, kind) + noise / Gaussian.sd

    monkeypatch.setattr(temperature, "scores_at", noisy)


def test_noise_of_simulated_scores_is_no_width(monkeypatch):
    """Within 3.5 Monte Carlo errors, as without the noise."""
    simulated(monkeypatch, lambda entropy: entropy)
    found = spread(Gaussian())
    assert (np.abs(found.wide) < 3.5 * found.mcse).all()


def test_noise_that_is_the_same_twice_looks_like_width(monkeypatch):
    simulated(monkeypatch, lambda entropy: 0)
    found = spread(Gaussian())
    assert (found.wide[1] > 5 * found.mcse[1]).all()


def test_they_are_not_computed_where_scores_cost_more_than_a_share_of_the_fit(monkeypatch):
    monkeypatch.setattr(temperature, "SCORE_WORK", 0)
    monkeypatch.setattr(temperature, "SHARE", 0.001)
    assert spread(Gaussian()) is None


# ---- in verdicts ---------------------------------------------------------------------------------


def network(**how):
    """A network with two hidden units, whose weights change places and signs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = X[:, 0] - X[:, 1] + rng.normal(size=100)
    return sgmc.BNN(X, y, hidden=(2,), activation="tanh", outcome="gaussian").fit(seed=1, **how)


@pytest.mark.extended
def test_networks_are_judged_by_predictions():
    results = network()
    assert results.accuracy().index[0] == "row 0"
    text = str(results.summary(details=True))
    assert "Judged by predictions of 50 rows" in text and "row 99" in text
    assert np.nanmax(results.rhat()) > 1.03  # of weights
    assert "R-hat" not in results.verdict.text


@pytest.mark.extended
def test_steps_that_are_too_long_are_seen_by_scores():
    how = dict(sampler="sghmc", gradient="simple", thin=20)
    results = network(step_size=0.01, batch_size=10, **how)
    assert not results.verdict.trustworthy
    assert "too wide" in results.verdict.text and "scores" in results.verdict.basis
