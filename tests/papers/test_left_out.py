"""The samplers that a vignette shows and the package leaves out have the laws that their papers
state: AMAGOLD the posterior's, cyclical SGLD that of a recursion, contour SGLD a fixed point that
quadrature finds.  All on Gaussians with seeds; mistakes are planted in the source.
"""

import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

SOURCE = (Path(__file__).resolve().parents[2] / "vignettes" / "tools.py").read_text()
pytest.importorskip("matplotlib", reason="the samplers are beside tools for figures")

V = 1.0  # variance of gradient noise, as large as the curvature


def tools(before="", after=""):
    """The tools of the vignettes, or with a mistake."""
    assert not before or SOURCE.count(before) == 1
    module = ModuleType("vignettes_tools")
    sys.modules[module.__name__] = module  # where dataclasses look for it
    text = SOURCE.replace(before, after) if before else SOURCE
    exec(compile(text, "tools.py", "exec"), module.__dict__)
    return module


def noisy(x, rng):
    """Gradient of the energy |x|^2 / 2, with noise."""
    return x + np.sqrt(V) * rng.normal(size=x.shape)


def energy(x):
    return (x**2).sum(axis=1) / 2


# ---- AMAGOLD: no bias at any step ----------------------------------------------------------------

STEP, FRICTION, LENGTH = 0.7, 1.0, 4
# 400 chains of 1,800 draws with an autocorrelation time of about 5: a standard error of 0.4 %
WITHIN = 0.015
MISTAKES = {
    "every path is taken": ("taken = np.log(rng.random(len(x))) <", "taken = -np.inf * at <"),
    "energy along the path is lost": ("gained += step / 2 *", "gained += 0 *"),
    "noise of plain SGHMC": ("np.sqrt(4 * drag)", "np.sqrt(2 * drag)"),
}


@cache
def variance_of_amagold(before="", after=""):
    rng = np.random.default_rng(1)
    path, accepted = tools(before, after).amagold(
        noisy, energy, rng.normal(size=(400, 1)), rng, STEP, FRICTION, LENGTH, 2_000
    )
    assert 0 < accepted <= 1
    return (path[200:] ** 2).mean()


def test_amagold_has_the_law_of_the_posterior():
    assert variance_of_amagold() == pytest.approx(1, rel=WITHIN)


@pytest.mark.mistake("{name}")
@pytest.mark.parametrize("name", MISTAKES)
def test_amagold_with_a_mistake_has_another(name):
    assert variance_of_amagold(*MISTAKES[name]) != pytest.approx(1, rel=2 * WITHIN)


# ---- cyclical SGLD: variances by their recursion -------------------------------------------------

LONGEST, CYCLE, CYCLES, EXPLORED = 0.8, 20, 40, 0.4


def variances():
    """Of the kept draws of the last cycle, (draw,): x' = (1 - h) x + h sqrt(V) xi + sqrt(2 h) w."""
    found, variance = [], 1.0
    for k in range(CYCLES * CYCLE):
        place = k % CYCLE
        h = LONGEST / 2 * (1 + np.cos(np.pi * place / CYCLE))
        variance = (1 - h) ** 2 * variance + h**2 * V
        if place >= EXPLORED * CYCLE:
            variance += 2 * h
            found.append(variance)
    return np.array(found[-int((1 - EXPLORED) * CYCLE) :])


def of_cycles(before="", after=""):
    """The same of 6,000 chains, of the last 10 cycles: a standard error of 0.6 % at most."""
    rng = np.random.default_rng(2)
    path = tools(before, after).cyclical(
        noisy, rng.normal(size=(6_000, 1)), rng, LONGEST, CYCLES * CYCLE, CYCLES, EXPLORED
    )
    return (path[-10:] ** 2).mean(axis=(0, 2, 3))


