"""Multinomial logit: densities, posteriors on real data,
what is special about outcomes of several kinds.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import special, stats

import sgmc
from sgmc.errors import ArgumentError, DataError, NotSupported
from sgmc.models.regression.families.mnlogit import MnlogitFamily

FORMULA = "PID ~ logpopul + selfLR + age + educ + income"
PRIORS = ["default", "flat"]


@cache
def anes96():
    """The American National Election Study of 1996, shipped with statsmodels:
    seven kinds, 944 rows.
    """
    data = sm.datasets.anes96.load_pandas().data
    return data.assign(PID=data.PID.astype(int))


@cache
def fitted(prior):
    """Defaults only."""
    return sgmc.mnlogit(FORMULA, anes96(), seed=1, **({"prior": "flat"} if prior == "flat" else {}))


def log_posterior(B, X, y, prior):
    """Of coefficients (draw, equation, column)."""
    eta = np.concatenate([np.zeros((len(B), 1, len(y))), B @ X.T], axis=1)
    value = (eta[:, y, np.arange(len(y))] - special.logsumexp(eta, axis=1)).sum(axis=1)
    if prior == "flat":
        return value
    slopes = B[:, :, 1:] * X[:, 1:].std(axis=0, ddof=1) / 2.5
    return (
        value
        - 0.5 * (slopes**2).sum(axis=(1, 2))
        - 0.5 * ((B @ X.mean(axis=0) / 2.5) ** 2).sum(axis=1)
    )


@cache
def reference(prior, draws=20_000):
    """Means and sds by importance sampling from a t with 30 degrees of freedom at statsmodels'
    estimate; the effective size.
    """
    data = anes96()
    X, y = fitted(prior).model.spec.matrix(data), data.PID.to_numpy()
    estimate = sm.MNLogit(y, X).fit(disp=0)
    size = estimate.params.size
    centre = np.asarray(estimate.params).T.ravel()
    root = np.linalg.cholesky(np.asarray(estimate.cov_params()))
    law = stats.multivariate_t(shape=np.eye(size), df=30, seed=5)
    for _ in range(3):  # centre and spread of the draws themselves, twice
        z = law.rvs(draws)
        theta = centre + z @ root.T
        at = np.concatenate(
            [
                log_posterior(part.reshape(len(part), -1, X.shape[1]), X, y, prior)
                for part in np.array_split(theta, 40)
            ]
        )
        w = special.softmax(at - law.logpdf(z))
        mean = w @ theta
        centre, root = mean, np.linalg.cholesky((theta - mean).T @ (w[:, None] * (theta - mean)))
    return mean, np.sqrt(w @ (theta - mean) ** 2), 1 / (w**2).sum()


def test_the_density_is_that_of_a_softmax():
    eta = np.random.default_rng(0).normal(size=(3, 8, 2)) * 5
    y = np.arange(8)[:, None] % 4
    all_of_them = np.concatenate([np.zeros((1, 8, 2)), eta])
    expected = np.take_along_axis(
        special.log_softmax(all_of_them, axis=0), np.broadcast_to(y, (8, 2))[None], axis=0
    )[0]
    np.testing.assert_allclose(MnlogitFamily.log_density(y, eta), expected, rtol=1e-10)
    np.testing.assert_allclose(
        MnlogitFamily.mean(eta), special.softmax(all_of_them, axis=0), rtol=1e-10
    )
    extreme = np.array([[[-800.0]], [[800.0]]])
    assert np.isfinite(MnlogitFamily.log_density(np.array([[0]]), extreme)).all()
    assert np.isfinite(MnlogitFamily.mean(extreme)).all()


@pytest.mark.parametrize("prior", PRIORS)
def test_posteriors_on_real_data_are_right_at_default_settings(prior):
    """0.1 sd for means, 5 % for sds: what is promised;
    the reference's own errors are below 0.02 sd and 1.5 %.
    """
    mean, sd, size = reference(prior)
    results = fitted(prior)
    assert size > 4000
    assert np.abs((results.params - mean) / sd).max() < 0.1
    assert np.abs(results.bse / sd - 1).max() < 0.05


def test_the_prior_is_in_that_reference():
    """Planted: the reference of the default prior, the fit without one."""
    mean, sd, _ = reference("default")
    assert np.abs((fitted("flat").params - mean) / sd).max() > 0.15


def test_names_and_degrees_of_freedom_are_statsmodels():
    results, theirs = fitted("flat"), sm.MNLogit.from_formula(FORMULA, anes96()).fit(disp=0)
    assert results.names[:7] == [
        "1:Intercept",
        "1:logpopul",
        "1:selfLR",
        "1:age",
        "1:educ",
        "1:income",
        "2:Intercept",
    ]
    assert (results.df_model, results.df_resid, results.nobs) == (
        theirs.df_model,
        theirs.df_resid,
        theirs.nobs,
    )
    assert results.null_deviance == pytest.approx(-2 * theirs.llnull, rel=1e-8)
    # at the posterior mean, a hundredth of an sd away from the maximum
    assert abs(results.llf - theirs.llf) < 0.5
    assert results.deviance == pytest.approx(-2 * results.llf, rel=1e-12)


def test_probabilities_of_new_rows():
    results, new = fitted("default"), anes96().iloc[[5, 3]]
    p = results.predict(new)
    assert list(p.columns) == [0, 1, 2, 3, 4, 5, 6] and list(p.index) == [5, 3]
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(p.loc[3], results.fittedvalues[3])
    B = results.flat.reshape(len(results.flat), 6, 6)
    eta = np.concatenate([np.zeros((len(B), 1, 2)), B @ results.model.spec.matrix(new).T], axis=1)
    np.testing.assert_allclose(
        p.to_numpy(), special.softmax(eta, axis=1).mean(axis=0).T, rtol=1e-10
    )
    frame = results.get_prediction(new).summary_frame()
    assert frame.index.names == ["row", "PID"] and (frame.mean_ci_lower < frame["mean"]).all()
    np.testing.assert_allclose(frame["mean"].to_numpy().reshape(2, 7), p.to_numpy())
    simulated = results.posterior_predict(new, seed=3)
    assert simulated.shape == (4000, 2) and set(np.unique(simulated)) <= set(range(7))
    share = (simulated == 6).mean(axis=0)
    assert (np.abs(share - p[6]) < 4 * np.sqrt(p[6] / 4000)).all()


def test_checks_and_information_criteria():
    results = fitted("default")
    table = results.pp_check(seed=1)
    assert list(table.index) == [f"share of {k}" for k in range(7)]
    assert table.p.between(0.05, 0.95).all()
    np.testing.assert_allclose(table.observed, np.bincount(anes96().PID) / 944)
    loo = results.loo()
    assert 30 < loo.p < 42  # 36 coefficients
    assert np.isclose(results.log_lik(draws=100).sum(axis=1).mean(), results.llf - 18, atol=4)


def test_saved_results_predict_the_same(tmp_path):
    results, new = fitted("default"), anes96().iloc[:4]
    results.save(tmp_path / "r")
    pd.testing.assert_frame_equal(sgmc.load(tmp_path / "r").predict(new), results.predict(new))


def test_labels_of_any_kind_from_formulas_and_arrays():
    frame = pd.DataFrame({"x": np.random.default_rng(1).normal(size=300)})
    frame["kind"] = np.array(["red", "blue", "green"])[np.random.default_rng(2).integers(0, 3, 300)]
    one = sgmc.mnlogit("kind ~ x", frame, seed=1, draws=500)
    two = sgmc.MNLogit(frame.kind, sm.add_constant(frame[["x"]])).fit(seed=1, draws=500)
    assert one.names == ["green:Intercept", "green:x", "red:Intercept", "red:x"]
    assert "Each equation compares a level of kind with 'blue'" in str(one.summary())
    np.testing.assert_array_equal(one.draws, two.draws)
    other = pd.Categorical(frame.kind, categories=["red", "green", "blue"])
    turned = sgmc.mnlogit("kind ~ x", frame.assign(kind=other), seed=1, prior="flat")
    assert turned.names[0] == "green:Intercept"
    assert turned.params["blue:x"] == pytest.approx(
        -sgmc.mnlogit("kind ~ x", frame, seed=1, prior="flat").params["red:x"], abs=0.02
    )
    assert one.hypothesis("`green:x` > `red:x`").prob == pytest.approx(
        (one.flat[:, 1] > one.flat[:, 3]).mean()
    )


COUNT = 300
CODES = np.random.default_rng(2).integers(0, 3, COUNT)
WORDS = np.array(["red", "blue", "green"])[CODES]
ORDER = ["red", "green", "blue"]
FRAME = pd.DataFrame(
    {
        "x": np.random.default_rng(1).normal(size=COUNT).round(2),
        "kind": WORDS,
        "code": CODES,
        "w": np.random.default_rng(3).integers(1, 4, COUNT),
        "g": np.arange(COUNT) % 3,
    }
)
LABELS = {  # name: (labels, levels in their order)
    "text": (WORDS, ("blue", "green", "red")),
    "a list": (list(WORDS), ("blue", "green", "red")),
    "objects": (WORDS.astype(object), ("blue", "green", "red")),
    "string": (pd.array(WORDS, dtype="string"), ("blue", "green", "red")),
    "bytes": (WORDS.astype("S"), (b"blue", b"green", b"red")),
    "an empty text": (np.where(CODES == 0, "", WORDS), ("", "blue", "green")),
    "categories": (pd.Categorical(WORDS, categories=ORDER), ("red", "green", "blue")),
    "ordered, one unused": (
        pd.Categorical(WORDS, categories=["pink", *ORDER], ordered=True),
        ("red", "green", "blue"),
    ),
    "int64": (CODES, (0, 1, 2)),
    "int8": (CODES.astype(np.int8), (0, 1, 2)),
    "big-endian": (CODES.astype(">i4"), (0, 1, 2)),
    "big-endian floats": (CODES.astype(">f8") / 2, (0.0, 0.5, 1.0)),
    "Int64": (pd.array(CODES, dtype="Int64"), (0, 1, 2)),
    "negative numbers": (1.5 * CODES - 2, (-2.0, -0.5, 1.0)),
    "dates": (
        pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01"])[CODES],
        tuple(pd.to_datetime(["2020", "2021", "2022"])),
    ),
    "mixed": (np.array(["a", 1, False], dtype=object)[CODES], (False, 1, "a")),
}


def in_equations(results):
    """Draws and names of a fit, equation by equation, without the names of its levels."""
    return results.draws, [name.split(":", 1)[1] for name in results.names]


@cache
def coded(order):
    """A fit of numbers in the place of labels whose levels are in this order of codes."""
    return sgmc.mnlogit("code ~ x", FRAME.assign(code=np.argsort(order)[CODES]), seed=1, draws=500)


@pytest.mark.parametrize("kind", LABELS)
def test_kinds_of_labels(kind):
    """Bit for bit the fit of 0, 1, 2 in the levels' order, from formulas and arrays."""
    labels, levels = LABELS[kind]
    frame, listed = FRAME.assign(kind=labels), pd.Series(labels).tolist()
    expected, names = in_equations(coded(tuple(CODES[listed.index(level)] for level in levels)))
    found = sgmc.mnlogit("kind ~ x", frame, seed=1, draws=500)
    arrays = sgmc.MNLogit(labels, sm.add_constant(frame[["x"]])).fit(seed=1, draws=500)
    for one in (found, arrays):
        assert one.model.levels == levels
        assert one.names[::2] == [f"{k}:{one.model.exog_names[0]}" for k in levels[1:]]
        np.testing.assert_array_equal(one.draws, expected)
    assert list(found.predict(frame[:2]).columns) == list(levels)
    assert found.predict(frame[:0]).shape == (0, 3)


