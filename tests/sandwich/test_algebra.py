"""Coordinates of the sandwich: matrices, and maps that temper gradients."""

import numpy as np
import pytest
from _ext.probes import slope

from sgmc.coordinates.transforms.maps import Affine, Scaling, Tempered
from sgmc.coordinates.whitened import sandwich
from sgmc.core.contract import Prior
from sgmc.core.designs.design import design
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.errors import (
    NotSupported,
)
from sgmc.models.regression.families.logit import BernoulliLogit
from sgmc.registry import lookup
from sgmc.subsampling.uniform import FullBatch

from .cases import TOLERANCE, error, misspecified_logit, random_mode, stationary

# ---- the algebra ----


@pytest.mark.parametrize("rotate", [True, False])
def test_coordinates_whiten_the_sandwich_and_make_the_curvature_diagonal(rotate):
    mode, V = random_mode()
    where = sandwich.sandwich_coordinates(mode, np.eye(4), V, rotate)
    inverse = np.linalg.inv(mode.precision)
    assert error(where.white @ where.white.T, inverse @ (V + mode.prior) @ inverse) < 1e-12
    assert (
        error(where.L.T @ mode.precision @ where.L, np.diag(1 / np.asarray(where.map.gamma)))
        < 1e-12
    )
    x = np.random.default_rng(2).normal(size=4)
    pull = where.L.T if rotate else np.eye(4)  # the table of a rotated model brings L itself
    slope = where.map.pulled(x, pull @ -mode.precision @ where.L @ x)
    assert slope == pytest.approx(-x, abs=1e-12), (
        "a sampler must see the gradient of a standard normal"
    )


def test_the_sandwich_of_a_right_model_is_its_posterior():
    mode, _ = random_mode()
    where = sandwich.sandwich_coordinates(mode, np.eye(4), mode.likelihood, True)
    assert error(where.white @ where.white.T, np.linalg.inv(mode.precision)) < 1e-12
    assert np.asarray(where.map.gamma) == pytest.approx(np.ones(4))


@pytest.mark.parametrize("seed", range(5))
def test_the_matrix_step_keeps_the_sandwich_and_is_the_whitened_step_for_noise_like_the_scores(
    seed,
):
    mode, V = random_mode(seed=seed)
    H, (_, C) = mode.precision, random_mode(seed=seed + 100)
    where = sandwich.sandwich_coordinates(mode, np.eye(4), V, True)
    S, h = where.white @ where.white.T, 0.7
    step = 2 * S @ H @ np.linalg.inv(C + H @ S @ H)
    assert error(stationary(step, H, C), S) < 1e-9
    assert (
        error(
            2 * S @ H @ np.linalg.inv((4 / h - 1) * H @ S @ H + H @ S @ H), h / 2 * np.linalg.inv(H)
        )
        < 1e-9
    )
    assert error(where.L * np.asarray(where.map.gamma) @ where.L.T, np.linalg.inv(H)) < 1e-9
    # the other order of factors
    script = stationary((S @ H + H @ S) @ np.linalg.inv(C + H @ S @ H), H, C)
    assert script is None or error(script, S) > TOLERANCE


def test_paths_through_a_tempered_map_are_refused():
    y, X = misspecified_logit(50)
    map = Tempered(Scaling(np.zeros(4), np.ones(4)), np.full(4, 2.0))
    gradient = lookup("gradients", "simple", "gradient")(
        BernoulliLogit(design(X), y),
        Prior(4),
        FullBatch(50),
        Rng(seed_sequence(0, "chain")),
        map=map,
    )
    with pytest.raises(NotSupported, match="do not lead to the sandwich"):
        slope(gradient, np.zeros(4), np.ones(4), Rng(seed_sequence(0, "chain")))


def test_a_tempered_map_multiplies_gradients_alone():
    rng = np.random.default_rng(3)
    gamma, matrix = rng.random(3) + 0.5, rng.normal(size=(3, 3))
    x, g = rng.normal(size=3), rng.normal(size=3)
    for inner in (Scaling(np.ones(3), np.full(3, 2.0)), Affine(np.ones(3), matrix)):
        map = Tempered(inner, gamma)
        assert (map(x) == inner(x)).all() and map.inverse(map(x)) == pytest.approx(x)
        assert map.pulled(x, g) == pytest.approx(gamma * inner.pulled(x, g))
    assert map.jacobian(np.zeros(len(g))).T @ g == pytest.approx(map.pulled(x, g))
