"""Bad input is refused by name; awkward but valid input gives the posterior of the plain one and is left as it was."""
import hashlib
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import sgmc
from sgmc.errors import ArgumentError, DataError, FormulaError, NotSupported, SGMCError, SGMCWarning

N = 200
rng = np.random.default_rng(0)
X = np.column_stack([np.ones(N), rng.integers(-3, 4, N), np.round(rng.normal(size=N), 2)])
y = (rng.random(N) < 1 / (1 + np.exp(-X @ [0.2, 0.5, -0.7]))).astype(float)
for _array in (X, y):
    _array.setflags(write=False)
FRAME = pd.DataFrame({"y": y.astype(int), "x1": X[:, 1], "x2": X[:, 2], "g": np.where(X[:, 1] > 0, "a", "b"), "w": 1.0})


def changed(array, value, at=3):
    """A copy with one entry replaced."""
    out = np.array(array, dtype=object if isinstance(value, str) else float)
    out.flat[at] = value
    return out


def fit(**arguments):
    """The formula fitted with these arguments."""
    return sgmc.logit("y ~ x1 + x2", FRAME, **arguments)


def logit(formula, **columns):
    """The formula fitted to the frame with these columns changed."""
    return sgmc.logit(formula, FRAME.assign(**columns))


# ---- arguments of a fit ---------------------------------------------------------------------------------------------------

