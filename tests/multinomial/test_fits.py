"""Weights, strata, subsets, separation, priors and refusals of several equations."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import sgmc
from sgmc.errors import ArgumentError, DataError, FormulaError, NotSupported

from .cases import COUNT, FORMULA, FRAME, WORDS, anes96, fitted, of_words


def assert_same_gaussian(one, other):
    """Equal modes and curvatures there; draws differ, because the rows do."""
    for a, b in zip(
        *(
            [
                r._fit.problem.coordinates.reported(np.zeros(len(r.names))),
                r._fit.problem.curvature_covariance,
            ]
            for r in (one, other)
        )
    ):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


def test_weights_are_so_many_rows():
    weighted = sgmc.mnlogit("kind ~ x", FRAME, weights="w", seed=1)
    repeated = sgmc.mnlogit("kind ~ x", FRAME.loc[FRAME.index.repeat(FRAME.w)], seed=1)
    assert_same_gaussian(weighted, repeated)
    assert weighted.nobs == repeated.nobs == FRAME.w.sum()
    assert weighted.null_deviance == pytest.approx(repeated.null_deviance)
    assert (
        np.abs(weighted.params - repeated.params) < 5 * np.hypot(weighted.mcse(), repeated.mcse())
    ).all()
    with pytest.raises(AssertionError):
        assert_same_gaussian(weighted, sgmc.mnlogit("kind ~ x", FRAME, seed=1))


def test_counts_of_kinds_are_rows_with_weights():
    """What the message about cbind() of three columns says to do is right."""
    random = np.random.default_rng(5)
    wide = pd.DataFrame({"x": random.normal(size=60)})
    wide[["blue", "green", "red"]] = random.multinomial(4, [0.5, 0.3, 0.2], size=60)
    with pytest.raises(FormulaError, match=r"df.melt\(id_vars=.*weights='n'"):
        sgmc.mnlogit("cbind(blue, green, red) ~ x", wide)
    long = wide.melt("x", ["blue", "green", "red"], "kind", "n")
    single = long.loc[long.index.repeat(long.n)]
    counts = sgmc.mnlogit("kind ~ x", long, weights="n", seed=1)
    assert_same_gaussian(counts, sgmc.mnlogit("kind ~ x", single, seed=1))
    assert counts.nobs == 240


@pytest.mark.extended
def test_strata_leave_the_posterior_as_it_is():
    """Of a column, or of the kinds themselves."""
    plain = sgmc.mnlogit("kind ~ x", FRAME, seed=1)
    for how in (dict(strata="g"), dict()):
        found = sgmc.mnlogit(
            "kind ~ x", FRAME, seed=1, sampler="lmsgld", subsample="stratified", draws=2000, **how
        )
        assert_same_gaussian(found, plain)
        assert (
            np.abs(found.params - plain.params) < 5 * np.hypot(found.mcse(), plain.mcse())
        ).all()


def test_subsets_by_kind_and_by_predictor():
    frame = FRAME.assign(kind=np.where(np.arange(COUNT) % 4 == 1, "pink", WORDS))
    found = sgmc.mnlogit("kind ~ x", frame, subset="kind != 'pink'", seed=1)
    assert found.model.levels == ("blue", "green", "red")
    np.testing.assert_array_equal(
        found.draws, sgmc.mnlogit("kind ~ x", frame[frame.kind != "pink"], seed=1).draws
    )
    some = sgmc.mnlogit("kind ~ x", FRAME, subset=lambda df: df.x > 0, seed=1)
    np.testing.assert_array_equal(
        some.draws, sgmc.mnlogit("kind ~ x", FRAME[FRAME.x > 0], seed=1).draws
    )


def test_complete_separation():
    frame = pd.DataFrame({"x": np.arange(30.0), "kind": np.repeat(["a", "b", "c"], 10)})
    with pytest.warns(sgmc.SGMCWarning, match="the predictors separate the outcomes completely"):
        sgmc.mnlogit("kind ~ x", frame, seed=1)
    with pytest.raises(
        DataError,
        match="the posterior is improper: .* in the direction .*, and the priors of .* are flat",
    ):
        sgmc.mnlogit("kind ~ x", frame, prior="flat")


def test_reprs_count_all_equations():
    model = sgmc.MNLogit(WORDS, sm.add_constant(FRAME[["x"]]))
    assert repr(model) == "<Multinomial logit model: 300 rows, 4 coefficients>"
    assert (
        repr(model.fit(seed=1))
        == "<Multinomial logit posterior: 4 parameters, 4 chains x 1000 draws>"
    )


@pytest.mark.parametrize(
    "how, message",
    [
        (
            dict(init=np.zeros(2)),
            r"init has shape \(2,\); it must be \(4,\) or \(4, 4\); give one number for each "
            "parameter$",
        ),
        (
            dict(init=pd.Series(0.0, ["red:x", "red:Intercept", "green:x", "green:Intercept"])),
            "it must be green:Intercept, green:x, red:Intercept, red:x, in this order",
        ),
        (
            dict(prior={"blue:x": "normal"}),
            "prior: 'blue:x' is neither a term nor a column of the design",
        ),
        (
            dict(sampler="csgbd", precondition="dense"),
            "families with auxiliary parameters or several equations",
        ),
    ],
    ids=range(4),
)
def test_arguments_that_do_not_suit_the_equations(how, message):
    with pytest.raises((ArgumentError, NotSupported), match=message):
        sgmc.mnlogit("kind ~ x", FRAME, **how)


def test_statements_of_an_equation_that_is_none():
    """The first level has no equation."""
    with pytest.raises(
        ArgumentError, match="hypothesis: 'blue:x' is not a parameter; they are: green:Intercept, "
    ):
        of_words().hypothesis("`green:x` > `blue:x`")


@pytest.mark.extended
def test_priors_by_column_and_by_equation():
    prior = {"age": sgmc.normal(0, 1), "2:age": sgmc.normal(0, 3), "Intercept": sgmc.normal(0, 9)}
    used = sgmc.mnlogit(FORMULA, anes96(), seed=1, prior=prior).prior_summary().used
    assert (used["1:age"], used["2:age"], used["6:age"], used["3:Intercept"]) == (
        "normal(0, 1)",
        "normal(0, 3)",
        "normal(0, 1)",
        "normal(0, 9)",
    )


@pytest.mark.parametrize(
    "how, error, message",
    [
        (dict(offset="age"), ArgumentError, "offset does not apply to mnlogit"),
        (dict(exposure="age"), ArgumentError, "exposure does not apply to mnlogit"),
        (
            dict(subset="PID < 2"),
            DataError,
            (
                "the outcome 'PID' has 2 kinds in the rows used; mnlogit is for three or more, use "
                "logit"
            ),
        ),
    ],
)
def test_what_does_not_apply_is_refused(how, error, message):
    with pytest.raises(error, match=message):
        sgmc.mnlogit(FORMULA, anes96(), **how)


@pytest.mark.extended("resid_response")
@pytest.mark.parametrize("name", ["resid_response", "resid_pearson", "resid_deviance"])
def test_kinds_have_no_residuals(name):
    with pytest.raises(NotSupported, match=f"{name} needs .* those of mnlogit are kinds"):
        getattr(fitted("default"), name)


def test_missing_labels_of_arrays_are_refused():
    with pytest.raises(DataError, match="endog has missing values"):
        sgmc.MNLogit(["a", None, "b", "c"], np.ones((4, 1)))
