"""Log densities of one row that numba compiles: derivatives, draws, and what is refused."""

import math
import re

import numpy as np
import pytest

import sgmc
from sgmc.core.expansion import of_prior, of_rows
from sgmc.errors import ArgumentError, DataError, MissingExtra

from .models import Line, table

pytest.importorskip("numba")
pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
COMMON = dict(parameters=Line.parameters, constraints=Line.constraints, prior=Line.prior)
# central differences with steps of 1e-6 of functions of order one
DIFFERENCED = dict(rtol=1e-7, atol=1e-7)


def line(theta, x, y):
    """Log density of a row of `Line`."""
    e = (y - x @ theta.b) / theta.sigma
    return -0.5 * e * e - np.log(theta.sigma)


def line_slope(theta, x, y, slope):
    """Its gradient."""
    e = (y - x[0] * theta.b[0] - x[1] * theta.b[1]) / theta.sigma
    for j in range(2):
        slope.b[j] += e * x[j] / theta.sigma
    slope.sigma[0] += (e * e - 1) / theta.sigma


def everything(theta, x):
    """All that functions may do with numbers that depend on parameters."""
    a, b, W = theta.a, theta.b, theta.W
    total = 0.0
    for j in range(len(b)):
        total += a * b[j]
        total -= b[-1] / a
    for i in range(len(W)):
        row = W[i]
        total += x @ row * W[i, 1] + np.sum(row)
    if total > a and a != b[0] and not b[1] > a:
        total *= 0.1
    total += a**1.7 + 2.0**a + a ** b[0] + (-a) ** 2 + abs(-a) + np.square(a)
    total += math.exp(0.1 * a) + np.log(a) + np.log1p(a) + np.expm1(b[0]) + math.sqrt(a)
    total += np.log2(a) + np.log10(a) + np.sin(a) + np.cos(a) + np.tan(0.3 * a) + np.sinh(a)
    total += np.cosh(a) + np.tanh(a) + np.arctan(a) + np.arcsin(0.2 * a) + np.arccos(0.2 * a)
    total += math.lgamma(a) + math.lgamma(b[1] - 3.4) + math.erf(a) + math.erfc(b[0])
    total += np.logaddexp(0.0, a) + np.logaddexp(a, b[1]) + math.atan2(a, b[0]) + math.pow(a, 2.0)
    total += max(a, b[0]) * min(a, b[0]) + np.maximum(a, 0.3) + np.minimum(b[1], a)
    return total / (2.0 - b[0])


@pytest.fixture(scope="module")
def wide():
    parameters = {"a": (), "b": 2, "W": (3, 2)}
    return sgmc.NumbaModel(everything, [np.array([[0.3, -1.2]])], parameters=parameters)


class TestDerivatives:
    @pytest.mark.cover(0)
    @pytest.mark.parametrize("seed", range(3))
    def test_of_everything_against_differences(self, wide, seed):
        theta = np.random.default_rng(seed).uniform(0.2, 1.7, 9)
        kernel = wide.kernel()
        places = [theta + h * e for e in np.eye(9) for h in (1e-6, -1e-6)]
        there, back = np.array([of_rows(kernel, one)[0] for one in places]).reshape(9, 2).T
        np.testing.assert_allclose(of_rows(kernel, theta)[1], (there - back) / 2e-6, **DIFFERENCED)

    def test_of_more_operations_than_a_tape_has_room_for(self):
        def log_lik(theta, m):
            total = 0.0
            for k in range(m):
                total -= 0.5 * (theta.a - k) ** 2
            return total

        m = np.array([3, 2000])
        model = sgmc.NumbaModel(log_lik, (m,), parameters={"a": ()})
        slope = of_rows(model.kernel(), np.array([0.5]))[1]
        assert slope[0] == pytest.approx(sum(k - 0.5 for n in m for k in range(n)), rel=1e-12)

    def test_of_branches_that_are_not_taken(self):
        def log_lik(theta, y):
            unused = 1.0 / (theta.a * 0.0)
            return -theta.a * y if y > 0 else unused

        model = sgmc.NumbaModel(log_lik, (np.array([2.0]),), parameters={"a": ()})
        assert of_rows(model.kernel(), np.array([0.5]))[1][0] == -2.0

    def test_of_a_prior(self):
        def log_prior(theta):
            total = -0.5 * theta.s**2
            for j in range(3):
                total -= 0.5 * (theta.z[j] / theta.s) ** 2 + np.log(theta.s)
            return total

        model = sgmc.NumbaModel(
            lambda theta, j: -0.5 * theta.z[j] ** 2,
            {"j": np.arange(3)},
            parameters={"s": (), "z": 3},
            constraints={"s": "positive"},
            log_prior=log_prior,
        )
        value, slope = of_prior(model.prior_kernel(), np.array([0.5, 1.0, 2.0, 3.0]), True)
        assert value == pytest.approx(-0.125 - 2 * 14 - 3 * math.log(0.5))
        np.testing.assert_allclose(slope, [-0.5 + 14 / 0.125 - 3 / 0.5, -4, -8, -12])