BAD_ARGUMENTS = [
    (dict(sampler="sgdl"), ArgumentError, "sampler='sgdl' is not known; did you mean 'sgld'?"),
    (dict(sampler="nuts"), ArgumentError, "sampler='nuts' is not known; known: "),
    (dict(sampler=""), ArgumentError, "sampler=''"),
    (dict(sampler=3), ArgumentError, "sampler=3 must be a name such as 'sgld'"),
    (dict(sampler=None), ArgumentError, "sampler=None"),
    (dict(sampler="sgld-vc"), ArgumentError, "sampler='sgld-vc'"),
    (dict(sampler="sgld-cv", gradient="simple"), ArgumentError, "sampler='sgld-cv' names the gradient 'cv', but gradient='simple'"),
    (dict(gradient="tailor"), ArgumentError, "gradient='tailor' is not known; did you mean 'taylor'?"),
    (dict(gradient=3), ArgumentError, "gradient=3"),
    (dict(sampler="mala", gradient="cv"), ArgumentError, "gradient='cv' does not apply to mala"),
    (dict(sampler="mala-cv"), ArgumentError, "does not apply to mala"),
    (dict(sampler="laplace", gradient="cv"), ArgumentError, "gradient='cv' does not apply to laplace"),
    (dict(subsample="blocks"), ArgumentError, "subsample='blocks' is not known; did you mean 'block'?"),
    (dict(sampler="sgld", batch_size=N + 1), ArgumentError, f"batch_size={N + 1} exceeds the {N} rows"),
    (dict(sampler="mala", batch_size=10), ArgumentError, "batch_size does not apply to mala"),
    *[(dict(batch_size=v), ArgumentError, f"batch_size={v!r} must be a whole number") for v in (0, -1, 2.5, "10", True)],
    *[(dict(step_size=v), ArgumentError, f"step_size={v!r}") for v in (0, -0.1, float("inf"), float("nan"), "0.1", True)],
    *[(dict(draws=v), ArgumentError, f"draws={v!r} must be a whole number") for v in (0, -5, 10.0, None, "100")],
    *[(dict(chains=v), ArgumentError, f"chains={v!r} must be a whole number") for v in (0, -1, 1.5, None)],
    *[(dict(thin=v), ArgumentError, f"thin={v!r} must be a whole number") for v in (0, -1, 1.5)],
    *[(dict(warmup=v), ArgumentError, f"warmup={v!r} must be a whole number") for v in (-1, 1.5, "10")],
    *[(dict(threads=v), ArgumentError, f"threads={v!r} must be a whole number") for v in (0, -2, 1.5)],
    *[(dict(seed=v), ArgumentError, f"seed={v!r} must be a whole number") for v in (-1, 1.5, "1", True)],
    *[(dict(time_limit=v), ArgumentError, f"time_limit={v!r} must be a positive number") for v in (0, -1, "5", float("nan"))],
    *[(dict(max_data_passes=v), ArgumentError, f"max_data_passes={v!r} must be a positive number") for v in (0, -1, "5")],
    *[(dict(dtype=v), ArgumentError, "dtype=") for v in ("float16", "int64", int, None, "double precision")],
    *[(dict(precondition=v), ArgumentError, f"precondition={v!r} is not one of") for v in ("full", 1, "None", True)],
    (dict(precondition=["mode"]), ArgumentError, "precondition="),
    (dict(init=[0.0, 0.0]), ArgumentError, "init has shape (2,); it must be (3,) or (4, 3)"),
    (dict(init=np.zeros((3, 4))), ArgumentError, "init has shape (3, 4)"),
    (dict(init=1.0), ArgumentError, "init has shape (1,)"),
    *[(dict(init=v), ArgumentError, "init")
      for v in (["a", "b", "c"], [0.0, float("nan"), 0.0], {"x1": 0})],
    (dict(draws=100_000_000), ArgumentError, "draws=100000000 in 4 chains of 3 coefficients are 8.9 GB, over the limit of 1 GB"),
    (dict(max_data_passes=0.001), ArgumentError, "max_data_passes=0.001 is used up before the first draw"),
    (dict(cov_type="HC0"), NotSupported, "cov_type='HC0'"),
    (dict(tune="mamba"), NotSupported, "tune='mamba'"),
    (dict(progress="yes"), ArgumentError, "progress='yes'"),
    (dict(prior="norml"), ArgumentError, "prior='norml' is not a prior"),
    (dict(prior=2.5), ArgumentError, "prior=2.5 is not a prior"),
    (dict(prior={"x3": "normal"}), ArgumentError, "prior: 'x3' is neither a term nor a column of the design; columns are: Intercept, x1, x2"),
    (dict(prior={"intercept": "normal"}), ArgumentError, "did you mean 'Intercept'?"),
    (dict(prior={"x1": 1}), ArgumentError, "prior=1 is not a prior"),
    (dict(prior=sgmc.SGLD()), ArgumentError, "is not a prior"),
    (dict(exposure="w"), ArgumentError, "exposure does not apply to logit"),
    (dict(subset="x1 >"), DataError, "subset='x1 >'"),
    (dict(subset="x1 > 100"), DataError, "the subset has no row"),
    (dict(subset=np.ones(3, bool)), DataError, "subset has length 3"),
    (dict(missing="keep"), ArgumentError, "missing='keep' must be 'drop' or 'raise'"),
    (dict(weights="ww"), DataError, "weights='ww' is not a column of the data"),
    (dict(weights=np.ones(3)), DataError, "weights has length 3, the data have 200 rows"),
    (dict(weights=-np.ones(N)), DataError, "weights must be finite numbers, zero or more"),
    (dict(weights=np.zeros(N)), DataError, "weights must be finite numbers"),
    (dict(weights="g"), DataError, "weights must be numeric"),
    (dict(offset=np.full(N, np.inf)), DataError, "offset must be finite"),
    (dict(offset=pd.Series(np.ones(N), range(1, N + 1))), DataError, "offset has another index than the data"),
    (dict(offset=np.ones((N, 2))), DataError, "offset must be a column name or one value a row"),
]


@pytest.mark.parametrize("arguments, error, text", BAD_ARGUMENTS,
                         ids=[str(getattr(case, "values", case)[0])[:60] for case in BAD_ARGUMENTS])
def test_arguments(arguments, error, text):
    with pytest.raises(error, match=re.escape(text)) as raised:
        fit(**arguments)
    assert isinstance(raised.value, SGMCError)


@pytest.mark.parametrize("arguments", [dict(sampel="sgld"), dict(n_draws=10), dict(family="binomial")], ids=str)
def test_unknown_arguments_are_type_errors_as_in_any_python(arguments):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{next(iter(arguments))}'"):
        fit(**arguments)


