"""What the chains of exact samplers tell of themselves, and what is warned of."""

import copy
import dataclasses
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import DivergentTransitionsWarning, LowEnergyWarning, SGMCWarning
from sgmc.fit.fitted import ChainFacts
from sgmc.results.report.fit_warnings import transitions

COLUMNS = [
    "steps",
    "data_passes",
    "batch_size",
    "acceptance",
    "step_size",
    "divergences",
    "e_bfmi",
    "beyond",
    "spacing",
    "violations",
    "missed",
    "leapfrogs",
    "tree_depth",
    "saturated",
]
EXACT = ("rwm", "mala", "barker", "hmc", "mmala")
rng = np.random.default_rng(6)
X = np.column_stack([np.ones(300), rng.normal(size=(300, 2))])
Y = (rng.random(300) < 1 / (1 + np.exp(0.5 - X[:, 1]))).astype(int)


def fit(sampler, draws=120, **how):
    """A short fit without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        return sgmc.Logit(Y, X).fit(
            sampler=sampler, **{"draws": draws, "warmup": 100, "seed": 2, **how}
        )


@pytest.mark.parametrize("name", EXACT)
def test_a_row_a_chain(name):
    results = fit(name, thin=2, chains=3)
    table = results.chain_diagnostics()
    assert list(table.columns) == COLUMNS
    assert list(table.index) == [0, 1, 2]
    assert table.index.name == "chain"
    assert (table.steps == 100 + 2 * 120).all() and (table.divergences == 0).all()
    assert table.acceptance.between(0.05, 1).all()
    assert table.step_size.nunique() == (1 if name == "mala" else 3)  # mala's are all at its cap
    assert dict(results.header[0])["Acceptance"] == f"{table.acceptance.mean():.2f}"
    assert f"{results.step_size:.3g}" == f"{table.step_size.mean():.3g}"
    assert f"{table.data_passes.sum():.4g}" == dict(results.header[1])["Data passes"]
    if name == "hmc":
        assert table.e_bfmi.between(0.3, 2).all() and (table.data_passes > table.steps).all()
    else:
        assert table.e_bfmi.isna().all()


def test_acceptance_is_the_share_of_moves():
    """Without thinning a rejected proposal repeats the draw."""
    results = fit("mala", draws=400)
    moved = (np.diff(results.draws, axis=1) != 0).any(axis=2).mean(axis=1)
    np.testing.assert_allclose(results.chain_diagnostics().acceptance, moved, atol=1 / 399)


@pytest.mark.parametrize("name, step", [("lmsgld", True), ("sgld", True), ("laplace", False)])
def test_what_does_not_apply_is_nan(name, step):
    table = fit(name).chain_diagnostics()
    assert table[["acceptance", "divergences", "e_bfmi"]].isna().all(axis=None)
    assert table.step_size.notna().all() == step and (table.data_passes > 0).all() == step


def test_the_step_of_a_schedule_is_the_last_one():
    how = {"thin": 1, "warmup": 0, "draws": 50}
    table = fit("sgld", step_size=lambda t: 0.5 / (1 + t), **how).chain_diagnostics()
    np.testing.assert_allclose(table.step_size, 0.5 / 50)
    np.testing.assert_allclose(fit("mala", step_size=0.3, **how).chain_diagnostics().step_size, 0.3)


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", ["hmc", "mala", "lmsgld"])
def test_facts_survive_files_copies_and_resuming(name, tmp_path):
    results, whole = fit(name), fit(name, draws=200)
    table = results.chain_diagnostics()
    results.save(tmp_path / "fit")
    for again in (
        sgmc.load(tmp_path / "fit"),
        pickle.loads(pickle.dumps(results)),
        copy.copy(results),
    ):
        pd.testing.assert_frame_equal(again.chain_diagnostics(), table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        resumed = [
            results.resume(80),
            sgmc.load(tmp_path / "fit").resume(80, data=sgmc.Logit(Y, X)),
        ]
    for again in resumed:
        pd.testing.assert_frame_equal(again.chain_diagnostics(), whole.chain_diagnostics())
    pd.testing.assert_frame_equal(results.chain_diagnostics(), table)


def test_a_step_that_is_far_too_long_is_warned_of():
    """With sigma 1000 sd every proposal loses thousands in log posterior;
    a given step counts from the first step.
    """
    results = fit("rwm", step_size=1000.0)
    table = results.chain_diagnostics()
    found = [w for w in results.warnings if isinstance(w, DivergentTransitionsWarning)]
    assert (table.divergences == 220).all() and (table.acceptance == 0).all()
    assert len(found) == 1
    assert "880 of 880 proposals" in found[0].message
    assert found[0].advice == "Leave step_size=None."
    assert "[DivergentTransitionsWarning]" in results.summary().as_text()


def facts(**changed):
    """A healthy chain but for what is changed."""
    return ChainFacts(
        **{
            "steps": 600,
            "data_passes": 1500.0,
            "proposed": 100.0,
            "accepted": 80.0,
            "divergences": 0.0,
            "impossible": 0.0,
            "step_size": 0.8,
            "e_bfmi": 0.9,
        }
        | changed
    )


def concerns(results, *chains, ends=False):
    """What is said of a fit with other chains."""
    return transitions(dataclasses.replace(results._fit, chains=list(chains)), ends)


def test_divergent_transitions_and_low_energies_are_warned_of_by_name_and_chain():
    results = fit("hmc")
    assert concerns(results, facts(), facts(e_bfmi=0.31)) == []
    assert concerns(results, facts(e_bfmi=float("nan"))) == []
    (found,) = concerns(results, facts(), facts(divergences=3.0))
    assert type(found) is DivergentTransitionsWarning and "3 of 200 proposals" in found.message
    assert found.advice == "Try sampler=sgmc.HMC(target_accept=0.95)."
    outside = facts(divergences=3.0, impossible=3.0)
    assert len(concerns(results, outside)) == 1 and concerns(results, outside, ends=True) == []
    (found,) = concerns(results, facts(e_bfmi=0.2), facts(), facts(e_bfmi=0.1))
    assert type(found) is LowEnergyWarning
    assert "E-BFMI 0.1 < 0.3 (chains 0, 2)" in found.message
    assert "draws" in found.advice


def test_energies_of_heavy_tails_are_explored_more_slowly():
    """Hardly any data leave ten coefficients to their prior.  Over three seeds and four chains the
    fraction is 0.13 to 0.43 for Cauchy priors, which spread the energies far beyond what fresh
    momenta change, and 1.06 to 1.16 for normal ones.
    """
    few = 1e-3 * np.random.default_rng(6).normal(size=(30, 10))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        heavy, light = (
            sgmc.Logit(np.arange(30) % 2, few).fit(sampler="hmc", prior=prior, draws=5000, seed=3)
            for prior in (sgmc.cauchy(0, 2.5), sgmc.normal(0, 1))
        )
    assert heavy.chain_diagnostics().e_bfmi.max() < 0.7
    assert light.chain_diagnostics().e_bfmi.min() > 0.9
    assert LowEnergyWarning not in map(type, light.warnings)