@pytest.mark.parametrize(
    "make",
    [
        lambda v: v[:, None],
        lambda v: pd.DataFrame({"y": v}),
        lambda v: pd.Series(v).astype("category"),
    ],
    ids=["a column", "a frame of one column", "categories in a Series"],
)
def test_labels_in_one_column(make):
    design = sm.add_constant(FRAME[["x"]])
    one, two = (
        sgmc.MNLogit(labels, design).fit(seed=1, draws=500) for labels in (make(WORDS), WORDS)
    )
    np.testing.assert_array_equal(one.draws, two.draws)


def test_indices_are_compared_where_both_have_one():
    design = sm.add_constant(FRAME[["x"]])
    expected = sgmc.MNLogit(WORDS[50:], design.to_numpy()[50:]).fit(seed=1, draws=500)
    for labels in (
        WORDS[50:],
        list(WORDS[50:]),
        pd.Categorical(WORDS[50:]),
        FRAME.kind[50:],
        FRAME[["kind"]][50:],
    ):
        np.testing.assert_array_equal(
            sgmc.MNLogit(labels, design[50:]).fit(seed=1, draws=500).draws, expected.draws
        )
    assert sgmc.MNLogit(FRAME.kind, design).endog_names == "kind"
    assert sgmc.MNLogit(WORDS, design).endog_names == "y"
    with pytest.raises(DataError, match="endog and exog have different indices"):
        sgmc.MNLogit(FRAME.kind.reset_index(drop=True)[:250], design[50:])