@pytest.mark.parametrize("make, text", [
    (lambda: sgmc.normal(0, 0), "normal: scale=0 must be positive"), (lambda: sgmc.normal(0, -1), "normal: scale=-1"),
    (lambda: sgmc.normal(np.nan, 1), "normal: location=nan must be finite"), (lambda: sgmc.laplace(0, np.inf), "laplace: scale=inf"),
    (lambda: sgmc.student_t(0), "student_t: df=0 must be positive"), (lambda: sgmc.cauchy(0, np.nan), "scale=nan"),
    (lambda: sgmc.normal("a"), "normal: location='a'"), (lambda: sgmc.normal(0, "b"), "normal: scale='b'"),
    (lambda: sgmc.student_t("a"), "student_t: df='a'"),
    (lambda: sgmc.MALA(target=0.5), "MALA has no parameter 'target'; it has: target_accept"),
    (lambda: sgmc.MALA(target_accept=1.5), "MALA: target_accept=1.5 must be a number between 0 and 1"),
    (lambda: sgmc.MALA(integrator="verlet"), "MALA: integrator='verlet' is not one of"),
    (lambda: sgmc.VSGBD(increment=3), "VSGBD: increment=3 is not one of"),
    (lambda: sgmc.CSGBD(beta=float("nan")), "CSGBD: beta=nan"),
    (lambda: sgmc.SGLD(friction=1), "SGLD has no parameter 'friction'; it has: none"),
    (lambda: sgmc.register(object), "needs a class attribute `name`"),
    (lambda: sgmc.sample("model"), "sample needs a model"),
    (lambda: sgmc.sample(FRAME), "sample needs a model"),
], ids=range(18))
def test_priors_and_specifications(make, text):
    with pytest.raises(ArgumentError, match=re.escape(text)):
        make()


# ---- arrays ---------------------------------------------------------------------------------------------------------------

BAD_ARRAYS = [
    ((np.zeros(N), X), DataError, "the outcome 'y' is 0 in every row"),
    ((np.ones(N), X), DataError, "the outcome 'y' is 1 in every row"),
    ((y + 1, X), DataError, "the outcome 'y' must be 0 or 1"),
    ((y * 0.5, X), DataError, "must be 0 or 1"),
    ((y * 2 - 1, X), DataError, "must be 0 or 1"),
    ((changed(y, np.nan), X), DataError, "endog has missing or infinite values"),
    ((np.where(y > 0, "yes", "no"), X), DataError, "endog must hold numbers"),
    ((y.astype(complex), X), DataError, "endog must hold numbers, not complex128"),
    ((np.column_stack([y, y]), X), DataError, f"endog has shape ({N}, 2)"),
    ((y[:-1], X), DataError, "endog has 199 values, exog has 200 rows"),
    ((None, X), DataError, "endog"),
    ((1.0, X), DataError, "endog"),
    ((y, changed(X, np.nan)), DataError, "exog has missing or infinite values (column 'x1')"),
    ((y, changed(X, np.inf, 4)), DataError, "exog has missing or infinite values (column 'x2')"),
    ((y, changed(X, -np.inf, 5)), DataError, "(column 'x3')"),
    ((y, changed(X, "text")), DataError, "exog must hold numbers, not object"),
    ((y, X.astype(complex)), DataError, "exog must hold numbers, not complex128"),
    ((y, X.astype(str)), DataError, "exog must hold numbers"),
    ((y, X.astype("datetime64[s]")), DataError, "exog must hold numbers, not datetime64"),
    ((y, X[:, :0]), DataError, f"exog has shape ({N}, 0)"),
    ((y, X[None]), DataError, f"exog has shape (1, {N}, 3)"),
    ((y, None), DataError, "exog"),
    ((y, 3.0), DataError, "exog"),
    ((y[:0], X[:0]), DataError, "the data are empty"),
    ((pd.Series(y), pd.DataFrame(X, index=range(1, N + 1))), DataError, "endog and exog have different indices"),
    ((y, sparse.csr_array(changed(X, np.nan))), DataError, "exog has missing or infinite values"),
    ((y, sparse.csr_array(X * 1j)), DataError, "exog must hold numbers"),
]
BAD_KEYWORDS = [
    (dict(names=["a", "b"]), ArgumentError, "names must be 3 strings"),
    (dict(names=["a", "b", "a"]), ArgumentError, "names repeat: ['a']"),
    (dict(names=["a", "b", 3]), ArgumentError, "names must be 3 strings"),
    (dict(names="abc"), ArgumentError, "names='abc' must be 3 strings"),
    (dict(names=3), ArgumentError, "names=3 must be 3 strings"),
    (dict(weights=y[:3]), DataError, "weights has 3 values, the data have 200 rows"),
    (dict(weights=-y), DataError, "weights must not be negative"),
    (dict(weights=0 * y), DataError, "weights must not be negative, nor all zero"),
    (dict(weights=changed(y, np.nan)), DataError, "weights has missing or infinite values"),
    (dict(weights=["a"] * N), DataError, "weights must hold numbers"),
    (dict(weights=1.0), DataError, "weights has shape ()"),
    (dict(offset=y[:3]), DataError, "offset has 3 values"),
    (dict(offset=changed(y, np.inf)), DataError, "offset has missing or infinite values"),
    (dict(offset=X), DataError, f"offset has shape ({N}, 3)"),
]


