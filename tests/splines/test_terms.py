"""What every kind of penalised term has by itself, one that is new among them."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc import formula
from sgmc.registry import room
from sgmc.splines.bases import Basis

TERMS = room("terms")
# those whose columns have no unit of their own
CURVES = sorted(name for name, one in TERMS.items() if one.basis.blocks is Basis.blocks)
GRAPH = {k: [j for j in (k - 1, k + 1) if 0 <= j < 12] for k in range(12)}
# objects of the names that terms are written with
SCOPE = {"graph": GRAPH, "A": pd.DataFrame(0.5 + 0.5 * np.eye(12))}


@pytest.fixture
def frame():
    """Columns of the names that terms are written with."""
    rng = np.random.default_rng(0)
    x, z, t = rng.uniform(0, 3, 90), rng.uniform(0, 1, 90), rng.integers(0, 12, 90).astype(float)
    y = np.sin(2 * x) + z + np.cos(t / 2) + 0.3 * rng.normal(size=90)
    frame = pd.DataFrame(dict(y=y, x=x, z=z, t=t, g=rng.choice(list("ab"), 90)))
    return frame.assign(region=t.astype(int))


@pytest.mark.parametrize("name", CURVES)
def test_columns_are_beyond_lines_and_have_a_mean_square_of_one(name, frame):
    written = TERMS[name].written
    for by in ("", ", by=g", ", by=z"):
        found = formula.read(f"y ~ {written[:-1]}{by})", frame, outcome="numeric").grouping()
        (one,) = found.spec.smooths
        x, w = one.read(frame)
        lines, begin = one.line_columns(x), 0
        for block, size in zip(one.blocks, one.sizes):
            own, begin = found.curves[:, begin : begin + size], begin + size
            multiplier = w[:, [block.by]]
            both = np.column_stack([multiplier, multiplier * lines])
            np.testing.assert_allclose(both.T @ own, 0.0, atol=1e-7)
            assert (own**2).sum() / len(own) == pytest.approx(1.0)
        np.testing.assert_allclose(one.matrix(x[::-1], w[::-1]), found.curves[::-1], atol=1e-9)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws
@pytest.mark.parametrize("name", sorted(TERMS))
def test_a_fit_has_all_that_results_say(name, frame, tmp_path):
    """Names, priors, edf, curves, predictions that do not depend on the rows beside them, effects,
    rows left out, and a file.
    """
    written = TERMS[name].written.replace("(g,", "(region,")
    res = sgmc.OLS.from_formula(f"y ~ {written} + g", frame, scope=SCOPE).fit(draws=50, seed=1)
    if name not in CURVES:  # whose options are no part of the name
        written = written.rstrip(")").partition(",")[0] + ")"
    sds = [one for one in res.params.index if one.startswith("sd(")]
    assert sds and all(written in one for one in sds)
    text = str(res.summary())
    assert "Smooths:" in text and text.index("Smooths:") < text.index(sds[0])
    edf, most = res.smooths.loc[written]
    assert 0 < edf < most
    assert np.isfinite(res.smooth(written).to_numpy()).all()
    whole = res.predict(frame)
    np.testing.assert_allclose(res.predict(frame.iloc[[7, 3]]), whole.iloc[[7, 3]], rtol=1e-10)
    assert np.isfinite(res.avg_slopes()["estimate"]).all()
    assert np.isfinite(res.loo().elpd)
    res.save(tmp_path / "fit.sgmc")
    np.testing.assert_array_equal(sgmc.load(tmp_path / "fit.sgmc").predict(frame), whole)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws
@pytest.mark.parametrize("term", ["s(x, k=6, by={})", "rw1(t, by={})"])
def test_by_takes_the_levels_of_a_numeric_column(term, frame, tmp_path):
    """As a factor with the same levels, bit by bit, after a file, too."""
    frame = frame.assign(site=np.where(frame.g == "a", 1, 5))
    frame["label"] = frame.site.astype("category")
    coded, labels = (
        sgmc.ols(f"y ~ {term.format(by)}", frame, draws=50, seed=1) for by in ("C(site)", "label")
    )
    np.testing.assert_array_equal(coded.draws, labels.draws)
    assert [one.replace("C(site)", "label") for one in coded.names] == labels.names
    coded.save(tmp_path / "fit.sgmc")
    again, new = sgmc.load(tmp_path / "fit.sgmc"), frame.head(3)
    np.testing.assert_allclose(again.predict(new), labels.predict(new))
