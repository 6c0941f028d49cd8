"""Posteriors at defaults against independent long runs, see `long_runs`."""

import json

import numpy as np
import pytest

import sgmc

from .long_runs import CASES, LEVELS, OUT, PRECISION, table

PRIORS = {
    "ridge": sgmc.ridge(),
    "horseshoe": sgmc.horseshoe(learned=True),
    "r2d2": sgmc.r2d2(precision=PRECISION),
}
# Errors of the runs' own, which average over what coefficients are given the scales, are below 0.03
# sd and 2 %.  4 x 1,000 draws with effective sizes of 1,500: the worst of 200 means is off by
# 3.3 / sqrt(1500) = 0.085 sd.  The worst sd of spiked densities (kurtosis to 40) has an error of
# sqrt(39 / 4 / 1500) = 8 %, so that of sds the root mean square is compared.
MEANS, SDS = 0.1, 0.05
# 4 x 8,000 draws of 200 coefficients under r2d2, whose kurtosis is a hundred and more
MORE = {"ols-r2d2-200": 8000}


def compared(case, prior):
    """Differences from the long run: of means in sds, of sds, of probabilities of its quantiles."""
    family, kind, _ = case.split("-")
    run = json.loads(OUT.read_text())[case]
    n, d, _ = CASES[case]
    X, y = table(family, n, d)
    cls = {"ols": sgmc.OLS, "logit": sgmc.Logit}[family]
    res = cls(y, np.column_stack([np.ones(n), X])).fit(
        prior={"*": prior}, seed=11, draws=MORE.get(case, 1000)
    )
    draws = res.draws.reshape(-1, res.draws.shape[2])
    b, sd = draws[:, 1 : d + 1], np.array(run["sd"])
    means, sds = (b.mean(axis=0) - run["mean"]) / sd, b.std(axis=0) / sd - 1
    at = [np.mean(draws[:, d + 1] <= one) - level for one, level in zip(run["global"], LEVELS)]
    if family == "ols":
        sigma = [np.mean(draws[:, -1] <= one) - p for one, p in zip(run["sigma"], LEVELS)]
        at += sigma
    return means, sds, np.array(at), res


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # the verdict may ask for more draws
@pytest.mark.extended
@pytest.mark.parametrize("case", CASES)
def test_posteriors_at_defaults_are_those_of_long_runs(case):
    means, sds, at, _ = compared(case, PRIORS[case.split("-")[1]])
    assert np.abs(means).max() < MEANS
    assert np.sqrt(np.mean(sds**2)) < SDS
    # 0.05 of a probability: four standard errors at 1,600 effective draws, the run's own included
    assert np.abs(at).max() < 0.05


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize(
    "case, wrong",
    [
        ("ols-horseshoe-50", sgmc.horseshoe(50, learned=True)),
        ("ols-ridge-50", sgmc.ridge(scale=0.05)),
        ("logit-r2d2-50", sgmc.r2d2(precision=2.0)),
    ],
    ids=["horseshoe", "ridge", "r2d2"],
)
def test_another_hyperprior_is_seen(case, wrong):
    means, sds, at, _ = compared(case, wrong)
    assert (np.abs(means).max() > MEANS) or np.abs(at).max() > 0.05