@pytest.mark.parametrize("arrays, error, text", BAD_ARRAYS, ids=[text[:50] for *_, text in BAD_ARRAYS])
def test_arrays(arrays, error, text):
    with pytest.raises(error, match=re.escape(text)):
        sgmc.Logit(*arrays)


@pytest.mark.parametrize("keywords, error, text", BAD_KEYWORDS, ids=[text[:50] for *_, text in BAD_KEYWORDS])
def test_keywords_of_arrays(keywords, error, text):
    with pytest.raises(error, match=re.escape(text)):
        sgmc.Logit(y, X, **keywords)


def test_repeated_columns_of_a_frame():
    table = pd.DataFrame(X, columns=["a", "b", "a"])
    with pytest.raises(ArgumentError, match=r"names repeat: \['a'\]"):
        sgmc.Logit(y, table)


# ---- formulas and frames --------------------------------------------------------------------------------------------------

BAD_FORMULAS = [
    (lambda: logit("y ~ x3"), FormulaError, "x3"),
    (lambda: logit("z ~ x1"), FormulaError, "z"),
    (lambda: logit("y ~ x1 +"), FormulaError, "y ~ x1 +"),
    (lambda: logit("y"), FormulaError, "y"),
    (lambda: logit(3), FormulaError, "formula"),
    (lambda: logit("y ~ x1", y=1), DataError, "the response 'y' is 1 in every row"),
    (lambda: logit("y ~ x1", y=np.arange(N)), DataError, "the response 'y' must be 0 or 1"),
    (lambda: logit("y ~ x1", y=np.arange(N) % 3).fit(), DataError, "must be 0 or 1"),
    (lambda: logit("y ~ x1", y=list("abc" * 66 + "ab")), DataError, "the response 'y' has 3 levels"),
    (lambda: logit("y ~ x1", y=np.nan), DataError, "y"),
    (lambda: logit("y ~ x1", x1=np.inf), DataError, "'x1' is not finite"),
    (lambda: logit("y ~ x1", x1=np.nan), DataError, "x1"),
    (lambda: logit("y ~ x1", x1=1j), FormulaError, "x1"),
    (lambda: logit("y ~ x1", x1=pd.Timestamp("2020-01-01")), FormulaError, "x1"),
    (lambda: sgmc.logit("y ~ x1", FRAME.iloc[:0]), DataError, "the data are empty"),
    (lambda: sgmc.logit("y ~ x1", None), DataError, "data must be a DataFrame"),
    (lambda: sgmc.logit("y ~ x1", FRAME.to_numpy()), DataError, "data must be a DataFrame"),
    (lambda: sgmc.logit("y ~ x1", pd.concat([FRAME, FRAME[["x1"]]], axis=1)), DataError, "more than one column 'x1'"),
]


