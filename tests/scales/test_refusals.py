"""What does not go with learned scales, and what is wrong with priors, in a sentence each."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import sgmc
from sgmc.errors import ArgumentError, NotSupported

RIDGE = sgmc.ridge()


@cache
def table():
    random = np.random.default_rng(1)
    frame = pd.DataFrame(random.normal(size=(60, 3)), columns=list("abc"))
    kinds = np.array(["p", "q", "r"])[np.arange(60) % 3]
    return frame.assign(y=frame.a + random.normal(size=60), g=np.arange(60) % 6, kind=kinds)


def wide():
    return sgmc.OLS(np.arange(9.0), np.random.default_rng(2).normal(size=(9, 1001)))


def as_sparse():
    return sgmc.OLS(table().y.to_numpy(), sparse.csr_array(table()[["a", "b"]]))


@pytest.mark.parametrize(
    "how, text",
    [
        (dict(cov_type="robust"), "cov_type='robust'"),
        (dict(modes="search"), "modes='search'"),
        (dict(precondition="diag"), "precondition='diag'"),
        (dict(sampler="zigzag"), "bounds"),
        (dict(sampler="vsgbd", batch_size="adaptive"), "leave batch_size=None"),
    ],
)
def test_settings(how, text):
    with pytest.raises(NotSupported, match=text):
        sgmc.ols("y ~ a + b + c", table(), prior=RIDGE, **how)


@pytest.mark.parametrize(
    "model, text",
    [
        (lambda: as_sparse().fit(prior=RIDGE), "sparse"),
        (lambda: wide().fit(prior=RIDGE), "1001 coefficients"),
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
        sgmc.ols("y ~ a + b", table(), prior=prior)


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
