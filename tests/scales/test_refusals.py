"""What does not go with learned scales, and what is wrong with priors, in a sentence each."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import sgmc
from sgmc.errors import ArgumentError, NotSupported

RANDOM = np.random.default_rng(1)
FRAME = pd.DataFrame(RANDOM.normal(size=(60, 3)), columns=list("abc"))
FRAME["y"] = FRAME.a + RANDOM.normal(size=60)
FRAME["g"] = np.arange(60) % 6
FRAME["kind"] = np.array(["p", "q", "r"])[np.arange(60) % 3]
RIDGE = sgmc.ridge()


@pytest.mark.parametrize(
    "how, text",
    [
        (dict(cov_type="robust"), "cov_type='robust'"),
        (dict(modes="search"), "modes='search'"),
        (dict(precondition="diag"), "precondition='diag'"),
        (dict(sampler="sgld"), "sgld does not apply"),
        (dict(sampler="zigzag"), "zigzag does not apply"),
        (dict(sampler="laplace"), "laplace does not apply"),
        (dict(tune="grid"), "does not go with group terms, nor with tuning"),
    ],
)
def test_settings(how, text):
    with pytest.raises(NotSupported, match=text):
        sgmc.ols("y ~ a + b + c", FRAME, prior=RIDGE, **how)


def test_batches():
    with pytest.raises(ArgumentError, match="batch_size does not apply .* a learned prior scale"):
        sgmc.ols("y ~ a + b", FRAME, prior=RIDGE, batch_size=10)


@pytest.mark.parametrize(
    "model, text",
    [
        (lambda: sgmc.mnlogit("kind ~ a + b", FRAME, prior=RIDGE), "several equations of mnlogit"),
        (lambda: sgmc.ols("y ~ a + (1 | g)", FRAME, prior=RIDGE), "group terms"),
        (
            lambda: sgmc.OLS(FRAME.y.to_numpy(), sparse.csr_array(FRAME[["a", "b"]])).fit(
                prior=RIDGE
            ),
            "sparse",
        ),
        (
            lambda: sgmc.OLS(RANDOM.normal(size=9), RANDOM.normal(size=(9, 1001))).fit(prior=RIDGE),
            "1001 coefficients",
        ),
    ],
)
def test_models(model, text):
    with pytest.raises(NotSupported, match=text):
        model()


@pytest.mark.parametrize(
    "prior, error, text",
    [
        ({"Intercept": RIDGE}, ArgumentError, "'Intercept' is none"),
        ({"sigma": sgmc.r2d2()}, ArgumentError, "'sigma' is none"),
        ({"a": RIDGE, "b": sgmc.horseshoe()}, NotSupported, "give both learned=True"),
        ({"a": RIDGE, "b": sgmc.ridge(scale=1)}, NotSupported, "give each a group="),
    ],
)
def test_priors_together(prior, error, text):
    with pytest.raises(error, match=text):
        sgmc.ols("y ~ a + b", FRAME, prior=prior)


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: sgmc.ridge(scale=-1), "ridge: scale=-1"),
        (lambda: sgmc.ridge(df=0), "ridge: df=0"),
        (lambda: sgmc.r2d2(mean=2), "r2d2: mean=2"),
        (lambda: sgmc.r2d2(precision=0), "r2d2: precision=0"),
        (lambda: sgmc.horseshoe(nonzero=-1, learned=True), "horseshoe: nonzero=-1"),
        (lambda: sgmc.horseshoe(group="a"), "learned=True"),
    ],
)
def test_arguments(make, text):
    with pytest.raises(ArgumentError, match=text):
        make()
