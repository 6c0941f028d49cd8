"""Effects draw by draw, against the formula's design multiplied out; mistakes that these see."""

import numpy as np
import pytest

import sgmc
from sgmc.results.effects import kept, sums, variables

from .cases import fitted, means_of, row, table

CLOSE = dict(rtol=1e-9, atol=1e-12)  # sums of up to 2000 rows in another order
N = 2000


def logit():
    return fitted("logit", n=N, weights="w")


def weighted(values):
    return np.average(values, axis=0, weights=table(N).w)


def check_averages():
    """Weighted averages of probabilities, by group too."""
    res, df = logit(), table(N)
    p = means_of(res, df)
    found = res.avg_predictions()
    np.testing.assert_allclose(found.draws[0], weighted(p), **CLOSE)
    _, draws = row(res.avg_predictions(by="g"), g="c")
    at = (df.g == "c").to_numpy()
    np.testing.assert_allclose(draws, np.average(p[at], axis=0, weights=df.w[at]), **CLOSE)


def check_reference():
    """Labels against the first level, or that of the formula."""
    res, df = logit(), table(N)
    b, a = (means_of(res, df.assign(g=level)) for level in "ba")
    _, draws = row(res.avg_comparisons("g"), contrast="b - a")
    np.testing.assert_allclose(draws, weighted(b - a), **CLOSE)


@pytest.mark.extended
def test_averages_are_weighted_and_of_outcomes():
    check_averages()


@pytest.mark.extended
def test_labels_are_compared_with_the_reference():
    check_reference()
    res = fitted("ols", 'y ~ x + C(g, Treatment("b"))', n=N)
    found = res.avg_comparisons("g")
    assert list(found.contrast) == ["a - b", "c - b"]
    for level in "ac":
        _, draws = row(found, contrast=f"{level} - b")
        name = f'C(g, Treatment("b"))[T.{level}]'
        np.testing.assert_allclose(draws, res.flat[:, res.names.index(name)], **CLOSE)


def of_the_link(made):
    """Means as they would be, were the type left at "link"."""
    return lambda self, first, link: made(self, first, True)


def reversed_levels(levels):
    """Levels with the last one as the reference."""
    return lambda self, name: (levels(self, name) or [])[::-1] or None


MISTAKES = {
    "averages on the scale of the link": (
        check_averages,
        sums.MeanFunction,
        "__init__",
        of_the_link,
    ),
    "weights of the fit forgotten": (check_averages, kept.Kept, "importance", lambda _: None),
    "another reference level": (check_reference, variables.Variables, "levels", reversed_levels),
}


@pytest.mark.extended
@pytest.mark.mistake("effects: {mistake}")
@pytest.mark.parametrize("name", ["logit"])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_seen(name, mistake, monkeypatch):
    check, place, attribute, wrong = MISTAKES[mistake]
    check()
    monkeypatch.setattr(place, attribute, wrong(getattr(place, attribute)))
    with pytest.raises((AssertionError, ValueError)):  # no such row, or other numbers
        check()


@pytest.mark.extended
def test_slopes_of_a_polynomial_are_exact():
    """b1 + 2 b2 x, to the rounding of differences 1e-4 of the range apart."""
    res, df = fitted("ols", "y ~ x + I(x**2) + g", n=N), table(N)
    b1, b2 = (res.flat[:, res.names.index(name)] for name in ("x", "I(x ** 2)"))
    exact = b1 + 2 * b2 * df.x.to_numpy()[:, None]
    inner = np.argsort(df.x.to_numpy())[1:-1]  # one-sided at the two ends
    found = res.slopes("x")
    np.testing.assert_allclose(found.draws[inner], exact[inner], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.draws, exact, rtol=0, atol=1e-3)
    averaged = res.avg_slopes("x", by="g")
    for level in "abc":
        _, draws = row(averaged, g=level)
        np.testing.assert_allclose(draws, exact[df.g == level].mean(axis=0), atol=1e-5)


