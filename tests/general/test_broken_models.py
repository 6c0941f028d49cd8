"""Broken models of users: what a fit raises or warns of, in words; and right ones that pass."""

import re
import warnings

import numpy as np
import pytest

import sgmc
from sgmc.errors import ArgumentError, DensityWarning, DivergenceError, SGMCWarning
from sgmc.models.bases import problem

from .broken_models import MODELS, SHORT, Right, message
from .models import CONJUGATE, Line, WithoutGradient

GRADIENT = (
    r"grad is wrong for {} of 3 numbers, most for '{}': it is \S+, but differences of log_lik"
)
SUMS = "log_lik does not add up over rows: 50 rows give .* and 50 others .* all of them together"
PLACE = r"step \d+ of chain [01] where b\[0\]=1.0\d+, b\[1\]=-0.\d+, sigma=0.\d+"
SAID = {
    "FactorInGradient": (ArgumentError, GRADIENT.format(1, "sigma") + r".*\(a factor of 1.3\)"),
    "SignOfGradient": (ArgumentError, GRADIENT.format(3, "sigma") + r".*\(a factor of -1\)"),
    "ComponentOfGradient": (ArgumentError, GRADIENT.format(1, r"b\[1\]") + " give -"),
    "PriorInGradient": (ArgumentError, "grad does not add up .* such as a prior"),
    "PriorInBoth": (ArgumentError, SUMS + ".* such as a prior, which the fit adds"),
    "RowsIgnored": (ArgumentError, "log_lik ignores rows: half of them .*use only the rows"),
    "Rescaled": (ArgumentError, SUMS + ".*not their mean and not rescaled to all rows"),
    "NoneReturned": (ArgumentError, r"NoneReturned.log_lik returned None where .* one number"),
    "KeyMissing": (ArgumentError, r"KeyMissing.grad returned a dict without 'sigma'"),
    "KeyTooMany": (ArgumentError, r"KeyTooMany.grad returned a dict with 'tau'"),
    "WrongShape": (ArgumentError, r"WrongShape.grad returned 'b' of shape \(100, 2\) .* \(2,\)"),
    "OneNumberARow": (ArgumentError, r"log_lik returned an array of shape \(100,\).*the sum over"),
    "Complex": (ArgumentError, "log_lik returned the complex number"),
    "NanAtStart": (ArgumentError, r"NanAtStart: log_lik is nan at the start \(b\[0\]=.*start"),
    "NanSometimes": (DivergenceError, "NanSometimes.grad returned NaN for 'sigma' at " + PLACE),
    "NanBeyond": (DensityWarning, "NanBeyond.log_lik returned NaN at .* % of the steps"),
    "RaisesSometimes": (ZeroDivisionError, "division by zero\nIn RaisesSometimes.grad at " + PLACE),
    "NoneSometimes": (ArgumentError, "NoneSometimes.grad returned None at " + PLACE),
    "ImpossibleEverywhere": (ArgumentError, "log_lik is -inf at the start"),
    "Text": (ArgumentError, "Text.log_lik returned '-.*', of type str"),
    "ChangesTheta": (ArgumentError, r"log_lik changes theta in place, 'b\[0\]' first"),
    "RandomNumbers": (ArgumentError, "two calls with the same arguments differ, by .*random"),
    "Overflow": (ArgumentError, SUMS + ".*small integers overflow"),
    "Misaligned": (ArgumentError, r"for a slice of rows, but .*pandas.*\.to_numpy"),
    "PriorByHand": (ArgumentError, "grad_log_prior is wrong for 2 of 3 numbers.*factor of -1"),
}


@pytest.mark.parametrize("name", MODELS)
def test_what_is_wrong_is_named(name):
    kind, words = SAID[name]
    raised, text = message(MODELS[name])
    assert raised is kind and re.search(words, text, re.DOTALL), text
    assert name in text and (kind is DensityWarning or "sgmc.check_model" in text or "NaN" in text)