@pytest.mark.parametrize("call, error, text", BAD_FORMULAS, ids=range(len(BAD_FORMULAS)))
def test_formulas_and_frames(call, error, text):
    with pytest.raises(error, match=re.escape(text)):
        call()


# ---- awkward but valid ----------------------------------------------------------------------------------------------------

def strided(array):
    """The same numbers, every other row and column of a larger array."""
    big = np.full([2 * n for n in array.shape], 7.0)
    big[tuple(slice(None, None, 2) for _ in array.shape)] = array
    return big[tuple(slice(None, None, 2) for _ in array.shape)]


def mapped(array, folder):
    """The same numbers in a read-only file."""
    np.save(folder / "X.npy", array)
    return np.load(folder / "X.npy", mmap_mode="r")


LAYOUTS = {
    "Fortran": np.asfortranarray, "strided": strided, "reversed": lambda a: a[::-1].copy()[::-1], "big-endian": lambda a: a.astype(">f8"),
    "writeable": np.array, "list": lambda a: a.tolist(), "frame": lambda a: pd.DataFrame(a), "matrix of objects": lambda a: a.astype(object),
    "read-only": lambda a: a, "longdouble": lambda a: a.astype(np.longdouble),
}


@pytest.fixture(scope="module")
def plain():
    return sgmc.Logit(y, X).fit(seed=1)


@pytest.mark.parametrize("layout", [*LAYOUTS, "memmap"])
def test_layouts_of_the_design(layout, plain, tmp_path):
    design = mapped(X, tmp_path) if layout == "memmap" else LAYOUTS[layout](X)
    np.testing.assert_array_equal(sgmc.Logit(y, design).fit(seed=1).draws, plain.draws)


@pytest.mark.parametrize("make", [np.int8, bool, np.uint8, np.float32, ">f4", ">i2", "O", pd.Series, list, lambda v: v[:, None],
                                  lambda v: pd.Series(v, dtype="Int8"), lambda v: pd.array(v, dtype="boolean")], ids=str)
def test_types_of_the_outcome(make, plain):
    outcome = make(y) if callable(make) and not isinstance(make, type) or make in (pd.Series, list) else y.astype(make)
    np.testing.assert_array_equal(sgmc.Logit(outcome, X).fit(seed=1).draws, plain.draws)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8, bool, np.float32, np.float16, ">i4"])
def test_types_of_the_design(dtype):
    whole = np.abs(np.rint(X[:, :2])).astype(dtype)
    np.testing.assert_array_equal(sgmc.Logit(y, whole).fit(seed=1).draws, sgmc.Logit(y, whole.astype(float)).fit(seed=1).draws)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix, lambda a: sparse.csr_array(a.astype(int)),
                                  lambda a: sparse.csr_array(a.astype(np.float32).astype(float))], ids=range(6))
def test_sparse_designs(make):
    design = np.rint(X)
    np.testing.assert_array_equal(sgmc.Logit(y, make(design)).fit(seed=1).draws, sgmc.Logit(y, sparse.csr_array(design)).fit(seed=1).draws)


def test_one_column_as_a_vector(plain):
    one = X[:, 1] / 3
    np.testing.assert_array_equal(sgmc.Logit(y, one).fit(seed=1).draws, sgmc.Logit(y, one[:, None]).fit(seed=1).draws)


def test_a_column_of_ones_is_the_intercept(plain):
    assert plain.names == ["const", "x2", "x3"]
    named = sgmc.Logit(y, X, names=["Intercept", "x1", "x2"]).fit(seed=1)
    np.testing.assert_array_equal(named.draws, plain.draws)
    np.testing.assert_allclose(fit(seed=1).params, named.params, rtol=1e-9)
    assert "at centred predictors" in " ".join(plain.summary().as_text().split())


