"""Proposals of large groups, whose densities are those of normal laws of the groups' effects and a
polynomial.
"""

from dataclasses import replace

import numpy as np
import pytest

import sgmc
from sgmc.coordinates.independent.axes import ProposedParameters
from sgmc.core.engine import full_many
from sgmc.models.regression.latent.integrated import group_laws
from sgmc.models.regression.latent.integrated.group_laws import GroupLaws, LawError

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
FORMULA = "y ~ x + z + (1 + x | g)"


def table(n=4000, groups=15, verb="logit", seed=3):
    rng = np.random.default_rng(seed)
    g, x, z = rng.integers(0, groups, n), rng.normal(size=n), rng.normal(size=n)
    b = rng.normal(size=(groups, 2)) * [0.7, 0.4]
    eta = 0.5 * x - 0.2 * z + b[g, 0] + b[g, 1] * x - 0.3
    y = rng.poisson(np.exp(eta)) if verb == "poisson" else (eta + rng.logistic(size=n) > 0) * 1
    return {"x": x, "z": z, "g": g, "y": y}


def fitted(data, verb="logit", draws=100, **how):
    return getattr(sgmc, verb)(FORMULA, data, seed=1, draws=draws, **how)


@pytest.mark.parametrize("verb", ["logit", "poisson"])
def test_densities_are_those_of_the_rows(verb):
    problem = fitted(table(verb=verb), verb)._fit.problem
    laws = problem.transport
    assert isinstance(laws, GroupLaws)
    z = np.random.default_rng(5).normal(size=(50, problem.dim))
    apart = laws.log_densities(z) - full_many(problem.all_rows(), z, slopes=False)[0]
    known = [one for one in problem.evidence if isinstance(one, LawError)]
    # what is told is two standard errors above the sd of 32, and that of 50 is known to a tenth
    assert np.std(apart) < 1.3 * known[0].spread < 1.3 * group_laws.SAME_LAW


@pytest.mark.extended
@pytest.mark.parametrize("verb", ["logit", "poisson"])
def test_posteriors_are_those_of_all_rows(verb):
    data = table(verb=verb)
    ours = fitted(data, verb, 2000)
    theirs = fitted(data, verb, 4000, sampler="nuts")  # by all rows
    assert isinstance(ours._fit.problem.transport, GroupLaws) and ours.sampler.name == "imh"
    assert theirs._fit.problem.transport is None
    sd = theirs.bse
    # both are worth 4,600 draws and more: means have errors of .02 sd, sds of 1.5 %, and of skewed
    # sds, whose tails the draws tell worse, of 3 %
    assert np.abs((ours.params - theirs.params) / sd).max() < 0.1
    assert np.abs(ours.bse / sd - 1).max() < 0.08
    assert ours.verdict.trustworthy and theirs.verdict.trustworthy


@pytest.mark.mistake("laws of groups: {mistake}")
@pytest.mark.parametrize(
    "name, mistake",
    [("imh", one) for one in ("half of the polynomial", "other groups")],
)
def test_mistakes_are_seen_by_densities_of_rows(monkeypatch, name, mistake):
    usual = GroupLaws.fitted

    def wrong(self, *given):
        if mistake == "other groups":
            return replace(usual(self, *given), h=self.h[::-1])
        found = usual(self, *given)
        return replace(found, polynomial=0.5 * found.polynomial) if "half" in mistake else found

    monkeypatch.setattr(GroupLaws, "fitted", wrong)
    # proposals by the rows are in their place
    assert not isinstance(fitted(table(), draws=20)._fit.problem.transport, GroupLaws)


def test_few_rows_and_named_samplers_keep_all_rows():
    few = fitted(table(300, 10), draws=20)._fit.problem.transport
    assert isinstance(few, ProposedParameters)
    named = fitted(table(), draws=20, sampler="mala")
    assert named._fit.problem.transport is None


def test_signs_of_loadings_do_not_matter():
    """Integrals are those of dense normal laws, at any point."""
    laws = fitted(table(), draws=20)._fit.problem.transport
    theta = laws.anchor + 0.3 * np.random.default_rng(2).normal(size=(4, len(laws.anchor)))
    p, size = laws.M.shape[2], laws.loading.size
    for one, found in zip(theta, laws.integrals(theta)):
        root = laws.loading.root(one[p : p + size])
        total = 0.0
        for K, h, M in zip(laws.K, laws.h, laws.M):
            A = np.eye(2) + root.T @ K @ root
            score = root.T @ (h - M @ (one - laws.anchor)[:p])
            total += 0.5 * (score @ np.linalg.solve(A, score) - np.linalg.slogdet(A)[1])
        assert abs(found - total) < 1e-9 * max(1.0, abs(total))  # rounding of sums


def counts(n=2000, groups=15, seed=3):
    rng = np.random.default_rng(seed)
    g, x = rng.integers(0, groups, n), rng.normal(size=n)
    mean = np.exp(0.4 + 0.5 * x + 0.6 * rng.normal(size=groups)[g])
    return {"x": x, "g": g, "y": rng.negative_binomial(2, 2 / (2 + mean))}


class TestOneEffect:
    """Of a family whose rows take long, and whose dispersion is too skewed for normal draws."""

    def test_draws_are_those_of_all_rows(self):
        """Of 4,000 nearly independent draws each: four errors of a difference, 0.09 sds."""
        data, how = counts(), dict(seed=1, draws=1000)
        laws = sgmc.negativebinomial("y ~ x + (1 | g)", data, **how)
        rows = sgmc.negativebinomial("y ~ x + (1 | g)", data, sampler="imh", **how)
        assert isinstance(laws._fit.problem.transport, GroupLaws)
        assert not isinstance(rows._fit.problem.transport, GroupLaws)
        assert (np.abs(laws.params - rows.params) < 0.09 * rows.bse).all()
        np.testing.assert_allclose(laws.bse, rows.bse, rtol=0.09)

    def test_normal_draws_stay_where_they_do(self):
        """Of a logit, whose log weights vary less."""
        data = table(n=20_000)
        found = sgmc.logit("y ~ x + z + (1 | g)", data, seed=1, draws=100)
        assert found.sampler.name == "direct" and not isinstance(
            found._fit.problem.transport, GroupLaws
        )
