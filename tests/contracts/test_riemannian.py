"""Samplers on a position-dependent metric: its derivatives, the laws with and without them, edges,
and what a chain settles.
"""

import numpy as np
import pytest
from _ext.probes import Probe, block, metric_at
from _ext.toy_densities import Categories, Rates, SkewNormal
from _ext.toys import Stretch

import sgmc
from sgmc.coordinates.transforms.fisher import Fisher
from sgmc.coordinates.transforms.maps import Scaling
from sgmc.coordinates.transforms.metrics import LogRatios, Logs, PositiveMetric, Simplex
from sgmc.core.contract import Prior
from sgmc.core.engine import Chain, full
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant
from sgmc.errors import NotSupported

from .cases import GRADIENTS, SCHEMES, estimator, normal_prior, regression, stream, table
from .montecarlo import LIMIT, distance, standard_errors

PLACE = np.array([0.5, -1.0, 0.3, 0.8])


def information(name="logit", rows=None, storage="dense64", start=np.zeros(4), n=600):
    """The metric of a regression with four predictors, and its gradient."""
    model = regression(name, 2 * table(n, 4), storage)
    gradient = estimator(
        GRADIENTS["simple"], model, SCHEMES["block"](n, 10), stream(0), prior=normal_prior(4)
    )
    return Fisher(gradient, start, rows), gradient


METRICS = {
    f"{name} {rows}": lambda name=name, rows=rows: (information(name, rows)[0], PLACE)
    for name in ("logit", "poisson")
    for rows in (None, 150, 0)
} | {
    "logit csr": lambda: (information(rows=150, storage="csr")[0], PLACE),
    "stretch": lambda: (Stretch(4), PLACE),
    "positive": lambda: (PositiveMetric(4), abs(PLACE)),
    "simplex": lambda: (Simplex(4), np.array([0.3, 0.2, 0.15, 0.25])),
    "simplices": lambda: (Simplex([1, 3]), np.array([0.3, 0.2, 0.15, 0.25])),
    "logs": lambda: (Logs(4), PLACE),
    "log ratios": lambda: (LogRatios([1, 3]), PLACE),
}


def slopes(metric, x, which, e=1e-3):
    """d of one of the matrices of `metric_at` by each coordinate, (d, d, d): differences of the
    fourth order, first by axis 0.
    """
    at = [[metric_at(metric, x + k * e * u)[which] for k in (-2, -1, 1, 2)] for u in np.eye(len(x))]
    return np.array([(8 * (c - b) - (d - a)) / (12 * e) for a, b, c, d in at])


@pytest.mark.parametrize("name", METRICS)
def test_divergences_are_those_of_the_metric_and_of_its_root(name):
    """To 1e-6 of the largest: symmetric differences along the columns of R, 1e-3 of an sd to each
    side, are off by 1e-9.
    """
    metric, x = METRICS[name]()
    M, R, back, gamma, root_gamma = metric_at(metric, x)
    np.testing.assert_allclose(R @ R.T, M, rtol=1e-10, atol=1e-13)
    np.testing.assert_array_equal(abs(back - R.T) > 1e-12 * abs(R).max(), False)
    expected = np.einsum("jij->i", slopes(metric, x, 0))
    np.testing.assert_allclose(gamma, expected, atol=1e-6 * abs(expected).max())
    if root_gamma is not None:
        expected = np.einsum("jji->i", slopes(metric, x, 1))
        np.testing.assert_allclose(root_gamma, expected, atol=1e-6 * abs(expected).max())


def test_a_table_of_float32_keeps_four_digits_of_the_divergence():
    exact, rounded = (
        metric_at(information(rows=0, storage=storage)[0], PLACE)[3]
        for storage in ("dense64", "dense32")
    )
    np.testing.assert_allclose(rounded, exact, atol=1e-3 * abs(exact).max())


# ---- what of the table a metric sees -------------------------------------------------------------


