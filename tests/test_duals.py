"""Derivatives of numpy functions in forward mode: every rule against differences, and what has
none.
"""

import math

import numpy as np
import pytest
from scipy import special

import sgmc
from sgmc.core.numerics.duals import RULES, Dual, NoDerivative, digamma
from sgmc.models.bases.calls import WithoutGradient

PLACE = np.array([0.7, 0.3, 0.5, 0.9])
TABLE = np.random.default_rng(0).normal(size=(3, 4))
BINARY = ["add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "logaddexp"]
BINARY += ["arctan2"]
UNARY = sorted(set(RULES) - set(BINARY))
SHAPED = {
    "products": lambda x: (TABLE @ x) @ (TABLE @ x) + x @ TABLE.T @ np.ones(3),
    "matrices": lambda x: np.sum(x.reshape(2, 2) @ TABLE[:2] @ x.reshape(4, 1)),
    "vector by matrix": lambda x: (x[:2] @ x.reshape(2, 2)).sum() + np.dot(np.ones(4), x),
    "broadcasting": lambda x: ((TABLE * x - x[:3, None]) ** 2).mean(),
    "where": lambda x: np.where(x < TABLE, TABLE * x, x[0] - 2.0).sum(),
    "concatenate": lambda x: (np.concatenate([x[1:], np.ones(2), x[[0, 0]]]) ** 3).sum(),
    "stack": lambda x: (np.stack([x, 2 * x, np.ones(4)], axis=1).T * TABLE).sum(axis=0).sum(),
    "axes": lambda x: (np.cumsum(x) * np.diff(np.append(0.0, TABLE[0]))).sum() + np.sum(x, axis=0),
    "indices": lambda x: (x[np.array([0, 1, 1])] * x[-1] / x[2]).sum() + np.outer(x, x).sum(),
    "lists": lambda x: (x.reshape(2, 2)[np.array([0, 1]), np.array([1, 1])] ** 2).sum(),
    "branches": lambda x: np.abs(-x).sum() if x[0] > 0.5 else x.sum(),
    "differences": lambda x: np.diff(x).sum() + np.mean(np.ravel(x)) + len(x) + x.T.dot(x),
}


def slopes(function, place=PLACE):
    """The gradient in forward mode and by differences, whose error is below 1e-8 here."""
    found = function(Dual(place, np.eye(len(place))))
    steps = 1e-6 * np.eye(len(place))
    differences = [(function(place + h) - function(place - h)) / 2e-6 for h in steps]
    return np.ravel(found.slope), np.array(differences), found.value, function(place)


def compare(function):
    """Assert that both are the same."""
    found, expected, value, plain = slopes(function)
    assert value == pytest.approx(plain, rel=1e-14)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_a_number(name):
    function = getattr(np, name, None) or getattr(special, name)
    compare(lambda x: (function(x) * TABLE[0]).sum())


def test_the_derivative_of_log_gamma():
    x = np.concatenate([np.geomspace(1e-6, 1e6, 50), -np.geomspace(0.1, 30.3, 20)])
    np.testing.assert_allclose(digamma(x), special.psi(x), rtol=1e-11)


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two(name):
    function = getattr(np, name)
    compare(lambda x: (function(x, x[::-1]) * TABLE[0] + function(x, 0.6)).sum())
    compare(lambda x: (function(0.4, x) * TABLE[1]).sum())


@pytest.mark.parametrize("name", SHAPED)
def test_arrays(name):
    compare(SHAPED[name])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: math.exp(x[0]),
        lambda x: np.asarray(x).sum(),
        lambda x: np.linalg.norm(x),
        lambda x: np.maximum.accumulate(x),
        lambda x: np.add(x, x, out=np.zeros(4)),
        lambda x: np.zeros(4).__setitem__(0, x[0]),
        lambda x: x.reshape(1, 2, 2) @ np.ones((1, 2, 2)),
        lambda x: x[:, None, None] * np.zeros((4, 1000, 1000)),
    ],
)
def test_what_has_no_rule(function):
    with pytest.raises((NoDerivative, ValueError)):
        function(Dual(PLACE, np.eye(4)))


class Counted(sgmc.Model):
    """A normal mean and sd, and how often its density is asked for."""

    parameters, constraints, n = {"m": (), "s": ()}, {"s": "positive"}, 50

    def __init__(self, squared=np.square):
        self.y, self.calls = np.random.default_rng(0).normal(size=50), 0
        self.squared = squared

    def log_lik(self, theta, rows):
        self.calls += 1
        e = (self.y[rows] - theta["m"]) / theta["s"]
        return -0.5 * self.squared(e).sum() - len(e) * np.log(theta["s"])


def hidden_from_rules(x):
    """A square that leaves duals."""
    return np.array([math.pow(one, 2) for one in x])


@pytest.mark.parametrize("squared, forward", [(np.square, True), (hidden_from_rules, False)])
def test_models_without_a_gradient(squared, forward):
    model = Counted(squared)
    slope = model.kernel().slope
    assert isinstance(slope, WithoutGradient)
    first, before = slope(np.array([0.1, 0.8]), slice(0, 50)), model.calls
    again = slope(np.array([0.1, 0.8]), slice(0, 50))
    assert model.calls - before == (1 if forward else 4)
    e = (model.y - 0.1) / 0.8
    expected = np.array([e.sum() / 0.8, (e @ e - 50) / 0.8])
    for found in (first, again):
        np.testing.assert_allclose(found, expected, rtol=1e-13 if forward else 1e-7)


def test_a_wrong_rule_is_found_at_the_start(monkeypatch):
    monkeypatch.setitem(RULES, "square", lambda x, f: (1.9 * x,))
    slope = Counted().kernel().slope
    slope(np.array([0.1, 0.8]), slice(0, 50))
    assert slope.forward is False
