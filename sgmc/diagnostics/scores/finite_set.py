"""Finite set Stein discrepancy: the size of the Stein witness function at a few locations,
in linear time.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sgmc.arguments.choices import one_of
from sgmc.arguments.data.arrays import shaped
from sgmc.arguments.data.draws import as_points
from sgmc.arguments.numbers import whole
from sgmc.arguments.types import Floats
from sgmc.diagnostics.scores.scales import (
    Width,
    as_kernel,
    as_sample,
    as_scale,
    covariance,
    rescale,
)
from sgmc.diagnostics.scores.stein import off_diagonal, signed_root
from sgmc.diagnostics.scores.witness import along, ascent, witness
from sgmc.errors import ArgumentError

TRAINING = 5  # every fifth draw chooses locations (Jitkrittum et al. 2017: 20 %)
ITERATIONS = 100
SD_FLOOR = 0.01  # of the criterion's sd, in that at the start
DECAY, RATE = (0.9, 0.999), 0.01  # of Adam: its moments, and its step in widths of the kernel


def fssd(
    draws: ArrayLike,
    scores: ArrayLike,
    *,
    locations: str | ArrayLike = "random",
    number: int = 10,
    weights: ArrayLike | None = None,
    kernel: Literal["gaussian", "imq"] = "gaussian",
    statistic: Literal["v", "u"] = "v",
    c: float | Literal["median"] = "median",
    scale: ArrayLike | None = None,
    seed: int = 0,
) -> float:
    r"""Return the finite set Stein discrepancy between draws and the target whose scores are given.

    With the Stein witness :math:`g(v) = \sum_a w_a [s(x_a) k(x_a, v) + \nabla_x k(x_a, v)]`, zero
    everywhere in expectation over the target alone, and :math:`\tau_a` its term of draw a,

    .. math:: \mathrm{FSSD} = \Big( \frac{1}{d J} \sum_{j=1}^J |g(v_j)|^2 \Big)^{1/2}

    (Jitkrittum et al. 2017; Coullon, South and Nemeth 2023, eq. 4).

    Parameters
    ----------
    draws, scores : array_like, (n, d)
        As in `ksd`; scores are gradients of the log density.
    locations : {"random", "optimised", "maximised"} or array_like, (J, d)
        "random": from the Gaussian with the draws' mean and covariance.  "optimised": these moved
        uphill to where every fifth draw tells most, by :math:`|g|^2 / \mathrm{sd}(\tau_a \cdot g)`,
        on which the power of a test rests (Jitkrittum et al. 2017; quasi-Newton, at most 100
        iterations); the value is that of the other draws alone, so that with independent draws it
        is not large by choice.  "maximised": moved by 100 steps of Adam, of a hundredth of the
        kernel's width, uphill on :math:`|g|^2` of all draws, of which the value is too (Coullon,
        South and Nemeth 2023, section 2.2 and appendix B.1.3); it is large by choice, all the more
        the fewer the draws.  Else the locations themselves, in the draws' coordinates.
    number : int
        J, where locations are not given.
    weights : array_like, (n,), optional
        Non-negative, of any sum.
    kernel : {"gaussian", "imq"}
        :math:`\exp(-r^2 / 2 c^2)` or :math:`(c^2 + r^2)^{-1/2}`, both analytic, as the theory
        wants.
    statistic : {"v", "u"}
        "u" leaves out pairs of a draw with itself, as `ksd` does: mean zero for exact independent
        draws before the root.
    c : float or "median"
        Width of the kernel, or the median distance between draws in the coordinates of `scale`.
    scale : array_like, (d,) or (d, d), or "covariance", optional
        As in `ksd`: makes the result independent of units.
    seed : int
        Of the random locations.

    Returns
    -------
    float
    """
    x, s, w = as_sample(draws, scores, weights)
    one_of("statistic", statistic, ("v", "u"))
    matrix = None if scale is None else np.asarray(as_scale(scale, x, w))
    if matrix is not None:
        x, s = rescale(x, s, matrix)
    width = as_kernel(kernel, c, -0.5, x)
    if isinstance(locations, str):
        one_of("locations", locations, ("random", "optimised", "maximised"), ", or numbers")
        v = from_gaussian(x, w, number, seed)
        if locations == "optimised":
            v, (x, s, w) = optimised(x, s, w, v, width)
        elif locations == "maximised":
            v = maximised(x, s, w, v, width)
    else:
        v = placed(locations, x.shape[1], matrix)
    g, squares = witness(x, s, w, v, *width)
    total = np.square(g).sum()
    if statistic == "u":
        total = (total - squares) / off_diagonal(w)
    return float(signed_root(total / v.size))


def from_gaussian(x: Floats, w: Floats, number: int, seed: int) -> Floats:
    """Locations from the Gaussian with the draws' moments."""
    number = whole("number", number, 1)
    values, vectors = np.linalg.eigh(covariance(x, w))
    # unlike a basis alone, no matter of rounding
    root = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
    return w @ x + np.random.default_rng(seed).normal(size=(number, x.shape[1])) @ root


