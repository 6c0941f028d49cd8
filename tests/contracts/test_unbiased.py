"""Every subsampler with every estimator is exactly unbiased:
its average over all possible draws is the full gradient.
"""

from math import perm

import numpy as np
import pytest
from _ext.probes import FlatBlock, Misscaled, Scripted, block, draw, listed
from _ext.toys import GaussianLocation
from scipy import stats

from sgmc.core.engine import evaluate, full
from sgmc.core.expansion import block_effect, row_noise, row_sizes
from sgmc.subsampling.uniform import FullBatch

from .cases import (
    GRADIENTS,
    SCHEMES,
    STORAGE,
    estimates,
    estimator,
    known_rows,
    law,
    make_map,
    normal_prior,
    regression,
    room,
    stream,
    table,
)
from .montecarlo import LIMIT

N, M, D = 6, 3, 3
X = table(N, D)
AT = np.array([0.8, -1.1, 0.6])  # away from the anchor at CENTRE
CENTRE = np.array([0.1, 0.2, -0.3])
NUMBER = {
    "block": N,
    "uniform": perm(N, M),
    "symmetric": perm(N, M),
    "replacement": N**M,
    "preferential": N**M,
    "stratified": perm(3, 1) * perm(3, 2),
}  # of draws, told apart by their order
SPREAD_SEEN = {"stratified": 4}  # rows a batch with which the spread of each stratum shows
SHARED = {name: cls.share for name, cls in room("subsampling").items()}
VISIBLE = 1e-3  # relative; a planted bias is larger


def models():
    """One score a row in every storage, and several scores a row."""
    y = np.random.default_rng(1).normal(size=(N, D))
    return {
        **{f"{name} {s}": regression(name, X, s) for name in ("logit", "poisson") for s in STORAGE},
        "location": GaussianLocation(y, 0.7),
    }


MODELS = models()


def tolerance(model):
    """Relative: rounding of a few hundred terms; a float32 table rounds each sum."""
    return 1e-5 if "32" in model else 1e-10


def mean_estimate(gradient, draws, at, noise=False, p=None):
    """Average of the estimate over the draws that the gradient's script holds, of probabilities p
    (equal ones), and of sd^2.
    """
    found = estimates(gradient, draws, at, noise)
    mean, square = (
        np.average(some, axis=0, weights=p) if noise or k == 0 else None
        for k, some in enumerate(
            ([g for g, _ in found], [sd**2 if noise else 0 for _, sd in found])
        )
    )
    return mean, square


def scripted(cls, name, draws, **options):
    """An estimator whose batches are the draws, one after the other."""
    model = MODELS[name]
    options.setdefault("prior", normal_prior(D, 2.0, 0.5))
    return estimator(cls, model, Scripted(N, draws), stream(0), centre=CENTRE, **options)


def bias(gradient, draws, at=AT, p=None):
    """Largest departure of the average estimate, relative to the full gradient."""
    exact = full(gradient, at)[1]
    return np.abs(mean_estimate(gradient, draws, at, p=p)[0] - exact).max() / np.abs(exact).max()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_draws_follow_their_law(scheme):
    draws, p, counts = law(SCHEMES[scheme], N, M)
    assert len(draws) == NUMBER.get(scheme, len(draws))
    assert stats.chisquare(counts, p * counts.sum()).pvalue > 1e-4  # fixed seed


