"""Bases of curves: their values, their penalty, and what they do beyond their ends."""

import numpy as np
import pytest
from scipy.integrate import quad_vec

from sgmc.errors import ArgumentError, FormulaError
from sgmc.splines.bases import spline_basis

X = np.random.default_rng(0).gamma(2.0, size=60)
KINDS = ["cr", "bs", "cc"]


@pytest.fixture(params=KINDS)
def made(request):
    return spline_basis(X, 8, request.param, None, "s(x)")


def at(made, u, nu=0):
    """Values and derivatives by u, from inside."""
    return made.curves(np.atleast_1d(u), nu)


def test_the_penalty_is_the_integral_of_squared_curvature(made):
    def products(u):
        (bend,) = at(made, u, 2)
        return np.outer(bend, bend)

    found = sum(
        quad_vec(products, a, b, epsabs=1e-12)[0] for a, b in zip(made.knots, made.knots[1:])
    )
    np.testing.assert_allclose(made.penalty(), found, rtol=1e-9, atol=1e-9 * np.abs(found).max())


def test_penalised_combinations_have_a_penalty_of_one(made):
    R = made.penalised()
    assert R.shape[1] == (made.penalty().shape[0] - (1 if made.cyclic else 2))
    np.testing.assert_allclose(R.T @ made.penalty() @ R, np.eye(R.shape[1]), atol=1e-9)


def test_what_is_not_penalised_is_in_the_basis(made):
    """Lines, and constants of periodic curves, to rounding."""
    B = made.values(X)
    known = np.ones((60, 1)) if made.cyclic else np.column_stack([np.ones(60), X])
    c = np.linalg.lstsq(B, known)[0]
    np.testing.assert_allclose(B @ c, known, atol=1e-10)
    np.testing.assert_allclose(made.penalty() @ c, 0.0, atol=1e-6)


def test_curves_are_smooth_where_pieces_meet(made):
    inner, step = made.knots[1:-1], 1e-9
    for nu in range(3):
        left, right = at(made, inner - step, nu), at(made, inner + step, nu)
        np.testing.assert_allclose(left, right, atol=1e-5 * np.abs(at(made, inner, nu)).max())


@pytest.mark.parametrize("kind", ["cr", "bs"])
def test_beyond_the_ends_curves_are_straight(kind):
    made = spline_basis(X, 8, kind, None, "s(x)")
    for end, far in ((made.low, -1.0), (made.high, 1.0)):
        span = made.high - made.low
        points = made.values(np.array([end, end + far * span, end + 2 * far * span]))
        np.testing.assert_allclose(points[2] - points[1], points[1] - points[0], atol=1e-9)
        near = made.values(np.array([end, end + 1e-7 * far * span]))
        (slope,) = at(made, float(far > 0), 1)
        np.testing.assert_allclose((near[1] - near[0]) / 1e-7, far * slope, atol=1e-4)
    assert made.outside(np.array([made.low - 1, made.low, made.high + 1])).tolist() == [
        True,
        False,
        True,
    ]


def test_periodic_curves_begin_again():
    made = spline_basis(X, 8, "cc", (0.0, 12.0), "s(x)")
    np.testing.assert_allclose(made.values(X), made.values(X + 24.0), atol=1e-12)
    assert not made.outside(X + 24.0).any()


def test_natural_splines_interpolate_their_knots():
    """Element j of a cubic regression spline is 1 at knot j, and 0 at the others."""
    made = spline_basis(X, 8, "cr", None, "s(x)")
    knots = made.low + (made.high - made.low) * made.knots
    np.testing.assert_allclose(made.values(knots), np.eye(8), atol=1e-12)
    np.testing.assert_allclose(knots, np.quantile(np.unique(X), np.linspace(0, 1, 8)))


@pytest.mark.parametrize(
    "error, match, values, how",
    [
        (FormulaError, "give k=4", np.array([1.0, 2, 3, 4]), dict(k=10, bs="cr", knots=None)),
        (FormulaError, "as a factor", np.array([1.0, 2]), dict(k=10, bs="cr", knots=None)),
        (FormulaError, "too few", X, dict(k=2, bs="cr", knots=None)),
        (FormulaError, "rising order", X, dict(k=5, bs="cr", knots=(3.0, 1.0))),
        (FormulaError, "beyond the period", X, dict(k=5, bs="cc", knots=(0.5, 1.0))),
        (ArgumentError, "cr", X, dict(k=5, bs="tp", knots=None)),
    ],
)
def test_what_does_not_suit_is_refused(error, match, values, how):
    with pytest.raises(error, match=match):
        spline_basis(values, text="s(x)", **how)
