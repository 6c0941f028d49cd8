"""``mo(x)`` in formulas: columns, names, new rows, effects, priors, what it does not go with."""

import pickle

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc import formula
from sgmc.coordinates.transforms.constraints import Constrained
from sgmc.errors import ArgumentError, FormulaError, NotSupported

GRADES = ["low", "middle", "high"]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(1)
    df = pd.DataFrame({"x": rng.integers(1, 5, 300), "z": rng.normal(size=300)})
    grade = np.array(GRADES)[rng.integers(0, 3, 300)]
    df["grade"] = pd.Categorical(grade, categories=GRADES, ordered=True)
    df["g"], df["u"] = rng.integers(0, 6, 300), rng.integers(0, 3, 300)
    eta = 0.5 * df.z + np.array([0, 0.1, 0.9, 1.2])[df.x - 1] - 0.7
    df["y"] = (rng.random(300) < 1 / (1 + np.exp(-eta))).astype(int)
    return df


@pytest.fixture(scope="module")
def results(frame):
    return sgmc.logit("y ~ mo(x) + mo(grade) + z", frame, seed=1)


def test_columns_are_one_from_a_level_on(frame):
    table = formula.read("y ~ mo(grade) - 1", frame, outcome="binary")
    assert table.spec.exog_names == ["mo(grade)[middle]", "mo(grade)[high]"]
    code = frame.grade.cat.codes.to_numpy()
    np.testing.assert_array_equal(table.spec.matrix(frame), (code[:, None] >= [1, 2]).astype(float))


def test_increments_of_products_are_apart(frame):
    spec = formula.read("y ~ z + mo(x):C(u)", frame, outcome="binary").spec
    found = [[spec.exog_names[j] for j in one] for one in spec.increments]
    assert found == [[f"mo(x)[{k}]:C(u)[{u}]" for k in (2, 3, 4)] for u in (0, 1, 2)]


def test_free_numbers_and_increments():
    """The map and its slopes, by differences; the log-Jacobian, by a determinant."""
    map, random = Constrained([("monotone", 4, 0.0, 0.0)]), np.random.default_rng(0)
    for sign in (1, -1):
        x = np.append(sign, random.normal(size=3))
        theta = map(x)
        assert (np.sign(theta) == sign).all() and np.isclose(theta.sum(), sign)
        np.testing.assert_allclose(map.inverse(theta), x, atol=1e-12)
        unit = 1e-6 * np.eye(4)
        slopes = np.array([(map(x + e) - map(x - e)) / 2e-6 for e in unit]).T
        np.testing.assert_allclose(map.jacobian(x), slopes, atol=1e-8)
        assert np.isclose(map.log_jacobian(x), np.linalg.slogdet(slopes)[1], atol=1e-7)
        weights = random.normal(size=4)
        up, down = ([weights @ map(p) + map.log_jacobian(p) for p in x + s * unit] for s in (1, -1))
        np.testing.assert_allclose(
            map.pulled(x, weights), (np.array(up) - np.array(down)) / 2e-6, atol=1e-6
        )


def test_effects_are_of_levels(results):
    table = results.avg_slopes().set_index(["term", "contrast"])
    assert ("x", "3 - 1") in table.index and ("grade", "high - low") in table.index
    step = results.avg_comparisons({"x": [2, 3]})
    assert step.estimate[0] > 0


def test_new_rows_have_levels_of_the_fit(results, frame):
    with pytest.raises(FormulaError, match="'x' has the level 9; known are 1, 2, 3, 4"):
        results.predict(frame.head(2).assign(x=9))
    with pytest.raises(FormulaError, match="which are numbers, not text: convert the column as"):
        results.predict(frame.head(2).assign(x="2"))


def test_a_monotonic_effect_is_not_carried_on(results, frame):
    with pytest.raises(NotSupported, match=r"of a monotonic effect, mo\(x\), have one sign"):
        results.update(frame)


def test_files_and_copies_have_the_same_predictions(results, frame, tmp_path):
    results.save(tmp_path / "fit.npz")
    expected = results.predict(frame.head(5))
    for other in (sgmc.load(tmp_path / "fit.npz"), pickle.loads(pickle.dumps(results))):
        np.testing.assert_array_equal(other.predict(frame.head(5)), expected)


def test_sums_have_priors_and_single_increments_none(results):
    total = "mo(x)[2] + mo(x)[3] + mo(x)[4]"
    assert np.isfinite(results.bayes_factor(f"{total} = 1").BF01)
    with pytest.raises(NotSupported, match="that of the sum of all is") as refused:
        results.bayes_factor("mo(x)[2] = 0")
    assert refused.value.because == "mathematics"
    assert "monotonic, normal(0, 2.5*) in total" in " ".join(str(results.summary()).split())