def test_elasticities():
    res, df = fitted("poisson", "count ~ z", n=N), table(N)
    b = res.flat[:, 1]
    np.testing.assert_allclose(  # of exp(a + b z): dlny/dlnz = b z, dlny/dz = b
        res.slopes("z", slope="eyex").draws, b * df.z.to_numpy()[:, None], atol=1e-7
    )
    np.testing.assert_allclose(res.avg_slopes("z", slope="eydx").draws[0], b, atol=1e-7)
    y = np.exp(res.flat[:, 0] + np.outer(df.z, b))
    np.testing.assert_allclose(
        res.avg_slopes("z", slope="dyex").draws[0],
        (b * df.z.to_numpy()[:, None] * y).mean(axis=0),
        rtol=1e-6,
    )


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "how, low, high, contrast",
    [
        (None, lambda x: x, lambda x: x + 1, "+1"),
        (-2.5, lambda x: x, lambda x: x - 2.5, "-2.5"),
        ([0.5, 2], lambda x: 0.5, lambda x: 2.0, "2 - 0.5"),
        ("sd", lambda x: x - x.std() / 2, lambda x: x + x.std() / 2, "(x + sd/2) - (x - sd/2)"),
        ("iqr", lambda x: x.quantile(0.25), lambda x: x.quantile(0.75), "Q3 - Q1"),
        ("minmax", lambda x: x.min(), lambda x: x.max(), "Max - Min"),
    ],
)
def test_what_numbers_are_compared_at(how, low, high, contrast):
    res, df = logit(), table(N)
    found = res.avg_comparisons({"x": how} if how is not None else "x")
    p, q = (means_of(res, df.assign(x=end(df.x))) for end in (low, high))
    assert list(found.contrast) == [contrast]
    np.testing.assert_allclose(found.draws[0], weighted(q - p), **CLOSE)


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "comparison, of",
    [
        ("ratio", lambda p, q: q / p),
        ("lnratio", lambda p, q: np.log(q / p)),
        ("lnor", lambda p, q: np.log(q / (1 - q) / (p / (1 - p)))),
    ],
)
def test_ratios_are_of_averages(comparison, of):
    res, df = logit(), table(N)
    p, q = (means_of(res, df.assign(b=value)) for value in (False, True))
    averaged = res.avg_comparisons("b", comparison=comparison)
    np.testing.assert_allclose(averaged.draws[0], of(weighted(p), weighted(q)), **CLOSE)
    rows = res.comparisons("b", df.head(5), comparison=comparison)
    np.testing.assert_allclose(rows.draws, of(p[:5], q[:5]), **CLOSE)


def test_predictions_at_set_values():
    res, df = logit(), table(N)
    found = res.avg_predictions(variables={"g": ["b", "a"], "x": [0.0, 1.0]})
    assert found[["g", "x"]].to_numpy().tolist() == [["b", 0], ["b", 1], ["a", 0], ["a", 1]]
    _, draws = row(found, g="a", x=1.0)
    np.testing.assert_allclose(draws, weighted(means_of(res, df.assign(g="a", x=1.0))), **CLOSE)
    assert len(res.predictions(df.head(4), variables=["g", "b"])) == 4 * 3 * 2


@pytest.mark.extended
def test_the_scale_of_the_link():
    res, df = logit(), table(N)
    eta = res.model.spec.matrix(df) @ res.flat.T
    found = res.predictions(type="link")
    np.testing.assert_allclose(found.draws, eta, **CLOSE)
    slope = res.flat[:, res.names.index("x")]
    np.testing.assert_allclose(res.avg_slopes("x", type="link").draws[0], slope, rtol=1e-8)


@pytest.mark.extended
def test_numbers_of_the_tables():
    found = logit().predictions(level=0.8)
    np.testing.assert_allclose(found.estimate, found.draws.mean(axis=1))
    np.testing.assert_allclose(found.std_error, found.draws.std(axis=1, ddof=1))
    np.testing.assert_allclose(found.conf_low, np.quantile(found.draws, 0.1, axis=1))
    np.testing.assert_allclose(found.conf_high, np.quantile(found.draws, 0.9, axis=1))
    np.testing.assert_allclose(found.estimate, logit().predict(table(N)))


def steps(t):
    return 0.9 / (1 + t / 5000)


def test_weighted_draws():
    res = fitted("logit", "hit ~ x", n=N, sampler="lmsgld", step_size=steps, thin=5, draws=2000)
    found = res.avg_comparisons("x")
    assert found.estimate[0] == pytest.approx(
        np.average(found.draws[0], weights=res.flat_weights), rel=1e-12
    )


def test_offsets_and_exposures_count():
    df = table(N)
    res = fitted("poisson", "claims ~ x + g", n=N, exposure="t")
    rate = np.exp(res.model.spec.matrix(df) @ res.flat.T)
    found = res.avg_predictions()
    np.testing.assert_allclose(
        found.draws[0], (rate * df.t.to_numpy()[:, None]).mean(axis=0), **CLOSE
    )
    np.testing.assert_allclose(res.avg_predictions(df).draws, found.draws, **CLOSE)
    unit = res.avg_predictions(df, exposure=1).draws[0]
    np.testing.assert_allclose(unit, rate.mean(axis=0), **CLOSE)


def test_trials_are_rows():
    """A row of n trials counts as n rows of 0 and 1."""
    df = table(N)
    few = df.groupby(["g", "b"], as_index=False).agg(s=("hit", "sum"), n=("hit", "size"))
    few["f"] = few.n - few.s
    res = sgmc.logit("s + f ~ g + b", few, seed=1)
    p = means_of(res, few)
    np.testing.assert_allclose(
        res.avg_predictions().draws[0], np.average(p, axis=0, weights=few.n), **CLOSE
    )
