"""Tables of one smooth's sd by normal laws of its effects and a few searches with all rows."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.fit import choose
from sgmc.models.regression.latent.sampled.independent import proposals
from sgmc.models.regression.latent.sampled.independent.normal_effects import NormalEffects

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


def curve(n=3000, height=1.0):
    rng = np.random.default_rng(2)
    x, z = rng.uniform(size=n), rng.normal(size=n)
    eta = height * np.sin(6 * x) + 0.3 * z
    b, c = (eta + rng.logistic(size=n) > 0) * 1, rng.gamma(2, np.exp(eta) / 2)
    return pd.DataFrame({"x": x, "z": z, "b": b, "c": c})


def seen(monkeypatch, without=None, **more):
    """A fit, and the transport that was judged, without one way to its tables."""
    found, usual = [], proposals.LaplaceTransport.judged

    def judged(*given):
        found.append(usual(*given))
        return found[-1]

    with monkeypatch.context() as here:
        here.setattr(proposals.LaplaceTransport, "judged", judged)
        if without is not None:
            here.setattr(proposals, without, lambda *given: None)
        fit = sgmc.logit("b ~ s(x) + z", curve(**more), seed=1, draws=50)
    return fit, found[0]


def test_the_law_at_another_sd_is_that_of_dense_matrices():
    rng, d, effects, first = np.random.default_rng(0), 2, 3, 0.7
    k = d + effects
    half = rng.normal(size=(k + 3, k))
    rows, linear = half.T @ half, rng.normal(size=k)
    inner = np.arange(k) >= d
    own = np.full(effects, first)
    prior = rows + np.diag(inner / first**2)
    law = NormalEffects(lambda psi: psi.repeat(effects, 1), lambda psi: 0.0, own, prior, linear)
    sds = np.array([0.2, 0.7, 1.9])
    found, wanted = law.at(sds[:, None]), []
    for sd, mean, root in zip(sds, found.mean, found.root):
        A, units = rows + np.diag(inner / sd**2), np.where(inner, sd, 1.0)
        b = np.linalg.solve(A, linear)
        wanted.append(0.5 * linear @ b - 0.5 * np.linalg.slogdet(A)[1] - effects * np.log(sd))
        assert mean == pytest.approx(b / units)
        assert root.T @ root == pytest.approx(np.linalg.inv(A) / np.outer(units, units))
        assert np.array_equal(root, np.triu(root))
    # equal up to one constant
    assert found.log_density - found.log_density[0] == pytest.approx(np.array(wanted) - wanted[0])


@pytest.mark.parametrize("height", [0.0, 1.0])
def test_a_few_searches_make_the_table_that_all_make(height, monkeypatch):
    """Densities in nats where 99.99 % of the mass is; means, in sds, are those of searches that
    end within 0.005 sd, and are twice as far apart at most.
    """
    fit, usual = seen(monkeypatch, "by_few_passes", height=height)
    same, few = seen(monkeypatch, "by_all_nodes", height=height)
    assert same.verdict.trustworthy == fit.verdict.trustworthy
    psi = usual.grid.nodes()[..., 0][:, None]
    value = usual.grid.log_density(psi)
    likely = value > value.max() - 8
    apart = few.grid.log_density(psi[likely]) - value[likely]
    assert np.ptp(apart) < choose.SAME_POSTERIOR
    k = usual.means.shape[1]
    places = few.grid.places(psi[likely])
    off = proposals.looked_up(few.means, places) - usual.means[likely]
    roots = usual.roots.reshape(-1, k, k)[likely]
    away = np.linalg.solve(np.swapaxes(roots, 1, 2), off[..., None])[..., 0]
    assert np.sqrt((away**2).mean(axis=1)).max() < 0.01
    assert few.skewed_sd == pytest.approx(usual.skewed_sd, abs=0.02)


@pytest.mark.parametrize("verb, formula", [("gamma", "c ~ s(x) + z"), ("logit", "b ~ s(x) + s(z)")])
def test_two_numbers_have_a_table_by_few_searches(verb, formula, monkeypatch):
    """Another parameter, or another sd: log weights of skewed proposals vary no more than those of
    searches at all nodes do, with an sd of 0.01 to 0.09.
    """
    monkeypatch.setattr(proposals, "by_all_nodes", lambda *given: None)  # no table but this one
    skewed, usual = [], proposals.LaplaceTransport.judged

    def judged(*given):
        found = usual(*given)
        skewed.append(found.skewed_sd)
        return found

    monkeypatch.setattr(proposals.LaplaceTransport, "judged", judged)
    getattr(sgmc, verb)(formula, curve(40_000), seed=1, draws=5, chains=1)
    assert skewed and max(skewed) < 0.03


@pytest.mark.mistake("normal laws of effects: {mistake}")
@pytest.mark.parametrize(
    "name, mistake",
    [("logit", one) for one in ("effects' densities twice", "prior left out", "half of the roots")],
)
def test_mistakes_in_the_laws_are_seen_by_weights(name, mistake, monkeypatch):
    right = seen(monkeypatch)[1].skewed_sd
    monkeypatch.setattr(NormalEffects, "corrected", lambda law, *given: law)
    usual = NormalEffects.at
    if mistake == "half of the roots":
        monkeypatch.setattr(
            NormalEffects,
            "at",
            lambda law, psi: usual(law, psi)._replace(root=usual(law, psi).root / 2),
        )
    elif mistake == "prior left out":
        monkeypatch.setattr(proposals.Settled, "prior", lambda settled, psi: 0.0)
    else:
        monkeypatch.setattr(
            proposals.Settled, "prior", lambda settled, psi: -np.log(settled.sds(psi)).sum(1)
        )
    assert not seen(monkeypatch)[1].skewed_sd < 3 * right


def test_what_is_not_smooth_is_tabulated_at_all_nodes(monkeypatch):
    _, usual = seen(monkeypatch, "by_few_passes")
    monkeypatch.setattr(NormalEffects, "corrected", lambda law, *given: None)
    _, found = seen(monkeypatch)
    # searches begin elsewhere, and end within 0.005 sd of the same modes
    psi = usual.grid.nodes()[..., 0][:, None]
    near = usual.grid.log_density(psi) > usual.grid.log_density(psi).max() - 8
    apart = found.grid.log_density(psi[near]) - usual.grid.log_density(psi[near])
    assert np.abs(apart).max() < 1e-6
