"""Constrained parameters: each map there and back, its Jacobian and gradients against finite
differences.
"""

import numpy as np
import pytest

from sgmc.coordinates.transforms.composed import Composed
from sgmc.coordinates.transforms.constraints import Constrained
from sgmc.coordinates.transforms.maps import Affine, Scaling

BLOCKS = {
    "positive": [("positive", 3, 0, 0)],
    "interval": [("interval", 3, -1.0, 4.0)],
    "ordered": [("ordered", 4, 0, 0)],
    "positive_ordered": [("positive_ordered", 4, 0, 0)],
    "simplex": [("simplex", 4, 0, 0)],
    "two": [("simplex", 2, 0, 0)],
    "mirrored": [("mirrored", 4, 0, 0)],
    "ascending": [("ordered", 6, 2, 0)],
    "mixed": [
        ("free", 2, 0, 0),
        ("simplex", 3, 0, 0),
        ("positive", 1, 0, 0),
        ("ordered", 2, 0, 0),
        ("interval", 1, 0.0, 1.0),
        ("mirrored", 3, 0, 0),
        ("positive_ordered", 2, 0, 0),
    ],
}
NEARBY = 1e-6
ERROR = 1e-7  # of central differences: NEARBY^2 times a third derivative, and rounding over NEARBY


def made(name, behind=None):
    """A map of that name, alone or behind a preconditioner."""
    outer = Constrained(BLOCKS[name])
    rng = np.random.default_rng(3)
    if behind == "scaling":
        return Composed(outer, Scaling(rng.normal(size=outer.dim), 0.5 + rng.random(outer.dim)))
    if behind == "affine":
        return Composed(
            outer,
            Affine(
                rng.normal(size=outer.dim) / 3,
                np.eye(outer.dim) + rng.normal(size=(outer.dim, outer.dim)) / 4,
            ),
        )
    return outer


def inside(kind, theta, low, high):
    """Whether one block of parameters is where it belongs."""
    return {
        "free": True,
        "positive": (theta > 0).all(),
        "interval": ((low < theta) & (theta < high)).all(),
        "ordered": (np.diff(theta[:: max(int(low), 1)]) > 0).all(),
        "positive_ordered": (np.diff(theta, prepend=0.0) > 0).all(),
        "simplex": (theta > 0).all() and abs(theta.sum() - 1) < 1e-14,
        "mirrored": (theta > 0).all() and abs(theta.sum() - 1) < 1e-14,
    }[kind]


def differences(function, x):
    """Central differences of a function of x, a column a coordinate."""
    steps = NEARBY * np.eye(len(x))
    return np.array([(function(x + step) - function(x - step)) / (2 * NEARBY) for step in steps]).T


@pytest.mark.parametrize("behind", [None, "scaling", "affine"])
@pytest.mark.parametrize("name", BLOCKS)
class TestMaps:
    def test_there_and_back(self, name, behind):
        where = made(name, behind)
        for x in np.random.default_rng(1).normal(size=(20, where.dim)):
            assert where.inverse(where(x)) == pytest.approx(x, abs=1e-12)
        points = np.random.default_rng(2).normal(size=(2, 5, where.dim))
        assert where(points).shape == (2, 5, where.size)
        assert where(points)[1, 3] == pytest.approx(where(points[1, 3]), rel=1e-14)

    def test_the_image_is_inside(self, name, behind):
        where = made(name, behind)
        for x in 5 * np.random.default_rng(1).normal(size=(20, where.dim)):
            theta, at = where(x), 0
            for kind, length, low, high in BLOCKS[name]:
                assert inside(kind, theta[at : at + length], low, high)
                at += length

    def test_jacobian_is_that_of_differences(self, name, behind):
        where = made(name, behind)
        x = np.random.default_rng(4).normal(size=where.dim)
        assert where.jacobian(x) == pytest.approx(differences(where, x), abs=ERROR)
        if where.diagonal:
            assert where.slopes(x) == pytest.approx(np.diag(where.jacobian(x)), abs=1e-12)

    def test_gradients_are_pulled_with_the_log_jacobian(self, name, behind):
        where = made(name, behind)
        outer = where if behind is None else where.outer
        x = np.random.default_rng(5).normal(size=where.dim)
        c = np.random.default_rng(6).normal(size=where.size)
        inner = (lambda z: z) if behind is None else where.inner

        def density(z):
            return c @ where(z) + outer.log_jacobian(inner(z))

        assert where.pulled(x, c) == pytest.approx(differences(density, x), abs=10 * ERROR)
        without = where.jacobian(x).T @ c  # a planted mistake: the Jacobian forgotten
        assert np.abs(without - differences(density, x)).max() > 1000 * ERROR

    def test_log_jacobian_is_that_of_the_determinant(self, name, behind):
        outer = made(name)
        x = np.random.default_rng(7).normal(size=outer.dim)
        rows, at = [], 0
        for kind, length, *_ in BLOCKS[name]:  # of a simplex all but the last probability
            rows += range(at, at + length - (kind in ("simplex", "mirrored")))
            at += length
        assert outer.log_jacobian(x) == pytest.approx(
            np.linalg.slogdet(differences(outer, x)[rows])[1], abs=10 * ERROR
        )


def test_far_out_nothing_overflows():
    where = made("mixed")
    for x in (-800.0, 800.0):
        at = np.full(where.dim, x)
        at[:2] = 1.0
        at[4:7] = 1.0  # a positive parameter of exp(800) is infinite, as it should be
        at[-2:] = min(x, 1.0)
        assert np.isfinite(where(at)).all()
        assert np.isfinite(where.pulled(at, np.ones(where.size))).all()


@pytest.mark.parametrize(
    "kind, theta",
    [
        ("positive", [1.0, -1.0, 2.0]),
        ("interval", [0.0, 1.0, 5.0]),
        ("ordered", [1.0, 2.0, 2.0, 3.0]),
        ("positive_ordered", [1.0, 2.0, 2.0, 3.0]),
        ("positive_ordered", [-1.0, 1.0, 2.0, 3.0]),
        ("simplex", [0.5, 0.5, 0.5, 0.5]),
        ("mirrored", [0.5, 0.5, 0.5, 0.5]),
    ],
)
def test_points_outside_are_refused(kind, theta):
    with pytest.raises(ValueError, match=f"is not {kind}"):
        made(kind).inverse(np.array(theta))


@pytest.mark.parametrize("kind, mass", [("positive_ordered", 0.5), ("positive", 1.0)])
def test_the_jacobian_keeps_the_mass(kind, mass):
    """Two independent exponentials have the mass 1 where both are positive, and half of it where
    the second is the larger one, by the trapezoidal rule in free numbers.

    The rule's error falls faster than any power of its step: 1e-8 with steps of 0.1.
    """
    where, x = Constrained([(kind, 2, 0, 0)]), np.arange(-25.0, 6.0, 0.1)

    def integral(jacobian):
        points = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
        logs = np.array([where.log_jacobian(at) if jacobian else 0.0 for at in points])
        return np.exp(logs - where(points).sum(axis=1)).sum() * 0.1**2

    assert integral(True) == pytest.approx(mass, abs=1e-7)
    assert integral(False) > 10 * mass  # a planted mistake: the Jacobian forgotten