def test_cyclical_sgld_has_the_variances_of_its_recursion():
    expected, found = variances(), of_cycles()
    assert found.shape == expected.shape and np.ptp(expected) > 0.3
    np.testing.assert_allclose(found, expected, rtol=0.03)


OF_CYCLES = {
    "half the noise": ("np.sqrt(2 * h) * rng", "np.sqrt(h) * rng"),
    "twice the step": ("h = step / 2 * (np.cos", "h = step * (np.cos"),
    "noise from the start": (
        "if place >= first:",
        "if place < first:\n            x = x + np.sqrt(2 * h) * rng.normal(size=x.shape)\n"
        "        else:",
    ),
}


@pytest.mark.mistake("{name}")
@pytest.mark.parametrize("name", OF_CYCLES)
def test_cyclical_sgld_with_a_mistake_has_others(name):
    assert np.abs(of_cycles(*OF_CYCLES[name]) / variances() - 1).max() > 0.06


# ---- contour SGLD: learned probabilities ---------------------------------------------------------

WIDTH, REGIONS, POWER = 1.0, 4, 0.75


def fixed_point():
    """Learned probabilities of regions, and the weighted mean of the energy u, which is exponential
    for N(0, I) of two dimensions.

    Draws have the density e^-u / Psi(u)^power, log Psi being linear between the regions' edges; of
    the mean change, theta_i is as the integral of its region times theta_i^power.
    """
    u = np.linspace(0, 30, 300_001)
    at = np.minimum((u // WIDTH).astype(int), REGIONS - 1)
    theta = np.full(REGIONS, 1 / REGIONS)
    for _ in range(400):
        slope = np.diff(np.log(theta), prepend=np.log(theta[0])) / WIDTH
        rise = np.concatenate([[0], np.cumsum(slope[at][1:] * np.diff(u))])
        drawn = np.exp(-u - POWER * rise)
        weighted = theta[at] ** POWER * drawn
        theta = (theta + np.bincount(at, weighted) / weighted.sum()) / 2
    return theta, (weighted @ u) / weighted.sum()


def learned(before="", after=""):
    """The same by 300 chains, and the weighted mean energy; a short step, exact gradients."""
    rng = np.random.default_rng(3)
    kept, weights, chance = tools(before, after).contour(
        lambda x, rng: (x, energy(x)),
        rng.normal(size=(300, 2)),
        rng,
        0.01,
        20_000,
        0.0,
        WIDTH,
        REGIONS,
        POWER,
    )
    kept, weights = kept[5_000:], weights[5_000:]
    mean = (weights * (kept**2).sum(axis=-1) / 2).sum() / weights.sum()
    return chance.mean(axis=0), mean


# 300 chains of 15,000 steps; the step leaves 1 to 2 % at the edges, where the pull jumps
NEAR = 0.04


def test_contour_sgld_learns_the_fixed_point():
    chance, mean = learned()
    expected, energy_there = fixed_point()
    np.testing.assert_allclose(chance, expected, rtol=NEAR)
    assert mean == pytest.approx(energy_there, rel=NEAR)
    # regions so wide leave a bias of their own: the posterior's mean energy is 1
    assert (
        np.abs(expected / np.append(-np.diff(np.exp(-np.arange(4.0))), np.exp(-3)) - 1).max() > 0.1
    )


OF_CONTOUR = {
    "weights without the power": ("= x, share**power", "= x, share"),
    "a weaker pull": ("power * ratio / width", "ratio / width / 4"),
    "half the noise": ("np.sqrt(2 * step) * rng", "np.sqrt(step) * rng"),
}


@pytest.mark.extended("a weaker pull", "half the noise")  # tests of the test, as the other is
@pytest.mark.mistake("{name}")
@pytest.mark.parametrize("name", OF_CONTOUR)
def test_contour_sgld_with_a_mistake_learns_another(name):
    found = learned(*OF_CONTOUR[name])[0]
    assert np.abs(found / fixed_point()[0] - 1).max() > 2 * NEAR