def test_the_metric_is_the_information_of_the_rows():
    """All rows; or half of those listed and half of all where the chain was first."""
    metric, gradient = information()
    prior = np.eye(4)

    def hessian(x, rows):
        return sum(Probe(gradient.model).hessian(x, block(i, 1)) for i in rows) * 600 / len(rows)

    np.testing.assert_allclose(
        metric_at(metric, PLACE)[0] @ (hessian(PLACE, range(600)) + prior), np.eye(4), atol=1e-7
    )
    few, first = information(rows=150)[0], np.zeros(4)
    for x in (first, PLACE):
        expected = (hessian(first, range(600)) + hessian(x, range(0, 600, 4))) / 2 + prior
        np.testing.assert_allclose(metric_at(few, x)[0] @ expected, np.eye(4), atol=1e-7)


@pytest.mark.parametrize("rows", [150, 0])
def test_the_metric_is_at_most_twice_that_of_all_rows_at_first(rows):
    """Also where all curvatures vanish; and it is what it was for a chain that is restored
    elsewhere.
    """
    metric, _ = information(rows=rows)
    metric_at(metric, np.zeros(4))
    first = metric_at(information()[0], np.zeros(4))[0]
    far = metric_at(metric, np.full(4, 300.0))[0]
    assert 1.9 < np.linalg.eigvals(np.linalg.solve(first, far)).real.max() < 2
    other, _ = information(rows=rows, start=PLACE)
    assert abs(metric_at(other, PLACE)[0] - metric_at(metric, PLACE)[0]).max() > 0
    other.set_state(metric.state())
    np.testing.assert_array_equal(metric_at(other, PLACE)[0], metric_at(metric, PLACE)[0])


def test_places_touch_the_rows_that_are_looked_at():
    """All 600 where a chain begins, 150 for the metric of a place, and 2 x 4 times these for each
    of its two divergences.
    """
    metric, gradient = information(rows=150)
    counts = []
    for x in (np.zeros(4), PLACE, -PLACE):
        before = gradient.touched
        metric_at(metric, x)
        counts.append(gradient.touched - before)
    assert counts == [600 + 150 + 2 * 8 * 150, *2 * [150 + 2 * 8 * 150]]


# ---- laws ----------------------------------------------------------------------------------------


