"""What autoscaled priors are divided by: sds of numbers, 1 for levels and columns of 0 and 1; the
same for a table whichever way it comes in.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import sgmc
from sgmc.errors import SeparationWarning
from sgmc.models.regression.rows.prepare import dense_moments
from sgmc.prepared.file.scaling import of_file
from tests.cluster.frames import Frames

N = 600


def made(levels=4, n=N, seed=3):
    """Numbers far from zero, a rare 0/1 column, booleans, and a factor with a rare level."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": random.normal(50, 3, n),
            "z": random.normal(size=n),
            "b": (random.random(n) < 0.1).astype(int),
            "t": random.random(n) < 0.3,
            "g": np.char.add("g", random.integers(0, levels, n).astype(str)),
            "w": random.integers(0, 3, n).astype(float),
        }
    )
    frame.loc[0, "g"] = "rare"
    frame["y"] = (random.random(n) < 0.4).astype(int)
    frame["v"] = random.normal(5, 7, n)
    return frame


FORMULA = "y ~ x * b + g * x + z:b + C(g, Sum):z + t + t:g + x:z:g + I(z > 0) + I((z > 1) * 1)"


def scales(formula, data, verb=sgmc.logit, **given):
    """2.5 over the sds of the priors, by name: a Series without the intercept."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = verb(formula, data, sampler="laplace", draws=10, chains=1, seed=1, **given)
    used = pd.Series({n: p.scale for n, p in zip(result.priors.names, result.priors.used)})
    return 2.5 / used.drop(["Intercept", "const", "sigma"], errors="ignore")


def expected(frame, names, weight=None):
    """The rule, read from the names of the columns."""

    def sd(values):
        return float(np.sqrt(np.cov(values, fweights=weight)))

    known = {"x": sd(frame.x), "z": sd(frame.z), "x:z": sd(frame.x * frame.z)}
    parts = [[one for one in name.split(":") if one in ("x", "z")] for name in names]
    return [known[":".join(one)] if one else 1.0 for one in parts]


@pytest.mark.parametrize("levels", [4, 40])
def test_a_formula_divides_by_the_sd_of_numbers_alone(levels):
    """Dense, and with its factors as codes; 1e-12: sums in another order."""
    frame = made(levels)
    formula = FORMULA if levels == 4 else "y ~ x * b + g * x + z:b + t"
    found = scales(formula, frame)
    assert found.to_numpy() == pytest.approx(expected(frame, found.index), rel=1e-12)


def test_weights_count_rows_and_those_of_zero_are_none():
    """A row of weight zero, with b = 7, is no row of the fit."""
    frame = made()
    frame.loc[5, ["b", "w"]] = 7, 0
    found = scales("y ~ x * b + g:z + g", frame, weights="w")
    kept = frame[frame.w > 0]
    right = expected(kept, found.index, kept.w.astype(int))
    assert found.to_numpy() == pytest.approx(right, rel=1e-12)


def test_normal_outcomes_have_their_sd_beside():
    frame = made()
    found = scales("v ~ x + g + b", frame, sgmc.ols)
    right = np.array(expected(frame, found.index)) / frame.v.std(ddof=0)
    assert found.to_numpy() == pytest.approx(right, rel=1e-12)


@pytest.mark.cover(0)
@pytest.mark.parametrize("levels", [4, 40])
def test_files_and_partitions_have_the_priors_of_the_frame(levels, tmp_path):
    """In chunks, prepared, of a release without the scales in the file, float32, in partitions."""
    frame = made(levels)
    formula = "y ~ x * b + g * x + z * b + t"
    found = scales(formula, frame)
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    file = sgmc.prepare(formula, str(tmp_path / "a.parquet"), tmp_path / "a.sgmc", seed=2)
    ways = {
        "csv": scales(formula, str(tmp_path / "a.csv")),
        "prepared": scales(formula, file),
        "larger than memory_limit": scales(
            formula, str(tmp_path / "a.parquet"), memory_limit="64MB"
        ),
    }
    if levels == 4:
        ways["partitions"] = scales(formula, Frames(frame, 3))
    for way, other in ways.items():
        pd.testing.assert_series_equal(found, other, rtol=1e-10, obj=way)
    single = sgmc.prepare(formula, frame, tmp_path / "b.sgmc", seed=2, dtype="float32")
    for one, within in ((file, 1e-12), (single, 1e-5)):  # float32: sds of rounded numbers
        np.testing.assert_allclose(of_file(one)(one.sd), one.scale, rtol=within)


def test_a_preparation_that_goes_on_knows_the_rows_before(tmp_path):
    from tests.prepared.sources import Chunked

    frame = made()
    frame.loc[100:, "b"] = 0
    frame.loc[N - 1, "t"] = True
    frame["late"] = 0.0
    frame.loc[N - 1, "late"] = 2.0  # 0 in all chunks but the last
    whole = sgmc.prepare("y ~ g:late + b:late + x:b", frame, tmp_path / "a.sgmc", seed=1)
    parts = sgmc.prepare(
        "y ~ g:late + b:late + x:b", Chunked(frame, 70), tmp_path / "b.sgmc", seed=1
    )
    np.testing.assert_allclose(parts.scale, whole.scale, rtol=1e-12)
    assert whole.scale[whole.spec.exog_names.index("b:late")] == pytest.approx(frame.late.std())


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_arrays_have_the_same_for_0_1_columns_and_numbers(kind):
    frame = made()
    frame["c"] = 3.0  # constant, and neither 0 nor 1
    columns = ["x", "b", "z", "c"]
    X = kind(np.column_stack([np.ones(N), frame[columns].to_numpy()]))
    found = sgmc.Logit(frame.y.to_numpy(), X, names=["const", *columns])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        priors = found.fit(sampler="laplace", draws=10, chains=1, seed=1).priors
    right = [frame.x.std(), 1.0, frame.z.std(), 1.0]
    assert [2.5 / one.scale for one in priors.used[1:]] == pytest.approx(right, rel=1e-12)


def test_slopes_of_groups_have_the_rule_too():
    """sd(x|g) is divided by sd(x), that of a 0/1 column is not."""
    frame = made(20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = sgmc.ols("v ~ z + (1 + z + b | g)", frame, draws=20, warmup=20, chains=1, seed=1)
    used = dict(zip(one.priors.names, one.priors.used))
    unit = 2.5 * frame.v.std(ddof=0)
    assert used["sd(b|g)"].scale == pytest.approx(unit)
    assert used["sd(z|g)"].scale == pytest.approx(unit / frame.z.std())


def test_every_prior_with_autoscale_has_it():
    frame = made()
    prior = {"x": sgmc.laplace(0, 2.5, autoscale=True), "b": sgmc.cauchy(0, 2.5, autoscale=True)}
    found = scales("y ~ x + b", frame, prior=prior)
    assert found.to_numpy() == pytest.approx([frame.x.std(), 1.0], rel=1e-12)


def test_a_level_of_one_row_has_the_posterior_of_normal_0_2_5():
    """A city of one row, whose outcome is 1.  The intercept is pinned by its prior, so that the
    coefficient's posterior is normal(0, 2.5) times a logistic function, by quadrature; 0.05: Monte
    Carlo errors of 4,000 draws (mean .04, sd .03), four of them.
    """
    random = np.random.default_rng(0)
    n = 8000
    frame = pd.DataFrame({"city": random.choice(["a", "b", "c"], n), "y": random.integers(0, 2, n)})
    frame.loc[0, ["city", "y"]] = "one", 1
    with pytest.warns(SeparationWarning):
        found = sgmc.logit("y ~ city", frame, seed=1)
    name = "city[T.one]"
    assert str(found.prior_summary().loc[name, "used"]) == "normal(0, 2.5)"
    grid = np.linspace(-20, 20, 4001)
    density = np.exp(-(grid**2) / 12.5) / (1 + np.exp(-grid - found.params["Intercept"]))
    density /= density.sum()
    mean = density @ grid
    sd = np.sqrt(density @ (grid - mean) ** 2)
    assert found.params[name] == pytest.approx(mean, abs=4 * 0.05)
    assert found.bse[name] == pytest.approx(sd, rel=4 * 0.02)


def test_moments_have_frequencies_as_rows():
    """`dense_moments` and the rule of products agree on what a weight is."""
    frame = made()
    weight = frame.w.to_numpy()
    sd = dense_moments(frame[["x"]].to_numpy(), weight)[1][0]
    assert sd == pytest.approx(np.sqrt(np.cov(frame.x, fweights=weight.astype(int))))
