"""``sgmc.published`` runs what the papers print: moments of positions and of increments beside
transcriptions in plain numpy.
"""

import warnings
from functools import cache, partial

import numpy as np
import pytest

import sgmc
from sgmc.errors import ArgumentError, SGMCWarning

from ..contracts.montecarlo import LIMIT
from . import transcriptions as plain

N, BATCH, SD = 60, 6, 0.6  # the prior has a good part of the precision
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, 2)) * [1.0, 1.7]
Y = (RNG.random(N) < 1 / (1 + np.exp(-X @ [0.8, -0.5]))).astype(float)
MODEL = sgmc.Logit(Y.astype(int), X)
PRIOR = {"*": sgmc.normal(0, SD)}

A = 5.0  # of thermostats: with 1 the noise of the batches would hide it

# name of the call, the transcription, a step at which bias and gradient noise are large
CASES = {
    "sgld": (plain.sgld, 0.06),
    "sgld-cv": (plain.sgld_cv, 0.12),
    "csgld": (plain.csgld, 0.05),
    "msgld": (plain.msgld, 0.02),
    "ula": (plain.ula, 0.15),
    "mala": (plain.mala, 0.2),
    "vsgbd": (plain.vsgbd, 0.25),
    "csgbd": (plain.csgbd, 0.2),
    "esgbd": (plain.esgbd, 0.15),
    "barker": (plain.barker, 0.35),
    "sghmc": (plain.sghmc, 0.12),
    "sghmc-euler": (plain.sghmc_euler, 0.08),
    "sgnht": (partial(plain.sgnht, A=A), 0.03),
    "msgnht": (partial(plain.msgnht, A=A), 0.03),
}
OPTIONS = {"sgnht": {"diffusion": A}, "msgnht": {"diffusion": A}}
WHOLE = ("ula", "mala", "barker")  # by all rows
WALKERS, WARMUP, KEPT = 800, 400, 150
SETTLING = {"sgnht": 2000, "msgnht": 2000}  # frictions settle in about 10 units of time
CHAINS, DRAWS, PIECES = 4, 25_000, 100


def moments(path):
    """Of paths (step, walker, 2): positions, their squares and product, squares of increments,
    products with the position they leave, and of increments that follow each other; (walker, 11).
    """
    x, moved = path[:-2], np.diff(path, axis=0)
    first, second = moved[:-1], moved[1:]
    parts = [x, x**2, x[..., :1] * x[..., 1:], first**2, x * first, first * second]
    return np.concatenate([part.mean(axis=0) for part in parts], axis=1)


@cache
def transcribed(name, move=None, noise=1.0, factor=1.0, shrink=1.0):
    """Moments of walkers, and their variances over walkers / their number."""
    move, step = move or CASES[name][0], CASES[name][1]
    rows, rng = plain.Rows(X, Y, SD, BATCH, factor, shrink), np.random.default_rng(1)
    x, warmup = np.zeros((WALKERS, 2)), SETTLING.get(name, WARMUP)
    memory = mode(rows) if name.endswith("-cv") else None
    path = []
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(warmup + KEPT):
            x, memory = move(x, memory, rows, rng, step, noise)
            path.extend([x] if k >= warmup else [])
        found = moments(np.array(path))
        return found.mean(axis=0), found.var(axis=0, ddof=1) / WALKERS


def mode(rows):
    """By Newton's method."""
    x = np.zeros((1, 2))
    for _ in range(20):
        p = 1 / (1 + np.exp(-(x @ X.T)))
        curvature = (X.T * (p * (1 - p))) @ X + rows.shrink * np.eye(2) / SD**2
        x = x + np.linalg.solve(curvature, rows.whole(x)[0])
    return x[0]


@cache
def package(name):
    """The same of one fit, over pieces of its chains."""
    rows = {} if "gradient" not in sgmc.published(name) else {"batch_size": BATCH}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)  # of steps that are too long on purpose
        fit = MODEL.fit(
            **sgmc.published(name, **OPTIONS.get(name, {})),
            **rows,
            prior=PRIOR,
            step_size=CASES[name][1],
            chains=CHAINS,
            warmup=SETTLING.get(name, WARMUP),
            draws=DRAWS,
            thin=1,
            threads=1,
            seed=2,
        )
    found = moments(fit.draws.reshape(CHAINS * PIECES, -1, 2).swapaxes(0, 1))
    return found.mean(axis=0), found.var(axis=0, ddof=1) / len(found)


def apart(name, **planted):
    """Largest difference of a moment, in Monte Carlo errors of both."""
    (a, var_a), (b, var_b) = package(name), transcribed(name, **planted)
    distance = np.abs(a - b) / np.sqrt(var_a + var_b)
    return distance.max() if np.isfinite(distance).all() else np.inf


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", CASES)
def test_the_call_is_the_papers_algorithm(name):
    assert apart(name) < LIMIT


@pytest.mark.cover(0)
@pytest.mark.mistake("noise x sqrt 2")
@pytest.mark.parametrize("name", [one for one in CASES if one != "sghmc-euler"])
def test_more_noise_is_another_law(name):
    assert apart(name, noise=np.sqrt(2)) > LIMIT


@pytest.mark.cover(0)
@pytest.mark.mistake("the prior is dropped")
@pytest.mark.parametrize("name", CASES)
def test_a_dropped_prior_is_another_law(name):
    assert apart(name, shrink=0.0) > LIMIT


@pytest.mark.cover(0)
@pytest.mark.mistake("N/n is 1.2 times as large")
@pytest.mark.parametrize("name", [one for one in CASES if one not in WHOLE])
def test_another_weight_of_rows_is_another_law(name):
    assert apart(name, factor=1.2) > LIMIT


@pytest.mark.mistake("the order of drift and kick of {name}")
@pytest.mark.parametrize("name", ["sghmc-euler"])
def test_another_order_is_another_law(name):
    """With a friction of 0.01 a leapfrog step, which the noise of the batches hides."""

    def drift_first(x, memory, rows, rng, e, noise):
        return plain.sghmc(x, memory, rows, rng, e, noise, C=0.01 / e)

    assert apart(name, move=drift_first) > LIMIT


def test_a_default_is_not_what_is_published():
    """The package's own sgld beside the transcription: control variates and whitening."""
    settings = sgmc.published("sgld")
    assert settings == {
        "sampler": sgmc.SGLD(),
        "precondition": None,
        "gradient": "simple",
        "subsample": "uniform",
    }
    assert sgmc.published("SGLD-CV")["gradient"] == "cv"
    assert sgmc.published("mala") == {
        "sampler": sgmc.MALA(integrator="euler"),
        "precondition": None,
    }
    assert sgmc.published("sghmc", leapfrog=7)["sampler"].leapfrog == 7


@pytest.mark.parametrize(
    "name, options, words",
    [
        ("sgdl", {}, "published\\('sgdl'\\): no algorithm of that name; did you mean 'sgld'?"),
        ("mala-cv", {}, "no algorithm of that name"),
        (3, {}, "they are: sgld, ula"),
        ("sgld", {"friction": 1.0}, "SGLD has no parameter 'friction'"),
    ],
)
def test_unknown_names_are_refused(name, options, words):
    with pytest.raises(ArgumentError, match=words):
        sgmc.published(name, **options)
