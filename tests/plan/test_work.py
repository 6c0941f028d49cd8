"""What `auto` chooses on wide tables, by counted flops and bytes."""

import numpy as np
import pytest
from scipy import sparse

import sgmc
from sgmc.fit import choose
from sgmc.fit.settings import check_settings

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
FEW = {"draws": 100, "chains": 2}  # so that the pilot of mini-batches does not pay


def wide(n, d, seed=1):
    """A logit model of n rows and d standard normal columns."""
    rng = np.random.default_rng([seed, n, d])
    X = rng.normal(size=(n, d))
    eta = X @ rng.normal(size=d) / (2 * np.sqrt(d))
    return sgmc.Logit((rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float), X)


def problem(model, **how):
    """The posterior with the settings that it was built for."""
    settings = check_settings(seed=1, **how)
    return model.problem(None, settings), settings


def test_few_draws_of_a_wide_table_are_independent_proposals():
    results = wide(3000, 100).fit(seed=1, **FEW)
    assert type(results.sampler) is sgmc.IMH
    text = " ".join(results.summary(details=True).as_text().split())
    assert "from counted flops and bytes: imh about" in text and "mini-batches" in text


def test_many_draws_of_many_rows_are_of_minibatches():
    results = wide(20_000, 64).fit(seed=1)
    assert type(results.sampler) is sgmc.LMSGLD
    assert "from counted flops and bytes: mini-batches about" in " ".join(
        results.summary(details=True).as_text().split()
    )


@pytest.mark.parametrize(
    "d, how",
    [(63, {}), (100, {"gradient": "cv"}), (100, {"batch_size": 50}), (100, {"step_size": 0.5})],
    ids=["narrow", "gradient", "batch", "step"],
)
def test_nothing_is_counted_for_narrow_tables_or_where_minibatches_are_asked_for(d, how):
    assert choose.products(*problem(wide(1000, d), **how)) is None


def test_sparse_tables_have_no_products():
    model = wide(1000, 100)
    again = sgmc.Logit(np.arange(1000) % 2, sparse.csr_array(np.eye(1000)[:, :100]))
    assert problem(model)[0].products and not problem(again)[0].products


def test_weights_that_vary_too_much_leave_the_choice_to_minibatches():
    """300 rows for 200 columns: the variance of log weights is far above what tells anything."""
    posterior, settings = problem(wide(300, 200))
    assert choose.variance_of_weights(posterior, settings)[0] > choose.MOST_VARIANCE
    assert choose.products(posterior, settings) is None


def test_the_variance_of_weights_falls_with_the_rows():
    """The even part of log pi has terms of order 1/n: its variance falls as 1 / n^2."""
    few, many = (choose.variance_of_weights(*problem(wide(n, 64)))[0] for n in (2000, 8000))
    assert 6 < few / many < 40


def test_walkers_are_taken_where_independent_proposals_mix_badly(monkeypatch):
    posterior, settings = problem(wide(1000, 100))
    chosen = {}
    for v in (0.01, 1.0, 10.0):
        monkeypatch.setattr(choose, "variance_of_weights", lambda *args, v=v: (v, 1e-5))
        chosen[v] = choose.products(posterior, settings)
    assert chosen[0.01].spec == sgmc.IMH() and chosen[0.01].thin == 1
    assert chosen[1.0].spec == chosen[10.0].spec
    assert chosen[1.0].spec == sgmc.HMC(walkers=choose.WALKERS)
    assert chosen[0.01].seconds < chosen[1.0].seconds < chosen[10.0].seconds


@pytest.mark.parametrize("error, single", [(1e-5, True), (1e-2, False)])
def test_products_are_in_float32_where_that_moves_no_log_density(monkeypatch, error, single):
    posterior, settings = problem(wide(1000, 100))
    monkeypatch.setattr(choose, "variance_of_weights", lambda *args: (0.01, error))
    chosen = choose.products(posterior, settings)
    assert (chosen.error is not None) == single
    assert ("float32" in choose.reason_by_work(chosen, [])) == single


def test_the_error_of_float32_is_measured():
    """Against a posterior far from zero, where float32 has fewer digits left."""
    posterior, settings = problem(wide(3000, 100))
    error = choose.variance_of_weights(posterior, settings)[1]
    assert 1e-7 < error < choose.SINGLE_ENOUGH


def test_a_chosen_sampler_goes_on_as_it_began():
    model = wide(3000, 100)
    whole = model.fit(seed=1, draws=200, chains=2)
    part = model.fit(seed=1, draws=100, chains=2).resume(draws=100)
    assert type(whole.sampler) is type(part.sampler) is sgmc.IMH
    assert np.array_equal(whole.draws, part.draws)