@pytest.mark.cover
@pytest.mark.parametrize("map", ["none", "scaling", "affine", "positive"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_estimates_are_unbiased(scheme, name, model, map):
    draws, p, _ = law(SCHEMES[scheme], N, M)
    gradient = scripted(GRADIENTS[name], model, draws, map=make_map(map, D))
    assert bias(gradient, draws, p=p) < tolerance(model)


@pytest.mark.cover
@pytest.mark.parametrize("exact", [(4,), (0, 5), tuple(range(N))])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_rows_that_are_always_computed_leave_estimates_unbiased(scheme, name, model, exact):
    draws, p, _ = law(SCHEMES[scheme], N, M)
    assert bias(scripted(GRADIENTS[name], model, draws, exact=exact), draws, p=p) < tolerance(model)


@pytest.mark.parametrize("name", GRADIENTS)
def test_weighted_draws_are_unbiased(name):
    """One row with probability p_i and weight 1 / (N p_i) (Horvitz & Thompson 1952), scale N."""
    p = np.array([0.3, 0.1, 0.05, 0.25, 0.2, 0.1])
    draws = [(listed([i], weight=(1 / (N * p[i]),), scale=float(N)),) for i in range(N)]
    for model in MODELS:
        gradient = scripted(GRADIENTS[name], model, draws)
        found = np.array([g for g, _ in estimates(gradient, draws, AT)])
        exact = full(gradient, AT)[1]
        assert np.abs(p @ found - exact).max() < tolerance(model) * np.abs(exact).max()


def test_a_block_that_starts_before_the_end_only_is_caught():
    flat = [(block(k, M, scale=N / M),) for k in range(N - M + 1)]
    assert bias(scripted(GRADIENTS["simple"], "logit dense64", flat), flat) > VISIBLE
    assert bias(scripted(GRADIENTS["cv"], "logit dense64", flat), flat) > VISIBLE


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_wrong_scale_is_caught(scheme):
    draws, p, _ = law(SCHEMES[scheme], N, M)
    draws = [tuple(run._replace(scale=run.scale * (N - 1) / N) for run in runs) for runs in draws]
    for cls in GRADIENTS.values():
        assert bias(scripted(cls, "logit dense64", draws), draws, p=p) > VISIBLE


@pytest.mark.parametrize("scheme, part", [("preferential", "weight"), ("stratified", "scale")])
def test_rows_that_count_alike_though_they_come_unequally_often_are_caught(scheme, part):
    draws, p, _ = law(SCHEMES[scheme], N, M)
    alike = {"weight": None, "scale": N / M}[part]
    draws = [tuple(run._replace(**{part: alike}) for run in runs) for runs in draws]
    for cls in GRADIENTS.values():
        assert bias(scripted(cls, "logit dense64", draws), draws, p=p) > VISIBLE


def row_share(rows, draws=20_000):
    """Mean and standard error of what each row counts in a draw:
    scale times weight, summed over its visits.
    """
    rng, share = stream(5), np.zeros((draws, rows.n))
    for k in range(draws):
        for run in draw(rows, rng):
            at = list(run.rows) if run.rows else range(run.start, run.start + run.m)
            np.add.at(share[k], at, run.scale * np.ones(run.m) * (run.weight or 1))
    return share.mean(axis=0), share.std(axis=0) / np.sqrt(draws)


@pytest.mark.cover(1)
@pytest.mark.parametrize("n, m", [(7, 2), (50, 13), (5, 5), (3, 1)])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_row_counts_once_on_average(scheme, n, m):
    mean, error = row_share(SCHEMES[scheme](n, m))
    assert (np.abs(mean - 1) <= LIMIT * error + 1e-12).all()


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "rows", [FlatBlock(50, 13), *(Misscaled(cls(50, 13), 49 / 50) for cls in SCHEMES.values())]
)
def test_rows_that_count_wrongly_are_caught(rows):
    mean, error = row_share(rows)
    assert (np.abs(mean - 1) > LIMIT * error + 1e-12).any() or abs(mean.mean() - 1) > VISIBLE


@pytest.mark.cover
@pytest.mark.parametrize("map", ["none", "scaling", "affine"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", [k for k, cls in GRADIENTS.items() if "anchor" in cls.needs])
def test_control_values_leave_no_noise_at_their_centre(name, model, map):
    draws = law(SCHEMES["block"], N, M)[0]
    there = make_map(map, D)
    gradient = scripted(GRADIENTS[name], model, draws, map=there)
    x = np.linalg.solve(*affine(there)) if there else CENTRE
    exact = full(gradient, x)[1]
    for _ in draws:
        assert np.abs(evaluate(gradient, x, stream(0))[0] - exact).max() < tolerance(model) * max(
            1, np.abs(exact).max()
        )


def affine(map):
    """(L, centre of the anchor - m): the equation for the anchor in sampler coordinates."""
    L = np.array(map.matrix) if hasattr(map, "matrix") else np.diag(map.scale)
    return L, CENTRE - np.array(map.centre)


def enumerated_variance(gradient, draws, at, p=None):
    """Variance of the estimate over draws of these probabilities (equal ones)."""
    found = np.array([g for g, _ in estimates(gradient, draws, at)])
    return np.average((found - np.average(found, axis=0, weights=p)) ** 2, axis=0, weights=p)


@pytest.mark.cover
@pytest.mark.parametrize("map", ["none", "scaling", "positive"])
@pytest.mark.parametrize("model", [m for m in MODELS if "32" not in m])
@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("scheme", [s for s in SCHEMES if s != "block"])
def test_estimated_noise_is_unbiased(scheme, name, model, map):
    """Of draws with two rows of each stratum at least: one row says nothing of the spread."""
    draws, p, _ = law(SCHEMES[scheme], N, SPREAD_SEEN.get(scheme, M))
    gradient = scripted(GRADIENTS[name], model, draws, map=make_map(map, D))
    variance = enumerated_variance(gradient, draws, AT, p)
    assert mean_estimate(gradient, draws, AT, noise=True, p=p)[1] == pytest.approx(
        variance, rel=tolerance(model)
    )


@pytest.mark.parametrize("name", GRADIENTS)
def test_a_stratum_of_which_one_row_is_drawn_errs_on_the_safe_side(name):
    draws, p, _ = law(SCHEMES["stratified"], N, M)
    gradient = scripted(GRADIENTS[name], "logit dense64", draws)
    variance = enumerated_variance(gradient, draws, AT, p)
    assert (mean_estimate(gradient, draws, AT, noise=True, p=p)[1] > variance).all()


@pytest.mark.parametrize("name", GRADIENTS)
def test_a_block_estimates_the_noise_of_a_simple_sample(name):
    """The sd of each block is that of the same rows in a list of `uniform`;
    their difference is the design effect's.
    """
    blocks, fpc = law(SCHEMES["block"], N, M)[0], law(SCHEMES["uniform"], N, M)[0][0][0].fpc
    lists = [
        (listed([i % N for i in range(runs[0].start, runs[0].start + M)], scale=N / M, fpc=fpc),)
        for runs in blocks
    ]
    a, b = (
        estimates(scripted(GRADIENTS[name], "logit dense64", draws), draws, AT, True)
        for draws in (blocks, lists)
    )
    assert np.array([sd for _, sd in a]) == pytest.approx(np.array([sd for _, sd in b]), rel=1e-10)


@pytest.mark.cover
@pytest.mark.parametrize("model", [m for m in MODELS if "32" not in m])
@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("m", range(1, N))
def test_design_effect_of_blocks(m, name, model):
    """Simple-sample variance times `block_effect` is the variance of the N blocks;
    `sd` takes the effect over.
    """
    draws = law(SCHEMES["block"], N, m)[0]
    gradient = scripted(GRADIENTS[name], model, draws)
    samples = law(SCHEMES["uniform"], N, m)[0]
    simple = enumerated_variance(scripted(GRADIENTS[name], model, samples), samples, AT)
    effect = block_effect(gradient, AT, m)
    variance = enumerated_variance(gradient, draws, AT)
    assert effect * simple == pytest.approx(variance, rel=1e-9, abs=1e-12)
    before = mean_estimate(gradient, draws, AT, noise=True)[1]
    gradient.rows.set_design_effect(effect)
    assert mean_estimate(gradient, draws, AT, noise=True)[1] == pytest.approx(
        before * effect, rel=1e-9
    )


@pytest.mark.parametrize("model", [m for m in MODELS if "32" not in m])
@pytest.mark.parametrize("name", GRADIENTS)
def test_row_noise_by_probabilities_and_strata_is_that_of_their_samples(name, model):
    """With weights 1/(N p_i), over n; with groups, times 1/n_h - 1/N_h: covariances of the
    estimates, to rounding.
    """
    for scheme, m in (("preferential", M), ("stratified", 4)):
        draws, p, _ = law(SCHEMES[scheme], N, m)
        shared = SHARED[scheme](
            **{k: v for k, v in known_rows(N, m).items() if k in room("subsampling")[scheme].needs}
        )
        gradient = scripted(GRADIENTS[name], model, draws)
        exact, noise = row_noise(gradient, AT, weight=shared.weight, groups=shared.groups)
        found = np.array([g for g, _ in estimates(gradient, draws, AT)])
        planned = np.einsum("h,hjk->jk", shared.factors(m), noise.reshape(-1, D, D))
        assert exact == pytest.approx(full(gradient, AT)[1], rel=1e-10)
        assert planned == pytest.approx(
            np.cov(found, rowvar=False, ddof=0, aweights=p), rel=1e-9, abs=1e-12
        )


@pytest.mark.parametrize("model", [m for m in MODELS if "32" not in m])
@pytest.mark.parametrize("name", GRADIENTS)
def test_row_noise_is_the_noise_of_one_row(name, model):
    """Divided by n it is the covariance of estimates from n rows with replacement;
    the gradient is the exact one.
    """
    draws = law(SCHEMES["replacement"], N, M)[0]
    gradient = scripted(GRADIENTS[name], model, draws)
    exact, noise = row_noise(gradient, AT)
    found = [g for g, _ in estimates(gradient, draws, AT)]
    assert exact == pytest.approx(full(gradient, AT)[1], rel=1e-10)
    assert noise / M == pytest.approx(np.cov(found, rowvar=False, ddof=0), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("model", [m for m in MODELS if "32" not in m])
@pytest.mark.parametrize("name", GRADIENTS)
def test_row_sizes_are_those_of_the_corrected_terms(name, model):
    """Root mean square over two points of |W' z_i|, z_i by the difference of estimates that count
    row i twice and once.
    """
    W, points = np.random.default_rng(6).normal(size=(D, D)), [AT, 0.3 * AT]
    draws = [(listed([i], scale=c),) for i in range(N) for c in (1.0, 2.0)]
    gradient, square = scripted(GRADIENTS[name], model, draws), np.zeros(N)
    for x in points:
        g = np.array([g for g, _ in estimates(gradient, draws, x)]).reshape(N, 2, D)
        square += (((g[:, 1] - g[:, 0]) @ W) ** 2).sum(axis=1) / len(points)
    assert row_sizes(gradient, W, points) == pytest.approx(np.sqrt(square), rel=1e-8)


@pytest.mark.parametrize("name", GRADIENTS)
def test_all_rows_at_once_are_the_full_gradient(name):
    for model in MODELS.values():
        gradient = estimator(GRADIENTS[name], model, FullBatch(N), stream(0), centre=CENTRE)
        assert evaluate(gradient, AT, stream(0))[0] == pytest.approx(
            full(gradient, AT)[1], rel=1e-5, abs=1e-6
        )
