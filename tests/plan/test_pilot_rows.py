"""How many rows the pilot looks at: few where noise is small, all that it may where it is not."""

import numpy as np
import pytest

from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.fit import noise as looks
from sgmc.fit.noise import LITTLE_NOISE, LITTLE_NOISE_ROWS, PILOT_ROWS, draws_of_laplace, pilot
from sgmc.models.regression.model import Regression
from sgmc.registry import room
from sgmc.subsampling.uniform import FullBatch

N, D = PILOT_ROWS + 1000, 3


@pytest.fixture(scope="module")
def posterior():
    from sgmc.fit.settings import check_settings
    from sgmc.models.regression.families.logit import Logit

    random = np.random.default_rng(0)
    X = np.column_stack([np.ones(N), random.normal(size=(N, D - 1))])
    y = (random.random(N) < 1 / (1 + np.exp(-X @ np.array([0.2, 0.5, -0.5])))).astype(float)
    model = Logit(y, X)
    assert isinstance(model, Regression)
    return model.problem(None, check_settings(seed=1))


def seen(posterior, monkeypatch, gradient):
    """The pilot of an estimator, and the numbers of rows that it looked at."""
    asked, row_noise = [], looks.row_noise

    def noted(of, y, rows, *rest):
        asked.append(rows)
        return row_noise(of, y, rows, *rest)

    monkeypatch.setattr(looks, "row_noise", noted)
    estimator = posterior.gradient(gradient, FullBatch(N), Rng(seed_sequence(1, "pilot", 1)))
    return pilot(estimator, posterior.coordinates, draws_of_laplace(1, D)), asked


def test_little_noise_needs_few_rows(posterior, monkeypatch):
    """And what is found is that of all rows, within the error of few: noise to a fifth, shifts to
    sqrt(V1 / LITTLE_NOISE_ROWS) and less.
    """
    few, asked = seen(posterior, monkeypatch, "taylor")
    assert set(asked) == {LITTLE_NOISE_ROWS} and few.worst_noise() < LITTLE_NOISE
    monkeypatch.setattr(looks, "LITTLE_NOISE", 0.0)
    all_of_them, asked = seen(posterior, monkeypatch, "taylor")
    assert set(asked[1:]) == {PILOT_ROWS}
    np.testing.assert_allclose(few.noise, all_of_them.noise, rtol=0.2)
    error = np.sqrt(all_of_them.worst_noise() / LITTLE_NOISE_ROWS)
    np.testing.assert_allclose(few.mean_shift, all_of_them.mean_shift, atol=3 * error)


def test_much_noise_needs_all(posterior, monkeypatch):
    found, asked = seen(posterior, monkeypatch, "cv")
    assert found.worst_noise() > LITTLE_NOISE
    assert asked[0] == LITTLE_NOISE_ROWS and set(asked[1:]) == {PILOT_ROWS}


def test_estimators_without_an_anchor_have_all_rows(posterior, monkeypatch):
    assert "anchor" not in room("gradients")["simple"].needs
    _, asked = seen(posterior, monkeypatch, "simple")
    assert set(asked) == {0}