def test_prior_draws_are_shares_of_the_sum(frame):
    draws = sgmc.Logit.from_formula("y ~ mo(x)", frame).prior_draws(draws=20_000, seed=1)
    own = draws.filter(like="mo(x)").to_numpy()
    # 20,000 draws: sds to 1 %
    assert abs(own.sum(axis=1).std() / 2.5 - 1) < 0.03
    assert abs(own[:, 1].std() / (2.5 * np.sqrt(2 / (3 * 4))) - 1) < 0.05


@pytest.mark.parametrize("prior", [sgmc.student_t(3, 0, 1), sgmc.laplace(0, 1), sgmc.cauchy(0, 1)])
def test_sums_have_other_priors(prior, frame):
    results = sgmc.logit("y ~ mo(x) + z", frame, prior={"mo(x)": prior}, seed=1)
    assert results.verdict.trustworthy


@pytest.mark.parametrize(
    "prior, says",
    [
        ({"mo(x)": sgmc.horseshoe()}, "takes normal, student_t, cauchy, laplace or flat"),
        ({"mo(x)": sgmc.half_normal(1)}, "takes normal"),
        ({"mo(x)[2]": sgmc.normal(0, 1)}, "give it by the name of the term"),
        ({"mo(x)": sgmc.mvnormal([0, 0, 0], np.eye(3))}, "takes normal"),
        (sgmc.mvnormal([0, 0, 0, 0], np.eye(4)), "takes normal"),
    ],
)
def test_other_priors_are_refused(prior, says, frame):
    with pytest.raises(ArgumentError, match=says):
        sgmc.logit("y ~ mo(x) + z", frame, prior=prior)


def test_a_prior_of_all_slopes_is_that_of_sums_if_it_suits_them(frame):
    def used(prior):
        summary = sgmc.logit("y ~ mo(x) + z", frame, prior=prior, seed=1, draws=100).prior_summary()
        return str(summary.specified["mo(x)[2]"]), str(summary.specified["z"])

    with pytest.warns(sgmc.errors.SGMCWarning):
        one, other = used(sgmc.normal(0, 1)), used(sgmc.horseshoe(0.5))
    assert one == ("monotonic, normal(0, 1) in total", "normal(0, 1)")
    assert other[0] == "monotonic, normal(0, 2.5*) in total" and "horseshoe" in other[1]


@pytest.mark.parametrize(
    "term, says",
    [
        ("mo(z)", "a number of a level must be whole, .* use s\\(z\\)"),
        ("mo(word)", "the levels need an order, and word has text; make ordered categories"),
        ("mo(plain)", "categories without one"),
        ("mo(one)", "one is constant; leave the term out"),
        ("np.log(1 + mo(x))", "goes into no other function"),
        ("mo(x):mo(grade)", "two monotonic effects"),
        ("(mo(x) | g)", "normal effects of levels have not; .* \\(x \\| g\\)"),
    ],
)
def test_what_is_no_monotonic_effect_is_refused(term, says, frame):
    df = frame.assign(word=frame.grade.astype(str), one=1)
    df["plain"] = df.word.astype("category")
    with pytest.raises(FormulaError, match=says):
        sgmc.logit(f"y ~ {term}", df)


def test_two_levels_are_a_coefficient(frame):
    results = sgmc.logit("y ~ mo(up)", frame.assign(up=(frame.x > 2).astype(int)), seed=1)
    assert results.names == ["Intercept", "mo(up)"]


def test_a_sandwich_has_no_one_sign(frame):
    with pytest.raises(NotSupported, match=r"monotonic effect .* by C\(\)") as refused:
        sgmc.logit("y ~ mo(x) + z", frame, cov_type="robust")
    assert refused.value.because == "mathematics"


def test_outcomes_of_several_equations_and_predictors(frame):
    """Each equation, and each parameter, has an effect of its own."""
    kinds = sgmc.mnlogit("u ~ mo(x)", frame, seed=1)
    assert [one for one in kinds.names if "mo(x)[2]" in one] == ["1:mo(x)[2]", "2:mo(x)[2]"]
    spread = sgmc.ols("z ~ x", frame, sigma="~ mo(grade)", seed=1)
    assert spread.verdict.trustworthy and "sigma:mo(grade)[high]" in spread.names


def test_predictions_are_those_of_the_increments(results, frame):
    """Of each draw, by hand."""
    draws = results.flat[:, : len(results.names)]
    steps = np.column_stack(
        [np.ones(len(frame))]
        + [frame.x >= k for k in (2, 3, 4)]
        + [frame.grade.cat.codes >= k for k in (1, 2)]
        + [frame.z]
    ).astype(float)
    shares = (1 / (1 + np.exp(-steps @ draws.T))).mean(axis=1)
    np.testing.assert_allclose(results.predict(frame), shares, atol=1e-10)