def test_the_right_one_passes():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Right().fit(seed=1)
    assert not caught


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_without_the_check_the_fit_goes_on():
    class Unchecked(MODELS["FactorInGradient"]):
        checked = False

    assert Unchecked().fit(**SHORT, sampler="mala").draws.shape == (2, 500, 3)


def test_the_gradient_of_the_prior_is_recognised():
    with pytest.raises(ArgumentError, match="what is too much is the gradient of the prior"):
        MODELS["PriorInGradient"]().fit(seed=1, sampler="mala")


def test_rows_may_be_ignored_where_all_are_asked_for_at_once():
    found, right = (kind().fit(seed=1, sampler="mala") for kind in (MODELS["RowsIgnored"], Right))
    np.testing.assert_array_equal(found.draws, right.draws)


# ---- no false alarms -----------------------------------------------------------------------------


class Kinks(Line):
    """Absolute deviations: the slope jumps at each outcome."""

    def log_lik(self, theta, rows):
        e = np.abs(self.y[rows] - self.X[rows] @ theta["b"])
        return -e.sum() / theta["sigma"] - len(e) * np.log(theta["sigma"])

    def grad(self, theta, rows):
        X, s = self.X[rows], theta["sigma"]
        e = self.y[rows] - X @ theta["b"]
        return {"b": X.T @ np.sign(e) / s, "sigma": np.abs(e).sum() / s**2 - len(e) / s}


class Rounded(Line):
    """As of a simulator that prints six digits."""

    def log_lik(self, theta, rows):
        return float(f"{Line.log_lik(self, theta, rows):.6g}")


class Coarse(Line):
    """Coefficients on a grid, as of a table that is looked up."""

    def log_lik(self, theta, rows):
        return Line.log_lik(self, {**theta, "b": np.round(theta["b"], 4)}, rows)


class SinglePrecision(Line):
    """Both in float32, as of a network."""

    def log_lik(self, theta, rows):
        X, y = self.X[rows].astype(np.float32), self.y[rows].astype(np.float32)
        s = np.float32(theta["sigma"])
        e = (y - X @ theta["b"].astype(np.float32)) / s
        return np.float32(-0.5) * (e @ e) - len(e) * np.log(s)

    def grad(self, theta, rows):
        g = Line.grad(self, theta, rows)
        return {name: np.float32(one) for name, one in g.items()}


class LargeConstant(Line):
    """A constant of 1e9 for all rows, whose rounding hides what small steps change."""

    def log_lik(self, theta, rows):
        return Line.log_lik(self, theta, rows) + 1e9 * len(self.y[rows]) / self.n


class ForwardDifferences(Line):
    """A gradient by differences of the user's own."""

    def grad(self, theta, rows):
        here, step = Line.log_lik(self, theta, rows), 1e-6
        b = [
            Line.log_lik(self, {**theta, "b": theta["b"] + move}, rows) - here
            for move in step * np.eye(2)
        ]
        sigma = Line.log_lik(self, {**theta, "sigma": theta["sigma"] + step}, rows) - here
        return {"b": np.array(b) / step, "sigma": sigma / step}


class Tangential(CONJUGATE["Kinds"]):
    """A gradient along the simplex alone: what it is across does not matter."""

    def grad(self, theta, rows):
        g = super().grad(theta, rows)["w"]
        return {"w": g - g @ theta["w"]}


class SmallUnits(Line):
    """Coefficients of a billionth."""

    start = {"b": [1e-9, -5e-10], "sigma": 1.0}
    prior = {"b": sgmc.normal(0, 1), "sigma": sgmc.exponential(1)}

    def log_lik(self, theta, rows):
        return Line.log_lik(self, {**theta, "b": 1e9 * theta["b"]}, rows)

    def grad(self, theta, rows):
        g = Line.grad(self, {**theta, "b": 1e9 * theta["b"]}, rows)
        return {**g, "b": 1e9 * g["b"]}


