"""Exact rank tests of exact samplers (Gandy & Scott 2020, arXiv 2001.06465),
and mistakes that they must catch.

A draw of the target is put at a uniformly random place of a path of LENGTH places; a transition
that is reversible with respect to the target makes the places before it and those after it.  Then
the rank of any statistic at that place among all places, ties broken at random, is exactly uniform,
for any step: no warmup, no standard error of a chain.  Chi-square tests of REPLICATES ranks (1,000
a cell), one for each of the STATISTICS, Bonferroni: a right sampler is rejected with probability at
most ALPHA, one in 100,000 a test, one in 1,000 for the file.  Seeds are fixed.
"""

import numpy as np
import pytest
from _ext.mistakes import Late, Misjudged, Misplaced, Unscaled
from _ext.probes import walk
from _ext.toy_densities import Funnel, Gamma, Normal, SkewNormal
from _ext.toys import Positive
from scipy.stats import chi2

from sgmc.core.contract import Prior
from sgmc.core.designs.design import design
from sgmc.core.engine import full
from sgmc.models.regression.families.logit import expit

from .cases import (
    EXACT,
    GRADIENTS,
    LEARNING,
    REGRESSIONS,
    SCHEMES,
    TREES,
    normal_prior,
    stream,
    table,
)

ALPHA, REPLICATES, LENGTH, ROWS = 1e-5, 16_000, 16, 12
STATISTICS = [
    lambda x, value: x[..., 0],
    lambda x, value: x[..., 1],
    lambda x, value: x[..., 0] ** 2,
    lambda x, value: x[..., 1] ** 2,
    lambda x, value: x[..., 0] * x[..., 1],
    lambda x, value: value,
]

DENSITIES = {
    "normal": (Normal, [[1.0, 0.8], [0.8, 1.5]]),
    "skew normal": (SkewNormal, 2, 5.0),
    "funnel": (Funnel, 2, 1.5),
    "gamma": (Gamma, 2, 2.0),
}
# of the optimal Langevin time
PACE = {"normal": 0.7, "skew normal": 0.3, "funnel": 0.3, "logit": 0.4, "gamma": 0.3}
# L; fitted to no target
METRICS = {"diag": np.array([[0.8, 1.3]]), "dense": np.array([[0.8, 0.0], [0.5, 1.1]])}
AUTO = [("metric", "auto")]  # one of the others
# it is made for no metric
WHITENED = [("integrator", "exponential"), ("metric", "diag"), ("metric", "dense")]
TRANSITIONS = {
    name: spec
    for name, spec in LEARNING.items()
    if spec.exact
    and spec.uses_gradient
    and not set(spec.values().items()) & set(AUTO)
    and len(set(spec.values().items()) & set(WHITENED)) < 2
}
GUIDED = [name for name, spec in EXACT.items() if spec.name not in ("rwm", "imh")]  # by gradients
JUDGED = [name for name in EXACT if name not in TREES]  # accepted or rejected


def everywhere(names):
    """Every target for each of the samplers; mmala takes no map, which gamma needs."""
    return [
        (name, target) for target in PACE for name in names if (name, target) != ("mmala", "gamma")
    ]


def problem(target, estimator=None, spoil_map=None, spoil_metric=None):
    """(gradient, its stream, exact draws of the target, what to call before the k-th of them is
    used), some of it spoilt.
    """
    rng, bits, map, prior = np.random.default_rng(5), stream(5), None, Prior(2)
    # mmala's metric has the prior's curvature at the start: it must be a constant
    if target == "logit":
        cls, X, y = REGRESSIONS["logit"], np.ascontiguousarray(2 * table(ROWS, 2)), np.zeros(ROWS)
        prior, starts = normal_prior(2), rng.normal(size=(REPLICATES, 2))
        outcomes, given = rng.random((REPLICATES, ROWS)) < expit(starts @ X.T), (design(X), y)
    else:
        cls, *given = DENSITIES[target]
        starts = cls.draw(rng, REPLICATES, *given)
    if spoil_metric:
        cls = type(
            "Spoilt",
            (cls,),
            {"metric": lambda self, *given: spoil_metric(super(type(self), self).metric(*given))},
        )
    if target == "gamma":  # its logarithm is what moves
        starts, map = np.log(starts), spoil_map(Positive(2)) if spoil_map else Positive(2)

    def renew(k):
        """Outcomes that belong to the k-th theta, which is then a draw of their posterior; the
        model reads this array.
        """
        if target == "logit":
            y[:] = outcomes[k]

    model, estimator = cls(*given), estimator or GRADIENTS["simple"]
    return (
        estimator(model, prior, SCHEMES["block"](model.n, model.n), bits, map=map),
        bits,
        starts,
        renew,
    )


def transition(spec, target):
    """The sampler at a moderate step, with a given metric."""
    made = spec.build(2, spec.from_langevin(PACE[target] * spec.first_step(2)))
    metric = spec.values().get("metric")
    if metric in METRICS:
        state = made.state()
        made.set_state({**state, "metric": {**state["metric"], "L": METRICS[metric]}})
    return made


