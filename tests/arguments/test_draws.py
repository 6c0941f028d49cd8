"""Draws, seeds and paths."""

import os

import numpy as np
import pytest

from sgmc.arguments.data.draws import as_chains, as_points, as_scored, as_weights, mean_and_sd
from sgmc.arguments.files import writable
from sgmc.arguments.seeds import entropy
from sgmc.errors import ArgumentError, DataError

from .tables import assert_gives


@pytest.mark.parametrize(
    "values, expected",
    [
        ([1, 2], np.array([[1.0], [2.0]])),
        (np.ones((2, 3), np.float32), np.ones((2, 3))),
        ([], (DataError, "draws is empty: its shape is (0,)")),
        (np.ones((2, 3, 4)), (ArgumentError, "draws has shape (2, 3, 4); it must be (n, d)")),
        (
            [1, np.nan, np.inf],
            (DataError, "draws has 2 rows that are not finite, the first is row"),
        ),
        (["a"], (DataError, "draws must hold numbers, it holds text")),
    ],
)
def test_points(values, expected):
    assert_gives(lambda: as_points("draws", values), expected)


def test_chains_may_hold_what_is_not_finite():
    draws = np.array([[[1.0], [np.nan]]])
    assert_gives(lambda: as_chains(draws), draws)
    text = "draws has shape (1, 2); it must be (chain, draw, parameter); use draws[None]"
    assert_gives(lambda: as_chains(draws[:, :, 0]), (ArgumentError, text))


@pytest.mark.parametrize(
    "weights, expected",
    [
        ([1, 3], np.array([0.25, 0.75])),
        ([1e308, 1e308], np.array([0.5, 0.5])),
        ([1, 2, 3], (ArgumentError, "weights has shape (3,); it must be (2,)")),
        *[
            (bad, (ArgumentError, "weights must be finite numbers, zero or more, with a positive"))
            for bad in ([0, 0], [-1, 2], [1, np.nan])
        ],
    ],
)
def test_weights(weights, expected):
    assert_gives(lambda: as_weights(weights, 2), expected)


def test_scores_have_the_shape_of_draws():
    draws, scores, weights = as_scored([1, 2], [3, 4])
    assert draws.shape == scores.shape == (2, 1) and weights.tolist() == [0.5, 0.5]
    expected = (ArgumentError, "scores has shape (3, 1); it must be (2, 1)")
    assert_gives(lambda: as_scored([1, 2], [3, 4, 5]), expected)


def test_moments_stand_for_results():
    assert_gives(lambda: mean_and_sd("reference", (0, 1)), (0, 1))
    text = "reference must be the results of a fit or a pair (mean, sd), not float"
    assert_gives(lambda: mean_and_sd("reference", 1.0), (ArgumentError, text))


@pytest.mark.parametrize(
    "seed, expected",
    [
        (3, 3),
        (np.uint64(2**63), 2**63),
        (10**30, 10**30),
        (np.random.SeedSequence(5), 5),
        *[
            (bad, (ArgumentError, f"seed={bad!r} must be a whole number, at least 0, or a numpy"))
            for bad in (-1, 1.5, "1", True, [1, 2])
        ],
    ],
)
def test_entropy(seed, expected):
    assert_gives(lambda: entropy(seed), expected)


def test_entropy_of_what_makes_random_numbers():
    first, second = (entropy(np.random.default_rng(1)) for _ in range(2))
    child = np.random.SeedSequence(5).spawn(1)[0]
    assert first == second and entropy(child) == entropy(child) != 5
    assert entropy(None) != entropy(None)


def test_writable(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_gives(lambda: writable("checkpoint", None), None)
    assert_gives(lambda: writable("checkpoint", "run"), str(tmp_path / "run"))
    assert_gives(lambda: writable("checkpoint", tmp_path / "run"), str(tmp_path / "run"))
    assert_gives(lambda: writable("checkpoint", 3), (ArgumentError, "checkpoint=3 must be a path"))
    assert_gives(lambda: writable("checkpoint", b"run"), str(tmp_path / "run"))
    os.mkfifo(tmp_path / "pipe")
    for bad, wanted in (
        ("nowhere/run", "a file in a folder that exists; create the folder"),
        (".", "a file, and this is a folder; add a name"),
        ("pipe", "a regular file, and this is a device or a pipe"),
        ("a\0b", "a path"),
    ):
        text = f"checkpoint={bad!r} must be {wanted}"
        assert_gives(lambda: writable("checkpoint", bad), (ArgumentError, text))