def draws(spec, gradient, start, step, steps, thin=5):
    """Positions of one chain after a warmup of a tenth."""
    made = Chain(start, spec.build(len(start), step), gradient, stream(1), Constant(step))
    made.run(steps // 10, False)
    made.recorder = FullRecorder(steps // thin, len(start), thin)
    made.run(steps)
    return np.asarray(made.recorder.draws)


def exact_gradient(model, batch=None, prior=None):
    """Of all rows, or of batches."""
    return GRADIENTS["simple"](
        model, prior or Prior(model.dim), SCHEMES["uniform"](model.n, batch or model.n), stream(1)
    )


X, SLANT = np.linspace(-6, 8, 20_001), 3.0


def expected_moments(weight):
    """Mean and mean square under 2 phi(x) Phi(3 x) times a weight."""
    from scipy.stats import norm

    p = norm.pdf(X) * norm.cdf(SLANT * X) * weight
    return (p * X).sum() / p.sum(), (p * X**2).sum() / p.sum()


def skew_departure(spec, weight=1.0):
    """From the moments of a skew-normal law times that weight, under M = diag(1 + sin(x) / 2);
    slack for the step's own error.
    """
    step, slack = (0.05, 0.015) if spec.name == "sgrld" else (0.2, 0.005)
    x = draws(spec, exact_gradient(SkewNormal(2, SLANT)), np.zeros(2), step, 400_000)
    return max(
        standard_errors(x, expected_moments(weight)[0], slack).max(),
        standard_errors(x**2, expected_moments(weight)[1], slack).max(),
    )


@pytest.mark.cover(0)
@pytest.mark.parametrize("cls", [sgmc.SGRLD, sgmc.SGRHMC])
def test_the_law_is_the_posterior_with_the_divergence_and_another_without(cls):
    """Slack: 1.5 % (sgrld at h = 0.05, of first order) and 0.5 % (sgrhmc at e = 0.2, of second) of
    moments of order one.
    """
    assert skew_departure(cls()) < LIMIT
    assert skew_departure(cls(divergence=False)) > LIMIT


def test_without_the_divergence_sgrld_has_the_law_that_it_documents():
    assert skew_departure(sgmc.SGRLD(divergence=False), 1 / (1 + 0.5 * np.sin(X))) < LIMIT


ROWS, LOGIT_STEP = 25, {"sgrld": 0.1, "sgrhmc": 0.4}


def logit_posterior():
    """Few rows, so that the posterior is skewed: its gradient,
    and mean and covariance by a sum over a grid.
    """
    model = regression("logit", np.column_stack([np.ones(ROWS), 3 * table(ROWS, 1)[:, 0] - 1]))
    gradient = exact_gradient(model, prior=normal_prior(2, 3.0))
    grid = np.stack(
        np.meshgrid(np.linspace(-5, 4, 121), np.linspace(-5, 5, 121), indexing="ij"), axis=-1
    ).reshape(-1, 2)
    value = np.array([full(gradient, x)[0] for x in grid])
    p = np.exp(value - value.max())
    p /= p.sum()
    mean = p @ grid
    return gradient, mean, (p[:, None] * (grid - mean)).T @ (grid - mean)


@pytest.mark.cover(0)
@pytest.mark.parametrize("cls", [sgmc.SGRLD, sgmc.SGRHMC])
def test_regressions_of_few_rows_have_their_posterior(cls):
    """Means within 0.03 sd and covariances within 6 % (Monte Carlo errors are below 0.01); means
    without Gamma are not.
    """
    gradient, mean, covariance = logit_posterior()
    sd = np.sqrt(np.diag(covariance))
    right, wrong = (
        draws(cls(divergence=gamma), gradient, mean, LOGIT_STEP[cls.name], 200_000)
        for gamma in (True, False)
    )
    assert abs((right.mean(axis=0) - mean) / sd).max() < 0.03
    assert abs((np.cov(right.T) - covariance) / np.outer(sd, sd)).max() < 0.06
    assert abs((wrong.mean(axis=0) - mean) / sd).max() > 0.03


# ---- edges ---------------------------------------------------------------------------------------
# The drift is linear: h/2 (shape - n theta) for rates, h/2 (alpha - A pi) for probabilities, A =
# sum of alpha, with noise of M g that is the same everywhere.  Mean and covariance of the steps
# that never meet an edge follow exactly.

COUNTS = np.random.default_rng(2).poisson([2.0, 5.0], size=(40, 2))
CHOICES = np.random.default_rng(3).multinomial(3, [0.2, 0.3, 0.5], size=40)


def noise_of_sums(y, batch):
    """Covariance of N/n times the sum over a simple sample of rows."""
    return len(y) ** 2 / batch * (1 - batch / len(y)) * np.cov(y.T)


def rates(batch, h):
    """Model, mean and covariance in the steps' stationary law: Gamma(1 + sum y, n) as h -> 0."""
    n = len(COUNTS)
    mean = (1 + COUNTS.sum(axis=0)) / n
    return (
        Rates(COUNTS),
        mean,
        (np.diag(mean) + h / 4 * noise_of_sums(COUNTS, batch)) / (n * (1 - h * n / 4)),
    )


def shares(batch, h):
    """The same for Dirichlet(1 + sums)."""
    alpha, total = 1 + CHOICES.sum(axis=0), 3 + CHOICES.sum()
    mean = (alpha / total)[:-1]
    y = CHOICES[:, :-1] - 3 * mean  # M g of a row
    return (
        Categories(CHOICES),
        mean,
        (np.diag(mean) - np.outer(mean, mean) + h / 4 * noise_of_sums(y, batch))
        / (total + 1 - h * total**2 / 4),
    )


def edge_departure(case, batch, h, spec=sgmc.SGRLD()):
    """From the steps' stationary law, in units of its sds."""
    model, mean, covariance = case(batch, h)
    scale = np.sqrt(np.diag(covariance))
    x = draws(spec, exact_gradient(model, batch), mean, h, 200_000)
    return distance(x / scale, mean / scale, covariance / np.outer(scale, scale))


@pytest.mark.extended("40-rates-0.005", "40-shares-0.0016666666666666668")
@pytest.mark.parametrize("case, h", [(rates, 0.2 / len(COUNTS)), (shares, 0.2 / CHOICES.sum())])
@pytest.mark.parametrize("batch", [40, 10])
def test_rates_and_probabilities_have_the_closed_form_law(case, h, batch):
    """With exact gradients and with minibatches; caught: no divergence,
    and the noise of another batch.
    """
    assert edge_departure(case, batch, h) < LIMIT
    assert edge_departure(case, batch, h, sgmc.SGRLD(divergence=False)) > LIMIT


def test_the_noise_of_another_batch_is_caught():
    h = 0.2 / len(COUNTS)
    model, mean, covariance = rates(40, h)
    x = draws(sgmc.SGRLD(), exact_gradient(model, 10), mean, h, 200_000)
    assert distance(x, mean, covariance) > LIMIT


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "shape, h, bias", [(0.5, 0.025, 0.05), (0.5, 0.1, 0.1), (0.5, 0.4, 0.23), (2.0, 0.1, 0.005)]
)
def test_the_error_at_an_edge_is_the_documented_one(shape, h, bias):
    """Gamma(0.5) has its mode at zero: mirrored steps raise the mean; Gamma(2)
    hardly has draws there.
    """
    gradient = exact_gradient(Rates(np.array([[shape - 1]])))
    x = draws(sgmc.SGRLD(), gradient, np.ones(1), h, 2_000_000, thin=20)
    assert x.min() >= 0
    assert standard_errors(x, shape, bias).max() < LIMIT
    assert (standard_errors(x, shape).max() > LIMIT) == (shape < 1)


def test_a_simplex_is_never_left():
    """Probabilities near zero and long steps."""
    model = Categories(np.array([[-0.8, -0.8, 1.0]]))
    x = draws(sgmc.SGRLD(), exact_gradient(model), np.array([0.2, 0.2]), 0.3, 20_000)
    assert np.isfinite(x).all()
    assert (x >= 0).all()
    assert (x.sum(axis=1) <= 1).all()
    assert (x < 0.01).any()


# ---- fits ----------------------------------------------------------------------------------------


def test_fits_step_in_units_of_the_metric_whatever_the_coordinates():
    """Columns of sds 0.1 and 30: the same step and number of steps as in whitened coordinates;
    means within 0.15 sd of mala's and sds within 10 %, for Monte Carlo errors of 0.03 sd and 2 %.
    """
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 2)) * [0.1, 30]
    model = sgmc.Logit((rng.random(300) < 0.4).astype(int), np.column_stack([np.ones(300), X]))
    exact, white, raw = (
        model.fit(sampler=name, draws=500, seed=1, precondition=how)
        for name, how in (("mala", "mode"), ("sgrhmc", "mode"), ("sgrhmc", None))
    )
    mean, sd = exact.draws.mean(axis=(0, 1)), exact.draws.std(axis=(0, 1))
    for results in (white, raw):
        assert results.step_size == white.step_size
        assert abs((results.draws.mean(axis=(0, 1)) - mean) / sd).max() < 0.15
        assert abs(results.draws.std(axis=(0, 1)) / sd - 1).max() < 0.1


# ---- refusals ------------------------------------------------------------------------------------


def test_momenta_need_the_derivative_of_the_root():
    with pytest.raises(NotSupported, match="PositiveMetric has no derivative of its root"):
        draws(sgmc.SGRHMC(), exact_gradient(Rates(COUNTS)), np.ones(2), 0.1, 10)


@pytest.mark.parametrize("spec", [sgmc.SGRLD(), sgmc.SGRHMC(), sgmc.MMALA()], ids=repr)
def test_a_metric_knows_of_no_map(spec):
    assert spec.refusal(None) == ""
    assert spec.refusal(Scaling(np.zeros(2), np.ones(2))).startswith(
        f"{spec.name} moves natural coordinates"
    )


@pytest.mark.parametrize("spec", [sgmc.SGRLD(), sgmc.SGRHMC()], ids=repr)
def test_what_is_left_out_is_warned_of(spec):
    assert spec.distortion == ""
    assert "without the divergence" in type(spec)(divergence=False).distortion