def polars_tables():
    """Tables of polars, and the levels in their order."""
    pl = pytest.importorskip("polars", reason="polars is not installed")
    in_order = "blue", "green", "red"
    for dtype, levels in (
        (pl.String, in_order),
        (pl.Categorical, in_order),
        (pl.Enum(ORDER), tuple(ORDER)),
    ):
        yield (
            pl.DataFrame({"kind": pl.Series(WORDS.tolist(), dtype=dtype), "x": FRAME.x.to_numpy()}),
            levels,
        )


def pyarrow_tables():
    """The same of pyarrow, in two chunks."""
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    codes = pa.array([ORDER.index(word) for word in WORDS], pa.int8())
    for kind, levels in (
        (pa.array(WORDS.tolist()), ("blue", "green", "red")),
        (pa.DictionaryArray.from_arrays(codes, pa.array(ORDER)), tuple(ORDER)),
    ):
        table = pa.table({"kind": kind, "x": FRAME.x.to_numpy()})
        yield pa.concat_tables([table.slice(0, 50), table.slice(50)]), levels


@pytest.mark.parametrize("tables", [polars_tables, pyarrow_tables])
def test_labels_of_other_libraries(tables):
    """The order of levels is that of their type, in tables as in single columns."""
    for table, levels in tables():
        expected = sgmc.mnlogit(
            "kind ~ x",
            FRAME.assign(kind=pd.Categorical(WORDS, categories=levels)),
            seed=1,
            draws=500,
        )
        found = sgmc.mnlogit("kind ~ x", table, seed=1, draws=500)
        column = sgmc.MNLogit(table["kind"], sm.add_constant(FRAME[["x"]])).fit(seed=1, draws=500)
        assert found.model.levels == column.model.levels == levels
        assert column.model.endog_names == ("kind" if tables is polars_tables else "y")
        np.testing.assert_array_equal(found.draws, expected.draws)
        np.testing.assert_array_equal(column.draws, expected.draws)
        np.testing.assert_array_equal(found.predict(table), expected.predict(FRAME).to_numpy())