@pytest.mark.parametrize("make", [
    lambda df: df.to_dict("list"), lambda df: {k: v.to_numpy() for k, v in df.items()}, lambda df: df.convert_dtypes(),
    lambda df: df.astype({"y": bool}), lambda df: df.set_index(pd.Index(np.arange(N) * 7)), lambda df: df.set_index("w"),
    lambda df: df[df.columns[::-1]], lambda df: df.astype({"y": "category"}), lambda df: df.assign(unused=pd.NaT)], ids=range(9))
def test_kinds_of_frames(make):
    np.testing.assert_allclose(sgmc.logit("y ~ x1 + x2 + g", make(FRAME), seed=1).draws,
                               sgmc.logit("y ~ x1 + x2 + g", FRAME, seed=1).draws, rtol=1e-9)


@pytest.mark.parametrize("n", [2, 5, 31, 33])
def test_few_rows(n):
    outcome = np.arange(n) % 2
    few = sgmc.Logit(outcome, np.ones((n, 1))).fit(seed=1, prior="normal")
    assert few.nobs == n and np.isfinite(few.draws).all()


def test_more_columns_than_rows():
    wide = np.random.default_rng(1).normal(size=(30, 40))
    with pytest.warns(SGMCWarning):
        results = sgmc.Logit(y[:30], wide).fit(seed=1)
    assert np.isfinite(results.draws).all() and max(map(len, str(results.summary()).split("\n"))) <= 78


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_of_predictors_do_not_matter(scale, plain):
    scaled = sgmc.Logit(y, X * [1, scale, 1 / scale]).fit(seed=1)
    np.testing.assert_allclose(scaled.draws * [1, scale, 1 / scale], plain.draws, rtol=1e-5, atol=1e-6)


def test_a_predictor_far_from_zero(plain):
    far = sgmc.Logit(y, X + [0, 0, 1e6]).fit(seed=1)
    np.testing.assert_allclose(far.params.iloc[1:], plain.params.iloc[1:], rtol=1e-3)
    np.testing.assert_allclose(far.bse.iloc[1:], plain.bse.iloc[1:], rtol=1e-3)


# ---- nothing else is touched ----------------------------------------------------------------------------------------------

def digest(*objects):
    """A checksum of arrays and frames."""
    total = hashlib.sha256()
    for one in objects:
        total.update(pd.util.hash_pandas_object(one).to_numpy().tobytes() if hasattr(one, "columns") else np.ascontiguousarray(one).tobytes())
    return total.hexdigest()


@pytest.mark.parametrize("how", [{}, dict(sampler="mala"), dict(precondition=None), dict(precondition="diag"), dict(dtype="float32")], ids=str)
def test_inputs_are_unchanged(how):
    inputs = [y.copy(), X.copy(), np.full(N, 0.1), np.ones(N), FRAME.copy(), np.zeros(3)]
    before = digest(*inputs)
    outcome, design, offset, weights, frame, init = inputs
    results = sgmc.Logit(outcome, design, offset=offset, weights=weights).fit(seed=1, init=init, draws=2000, **how)
    sgmc.logit("y ~ .", frame[["y", "x1", "x2"]], seed=1, offset=offset, **how).predict(frame, offset=offset)
    results.predict(design, offset=offset), results.summary(), results.ksd()
    assert digest(*inputs) == before


def test_sparse_inputs_are_unchanged():
    design = sparse.csr_array(X)
    before = digest(design.data, design.indices, design.indptr)
    sgmc.Logit(y, design).fit(seed=1)
    assert digest(design.data, design.indices, design.indptr) == before


def test_global_state_is_unchanged():
    import warnings

    from threadpoolctl import threadpool_info

    np.random.seed(3)
    state, threads, filters = np.random.get_state()[1].copy(), threadpool_info(), list(warnings.filters)
    errors = np.geterr()
    fit(seed=1).summary()
    np.testing.assert_array_equal(np.random.get_state()[1], state)
    assert [t["num_threads"] for t in threadpool_info()[:len(threads)]] == [t["num_threads"] for t in threads]
    assert list(warnings.filters) == filters and np.geterr() == errors
