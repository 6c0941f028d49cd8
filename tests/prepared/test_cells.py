"""Equal rows as one: the posterior of the compressed table is that of all rows."""

import numpy as np
import pandas as pd
import pytest

from sgmc import formula as front
from sgmc.models.regression.families.logit import Logit
from sgmc.models.regression.families.ols import OLS
from sgmc.models.regression.families.poisson import Poisson
from sgmc.prepared.prepare import prepare
from sgmc.priors import ridge
from tests.prepared.sources import Chunked

N = 4000


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "k": rng.integers(0, 3, N).astype(float),
            "g": pd.Categorical(rng.choice(list("cab"), N), categories=list("cab")),
            "flag": rng.random(N) < 0.4,
            "w": rng.integers(0, 3, N).astype(float),
            "t": rng.choice([0.5, 1.0], N),
            "x": rng.normal(size=N),
        }
    )
    eta = 0.5 * frame["k"] - frame["flag"] - 0.5
    frame["y"] = rng.random(N) < 1 / (1 + np.exp(-eta))
    frame["count"] = np.minimum(rng.poisson(np.exp(0.3 * eta)), 4)
    frame.loc[::50, "k"] = np.nan
    return frame


CASES = [
    (Logit, "y ~ k * g + flag", {}),
    (Logit, "y ~ np.log1p(k) + C(flag)", {"weights": "w"}),
    (Poisson, "count ~ k + g", {"exposure": "t"}),
    (OLS, "count ~ k + g", {"subset": "flag"}),
]


@pytest.mark.cover(0)
@pytest.mark.parametrize("model, formula, given", CASES, ids=lambda one: str(one)[-25:])
def test_posterior_is_that_of_all_rows(model, formula, given, frame, tmp_path):
    """Exact draws of one stream: they differ by what Newton's tolerance leaves of the mode, or,
    where axes of whitening are alike but for rounding, by Monte Carlo errors of 0.016 sds.
    """
    few = prepare(formula, Chunked(frame, 300), tmp_path / "a.sgmc", seed=1, **given)
    every = prepare(
        formula, Chunked(frame, 300), tmp_path / "b.sgmc", seed=1, compress=False, **given
    )
    assert few.compressed and few.n < 200 and few.rows == every.rows == every.n
    assert "different rows with frequencies" in str(few) and "none" in str(every)
    weights = frame.loc[every.order, "w"].sum() if "weights" in given else every.n
    assert few.weights.sum() == weights
    np.testing.assert_allclose(few.mean, every.mean, rtol=1e-12)
    np.testing.assert_allclose(few.sd, every.sd, rtol=1e-10)
    ours, theirs = (
        model.from_formula(formula, table).fit(sampler="imh", seed=1, draws=2000)
        for table in (few, every)
    )
    np.testing.assert_allclose(ours.params, theirs.params, atol=0.05 * theirs.bse.max())
    np.testing.assert_allclose(ours.bse, theirs.bse, rtol=0.04)
    # planted: frequencies are lost
    few.weights = None
    lost = model.from_formula(formula, few).fit(sampler="imh", seed=1, draws=2000)
    assert (lost.bse > 1.5 * theirs.bse).all()


def test_rows_that_differ_stay(frame, tmp_path):
    assert not prepare("y ~ x", Chunked(frame, 300), tmp_path / "a.sgmc").compressed
    assert not prepare("y ~ k", Chunked(frame[:20], 7), tmp_path / "a.sgmc").compressed
    assert not prepare("count ~ k", Chunked(frame, 300), tmp_path / "a.sgmc", se="t").compressed


def test_rows_of_the_compressed_table(frame, tmp_path):
    prepared = prepare("y ~ k + g", Chunked(frame, 300), tmp_path / "a.sgmc", seed=1)
    table = front.read("y ~ k + g", frame, scope={})
    design = np.empty((len(table.rows), 4))
    table.fill(design)
    rows, counts = np.unique(np.column_stack([design, table.y]), axis=0, return_counts=True)
    found = np.column_stack([prepared.X + prepared.shift, prepared.y])
    order = np.lexsort(np.round(found, 8).T[::-1])
    np.testing.assert_allclose(found[order], rows, atol=1e-12)
    np.testing.assert_array_equal(prepared.weights[order], counts)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # short chains
@pytest.mark.parametrize("formula, dtype", [("y ~ k + x", "float32"), ("count ~ k + x + g", None)])
def test_learned_scales_read_a_prepared_design_as_the_one_in_memory(
    formula, dtype, frame, tmp_path
):
    """Rows in the order of the file, so that both are one table, but for rounding."""
    file = prepare(formula, Chunked(frame, 300), tmp_path / "a.sgmc", seed=1, compress=False)
    how = dict(prior=ridge(), seed=1, draws=20, chains=1, warmup=20, thin=1)
    how |= {} if dtype is None else {"dtype": dtype}
    kind = Logit if formula.startswith("y") else Poisson
    found = kind.from_formula(formula, file).fit(**how)
    rows = kind.from_formula(formula, frame.iloc[file.order]).fit(**how)
    ends = 1e-3 if dtype else 1e-6  # digits of the table, and what Newton's tolerance leaves
    np.testing.assert_allclose(found.draws, rows.draws, rtol=ends, atol=ends)