@pytest.mark.extended
@pytest.mark.parametrize("grad", [None, line_slope])
@pytest.mark.parametrize("run", [dict(sampler="nuts"), dict(sampler="lmsgld", step_size=0.5)])
def test_the_same_draws_as_in_numpy(grad, run):
    arguments = dict(seed=3, chains=2, draws=60, warmup=40, **run)
    if "step_size" in run:
        arguments |= dict(batch_size=50, thin=2)
    expected = Line().fit(**arguments).draws
    found = sgmc.NumbaModel(line, table(), grad=grad, **COMMON).fit(**arguments).draws
    # of parameters of order one: other orders of summation, through some hundred steps
    assert np.abs(found - expected).max() < 1e-8


def test_advice_names_the_sampler_that_reaches_the_tails_of_a_banana():
    def banana(theta):
        return -0.5 * theta.x**2 - 0.5 * ((theta.y - 3 * (theta.x**2 - 1)) / 0.1) ** 2

    results = sgmc.NumbaModel(banana, (), parameters={"x": (), "y": ()}, prior="flat").fit(seed=3)
    assert results.sampler.name == "nuts"  # `mala`, which begins, forgets too slowly
    assert not results.verdict.trustworthy
    said = r"(Take draws=\d+ with|Try) sampler=sgmc.NUTS\(target_accept=0.99\), precondition=None"
    assert re.search(said, results.verdict.text)


class TestWhatIsRefused:
    def test_functions_that_numba_does_not_know(self):
        def log_lik(theta, y):
            return np.linalg.slogdet(theta.W)[1] * y

        with pytest.raises(ArgumentError, match="log_lik cannot be compiled by numba: .*JaxModel"):
            sgmc.NumbaModel(
                log_lik, (np.ones(2),), parameters={"W": (2, 2)}, start={"W": np.eye(2)}
            ).fit()

    def test_indices_out_of_range(self):
        def log_lik(theta, j):
            return -0.5 * theta.z[j] ** 2

        j = np.zeros(1000, dtype=int)
        j[777] = 3
        with pytest.raises(IndexError, match="index 3 is out of bounds"):
            sgmc.NumbaModel(log_lik, (j,), parameters={"z": 3}).fit()

    def test_what_numba_computes_otherwise(self):
        model = sgmc.NumbaModel(lambda theta, y: -theta.a * y, (np.ones(5),), parameters={"a": ()})
        model.compiled()
        with pytest.raises(ArgumentError, match="log_lik is -10, and in Python -11, at 5 rows"):
            model.compare(model.layout(), np.array([2.0]), np.arange(5), (-11.0, 0.0))

    def test_names_and_data(self):
        with pytest.raises(ArgumentError, match="'a b' cannot be read as theta.a b"):
            sgmc.NumbaModel(line, table(), parameters={"a b": ()})
        with pytest.raises(DataError, match="arrays have 3, 4 rows"):
            sgmc.NumbaModel(line, (np.ones(3), np.ones(4)), parameters={"b": 2})
        with pytest.raises(DataError, match=r"data\[0\] must be an array of numbers, not <U1"):
            sgmc.NumbaModel(line, (np.array(["u"]),), parameters={"b": 2})
        with pytest.raises(ArgumentError, match="data has u, y; log_lik takes x, y besides theta"):
            sgmc.NumbaModel(line, {"u": np.ones(3), "y": np.ones(3)}, parameters={"b": 2})
        with pytest.raises(ArgumentError, match="data must be a tuple, a list or a dict"):
            sgmc.NumbaModel(line, 1.0, parameters={"b": 2})

    def test_parameters_of_three_axes(self):
        with pytest.raises(ArgumentError, match="'T' has 3 axes"):
            sgmc.NumbaModel(
                lambda theta, y: theta.T[0, 0, 0] * y, (np.ones(2),), parameters={"T": (2, 2, 2)}
            ).fit()

    def test_without_numba(self, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "numba", None)
        with pytest.raises(MissingExtra, match="NumbaModel needs numba"):
            sgmc.NumbaModel(line, table(), parameters={"b": 2})
