"""Stationary laws that samplers state: against other solvers, and against their own chains."""

import math

import numpy as np
import pytest
from _ext.probes import Shaken
from scipy.linalg import solve_discrete_lyapunov

from sgmc.core.stationary import LinearLaw, SpectralLaw, normal_nodes
from sgmc.errors import NotSupported

from .cases import SAMPLERS, variants
from .noisy_normal import BATCH, N
from .predicted import LINES, cells, departure

# whose formula of the inflation is that of a linear step; sgnht in many coordinates
FORMULAS = {
    name: spec
    for key in "sgld ula csgld msgld lmsgld sghmc baoab sgrld sgrhmc sgnht".split()
    for name, spec in variants(SAMPLERS[key], ["metric", "divergence"]).items()
    if spec.values().get("diffusion") != "metric"
}
EVERY = [(name, h, V) for name in LINES for h, V in cells(name)]
MIDDLE = [(name, *cells(name)[-1 if "nht" in name or name == "badodab" else 4]) for name in LINES]


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_are_those_of_the_recursion(name):
    """Equal up to rounding, for any step and noise at which the step is stable."""
    spec = FORMULAS[name]
    for h in (0.01, 0.1, 0.3):
        for V in (0.0, 0.5, 3.0):
            law = spec.law(h, V)
            assert spec.inflation(h, V) == pytest.approx(law.variance - 1, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("name", [k for k in LINES if LINES[k][0].recursion(0.1, 1.0) is not None])
def test_covariance_and_times_are_those_of_another_solver(name):
    """scipy's solver of discrete Lyapunov equations, and sums over 5000 lags."""
    spec = LINES[name][0]
    move, noise = spec.recursion(0.5, 1.0)
    law = spec.law(0.5, 1.0)
    assert law.covariance == pytest.approx(solve_discrete_lyapunov(move, noise), rel=1e-8)
    rho = np.array([law.autocorrelation(k) for k in range(0, 5000, 2)])
    assert law.time(2) == pytest.approx(2 * rho.sum() - 1, rel=1e-6)
    assert law.time_of_squares(2) == pytest.approx(2 * (rho**2).sum() - 1, rel=1e-6)


def test_an_unstable_step_has_no_variance():
    law = SAMPLERS["sgld"]().law(4.5, 1.0)
    assert law.variance == law.time() == law.time_of_squares() == math.inf


def test_an_expansion_of_a_linear_step_is_its_law():
    """The step of sgld, by Hermite polynomials: equal up to rounding, but for its squares, whose
    noise has a fourth moment of quadrature.
    """
    h, V = 0.3, 0.7
    exact = SAMPLERS["sgld"]().law(h, V)

    def moves(states):
        for u, weight in zip(*normal_nodes(12)):
            yield weight, (1 - h / 2) * states + math.sqrt(h + h * h * V / 4) * u, 1.0

    found = SpectralLaw(moves, [0.0], [1.05], 8)
    assert found.variance == pytest.approx(exact.variance, rel=1e-9)
    assert found.time(3) == pytest.approx(exact.time(3), rel=1e-9)
    assert found.time_of_squares(3) == pytest.approx(exact.time_of_squares(3), rel=1e-9)
    assert found.autocorrelation(4) == pytest.approx(exact.autocorrelation(4), rel=1e-9)


def in_two_coordinates(name, h, noise):
    """The law of a linear sampler on N(0, I) with correlated gradient noise, coordinates first."""
    spec = SAMPLERS[name]()
    still, one = (spec.recursion(h, V)[1] for V in (0.0, 1.0))
    move = np.kron(spec.recursion(h, 0.0)[0], np.eye(2))
    return LinearLaw(move, np.kron(still, np.eye(2)) + np.kron(one - still, noise))


@pytest.mark.parametrize("name", ["sgld", "lmsgld", "baoab", "sghmc"])
def test_correlated_noise_leaves_each_parameter_the_law_of_its_own(name):
    """theta = a' x has the variance of noise a' C a / a' a: see `SamplerSpec.law`."""
    noise, a = np.array([[3.0, 1.2], [1.2, 0.8]]), np.array([0.6, -1.1])
    whole = in_two_coordinates(name, 0.3, noise).covariance[:2, :2]
    alone = SAMPLERS[name]().law(0.3, a @ noise @ a / (a @ a)).variance
    assert a @ whole @ a / (a @ a) == pytest.approx(alone, rel=1e-9)
    # planted: the noise of coordinates without their correlation
    wrong = SAMPLERS[name]().law(0.3, a**2 @ np.diag(noise) / (a @ a)).variance
    assert abs(a @ whole @ a / (a @ a) - wrong) > 1e-3


@pytest.mark.cover(1)
@pytest.mark.parametrize("name, h, noise", MIDDLE)
def test_chains_have_the_predicted_law(name, h, noise):
    """Variance within 3 %, each autocorrelation within 0.03, their sum within 10 %; Monte Carlo
    errors of 64 coordinates over 500 autocorrelation times are about a quarter of that.
    """
    assert departure(LINES[name][0], h, noise).right


@pytest.mark.extended
@pytest.mark.parametrize("name, h, noise", [cell for cell in EVERY if cell not in MIDDLE])
def test_chains_have_the_predicted_law_on_the_whole_grid(name, h, noise):
    assert departure(LINES[name][0], h, noise).right


@pytest.mark.cover(0)
@pytest.mark.mistake("noise x sqrt 2")
@pytest.mark.parametrize("name, h, noise", MIDDLE)
def test_more_noise_is_no_predicted_law(name, h, noise):
    """As much as a Langevin step injects is added to each position."""
    if LINES[name][0].continuous:
        pytest.skip("its path has no noise")
    found = departure(LINES[name][0], h, noise, transition=lambda made: Shaken(made, h))
    assert not found.right


@pytest.mark.cover(0)
@pytest.mark.mistake("gradient scale x {factor}")
@pytest.mark.parametrize("factor", [0.5, 2.0, BATCH / N])
@pytest.mark.parametrize("name", [k for k in LINES if k != "esgbd batch"])  # it takes signs alone
def test_a_wrong_scale_is_no_predicted_law(name, factor):
    h, noise = cells(name)[0]
    assert not departure(LINES[name][0], h, noise, scale=factor).right


@pytest.mark.parametrize(
    "spec",
    [
        SAMPLERS["sgpdmp"](dynamics="bouncy"),
        SAMPLERS["vsgbd"](sign="global"),
        SAMPLERS["sbps"](),
        SAMPLERS["mala"](),
    ],
)
def test_samplers_without_a_law_say_so(spec):
    with pytest.raises(NotSupported, match=f"{spec.name} has no stationary law"):
        spec.law(0.1, 1.0)