@pytest.mark.parametrize(
    "make",
    [
        lambda v, gone: np.where(gone, None, v),
        lambda v, gone: pd.Categorical(np.where(gone, None, v)),
        lambda v, gone: pd.Series(v, dtype="string").mask(gone),
        lambda v, gone: pd.Series(CODES, dtype="Int64").mask(gone),
    ],
    ids=["None", "categories", "NA", "numbers"],
)
def test_rows_without_a_label_are_dropped_and_counted(make):
    gone = np.arange(COUNT) % 7 == 0
    found = sgmc.mnlogit("kind ~ x", FRAME.assign(kind=make(WORDS, gone)), seed=1, draws=500)
    kept = sgmc.mnlogit(
        "kind ~ x", FRAME.assign(kind=make(WORDS, np.zeros(COUNT, bool)))[~gone], seed=1, draws=500
    )
    np.testing.assert_array_equal(found.draws, kept.draws)
    assert f"{gone.sum()} rows with missing values were dropped." in str(found.summary())


def test_a_level_that_only_missing_rows_have_is_none():
    frame = FRAME.assign(
        kind=np.where(np.arange(COUNT) < 5, "pink", WORDS), x=FRAME.x.mask(np.arange(COUNT) < 5)
    )
    assert sgmc.mnlogit("kind ~ x", frame, seed=1, draws=500).model.levels == (
        "blue",
        "green",
        "red",
    )


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


