"""Awkward but valid input gives the posterior of the plain one."""

import mmap
import re
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from _ext.probes import Probe, block, listed
from scipy import sparse

import sgmc
from sgmc.core.designs.design import design
from sgmc.errors import SGMCWarning
from sgmc.registry import room

from .cases import BINARY, CASES, KINDS, N, X, of_every_kind
from .comparisons import assert_in_other_units, assert_same

NORESERVE = 0x4000  # of Linux; Python's mmap has no name for it before 3.13


of_classes = pytest.mark.parametrize("case", BINARY[:1], ids=repr)


@pytest.fixture(scope="module")
def plain():
    """A fit of the plain arrays, by kind of model."""
    return {case: case.model(case.y, X).fit(seed=1) for case in KINDS}


# ---- arrays --------------------------------------------------------------------------------------


def strided(array):
    """The same numbers, every other row and column of a larger array."""
    big = np.full([2 * n for n in array.shape], 7.0)
    big[tuple(slice(None, None, 2) for _ in array.shape)] = array
    return big[tuple(slice(None, None, 2) for _ in array.shape)]


LAYOUTS = {
    "Fortran": np.asfortranarray,
    "strided": strided,
    "reversed": lambda a: a[::-1].copy()[::-1],
    "big-endian": lambda a: a.astype(">f8"),
    "writeable": np.array,
    "list": lambda a: a.tolist(),
    "frame": pd.DataFrame,
    "objects": lambda a: a.astype(object),
    "read-only": lambda a: a,
    "longdouble": lambda a: a.astype(np.longdouble),
    "Decimal": lambda a: [[Decimal(v) for v in r] for r in a.tolist()],
    "nullable": lambda a: pd.DataFrame(a).convert_dtypes(),
    "MultiIndex columns": lambda a: pd.DataFrame(a, columns=[list("aab"), list("xyx")]),
    "nothing masked": np.ma.masked_invalid,
    "MultiIndex rows": lambda a: pd.DataFrame(a, index=[np.arange(N) // 2, np.arange(N) % 2]),
    "rows of one label": lambda a: pd.DataFrame(a, index=np.zeros(N)),
}


@pytest.mark.cover(1)
@of_every_kind
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_the_design(case, layout, plain):
    assert_same(case.model(case.y, LAYOUTS[layout](X)).fit(seed=1), plain[case])


@of_every_kind
def test_a_memory_map(case, plain, tmp_path):
    np.save(tmp_path / "X.npy", X)
    assert_same(
        case.model(case.y, np.load(tmp_path / "X.npy", mmap_mode="r")).fit(seed=1), plain[case]
    )


@of_every_kind
@pytest.mark.parametrize(
    "make",
    [
        pd.Series,
        list,
        strided,
        lambda v: v[:, None],
        lambda v: v.astype(object),
        lambda v: v.astype(">f8"),
        lambda v: pd.Series(v, dtype="Float64"),
        lambda v: pd.DataFrame({"y": v}),
    ],
    ids=range(8),
)
def test_layouts_of_the_outcome(case, make, plain):
    assert_same(case.model(make(case.y), X).fit(seed=1), plain[case])


@of_classes
@pytest.mark.parametrize(
    "dtype", [np.int8, bool, np.uint8, np.float32, ">f4", ">i2", "Int8", "boolean", "category"]
)
def test_types_of_two_classes(case, dtype, plain):
    outcome = (
        case.y.astype(dtype)
        if dtype not in ("Int8", "boolean", "category")
        else pd.Series(case.y).astype(dtype)
    )
    assert_same(case.model(outcome, X).fit(seed=1), plain[case])


@pytest.mark.cover(1)
@of_every_kind
@pytest.mark.parametrize(
    "dtype", [np.int8, np.int64, np.uint8, bool, np.float32, np.float16, ">i4"]
)
def test_types_of_the_design(case, dtype):
    whole = np.abs(np.rint(X[:, :2])).astype(dtype)
    assert_same(
        case.model(case.y, whole).fit(seed=1), case.model(case.y, whole.astype(float)).fit(seed=1)
    )


def wide_indices(a):
    """A CSR array with 64-bit indices."""
    table = sparse.csr_array(a)
    table.indices, table.indptr = table.indices.astype(np.int64), table.indptr.astype(np.int64)
    return table


def entries_in_two(a):
    """A CSR array, each of whose values is the sum of two entries."""
    table = sparse.csr_array(a)
    return sparse.csr_array(
        (np.repeat(table.data / 2, 2), np.repeat(table.indices, 2), 2 * table.indptr), shape=a.shape
    )


@pytest.mark.cover(0)
@of_every_kind
@pytest.mark.parametrize(
    "make",
    [
        sparse.csr_array,
        sparse.csc_array,
        sparse.coo_array,
        sparse.csr_matrix,
        wide_indices,
        lambda a: sparse.csr_array(a.astype(int)),
        lambda a: sparse.csr_array(a.astype(np.float32)),
    ],
    ids=range(7),
)
def test_sparse_designs(case, make):
    rounded = np.rint(X)
    assert_same(
        case.model(case.y, make(rounded)).fit(seed=1),
        case.model(case.y, sparse.csr_array(rounded)).fit(seed=1),
    )


@of_every_kind
def test_sparse_entries_in_pieces_are_summed(case):
    one, other = (
        case.model(case.y, make(np.rint(X))).fit(seed=1, sampler="mala")
        for make in (entries_in_two, sparse.csr_array)
    )
    np.testing.assert_allclose(one.draws, other.draws, rtol=1e-6)


@of_every_kind
def test_one_column_as_a_vector(case):
    one = X[:, 1] / 3
    assert_same(case.model(case.y, one).fit(seed=1), case.model(case.y, one[:, None]).fit(seed=1))


@of_every_kind
def test_a_column_of_ones_is_the_intercept(case, plain):
    assert plain[case].names == ["const", "x2", "x3", *case.auxiliary]
    assert plain[case].model.exog_names == ["const", "x2", "x3"]
    named = case.model(case.y, X, names=["x1", "my var", "größe"]).fit(seed=1)
    assert named.names == ["x1", "my var", "größe", *case.auxiliary]  # a name given is kept
    assert_same(named, plain[case])
    np.testing.assert_allclose(case.fit(seed=1).params, named.params, rtol=1e-9)
    assert "at centred predictors" in " ".join(plain[case].summary().as_text().split())


@of_every_kind
def test_names_of_frames_that_are_no_text(case):
    frame = pd.DataFrame(X, columns=[0, ("a", 1), pd.Timestamp("2020-01-01")])
    assert case.model(case.y, frame).exog_names == ["0", "('a', 1)", "2020-01-01 00:00:00"]


@of_every_kind
def test_arguments_of_arrays_with_one_index(case):
    index = [f"row {i}" for i in range(N)]
    inputs = [
        pd.Series(case.y, index),
        pd.DataFrame(X, index),
        pd.Series(1.0, index),
        pd.Series(0.1, index),
    ]
    one, other = (
        case.model(*some[:2], weights=some[2], offset=some[3]).fit(seed=1)
        for some in (inputs, [i.to_numpy() for i in inputs])
    )
    assert_same(one, other)


@of_every_kind
def test_starts_by_name(case):
    start = case.fit(seed=1, draws=500).params
    assert_same(case.fit(seed=1, init=start), case.fit(seed=1, init=start.to_numpy()))


# ---- sizes and scales ----------------------------------------------------------------------------


@of_every_kind
@pytest.mark.parametrize("n", [2, 5, 31, 33])
def test_few_rows(case, n):
    outcome = np.arange(n) % 2 if case in BINARY else case.y[:n]
    few = case.model(outcome, np.ones((n, 1))).fit(seed=1, prior="normal")
    assert few.nobs == n and np.isfinite(few.draws).all()


@pytest.mark.cover(0)
@of_every_kind
def test_more_columns_than_rows(case):
    wide = np.random.default_rng(1).normal(size=(30, 40))
    with pytest.warns(SGMCWarning) as caught:
        results = case.model(case.y[:30], wide).fit(seed=1)
    assert any(": there are only 30 rows" in str(w.message) for w in caught)
    assert np.isfinite(results.draws).all()
    assert max(map(len, str(results.summary()).split("\n"))) <= 78


@of_every_kind
@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_of_predictors_do_not_matter(case, scale, plain):
    scaled = case.model(case.y, X * [1, scale, 1 / scale]).fit(seed=1)
    factor = np.array([1, 1 / scale, scale] + [1] * len(case.auxiliary))
    assert_in_other_units(scaled, plain[case], factor)
    if not case.auxiliary:
        np.testing.assert_allclose(scaled.draws / factor, plain[case].draws, rtol=1e-5, atol=1e-6)


@of_every_kind
def test_a_predictor_far_from_zero(case, plain):
    far = case.model(case.y, X + [0, 0, 1e6]).fit(seed=1)
    assert_in_other_units(far, plain[case], of=slice(1, None))
    if not case.auxiliary:
        np.testing.assert_allclose(far.params.iloc[1:], plain[case].params.iloc[1:], rtol=1e-3)
        np.testing.assert_allclose(far.bse.iloc[1:], plain[case].bse.iloc[1:], rtol=1e-3)


@pytest.mark.extended
@of_every_kind
def test_more_steps_between_draws_than_draws(case):
    found = case.fit(seed=1, draws=500, thin=501, sampler="lmsgld")
    assert found.draws.shape == (4, 500, case.d)
    assert_same(found, case.fit(seed=1, draws=500, thin=501, sampler="lmsgld"))


@pytest.mark.skipif(sys.platform != "linux", reason="needs memory that is promised, not given")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@of_every_kind
def test_tables_of_more_than_2_to_the_31_numbers(case, dtype):
    n, d = 2**24 + 40, 128  # 17 GB of zeros, of which a few pages are ever touched
    memory = mmap.mmap(
        -1,
        n * d * np.dtype(dtype).itemsize,
        flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE,
    )
    table, outcomes = np.frombuffer(memory, dtype).reshape(n, d), np.zeros(n)
    last = np.arange(n - 40, n)
    random = np.random.default_rng(0)
    table[last], outcomes[last] = random.normal(size=(40, d)), np.resize(case.y, 40)
    models = [
        case.model.family.kernel(design(X), y, None, None)
        for X, y in ((table, outcomes), (np.ascontiguousarray(table[last]), outcomes[last]))
    ]
    (far, near), theta = map(Probe, models), random.normal(size=models[0].dim) / 10
    for here, there in (
        (block(n - 40, 40), block(0, 40)),
        (listed(last[::-3]), listed(np.arange(40)[::-3])),
    ):
        # ols knows its outcomes' sd
        assert far.value(theta, here) == pytest.approx(near.value(theta, there), rel=1e-10)
        np.testing.assert_allclose(
            far.gradient(theta, here), near.gradient(theta, there), rtol=1e-10
        )


COMPILED = sorted(
    p
    for p in (Path(__file__).resolve().parents[2] / "sgmc").rglob("*")
    if p.suffix in (".pyx", ".pxd", ".inc", ".c", ".h")
)


@pytest.mark.parametrize(
    "path", [p for p in COMPILED if not p.name.startswith("_")], ids=lambda p: p.name
)
def test_no_index_of_32_bits(path):
    # of matrices of a tile, for BLAS
    text = "".join(line for line in path.read_text().splitlines(True) if "<int" not in line)
    counters = (
        re.findall(r"cdef (?:const )?(?:unsigned )?(?:int|int32_t|short) ([\w, ]+)(?=\n|=)", text)
        if path.suffix != ".c"
        else []
    )
    assert {name.strip() for names in counters for name in names.split(",")} <= {
        "status",
        "rule",
        "verdict",
        "activation",
        "outcome",
        "exponent",  # of a number in double precision
    }
    bounds = re.findall(r"for \((?:unsigned )?int \w+ = 0; \w+ < ([^;]+);", text)
    assert {
        bound for bound in bounds if not re.fullmatch(r"\d+|[A-Z]+( - 1)?|half", bound)
    } == set()


def test_every_kind_of_outcome_has_a_case_or_a_file():
    """Those of several kinds are in multinomial/test_labels and ordinal/test_results, times in
    survival/test_input.
    """
    kinds = {(model.family.outcome, model.family.counts) for model in room("families").values()}
    assert {(case.model.family.outcome, case.model.family.counts) for case in CASES} == kinds - {
        ("category", False),
        ("ordered", False),
        ("survival", False),
    }
    assert all(model.__name__ in sgmc.__all__ for model in room("families").values())
