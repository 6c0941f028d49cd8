"""The exact log posterior and its gradient, whatever the prior and the map between sampler and
natural coordinates.
"""

import numpy as np
import pytest
from _ext.probes import Scripted
from _ext.toys import Positive

from sgmc.coordinates.priors.densities import FAMILIES, Pulled, Quadratic, Separable
from sgmc.coordinates.transforms.dilation import Dilation
from sgmc.coordinates.transforms.maps import Affine, Scaling, Warp
from sgmc.coordinates.transforms.warped import Warped
from sgmc.core.contract import Prior
from sgmc.core.engine import evaluate, full

from .cases import GRADIENTS, SCHEMES, estimates, estimator, law, regression, slopes, stream, table

N, M, D = 6, 3, 3
MODEL = regression("logit", table(N, D))
RNG = np.random.default_rng(8)
GRID = np.linspace(-4, 4, 81)
# t = sinh x for the first coordinate
WARP = Warp(D, GRID, [np.sinh(GRID)], [np.log(np.cosh(GRID))], [np.tanh(GRID)])

MAPS = {
    "none": (lambda: None, D),
    "scaling": (lambda: Scaling([0.1, -0.4, 0.3], [0.5, -2.0, 1.1]), D),
    "affine": (
        lambda: Affine(
            [0.1, -0.4, 0.3], np.array([[1.0, 0.3, 0], [0.2, 0.7, -0.5], [0, 0.4, 0.9]])
        ),
        D,
    ),
    "fewer coordinates": (
        lambda: Affine([0.1, -0.4, 0.3], np.array([[1.0, 0.3], [0.2, 0.7], [0, 0.4]])),
        2,
    ),
    "more coordinates": (lambda: Affine([0.1, -0.4, 0.3], RNG.normal(size=(3, 5))), 5),
    "positive": (lambda: Positive(D), D),
    "dilation": (
        lambda: Dilation(
            [0.1, -0.4, 0.3], np.array([[1.0, 0.3], [0.2, 0.7]]), [0.2, 0.9], np.array([[0.8]]), 0.7
        ),
        D,
    ),
    "dilation of two": (
        lambda: Dilation(
            [0.1, -0.4, 0.3], np.array([[0.6]]), [0.1], np.array([[0.8, 0.2], [-0.3, 0.5]]), 1.0
        ),
        D,
    ),
    "warped": (lambda: Warped(MAPS["affine"][0](), WARP), D),
}
MIXED = Separable(
    [FAMILIES[f] for f in ("normal", "student_t", "laplace")],
    [0.1, 0.2, -0.3],
    [1.0, 0.7, 2.0],
    [1, 4, 1],
    pivots=[1],
    shift=[0.4, 0.0, -0.6],
)
SHRINKING = Separable(
    [FAMILIES[f] for f in ("horseshoe", "normal", "horseshoe")],
    [2.5, 0.2, -4.0],
    [0.5, 0.7, 2.0],
    [30.0, 1, np.inf],
    pivots=[1],
    shift=[0.4, 0.0, -0.6],
)
PRIORS = {
    "flat": Prior(D),
    "mixed": MIXED,
    "shrinking": SHRINKING,
    "quadratic": Quadratic([1.0, 0.2, 3.0], [0.5, 0.0, -1.0]),
    "pulled": Pulled(MIXED, MAPS["affine"][0]()),
}
CASES = [(m, p) for m in MAPS for p in PRIORS]


def posterior(cls, map, prior, draws=None):
    """An estimator over a script of draws, and a point that is on no kink of the prior."""
    make, dim = MAPS[map]
    draws = draws or law(SCHEMES["block"], N, M)[0]
    at = np.random.default_rng(9).normal(size=dim)
    return estimator(
        cls,
        MODEL,
        Scripted(N, draws),
        stream(0),
        prior=PRIORS[prior],
        map=make(),
        centre=[0.2, 0.1, 0.3],
    ), at


@pytest.mark.parametrize("map, prior", CASES)
def test_the_exact_gradient_is_the_derivative_of_the_exact_value(map, prior):
    """By central differences with step 1e-5; with the Jacobian of the map."""
    gradient, at = posterior(GRADIENTS["simple"], map, prior)
    steps = 1e-5 * np.eye(len(at))
    expected = np.array(
        [(full(gradient, at + e)[0] - full(gradient, at - e)[0]) / 2e-5 for e in steps]
    )
    assert np.abs(full(gradient, at)[1] - expected).max() < 1e-6 * np.abs(expected).max()


@pytest.mark.cover
@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("map, prior", CASES)
def test_estimates_and_slopes_agree_with_it(map, prior, name):
    """Averages over the N blocks: the estimate's is the gradient,
    the slope's is v times the gradient.
    """
    draws = law(SCHEMES["block"], N, M)[0]
    gradient, at = posterior(GRADIENTS[name], map, prior, draws)
    v, exact = np.linspace(-1, 2, len(at)), full(gradient, at)[1]
    assert np.mean([g for g, _ in estimates(gradient, draws, at)], axis=0) == pytest.approx(
        exact, rel=1e-10, abs=1e-10
    )
    assert np.mean([mean for mean, _ in slopes(gradient, draws, at, v)]) == pytest.approx(
        v @ exact, rel=1e-10, abs=1e-10
    )


@pytest.mark.parametrize("name", GRADIENTS)
def test_noise_of_single_coordinates_under_a_map_that_mixes_them_is_refused(name):
    gradient, at = posterior(GRADIENTS[name], "affine", "flat")
    with pytest.raises(NotImplementedError, match="mixes"):
        evaluate(gradient, at, stream(0), True)
