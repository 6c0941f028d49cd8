"""Densities of families with predictors of a second parameter: the compiled models and the
families' own against scipy's; derivatives, information, simulated outcomes.
"""

import numpy as np
import pytest
from _ext.probes import Probe, block, listed

from sgmc.core.designs.design import design

from .cases import LAWS, NUMBERS, OUTCOMES, SHIFT, family_of

PLACES = [(e, u) for e in (-1.5, 0.0, 1.2) for u in (-1.6, -0.4, 0.5)]


def outcomes(name):
    """Some that suit the family."""
    y = OUTCOMES.get(name, NUMBERS)
    return np.ceil(y) if name == "negativebinomial" else y


def compiled(name, X, y, first=1, single=False, **how):
    """The compiled model."""
    return family_of(name, (np.arange(X.shape[1]) >= first).astype(int)).kernel(
        design(X, single), y, **how
    )


def places(name):
    """Linear predictors (eta, zeta)."""
    return [(e, u + SHIFT.get(name, 0.0)) for e, u in PLACES]


@pytest.mark.parametrize("name", LAWS)
def test_densities_are_scipys(name):
    """To 1e-10; the compiled ones lack terms of outcomes, which cancel between places."""
    y, off = outcomes(name), []
    probe = Probe(compiled(name, np.ones((5, 2)), y))
    for eta, zeta in places(name):
        right = LAWS[name].log_density(y, eta, zeta)
        stack = np.broadcast_to(np.array([eta, zeta])[:, None, None], (2, 5, 1))
        found = family_of(name).log_density(y[:, None], stack)[:, 0]
        np.testing.assert_allclose(found, right, rtol=1e-10, atol=1e-10)
        lacking = probe.value([eta, zeta], block(0, 5)) - right.sum()
        off.append((lacking, 1e-10 * max(1, np.abs(right).max())))
    assert all(abs(lacking - off[0][0]) <= most + off[0][1] for lacking, most in off)


@pytest.mark.parametrize("name", LAWS)
def test_a_turned_sign_and_exchanged_parts_are_seen(name):
    """Planted: zeta is minus the log of the parameter; the predictors change places."""
    y, density = outcomes(name), LAWS[name].log_density
    right = density(y, 0.9, -0.7)
    assert np.abs(density(y, 0.9, 0.7) - right).max() > 0.1
    assert np.abs(density(y, -0.7, 0.9) - right).max() > 0.1


@pytest.mark.parametrize("name", LAWS)
def test_scores_and_curvatures_are_those_of_scipys_densities(name):
    """By differences of fourth order: errors of 1e-9, and of 1e-6 for second ones."""
    y, h = outcomes(name), 2e-3
    probe, density = Probe(compiled(name, np.ones((5, 2)), y)), LAWS[name].log_density
    steps = np.arange(-2, 3) * h
    first, second = (
        np.array([1, -8, 0, 8, -1]) / 12 / h,
        np.array([-1, 16, -30, 16, -1]) / 12 / h**2,
    )
    for eta, zeta in places(name):
        at = [[density(y, eta + a, zeta + b) for b in steps] for a in steps]
        at = np.array(at)  # (step of eta, step of zeta, row)
        scores = probe.scores([eta, zeta], block(0, 5))[0]
        close = dict(rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(scores[:, 0], first @ at[:, 2], **close)
        np.testing.assert_allclose(scores[:, 1], first @ at[2], **close)
        w = probe.curvatures([eta, zeta], block(0, 5)).reshape(5, 2, 2)
        size = np.abs(w).max()
        for found, right in (
            (w[:, 0, 0], -second @ at[:, 2]),
            (w[:, 1, 1], -second @ at[2]),
            (w[:, 0, 1], -np.einsum("a,b,abi", first, first, at)),
        ):
            np.testing.assert_allclose(found, right, rtol=1e-6, atol=1e-6 * size)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", LAWS)
def test_derivatives_are_those_of_the_value(name, dtype):
    """By differences, whose error is 1e-8; parts of three and two columns, an offset, weights."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 5)).astype(dtype), rng.choice(outcomes(name), 40)
    how = dict(offset=rng.normal(size=40) / 3, weight=rng.random(40) + 0.5)
    one = compiled(name, X, y, 3, **how)
    probe, at, run = Probe(one), rng.normal(size=one.dim) / 4, listed([3, 30, 3, 0, 17, 8])
    steps = 1e-5 * np.eye(one.dim)
    wide = Probe(compiled(name, X.astype(float), y, 3, **how))
    for rows in (run, block(0, 40)):
        slopes = np.array(
            [(wide.value(at + e, rows) - wide.value(at - e, rows)) / 2e-5 for e in steps]
        )
        bent = (
            np.array([wide.gradient(at + e, rows) - wide.gradient(at - e, rows) for e in steps])
            / 2e-5
        )
        part = 1e-6 if dtype == np.float64 else 1e-3
        for found, right in ((probe.gradient(at, rows), slopes), (probe.hessian(at, rows), -bent)):
            np.testing.assert_allclose(found, right, rtol=part, atol=part * np.abs(right).max())
    expected = probe.curvatures(at, block(0, 40), expected=True)
    assert np.linalg.eigvalsh(expected).min() > -1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("name", [name for name in LAWS if name != "negativebinomial"])
def test_one_number_is_the_same_model(name):
    """Values, gradients and curvatures where the second part is an intercept: those of the family
    with one number, whose own are tested elsewhere, to rounding.
    """
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 3)), rng.choice(outcomes(name), 30)
    how = dict(offset=rng.normal(size=30) / 3, weight=rng.random(30) + 0.5)
    two = Probe(compiled(name, np.column_stack([X, np.ones(30)]), y, 3, **how))
    one = Probe(family_of(name).whole.kernel(design(X), y, **how))
    at, rows = rng.normal(size=4) / 2, block(0, 30)
    for what in ("value", "gradient", "hessian"):
        np.testing.assert_allclose(
            getattr(two, what)(at, rows), getattr(one, what)(at, rows), rtol=1e-11, atol=1e-11
        )
    whole = one.curvatures(at, rows, expected=True)
    np.testing.assert_allclose(two.curvatures(at, rows, expected=True), whole, rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in LAWS if LAWS[name].verb != "survreg"])
def test_moments_are_those_of_simulated_outcomes(name):
    """40,000 outcomes of each of two rows of other predictors, to five errors."""
    family, rng = family_of(name), np.random.default_rng(4)
    stack = np.array([[0.4, -0.3], [-1.2, -0.6]]) + np.array([0, SHIFT.get(name, 0.0)])[:, None]
    stack = np.broadcast_to(stack[:, :, None], (2, 2, 40_000))
    y = family.simulate(stack, rng)
    mean, variance = (one[:, 0] for one in (family.mean(stack), family.variance(stack)))
    error = np.sqrt(variance / 40_000)
    assert (np.abs(y.mean(axis=1) - mean) < 5 * error).all()
    if name != "rlm":  # whose fourth moment is infinite
        spread = ((y - mean[:, None]) ** 2).std(axis=1) / 200
        assert (np.abs(y.var(axis=1) - variance) < 5 * spread).all()