def placed(locations: ArrayLike, d: int, matrix: Floats | None) -> Floats:
    """Given locations in the coordinates of the scale."""
    v = shaped("locations", as_points("locations", locations), ("J", d))
    return v if matrix is None else rescale(v, v, matrix)[0]


def optimised(
    x: Floats, s: Floats, w: Floats, v: Floats, width: Width
) -> tuple[Floats, tuple[Floats, Floats, Floats]]:
    """Locations where every fifth draw tells most, and the other draws."""
    from scipy.optimize import minimize

    chosen = np.arange(len(x)) % TRAINING == 0
    if chosen.all() or not (w[chosen].any() and w[~chosen].any()):
        raise ArgumentError(
            f"optimised locations need more than {TRAINING} draws of positive weight"
        )
    train, test = ((x[part], s[part], w[part] / w[part].sum()) for part in (chosen, ~chosen))
    # 1: draws that are all the same
    floor = SD_FLOOR * spread(*train, v, witness(*train, v, *width)[0], width)[0] or 1.0

    def downhill(flat: Floats) -> tuple[float, Floats]:
        value, slope = power(*train, flat.reshape(v.shape), width, floor)
        return -value, -slope.ravel()

    best = minimize(
        downhill, v.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS}
    )
    return best.x.reshape(v.shape), test


def maximised(x: Floats, s: Floats, w: Floats, v: Floats, width: Width) -> Floats:
    """Locations moved by Adam (Kingma and Ba 2015, algorithm 1) uphill on |g|^2."""
    first, second = np.zeros_like(v), np.zeros_like(v)
    for t in range(1, ITERATIONS + 1):
        slope = 2 * ascent(x, s, w, v, witness(x, s, w, v, *width)[0], *width)
        first += (1 - DECAY[0]) * (slope - first)
        second += (1 - DECAY[1]) * (slope**2 - second)
        sizes = np.sqrt(second / (1 - DECAY[1] ** t))
        v = v + RATE * width[1] * first / (1 - DECAY[0] ** t) / np.maximum(sizes, 1e-300)
    return v


def power(
    x: Floats, s: Floats, w: Floats, v: Floats, width: Width, floor: float
) -> tuple[float, Floats]:
    """|g|^2 / (sd + floor) and its gradient by the locations,
    with g = sum_a w_a tau_a and sd that of tau_a . g.
    """
    g, _ = witness(x, s, w, v, *width)
    sd, q = spread(x, s, w, v, g, width)
    size, value = np.square(g).sum(), np.square(g).sum() / (sd + floor)
    # sd^2 = sum_a w_a q_a^2 - |g|^4 with q_a = tau_a . g, where tau_a and g both move with v
    moved = witness(x, s, w * q, v, *width)[0] - 2 * size * g
    variance_slope = 2 * (ascent(x, s, w * q, v, g, *width) + ascent(x, s, w, v, moved, *width))
    return value, (
        2 * ascent(x, s, w, v, g, *width) - value * variance_slope / (2 * max(sd, 1e-300))
    ) / (sd + floor)


def spread(
    x: Floats, s: Floats, w: Floats, v: Floats, g: Floats, width: Width
) -> tuple[float, Floats]:
    """The sd over draws of q_a = tau_a . g, and q."""
    q = along(x, s, v, g, *width)
    return np.sqrt(max(w @ np.square(q - w @ q), 0.0)), q
