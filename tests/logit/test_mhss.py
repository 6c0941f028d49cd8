"""Fits by mhss: beside mala, on few rows a step, resumed, and refused where there are no bounds."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, NotSupported

RNG = np.random.default_rng(4)
ROWS = 3000
X = pd.DataFrame(RNG.normal(size=(ROWS, 3)), columns=list("abc"))
ETA = 0.4 * X.a - 0.6 * X.b + 0.2
FRAME = X.assign(
    y=(RNG.random(ROWS) < 1 / (1 + np.exp(-ETA))).astype(int),
    rare=(RNG.random(ROWS) < 1 / (1 + np.exp(4 - ETA))).astype(int),
    count=RNG.poisson(np.exp(ETA)),
    t=ETA + RNG.standard_t(4, ROWS),
    k=RNG.choice(list("uvw"), ROWS),
    w=RNG.integers(1, 4, ROWS).astype(float),
)
CASES = {
    "logit": (sgmc.logit, "y ~ a + b + c", {}),
    "rare": (sgmc.logit, "rare ~ a + b + c", {}),
    "probit": (sgmc.probit, "y ~ a + b + c", {}),
    "poisson": (sgmc.poisson, "count ~ a + b + c", {}),
    "rlm": (sgmc.rlm, "t ~ a + b + c", {"sigma": 1.0}),
    "weights": (sgmc.logit, "y ~ a + b + c", {"weights": "w"}),
    "laplace prior": (sgmc.logit, "y ~ a + b + c", {"prior": "laplace"}),
}
LIMIT = 4.0  # standard errors of 56 differences: one run in 300 has one that is larger


def fit(case, sampler="mhss", seed=1, **how):
    verb, formula, own = CASES[case]
    return verb(formula, FRAME, sampler=sampler, seed=seed, **{"draws": 3000, **own, **how})


@pytest.mark.extended
@pytest.mark.parametrize("case", CASES)
def test_it_agrees_with_mala(case):
    one, two = fit(case), fit(case, "mala", thin=2)
    mine, theirs = (res.draws.reshape(-1, res.draws.shape[-1]) for res in (one, two))
    sd = theirs.std(axis=0)
    mean = np.hypot(one.mcse(), two.mcse())
    spread = np.hypot(one.mcse("sd"), two.mcse("sd"))
    assert (np.abs(mine.mean(axis=0) - theirs.mean(axis=0)) < LIMIT * mean).all()
    assert (np.abs(mine.std(axis=0) - sd) < LIMIT * spread).all()
    assert (mean < 0.06 * sd).all()  # so that a tenth of an sd would be seen


@pytest.mark.parametrize("case", ["logit", "poisson"])
def test_it_touches_few_rows(case):
    passes = fit(case).chain_diagnostics().data_passes
    assert (passes < 3500 * 0.02).all()  # a fiftieth of the rows a step


def test_first_order_touches_more(recwarn):
    first = fit("logit", sgmc.MHSS(order=1)).chain_diagnostics().data_passes
    assert (first > 3 * fit("logit").chain_diagnostics().data_passes).all()


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_a_seed_gives_the_same_bits_and_more_draws_go_on():
    one, two = (fit("logit", draws=200, chains=2) for _ in range(2))
    np.testing.assert_array_equal(one.draws, two.draws)
    np.testing.assert_array_equal(
        one.resume(draws=300).draws, fit("logit", draws=500, chains=2).draws
    )


@pytest.mark.parametrize(
    "verb, formula, how, message",
    [
        (sgmc.ols, "t ~ a", {}, "mhss does not apply to ols.*sigma.*sampler='mala'"),
        (sgmc.rlm, "t ~ a", {}, "mhss does not apply to rlm.*sigma.*sampler='mala'"),
        (sgmc.mnlogit, "k ~ a", {}, "mhss does not apply to mnlogit.*no bound.*'mala'"),
        (sgmc.logit, "y ~ a", {"precondition": "diag"}, "mhss needs coordinates that are whitened"),
    ],
)
def test_what_has_no_bounds_is_refused_by_name(verb, formula, how, message):
    with pytest.raises(NotSupported, match=message):
        verb(formula, FRAME, sampler="mhss", **how)


@pytest.mark.parametrize(
    "how, message",
    [
        ({"batch_size": 10}, "batch_size does not apply to mhss: it uses as many rows as"),
        ({"gradient": "cv"}, "gradient='cv' does not apply to mhss"),
        ({"warmup": "threshold"}, "warmup='threshold' does not apply to mhss"),
    ],
)
def test_arguments_that_do_not_apply_are_refused(how, message):
    with pytest.raises(ArgumentError, match=message):
        fit("logit", **how)