def rank_test(sampler, gradient, rng, starts, renew, stretch=1.0):
    """Share of steps that moved, and the p-value:
    the smallest one of the statistics, times their number.
    """
    own, each = np.random.default_rng(6), np.arange(REPLICATES)
    paths, values = np.zeros((REPLICATES, LENGTH, 2)), np.zeros((REPLICATES, LENGTH))
    at = own.integers(LENGTH, size=REPLICATES)
    paths[each, at] = starts * stretch
    for k in range(REPLICATES):
        renew(k)
        walk(sampler, gradient, rng, paths[k], values[k], at[k])
    found = []
    for statistic in STATISTICS:
        f = statistic(paths, values)
        mine = f[each, at][:, None]
        rank = (f < mine).sum(axis=1) + own.integers((f == mine).sum(axis=1))
        excess = np.bincount(rank, minlength=LENGTH) - REPLICATES / LENGTH
        found.append(chi2.sf((excess**2).sum() * LENGTH / REPLICATES, LENGTH - 1))
    return (np.diff(paths, axis=1) != 0).any(axis=2).mean(), min(1.0, min(found) * len(found))


def caught(name, target, rule=None, **spoilt):
    """Whether the rank test of that sampler fails with that mistake."""
    made = transition(EXACT[name], target)
    return rank_test(Misjudged(made, rule) if rule else made, *problem(target, **spoilt))[1] < ALPHA


@pytest.mark.parametrize("target", DENSITIES)
def test_densities_and_their_gradients_agree(target):
    gradient, _, starts, _ = problem(target)
    for x in starts[:20]:
        rise = [
            (full(gradient, x + e)[0] - full(gradient, x - e)[0]) / 2e-5 for e in 1e-5 * np.eye(2)
        ]
        np.testing.assert_allclose(full(gradient, x)[1], rise, rtol=1e-6, atol=1e-6)


@pytest.mark.cover(1)
@pytest.mark.parametrize("name, target", everywhere(TRANSITIONS))
def test_ranks_are_uniform(name, target):
    spec = TRANSITIONS[name]
    moved, p = rank_test(transition(spec, target), *problem(target))
    assert 0.1 < moved < (1.0 if spec.name in TREES else 0.99)
    assert p > ALPHA


@pytest.mark.extended("skew normal", "logit", "gamma")
@pytest.mark.parametrize("target", PACE)
def test_ranks_show_starts_that_are_a_tenth_too_far_out(target):
    """The power of it: not even a mistake of the sampler."""
    assert (
        rank_test(
            transition(EXACT["barker-increment=normal"], target), *problem(target), stretch=1.1
        )[1]
        < ALPHA
    )


@pytest.mark.cover(0)
@pytest.mark.mistake("rank: acceptance inverted")
@pytest.mark.parametrize("name, target", everywhere(JUDGED))
def test_inverted_acceptance_is_caught(name, target):
    assert caught(name, target, "inverted")


@pytest.mark.cover(0)
@pytest.mark.mistake("rank: all accepted")
@pytest.mark.parametrize("name, target", everywhere(JUDGED))
def test_no_rejection_is_caught(name, target):
    assert caught(name, target, "all")


@pytest.mark.cover(0)
@pytest.mark.mistake("rank: no Hastings term")
# a random walk has none
@pytest.mark.parametrize("name, target", everywhere([n for n in JUDGED if n in GUIDED]))
def test_a_missing_hastings_term_is_caught(name, target):
    """The ratio of the log posteriors alone: proposal densities left out,
    of Hamiltonian paths the kinetic energy.
    """
    assert caught(name, target, "no hastings")


@pytest.mark.cover(0)
@pytest.mark.mistake("rank: gradient not renewed")
@pytest.mark.parametrize("name, target", everywhere([name for name in GUIDED if name != "mmala"]))
def test_a_gradient_that_acceptance_leaves_behind_is_caught(name, target):
    """Not of mmala, which keeps drifts, not gradients: for it see the next test."""
    assert caught(name, target, "stale")


@pytest.mark.cover(0)
@pytest.mark.mistake("rank: gradient one place late")
@pytest.mark.parametrize(
    "name, target", [(name, "funnel" if name == "mmala" else "gamma") for name in GUIDED]
)
def test_a_gradient_of_the_place_before_is_caught(name, target):
    """On these targets; where it makes nearly all proposals rejected, there is little to see in 16
    places.
    """
    assert caught(name, target, estimator=Late)


@pytest.mark.cover(0)
@pytest.mark.mistake("rank: no Jacobian")
@pytest.mark.parametrize("name", [name for name in EXACT if name != "mmala"])
def test_a_missing_jacobian_is_caught(name):
    assert caught(name, "gamma", spoil_map=Unscaled)


@pytest.mark.extended
@pytest.mark.mistake("rank: no determinant of the metric")
@pytest.mark.parametrize("name, target", everywhere(["mmala"]))
def test_a_missing_determinant_is_caught(name, target):
    assert caught(name, target, spoil_metric=lambda metric: Misplaced(metric, 2, False))


@pytest.mark.extended
@pytest.mark.mistake("rank: metric one place late")
@pytest.mark.parametrize("name, target", [("mmala", "funnel"), ("mmala", "logit")])
def test_a_metric_of_the_place_before_is_caught(name, target):
    assert caught(name, target, spoil_metric=lambda metric: Misplaced(metric, 2, True))


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", EXACT)
def test_the_harness_of_mistakes_makes_none_itself(name):
    assert not caught(name, "skew normal", "right")
