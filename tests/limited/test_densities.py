"""Densities of what is known of outcomes against scipy's laws, the compiled models against both."""

import numpy as np
import pytest

import sgmc
from sgmc.arguments.data.limited import limited
from sgmc.core.contract import Prior
from sgmc.core.designs.design import design
from sgmc.core.engine import full
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.gradients.simple import Simple
from sgmc.subsampling.uniform import FullBatch

from ..reference.limited import counted, log_density
from .cases import ALPHA, COEFFICIENTS, SIGMA, ends, records, table

NONE = -np.inf, np.inf
# low, high, above, below
REAL = [
    (lo, hi, *NONE) for lo, hi in ((0.7, 0.7), (-np.inf, -1), (2, np.inf), (-1.5, 3), (4, 4.01))
]
REAL += [(0.7, 0.7, 0, np.inf), (0.7, 0.7, *[-np.inf, 5]), (-2, -2, -3, 0), (0, 2, 0, 3)]
REAL += [(1, np.inf, 0.5, np.inf), (6, 6, 5, np.inf), (0.5, 4, 0.5, 9)]
COUNTED = [(lo, hi, *NONE) for lo, hi in ((3, 3), (-np.inf, 4), (10, np.inf), (5, 9), (0, 30))]
COUNTED += [(1, 1, 1, np.inf), (7, 7, 1, np.inf), (4, 4, -np.inf, 9), (2, 6, 1, 20), (3, 20, 3, 20)]
COUNTED += [(300, 300, 200, np.inf), (250, np.inf, 1, np.inf), (1, 12, 1, np.inf)]
PLACES = {
    "ols": (REAL, np.linspace(-6, 9, 7), (0.4, 1.0, 3.0)),
    "poisson": (COUNTED, np.linspace(-6, 6, 9), (1.0,)),
    "negativebinomial": (COUNTED, np.linspace(-6, 6, 9), (0.05, 0.7, 5.0)),
}
CASES = [(name, one) for name, (outcomes, *_) in PLACES.items() for one in outcomes]


def family(name):
    """The family of outcomes known in part."""
    return {"ols": sgmc.OLS, "poisson": sgmc.Poisson, "negativebinomial": sgmc.NegativeBinomial}[
        name
    ].family.of_ends()


def gradient_of(model):
    """A compiled model of one row as a gradient."""
    return Simple(model, Prior(model.dim), FullBatch(1), Rng(seed_sequence(0, "chain")))


@pytest.mark.parametrize("name, one", CASES)
def test_densities_are_scipys(name, one):
    """To 1e-10, relative where a log density is beyond one."""
    _, places, scales = PLACES[name]
    for extra in scales:
        found = family(name).log_density(records(*one), places, np.array([extra]))
        expected = log_density(name, one, places, extra)
        possible = np.isfinite(expected)
        if name != "ols" and one[1] < np.inf:  # differences of scipy's tails have fewer digits
            expected = [counted(name, *one[:2], eta, extra) for eta in places]
            expected -= log_density(name, (*one[2:], *NONE), places, extra)
            possible = np.isfinite(expected)
        assert possible.any() and np.isfinite(found).all()
        np.testing.assert_allclose(found[possible], expected[possible], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name, one", CASES)
def test_the_kernel_has_that_density_and_its_derivatives(name, one):
    """Scores and curvatures by central differences, to 1e-6 of the largest of 1, themselves and
    what is differenced.
    """
    from _ext.probes import Probe, block

    own, (_, places, scales) = family(name), PLACES[name]
    model = own.rows(design(np.ones((1, 1))), records(*one)[None])
    gradient, probe, h = gradient_of(model), Probe(model), 1e-5 * np.eye(2)

    def value(point):
        return float(own.log_density(records(*one), point[0], np.exp(point[1:])))

    for eta in places:
        for extra in scales:
            at = np.array([eta, np.log(extra)])
            found, slope = full(gradient, at)
            assert found == pytest.approx(value(at), rel=1e-10, abs=1e-10)
            expected = np.array([(value(at + e) - value(at - e)) / 2e-5 for e in h])
            size = max(1.0, np.abs(expected).max(), abs(found))
            np.testing.assert_allclose(slope, expected, atol=1e-6 * size)
            bends = np.array(
                [(full(gradient, at - e)[1] - full(gradient, at + e)[1]) / 2e-5 for e in h]
            )
            size = max(1.0, np.abs(bends).max(), np.abs(slope).max())
            np.testing.assert_allclose(
                probe.curvatures(at, block(0, 1))[0], bends, atol=1e-6 * size
            )


@pytest.mark.parametrize("eta", [-700.0, 700.0])
@pytest.mark.parametrize("name, one", CASES)
def test_extreme_predictors_have_finite_densities_and_derivatives(name, one, eta):
    model = family(name).rows(design(np.ones((1, 1))), records(*one)[None])
    value, slope = full(gradient_of(model), [eta, np.log(0.3)])
    assert np.isfinite(value) and np.isfinite(slope).all()


@pytest.mark.parametrize("name", PLACES)
def test_expected_curvatures_are_those_of_many_truncated_outcomes(name):
    """20,000 rows: each entry within five standard errors of its mean."""
    from _ext.probes import Probe, block

    frame = table(name, "truncated", 20_000)
    y = records(*ends(name, "truncated", frame))
    theta = np.append(COEFFICIENTS[name], np.log(SIGMA if name == "ols" else ALPHA))
    X = np.column_stack([np.ones(len(frame)), frame.x])
    probe, rows = Probe(family(name).rows(design(X), y)), block(0, len(frame))
    apart = probe.curvatures(theta, rows) - probe.curvatures(theta, rows, expected=True)
    error = apart.std(axis=0) / np.sqrt(len(frame)) + 1e-12
    assert (np.abs(apart.mean(axis=0)) < 5 * error).all()
    wrong = probe.curvatures(theta, rows) - probe.curvatures(theta + 0.2, rows, expected=True)
    assert (np.abs(wrong.mean(axis=0)) > 5 * error).any()  # planted: another place


def test_numbers_are_outcomes_that_were_observed():
    np.testing.assert_allclose(
        family("ols").log_density(np.array([0.3]), np.zeros(1), np.ones(1)),
        sgmc.OLS.family.log_density(0.3, np.zeros(1), np.ones(1)),
    )
    assert (limited(np.array([1.0, 2.0]))["high"] == [1.0, 2.0]).all()