class Narrow(Line):
    """What may be raised where no chain goes: farther out than 0.3 from the start."""

    start = {"b": [1.0, -0.5], "sigma": 0.8}

    def log_lik(self, theta, rows):
        if abs(theta["b"] - [1.0, -0.5]).max() > 0.3:
            raise ValueError("math domain error")
        return Line.log_lik(self, theta, rows)


CALM = (Kinks, Rounded, Coarse, SinglePrecision, LargeConstant, ForwardDifferences)
CALM = (*CALM, Tangential, SmallUnits, Narrow, WithoutGradient, *CONJUGATE.values())


def opened(model, seed, monkeypatch, **how):
    """Begin a fit and stop it after the check."""
    begun = problem.check_opening

    class Passed(Exception):
        pass

    def stopped(*arguments):
        begun(*arguments)
        raise Passed

    monkeypatch.setattr(problem, "check_opening", stopped)
    with pytest.raises(Passed):
        model.fit(seed=seed, **how)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("sampler", ["auto", "mala"])
@pytest.mark.parametrize("kind", CALM)
def test_right_models_pass(kind, sampler, seed, monkeypatch):
    opened(kind(), seed, monkeypatch, sampler=sampler)


# ---- what is seen, and what it costs -------------------------------------------------------------


class Wide(sgmc.Model):
    """Normal numbers of unequal sds, one component of whose gradient is wrong by a factor."""

    n = 50

    def __init__(self, d, wrong, factor):
        self.parameters, self.wrong, self.factor = {"t": d}, wrong, factor
        self.precision = np.random.default_rng(d).uniform(0.5, 2, (50, d)) * np.geomspace(
            0.1, 10, d
        )

    def log_lik(self, theta, rows):
        return -0.5 * (self.precision[rows] @ theta["t"] ** 2).sum()

    def grad(self, theta, rows):
        g = -self.precision[rows].sum(axis=0) * theta["t"]
        g[self.wrong] *= self.factor
        return g


@pytest.mark.parametrize("wrong", [0, 7, -1])
@pytest.mark.parametrize(
    "d, factor", [(1, 1.01), (9, 1.05), (40, 1.05), (40, 0.0), (400, 1.3), (400, -1.0)]
)
def test_one_wrong_component_is_named(d, factor, wrong):
    wrong %= d
    with pytest.raises(ArgumentError, match=rf"grad is wrong for 1 of \d+ .*'t\[{wrong}\]'"):
        Wide(d, wrong, factor).fit(seed=1)


class Counting(Line):
    """Counts calls and rows."""

    def __init__(self):
        super().__init__()
        self.calls = {"log_lik": [], "grad": []}

    def log_lik(self, theta, rows):
        self.calls["log_lik"].append(len(self.y[rows]))
        return super().log_lik(theta, rows)

    def grad(self, theta, rows):
        self.calls["grad"].append(len(self.y[rows]))
        return super().grad(theta, rows)


class CountingValues(Counting):
    """Without a gradient."""

    grad = property()


@pytest.mark.extended
@pytest.mark.parametrize("kind", [Counting, CountingValues])
@pytest.mark.parametrize("sampler, most", [("auto", 100), ("mala", 400)])
def test_it_takes_few_calls_of_few_rows(kind, sampler, most, monkeypatch):
    model = kind()
    opened(model, 1, monkeypatch, sampler=sampler)
    assert len(model.calls["log_lik"]) <= 18 and len(model.calls["grad"]) <= 10
    assert max(model.calls["log_lik"] + model.calls["grad"]) == most
    whole = sum(map(sum, model.calls.values()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        monkeypatch.undo()
        model.fit(seed=1, sampler=sampler)
    assert whole < 0.01 * sum(map(sum, model.calls.values()))  # a hundredth of the fit
