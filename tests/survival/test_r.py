"""Large tables against R's maximum likelihood."""

import shutil
import subprocess

import numpy as np
import pytest

import sgmc

from .reference import by_r
from .tables import FORMULAS, simulated

ROWS = 10_000
# what R 4.2.2, survival 3.5, printed for `simulated(law, ROWS, 1, kind)` by the code of `by_r`:
# coefficients, log scale, their standard errors, log likelihood; test_r_is_as_printed does it again
PRINTED = {
    ("weibull", "right"): (
        "1.99788481639e+00 5.01011928333e-01 -7.96653493084e-01 -5.17995479725e-01 "
        "1.00598423570e-02 7.17051710285e-03 1.44221802428e-02 9.20192005660e-03 "
        "-1.68146512438e+04"
    ),
    ("exponential", "right"): (
        "1.99655438865e+00 5.02284982897e-01 -8.02385464078e-01 "
        "1.68074759775e-02 1.19618324810e-02 2.40933589460e-02 -1.79256813267e+04"
    ),
    ("lognormal", "right"): (
        "2.00151029044e+00 5.00589222950e-01 -8.05263296132e-01 -5.21684763903e-01 "
        "9.64363153194e-03 6.78877359132e-03 1.36064980438e-02 9.04761876102e-03 "
        "-1.54292944430e+04"
    ),
    ("loglogistic", "right"): (
        "1.99899554191e+00 4.97771896818e-01 -8.04916311236e-01 -5.24498156558e-01 "
        "1.60213844728e-02 1.13439530914e-02 2.26894631395e-02 1.07374709657e-02 "
        "-1.72603432288e+04"
    ),
    ("weibull", "left"): (
        "1.99604690735e+00 5.00847901809e-01 -7.90450636381e-01 -5.17812086249e-01 "
        "1.16534700925e-02 7.56623953823e-03 1.49582340562e-02 1.28871066774e-02 "
        "-9.83496125042e+03"
    ),
    ("weibull", "interval"): (
        "1.99573909647e+00 5.06142995704e-01 -8.03943648212e-01 -5.17977024410e-01 "
        "1.06320153222e-02 7.27739976147e-03 1.47200799322e-02 1.09643606988e-02 "
        "-1.08622354957e+04"
    ),
    ("lognormal", "interval"): (
        "1.99565476312e+00 5.03854239648e-01 -8.02447584731e-01 -5.17104626023e-01 "
        "1.02335589223e-02 7.27434846625e-03 1.45958187615e-02 9.64023445879e-03 "
        "-1.20729540709e+04"
    ),
    ("loglogistic", "interval"): (
        "1.99364299569e+00 5.04972096065e-01 -7.99015756233e-01 -5.25591777512e-01 "
        "1.64500981612e-02 1.17700250795e-02 2.34553915988e-02 1.10882228022e-02 "
        "-1.54866065142e+04"
    ),
}
FAST = [("weibull", "right"), ("lognormal", "interval")]


def estimates(case):
    """R's estimates with sigma for its log, their standard errors, and the log likelihood."""
    numbers = np.array(PRINTED[case].split(), dtype=float)
    k = len(numbers) // 2
    found, errors = numbers[:k].copy(), numbers[k:-1].copy()
    if k == 4:
        found[3] = np.exp(found[3])
        errors[3] *= found[3]
    return found, errors, numbers[-1]


@pytest.mark.extended
@pytest.mark.parametrize("case", PRINTED, ids=" ".join)
def test_many_rows_have_rs_estimates_and_errors(case):
    """Means within 0.1 standard errors: three Monte Carlo errors of 12,000 effective draws, 0.03,
    and the difference of mean and mode, up to 0.07.  Sds within 2.5 %: four such errors.
    """
    law, kind = case
    results = sgmc.survreg(
        FORMULAS[kind], simulated(law, ROWS, 1, kind), dist=law, seed=1, draws=4000, prior="flat"
    )
    found, errors, likelihood = estimates(case)
    assert (np.abs(results.params - found) / errors).max() < 0.1
    assert np.abs(results.bse / errors - 1).max() < 0.025
    assert results.llf == pytest.approx(likelihood, abs=0.02)
    assert results.verdict.trustworthy


@pytest.mark.extended
@pytest.mark.parametrize(
    "case",
    [pytest.param(one, marks=() if one in FAST else pytest.mark.extended) for one in PRINTED],
    ids=" ".join,
)
def test_the_mode_is_rs_maximum(case):
    """By the search for the mode under flat priors, which is where draws of few rows begin; that of
    sigma is the marginal one, up to 0.06 errors away, so the log likelihood at R's is larger.
    """
    law, kind = case
    results = sgmc.survreg(
        FORMULAS[kind],
        simulated(law, ROWS, 1, kind),
        dist=law,
        seed=1,
        sampler="laplace",
        draws=1000,
        prior="flat",
    )
    found, errors, likelihood = estimates(case)
    mode = results._fit.problem.coordinates.back @ results._fit.problem.mode.theta
    mode[3:] = np.exp(mode[3:])
    assert (np.abs(mode - found) / errors).max() < 0.06
    assert likelihood - 0.01 < results.llf < likelihood + 1e-6


@pytest.mark.extended
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
@pytest.mark.parametrize("case", PRINTED, ids=" ".join)
def test_r_is_as_printed(case, tmp_path):
    law, kind = case
    simulated(law, ROWS, 1, kind).to_csv(tmp_path / "frame.csv", index=False)
    run = subprocess.run(
        ["Rscript", "-e", by_r(law, kind, tmp_path / "frame.csv")], capture_output=True, text=True
    )
    if "there is no package called" in run.stderr:
        pytest.skip("R has no package survival")
    found = np.array(run.stdout.split(), dtype=float)
    np.testing.assert_allclose(found, np.array(PRINTED[case].split(), dtype=float), rtol=1e-4)
