"""Stationary laws as samplers state them, and as chains on a standard normal have them."""

import math
from dataclasses import dataclass

import numpy as np
from _ext.probes import Misscaled

from sgmc.core.contract import Prior
from sgmc.core.engine import STATUS_NAMES, Chain
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant
from sgmc.samplers.bases.piecewise.paths import Path

from .cases import GRADIENTS, SAMPLERS, SCHEMES, stream
from .noisy_normal import BATCH, N, posterior

DIM = 64
TIMES = 500  # that a chain forgets in a run: 32,000 independent draws, 0.8 % of a variance
LEAST = 4000  # steps
EVENTS = 3  # most of a path, for each coordinate and draw
WINDOW = 3  # autocorrelation times over which autocorrelations are summed


# Samplers whose gradients have noise and whose law is stated, by a readable name.  A step of sghmc
# with fresh momenta forgets slowly, and is longer; the memory of psgld is shorter than a run.
LINES = {
    "sgld": (SAMPLERS["sgld"](), 1),
    "csgld": (SAMPLERS["csgld"](), 1),
    "msgld": (SAMPLERS["msgld"](), 1),
    "sgd": (SAMPLERS["sgd"](), 1),
    "lmsgld": (SAMPLERS["lmsgld"](), 1),
    "psgld": (SAMPLERS["psgld"](memory=0.999), 1),
    "sgrld": (SAMPLERS["sgrld"](), 1),
    "sgrhmc": (SAMPLERS["sgrhmc"](), 1),
    **{f"baoab C={C:g}": (SAMPLERS["baoab"](friction=C), 1) for C in (1.0, 2.0, 4.0)},
    **{f"sghmc C={C:g}": (SAMPLERS["sghmc"](friction=C), 2) for C in (1.0, 2.0, 4.0)},
    "sghmc corrected": (SAMPLERS["sghmc"](corrected=True), 2),
    "sghmc resample": (SAMPLERS["sghmc"](resample=True), 8),
    "sghmc published": (SAMPLERS["sghmc"](integrator="published"), 2),
    "sghmc published resample": (SAMPLERS["sghmc"](integrator="published", resample=True), 8),
    "sghmc euler": (SAMPLERS["sghmc"](integrator="euler"), 2),
    "sghmc euler resample": (SAMPLERS["sghmc"](integrator="euler", resample=True), 8),
    "sglrw": (SAMPLERS["sglrw"](), 1),
    "vsgbd": (SAMPLERS["vsgbd"](), 1),
    "vsgbd normal": (SAMPLERS["vsgbd"](increment="normal"), 1),
    "csgbd": (SAMPLERS["csgbd"](), 1),
    "csgbd normal": (SAMPLERS["csgbd"](increment="normal"), 1),
    "esgbd": (SAMPLERS["esgbd"](), 1),
    "esgbd normal": (SAMPLERS["esgbd"](increment="normal"), 1),
    "esgbd batch": (SAMPLERS["esgbd"](noise="batch"), 1),
    "sgnht": (SAMPLERS["sgnht"](), 1),
    "sgnht A=2": (SAMPLERS["sgnht"](diffusion=2.0), 1),
    "msgnht": (SAMPLERS["msgnht"](), 1),
    "badodab": (SAMPLERS["badodab"](), 1),
    "sgpdmp": (SAMPLERS["sgpdmp"](), 1),
}
STEPS, NOISES = (0.1, 0.2, 0.4), (0.25, 1.0, 4.0)  # h and V
THERMOSTATS = ("sgnht", "sgnht A=2", "msgnht", "badodab")  # to h = 0.2 and V = 1: see `law`


def cells(name):
    """(h, V) at which the law of a sampler is compared."""
    stop = 2 if name in THERMOSTATS else 3
    return [(h * LINES[name][1], V) for h in STEPS[:stop] for V in NOISES[:stop]]


@dataclass(frozen=True)
class Departure:
    """What a chain has against what is predicted.

    Attributes
    ----------
    variance : float
        Relative error of the variance.
    autocorrelation : float
        Largest absolute error of an autocorrelation, over lags up to WINDOW times the predicted
        integrated autocorrelation time.
    time : float
        Relative error of the sum of autocorrelations over these lags.
    """

    variance: float
    autocorrelation: float
    time: float

    @property
    def right(self):
        """Within 3 % of the variance, 0.03 of each autocorrelation and 10 % of their sum."""
        return abs(self.variance) < 0.03 and self.autocorrelation < 0.03 and abs(self.time) < 0.1


def simulated(spec, h, noise, steps, transition=None, scale=1.0):
    """Positions of a chain after every step, (steps, DIM); NaN where it diverged."""
    step, rng = spec.from_langevin(h), stream(7)
    made = spec.build(DIM, step)
    rows = SCHEMES["uniform"](N, BATCH if noise else N)
    rows = rows if scale == 1 else Misscaled(rows, scale)
    gradient = GRADIENTS["simple"](posterior(DIM, noise), Prior(DIM), rows, rng)
    start = np.random.default_rng(3).normal(size=DIM)
    sampler = transition(made) if transition else made
    chain = Chain(start, sampler, gradient, rng, Constant(step), velocity=spec.continuous)
    if spec.continuous:  # every h of time, where steps end
        chain.recorder = Path(steps, DIM, spacing=h)
        events = EVENTS * steps * DIM
    else:
        chain.run(max(LEAST // 4, steps // 20), False)
        chain.recorder, events = FullRecorder(steps, DIM, 1), steps
    status = STATUS_NAMES[chain.run(events)]
    assert status in ("full", "diverged"), status
    return np.asarray(chain.recorder.draws) * (1.0 if status == "full" else np.nan)


def autocorrelations(draws, lags):
    """Of the columns around zero, which is their mean, at lags 0 to `lags`: the mean over
    columns.
    """
    n = len(draws)
    size = 2 ** math.ceil(math.log2(n + lags + 1))
    total = np.zeros(lags + 1)
    for column in draws.T:
        wave = np.fft.rfft(column, size)
        total += np.fft.irfft(np.abs(wave) ** 2, size)[: lags + 1] / np.arange(n, n - lags - 1, -1)
    return total / total[0]


def departure(spec, h, noise, law=None, **how):
    """The `Departure` of a run from a law, by default the one that the sampler states."""
    law = law or spec.law(h, noise)
    time = law.time()
    lags = max(5, math.ceil(WINDOW * time))
    draws = simulated(spec, h, noise, max(LEAST, int(TIMES * time)), **how)
    found = autocorrelations(draws, lags)
    expected = np.array([law.autocorrelation(k) for k in range(lags + 1)])
    return Departure(
        float((draws**2).mean() / law.variance - 1),
        float(np.abs(found - expected).max()),
        float((2 * found.sum() - 1) / (2 * expected.sum() - 1) - 1),
    )