BAD_LABELS = {
    "bool": (
        CODES > 0,
        "has 2 kinds in the rows used; mnlogit is for three or more, use logit for two",
    ),
    "one": (["a"] * COUNT, "has 1 kind in the rows used"),
    "numbers": (
        1.5 * np.arange(COUNT),
        "has 300 kinds; mnlogit takes at most 50: join some of them, or use ols",
    ),
    "alike in print": (
        np.array(["1", 1, 2.5], dtype=object)[CODES],
        "there is more than one coefficient '1:",
    ),
    "lists": ([[1], [2], [3]] * 100, r"holds list, which are no labels|endog has shape \(300, 1\)"),
}


@pytest.mark.parametrize("kind", BAD_LABELS)
def test_labels_that_do_not_suit(kind):
    labels, message = BAD_LABELS[kind]
    with pytest.raises(DataError, match=message):
        sgmc.mnlogit("kind ~ x", FRAME.assign(kind=labels))
    if kind != "lists":  # an array of one column of numbers
        with pytest.raises(DataError, match=message):
            sgmc.MNLogit(labels, sm.add_constant(FRAME[["x"]]))


@pytest.mark.parametrize(
    "endog, message",
    [
        (None, r"endog has shape \(\)"),
        (1.0, r"endog has shape \(\)"),
        ({"a": 1}, r"endog has shape \(\)"),
        (np.column_stack([WORDS, WORDS]), r"endog has shape \(300, 2\)"),
        (WORDS[1:], "endog has 299 values, exog has 300 rows"),
        (np.ma.masked_equal(CODES, 2), "endog has missing values"),
        (np.where(CODES == 2, np.nan, CODES), "endog has missing values"),
        (pd.Series(WORDS, range(1, COUNT + 1)), "endog and exog have different indices"),
    ],
    ids=range(8),
)
def test_labels_of_arrays_that_are_refused(endog, message):
    with pytest.raises(DataError, match=message):
        sgmc.MNLogit(endog, sm.add_constant(FRAME[["x"]]))


def test_kinds_without_weight_do_not_count():
    with pytest.raises(DataError, match="has 2 kinds in the rows used"):
        sgmc.mnlogit("kind ~ x", FRAME.assign(w=np.where(CODES == 2, 0, 1)), weights="w")


def test_complete_separation():
    frame = pd.DataFrame({"x": np.arange(30.0), "kind": np.repeat(["a", "b", "c"], 10)})
    with pytest.warns(sgmc.SGMCWarning, match="the predictors separate the outcomes completely"):
        sgmc.mnlogit("kind ~ x", frame, seed=1)
    with pytest.raises(
        DataError,
        match=(
            "the posterior is improper: the predictors separate the outcomes completely, and "
            "priors are flat"
        ),
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


@cache
def of_words():
    """A fit of the words."""
    return sgmc.mnlogit("kind ~ x", FRAME, seed=1, draws=500)


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


@pytest.mark.parametrize("name", ["resid_response", "resid_pearson", "resid_deviance"])
def test_kinds_have_no_residuals(name):
    with pytest.raises(NotSupported, match=f"{name}: outcomes of mnlogit are kinds"):
        getattr(fitted("default"), name)


def test_missing_labels_of_arrays_are_refused():
    with pytest.raises(DataError, match="endog has missing values"):
        sgmc.MNLogit(["a", None, "b", "c"], np.ones((4, 1)))
