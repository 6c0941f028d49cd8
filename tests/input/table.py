"""The bad-input table: what is refused, or warned of, by which name and in which words, for regression models of each kind.

``python tests/input/table.py`` prints every message as the user sees it.
"""
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

import sgmc
from sgmc import verbs
from sgmc.errors import (ArgumentError, ColumnsLeftOutWarning, ConditionWarning, DataError, FormulaError, NotSupported,
                         SeparationWarning, SGMCError, SGMCWarning)

N = 200
rng = np.random.default_rng(0)
X = np.column_stack([np.ones(N), rng.integers(-3, 4, N), np.round(rng.normal(size=N), 2)])
X.setflags(write=False)
ETA = X @ [0.2, 0.5, -0.7]
FOREIGN = Path(__file__)


def outcomes():
    """Kinds of outcomes: name -> values; a numeric family gets the first that it accepts."""
    random = np.random.default_rng(1)
    return {"numbers": np.round(ETA + random.normal(size=N), 3), "counts": random.poisson(np.exp(ETA / 2)).astype(float),
            "positive": np.exp(ETA / 2) * random.gamma(2, size=N), "shares": 1 / (1 + np.exp(-ETA - random.normal(size=N)))}


def accepted(family, values):
    """Whether a family accepts these outcomes."""
    try:
        family.check(values, "y")
    except DataError:
        return False
    return True


class Case:
    """A regression model, and data that suit it.

    Attributes
    ----------
    model : type
    y, X, frame : array (n,), array (n, 3), DataFrame
        `frame` has also a text column g and weights w.
    own : list of str
        Names of the family's own parameters.
    """

    def __init__(self, model):
        self.model, self.verb, self.X = model, getattr(verbs, model.family.name), X
        self.own = [one.name for one in model.family.own]
        binary = model.family.outcome == "binary"
        self.y = (np.random.default_rng(0).random(N) < 1 / (1 + np.exp(-ETA))).astype(float) if binary else next(
            values for values in outcomes().values() if accepted(model.family, values))
        self.y.setflags(write=False)
        self.frame = pd.DataFrame({"y": self.y, "x1": X[:, 1], "x2": X[:, 2], "g": np.where(X[:, 1] > 0, "a", "b"), "w": 1.0})

    def __repr__(self):
        return self.model.family.name

    @property
    def d(self):
        """Parameters of the formula and of a fit of X."""
        return 3 + len(self.own)

    def fit(self, **arguments):
        """The formula fitted with these arguments."""
        return self.verb("y ~ x1 + x2", self.frame, **arguments)

    def formula(self, text, **columns):
        """A formula fitted to the frame with these columns changed."""
        return self.verb(text, self.frame.assign(**columns), seed=1)

    def arrays(self, *arrays, **keywords):
        """A model of arrays, fitted."""
        return self.model(*arrays, **keywords).fit(seed=1)

    @cached_property
    def results(self):
        """A fit by formula."""
        return self.verb("y ~ x1 + x2 + g", self.frame, seed=1)

    @cached_property
    def of_arrays(self):
        """A fit of a frame without a formula."""
        return self.model(self.y, pd.DataFrame(X, columns=["one", "a", "b"])).fit(seed=1)


CASES = [Case(model) for model in (sgmc.Logit, sgmc.OLS, sgmc.Poisson)]       # what is checked depends on outcomes and on counts alone
BINARY = [case for case in CASES if case.model.family.outcome == "binary"]
REAL = [case for case in CASES if case.model.family.identity]


@dataclass(frozen=True)
class Entry:
    """One row of the table: a call on a Case, the class of the error or warning, and the telling part of its text.

    The text may be a function of the Case.
    """

    label: str
    call: object
    expected: type
    text: object

    def telling(self, case):
        """The text, for that case."""
        return self.text(case) if callable(self.text) else self.text


def shown(arguments):
    """Keyword arguments as text, short."""
    short = {name: "a function" if callable(value) else " ".join(repr(value).split())[:50] for name, value in arguments.items()}
    return ", ".join(f"{name}={value}" for name, value in short.items())


def changed(array, value, at=3):
    """A copy with one entry replaced."""
    out = np.array(array, dtype=object if isinstance(value, str) else float)
    out.flat[at] = value
    return out


def series(values, start=1):
    """A Series whose index is not that of the frame."""
    return pd.Series(values, range(start, start + len(values)))


def damaged(**parts):
    """A CSR array whose parts were changed behind scipy's back."""
    table = sparse.csr_array(X)
    for name, values in parts.items():
        setattr(table, name, np.asarray(values(getattr(table, name).copy())))
    return table


def put(array, at, value):
    """The array, changed at one place."""
    array[at] = value
    return array


# ---- arguments of a fit ---------------------------------------------------------------------------------------------------

ARGUMENTS = [
    (dict(sampler="sgdl"), ArgumentError, "sampler='sgdl' is not known; did you mean 'sgld'?"),
    (dict(sampler="nuts"), ArgumentError, "sampler='nuts' is not known; known: "),
    (dict(sampler=""), ArgumentError, "sampler=''"),
    (dict(sampler=3), ArgumentError, "sampler=3 must be a name such as 'sgld'"),
    (dict(sampler=None), ArgumentError, "sampler=None"),
    (dict(sampler="sgld-vc"), ArgumentError, "sampler='sgld-vc'"),
    (dict(sampler="sgld-cv", gradient="simple"), ArgumentError,
     "sampler='sgld-cv' names the gradient 'cv', but gradient='simple'"),
    (dict(gradient="tailor"), ArgumentError, "gradient='tailor' is not known; did you mean 'taylor'?"),
    (dict(gradient=3), ArgumentError, "gradient=3"),
    (dict(sampler="mala", gradient="cv"), ArgumentError, "gradient='cv' does not apply to mala"),
    (dict(sampler="mala-cv"), ArgumentError, "does not apply to mala"),
    (dict(sampler="laplace", gradient="cv"), ArgumentError, "gradient='cv' does not apply to laplace"),
    (dict(subsample="blocks"), ArgumentError, "subsample='blocks' is not known; did you mean 'block'?"),
    (dict(subsample="stratify"), ArgumentError, "subsample='stratify' is not known; did you mean 'stratified'?"),
    (dict(subsample="preferred"), ArgumentError, "subsample='preferred' is not known; did you mean 'preferential'?"),
    *[(dict(sampler="sgld", subsample=v, batch_size=N + 1), ArgumentError, f"batch_size={N + 1} exceeds the {N} rows")
      for v in ("preferential", "stratified")],
    (dict(sampler="sgld", batch_size=N + 1), ArgumentError, f"batch_size={N + 1} exceeds the {N} rows"),
    (dict(sampler="mala", batch_size=10), ArgumentError, "batch_size does not apply to mala"),
    *[(dict(batch_size=v), ArgumentError, f"batch_size={v!r} must be a whole number") for v in (0, -1, 2.5, "10", True)],
    *[(dict(step_size=v), ArgumentError, f"step_size={v!r}") for v in (0, -0.1, float("inf"), float("nan"), "0.1", True)],
    *[(dict(draws=v), ArgumentError, f"draws={v!r} must be a whole number") for v in (0, -5, 10.0, None, "100")],
    *[(dict(chains=v), ArgumentError, f"chains={v!r} must be a whole number") for v in (0, -1, 1.5, None)],
    *[(dict(thin=v), ArgumentError, f"thin={v!r} must be a whole number") for v in (0, -1, 1.5)],
    *[(dict(warmup=v), ArgumentError, f"warmup={v!r} must be a whole number") for v in (-1, 1.5, "10")],
    (dict(warmup="treshold"), ArgumentError, "warmup='treshold' must be a whole number of steps, or 'threshold'"),
    (dict(warmup="threshold", sampler="mala"), ArgumentError, "warmup='threshold' does not apply to mala: its gradients have no noise"),
    (dict(warmup="threshold", sampler="sgld-simple", step_size=1.0, batch_size=5), ArgumentError,
     "warmup='threshold': alpha, the gradient's noise over the noise injected, is "),
    (dict(batch_size="adaptive", sampler="hmc"), ArgumentError, "batch_size='adaptive' does not apply to hmc: it uses all rows"),
    (dict(batch_size="adaptive", sampler="sgld", warmup=0), ArgumentError, "batch_size='adaptive' learns the size in warmup"),
    (dict(batch_size="adaptiv"), ArgumentError, "batch_size='adaptiv' must be a whole number, at least 1"),
    (dict(strata="g"), ArgumentError, "strata does not apply to subsample='block'; give subsample='stratified'"),
    (dict(strata="gg", subsample="stratified"), DataError, "strata='gg' is not a column of the data; did you mean 'g'?"),
    (dict(strata=np.ones(3), subsample="stratified"), DataError, "strata has length 3, the data have 200 rows"),
    (dict(strata=np.arange(N).astype(str), subsample="stratified"), DataError, f"strata has {N} levels; at most 32: join some of them"),
    (dict(strata=np.arange(N) % 9, subsample="stratified", batch_size=8), ArgumentError, "batch_size=8 is less than the 9 strata"),
    *[(dict(threads=v), ArgumentError, f"threads={v!r} must be a whole number") for v in (0, -2, 1.5)],
    *[({name: 10**30}, ArgumentError, f"{name}={10**30} is too many: at most 1e+12") for name in ("thin", "warmup", "draws")],
    *[(dict(seed=v), ArgumentError, f"seed={v!r} must be a whole number, at least 0, or a numpy SeedSequence or Generator")
      for v in (-1, 1.5, "1", True, [1, 2])],
    *[(dict(time_limit=v), ArgumentError, f"time_limit={v!r} must be a positive number") for v in (0, -1, "5", float("nan"))],
    *[(dict(max_data_passes=v), ArgumentError, f"max_data_passes={v!r} must be a positive number") for v in (0, -1, "5")],
    *[(dict(dtype=v), ArgumentError, "dtype=") for v in ("float16", "int64", int, None, "double precision")],
    *[(dict(precondition=v), ArgumentError, f"precondition={v!r} is not one of") for v in ("full", 1, "None", True)],
    (dict(precondition=["mode"]), ArgumentError, "precondition="),
    (dict(init=[0.0, 0.0]), ArgumentError, lambda case: f"init has shape (2,); it must be ({case.d},) or (4, {case.d})"),
    (dict(init=np.zeros((3, 5))), ArgumentError, "init has shape (3, 5)"),
    (dict(init=1.0), ArgumentError, "init has shape (1,)"),
    *[(dict(init=v), ArgumentError, "init") for v in (["a", "b", "c"], ["0", "0", "0"], [0.0, float("nan"), 0.0], {"x1": 0},
                                                      np.zeros(3, complex), np.ma.masked_less(np.zeros(3), 1))],
    (dict(init=pd.Series(0.0, ["x2", "x1", "Intercept"])), ArgumentError,
     lambda case: f"init is labelled x2, x1, Intercept; it must be {', '.join(['Intercept', 'x1', 'x2', *case.own])}, in this order"),
    (dict(draws=100_000_000), ArgumentError, lambda case: "draws=100000000 in 4 chains of "
     f"{case.d} parameters are {32e8 * case.d / 2**30:.1f} GB, over the limit of 1 GB"),
    (dict(checkpoint=3), ArgumentError, "checkpoint=3 must be a path"),
    (dict(checkpoint="nowhere/run"), ArgumentError, "checkpoint='nowhere/run' must name a file in a folder that exists"),
    (dict(max_data_passes=0.001), ArgumentError, "max_data_passes=0.001 is used up before the first draw"),
    *[(dict(cov_type=v), NotSupported, f"cov_type={v!r} must be") for v in ("HC0", None, ["robust"], True)],
    *[(dict(cov_type="robust", sampler=s), NotSupported, f"cov_type='robust' with sampler={s!r}: its accept-reject step")
      for s in ("mala", "barker", "hmc", "rwm")],
    (dict(cov_type="robust", sampler="sgrld"), NotSupported, "cov_type='robust' with sampler='sgrld': its metric"),
    *[(dict(cov_type="robust", precondition=p), NotSupported, f"cov_type='robust' with precondition={p!r}") for p in ("diag", None)],
    (dict(tune="mmba"), ArgumentError, "tune='mmba' is not one of 'mamba', 'grid', 'default', 'heuristic'; did you mean 'mamba'?"),
    (dict(tune=5), ArgumentError, "tune=5 must be one of 'mamba', 'grid', 'default', 'heuristic', or what sgmc.tune returned"),
    *[(dict(progress=v), ArgumentError, f"progress={v!r}") for v in ("yes", 1, [True])],
    (dict(prior="norml"), ArgumentError, "prior='norml' is not a prior"),
    (dict(prior=2.5), ArgumentError, "prior=2.5 is not a prior"),
    (dict(prior={"x3": "normal"}), ArgumentError,
     "prior: 'x3' is neither a term nor a column of the design; columns are: Intercept, x1, x2"),
    (dict(prior={"intercept": "normal"}), ArgumentError, "did you mean 'Intercept'?"),
    (dict(prior={"x1": 1}), ArgumentError, "prior['x1']=1 is not a prior"),
    (dict(prior=sgmc.SGLD()), ArgumentError, "is not a prior"),
    (dict(subset="x1 >"), DataError, "subset='x1 >'"),
    (dict(subset="x1 > 100"), DataError, "the subset has no row"),
    (dict(subset=np.ones(3, bool)), DataError, "subset has length 3"),
    (dict(subset=lambda df: df.x1), DataError, "subset must be true or false in each row, not float64"),
    (dict(subset=lambda df: True), DataError, "subset must be a column name or one value a row"),
    (dict(subset=lambda df: (df.x1 > 0)[::-1]), DataError, "subset has another index than the data"),
    (dict(missing="keep"), ArgumentError, "missing='keep' must be 'drop' or 'raise'"),
    (dict(weights="ww"), DataError, "weights='ww' is not a column of the data; did you mean 'w'?"),
    (dict(weights=np.ones(3)), DataError, "weights has length 3, the data have 200 rows"),
    (dict(weights=-np.ones(N)), DataError, "weights must be finite numbers, zero or more"),
    (dict(weights=np.zeros(N)), DataError, "weights must be finite numbers"),
    (dict(weights="g"), DataError, "weights must be numeric"),
    (dict(weights=["1"] * N), DataError, "weights must be numeric"),
    (dict(weights=np.ma.masked_less(np.ones(N), 2)), DataError, "weights has masked values"),
    (dict(weights=series(np.ones(N))), DataError, "weights has another index than the data"),
    (dict(offset=np.full(N, np.inf)), DataError, "offset must be finite"),
    (dict(offset=series(np.ones(N))), DataError, "offset has another index than the data"),
    (dict(offset=np.ones((N, 2))), DataError, "offset must be a column name or one value a row"),
    (dict(sampel="sgld"), TypeError, "unexpected keyword argument 'sampel'; did you mean 'sampler'?"),
    (dict(n_draws=10), TypeError, "unexpected keyword argument 'n_draws'; did you mean 'draws'?"),
    (dict(family="binomial"), TypeError, "unexpected keyword argument 'family'"),
]
OF_FIT = [Entry(f"fit({shown(a)})", lambda case, a=a: case.fit(**a), error, text) for a, error, text in ARGUMENTS]

# ---- priors, samplers, schedules ------------------------------------------------------------------------------------------

OF_OBJECTS = [Entry(label, lambda case, label=label: eval(label, {"sgmc": sgmc, "np": np, "case": case}), ArgumentError, text)
              for label, text in [
    ("sgmc.normal(0, 0)", "normal: scale=0 must be positive"), ("sgmc.normal(0, -1)", "normal: scale=-1"),
    ("sgmc.normal(np.nan, 1)", "normal: location=nan must be finite"), ("sgmc.laplace(0, np.inf)", "laplace: scale=inf"),
    ("sgmc.student_t(0)", "student_t: df=0 must be positive"), ("sgmc.cauchy(0, np.nan)", "cauchy: scale=nan"),
    ("sgmc.normal('a')", "normal: location='a'"), ("sgmc.normal(0, 'b')", "normal: scale='b'"),
    ("sgmc.student_t('a')", "student_t: df='a'"),
    ("sgmc.MALA(target=0.5)", "MALA has no parameter 'target'; it has: target_accept"),
    ("sgmc.MALA(target_accept=1.5)", "MALA: target_accept=1.5 must be a number between 0 and 1"),
    ("sgmc.MALA(integrator='verlet')", "MALA: integrator='verlet' is not one of"),
    ("sgmc.VSGBD(increment=3)", "VSGBD: increment=3 is not one of"), ("sgmc.CSGBD(beta=float('nan'))", "CSGBD: beta=nan"),
    ("sgmc.SGLD(friction=1)", "SGLD has no parameter 'friction'; it has: none"),
    ("sgmc.Constant(0)", "Constant: h=0; it must be a positive number"), ("sgmc.Constant('a')", "Constant: h='a'"),
    ("sgmc.Polynomial(-1, 1, 0.5)", "Polynomial: a=-1"), ("sgmc.Polynomial(1, 0, 0.5)", "Polynomial: b=0"),
    ("sgmc.Polynomial(1, 1, np.nan)", "Polynomial: gamma=nan; it must be a finite number"),
    ("sgmc.Polynomial.between(0.1, 0.1, 10)", "Polynomial.between: end=0.1; it must be less than start=0.1"),
    ("sgmc.Polynomial.between(1, 0, 10)", "Polynomial.between: end=0; it must be a positive number"),
    ("sgmc.Polynomial.between(1, 0.1, 0)", "Polynomial.between: steps=0"),
    ("sgmc.Polynomial.between(1, 0.1, 10, -1)", "Polynomial.between: gamma=-1"),
    ("sgmc.Polynomial.between(1, 0.1, 10, 1e-4)", "Polynomial.between: gamma=0.0001 cannot lead from 1.0 to 0.1 in 10 steps"),
    ("sgmc.Cyclical(-1, 10)", "Cyclical: h=-1; it must be a positive number"), ("sgmc.Cyclical(1, 'a')", "Cyclical: period='a'"),
    ("sgmc.Cyclical(1, 0)", "Cyclical: period=0; it must be a positive number"),
    ("sgmc.Cyclical(1, 2.5)", "Cyclical: period=2.5; it must be a whole number of steps"),
    ("sgmc.Cyclical(1, 1e13)", "Cyclical: period=10000000000000.0; it must be a whole number of steps, at most 1e12"),
    ("sgmc.register(object)", "needs a class attribute `name`"),
    ("sgmc.sample('model')", "sample needs a model"), ("sgmc.sample(case.frame)", "sample needs a model"),
    ("sgmc.load(3)", "load needs the path of a file, not 3"), ("sgmc.load(None)", "load needs the path of a file, not None"),
]]

# ---- arrays ---------------------------------------------------------------------------------------------------------------

OF_ARRAYS = [Entry(f"model({label})", lambda case, make=make: case.model(*make(case.y)), DataError, text)
             for label, make, text in [
    ("endog with NaN", lambda y: (changed(y, np.nan), X), "endog has missing or infinite values"),
    ("endog of text", lambda y: (y.astype(str), X), "endog must hold numbers, it holds text"),
    ("endog of text as objects", lambda y: (y.astype(str).astype(object), X), "endog must hold numbers, it holds str"),
    ("complex endog", lambda y: (y.astype(complex), X), "endog must hold numbers, it holds complex128"),
    ("masked endog", lambda y: (np.ma.masked_where(X[:, 1] > 0, y), X), "endog has masked values"),
    ("three endogs", lambda y: (np.column_stack([y, y, y]), X), f"endog has shape ({N}, 3)"),
    ("endog too short", lambda y: (y[:-1], X), "endog has 199 values, exog has 200 rows"),
    ("no endog", lambda y: (None, X), "endog is None; it must hold numbers"),
    ("one number as endog", lambda y: (1.0, X), "endog has shape ()"),
    ("nullable endog with NA", lambda y: (pd.Series(y, dtype="Float64").mask(X[:, 1] > 2), X), "endog has missing"),
    ("NaN", lambda y: (y, changed(X, np.nan)), "exog has missing or infinite values (column 'x1')"),
    ("inf", lambda y: (y, changed(X, np.inf, 4)), "exog has missing or infinite values (column 'x2')"),
    ("-inf", lambda y: (y, changed(X, -np.inf, 5)), "(column 'x3')"),
    ("None", lambda y: (y, np.where(X > 2, None, X)), "exog has missing or infinite values (column 'x2')"),
    ("a word", lambda y: (y, changed(X, "text")), "exog must hold numbers, it holds float and str"),
    ("numbers as text among numbers", lambda y: (y, changed(X, "1")), "exog must hold numbers, it holds float and str"),
    ("complex", lambda y: (y, X.astype(complex)), "exog must hold numbers, it holds complex128"),
    ("complex objects", lambda y: (y, X.astype(complex).astype(object)), "exog must hold numbers, it holds complex"),
    ("text", lambda y: (y, X.astype(str)), "exog must hold numbers, it holds text"),
    ("dates", lambda y: (y, X.astype("datetime64[s]")), "exog must hold numbers, it holds datetime64"),
    ("time spans", lambda y: (y, X.astype("timedelta64[s]")), "exog must hold numbers, it holds timedelta64"),
    ("a structured array", lambda y: (y, np.zeros(N, [("a", float)])), "exog must hold numbers"),
    ("masked array", lambda y: (y, np.ma.masked_greater(X, 2)), "exog has masked values; drop or fill them first"),
    ("rows of unequal length", lambda y: (y, [[1], [1, 2]] * 100), "exog is no array of numbers"),
    ("an integer too large", lambda y: (y, put(X.astype(object), (3, 1), 10**400)), "exog must hold numbers"),
    ("no column", lambda y: (y, X[:, :0]), f"exog has shape ({N}, 0)"),
    ("three axes", lambda y: (y, X[None]), f"exog has shape (1, {N}, 3)"),
    ("no exog", lambda y: (y, None), "exog is None; it must hold numbers"),
    ("one number as exog", lambda y: (y, 3.0), "exog has shape ()"),
    ("a dict", lambda y: (y, {"a": X[:, 1]}), "exog must hold numbers, it holds dict"),
    ("no row", lambda y: (y[:0], X[:0]), "the data are empty"),
    ("another index", lambda y: (pd.Series(y), pd.DataFrame(X, index=range(1, N + 1))), "endog and exog have different indices"),
    ("a frame with text", lambda y: (y, pd.DataFrame(X).assign(g="a")), "exog: column 'g' must hold numbers, it holds str"),
    ("a frame with a category", lambda y: (y, pd.DataFrame(X).assign(g=pd.Categorical(["a", "b"] * 100))),
     "exog: column 'g' must"),
    ("a frame with a date", lambda y: (y, pd.DataFrame(X).assign(t=pd.Timestamp("2020"))), "exog: column 't' must hold numbers"),
    ("a nullable frame with NA", lambda y: (y, pd.DataFrame(X).astype({1: "Int64"}).mask(X > 2)),
     "missing or infinite values (column '1')"),
    ("a frame with a name twice", lambda y: (y, pd.DataFrame(X, columns=["a", "b", "a"])), "exog has more than one column 'a'"),
    ("a frame with 1 and '1'", lambda y: (y, pd.DataFrame(X, columns=[1, "1", "a"])), "exog has more than one column '1'"),
    ("sparse NaN", lambda y: (y, sparse.csr_array(changed(X, np.nan))), "missing or infinite values (column 'x1')"),
    ("sparse complex", lambda y: (y, sparse.csr_array(X * 1j)), "exog must hold numbers"),
    ("sparse, column beyond", lambda y: (y, damaged(indices=lambda i: put(i, 5, 10**6))), "a column index is outside 0 .. 2"),
    ("sparse, column below", lambda y: (y, damaged(indices=lambda i: put(i, 5, -1))), "a column index is outside 0 .. 2"),
    ("sparse, rows beyond", lambda y: (y, damaged(indptr=lambda i: put(i, -1, 10**6))), "its indptr does not ascend"),
    ("sparse, rows descend", lambda y: (y, damaged(indptr=lambda i: put(i, 3, 500))), "its indptr does not ascend"),
]]
OF_KEYWORDS = [Entry(f"model({shown(k)})", lambda case, k=k: case.model(case.y, X, **k), error, text)
               for k, error, text in [
    (dict(names=["a", "b"]), ArgumentError, "names=['a', 'b'] must be 3 strings"),
    (dict(names=["a", "b", "a"]), ArgumentError, "names repeat: ['a']"),
    (dict(names=["a", "b", 3]), ArgumentError, "must be 3 strings"),
    (dict(names="abc"), ArgumentError, "names='abc' must be 3 strings"),
    (dict(names=3), ArgumentError, "names=3 must be 3 strings"),
    (dict(weights=np.ones(3)), DataError, "weights has 3 values, the data have 200 rows"),
    (dict(weights=series(np.ones(3))), DataError, "weights has 3 values, the data have 200 rows"),
    (dict(weights=-np.ones(N)), DataError, "weights must not be negative"),
    (dict(weights=np.zeros(N)), DataError, "weights must not be negative, nor all zero"),
    (dict(weights=changed(np.ones(N), np.nan)), DataError, "weights has missing or infinite values"),
    (dict(weights=["a"] * N), DataError, "weights must hold numbers"),
    (dict(weights=["1"] * N), DataError, "weights must hold numbers"),
    (dict(weights=np.ma.masked_less(np.ones(N), 2)), DataError, "weights has masked values"),
    (dict(weights=1.0), DataError, "weights has shape ()"),
    (dict(offset=np.ones(3)), DataError, "offset has 3 values"),
    (dict(offset=changed(np.ones(N), np.inf)), DataError, "offset has missing or infinite values"),
    (dict(offset=X), DataError, f"offset has shape ({N}, 3)"),
]]
OF_KEYWORDS += [Entry(f"model(frame, {name} of another index)",
                      lambda case, name=name: case.model(case.y, pd.DataFrame(X), **{name: series(np.ones(N))}), DataError,
                      f"exog and {name} have different indices; align them first, or pass {name}.to_numpy()")
                for name in ("weights", "offset")]

# ---- formulas and frames --------------------------------------------------------------------------------------------------

OF_FORMULAS = [Entry(label, call, error, text) for label, call, error, text in [
    ("y ~ x3", lambda c: c.formula("y ~ x3"), FormulaError, "'x3' is neither a column nor a call of a function; did you mean 'x"),
    ("z ~ x1", lambda c: c.formula("z ~ x1"), FormulaError, "'z' is neither a column"),
    ("y ~ x1 +", lambda c: c.formula("y ~ x1 +"), FormulaError, "y ~ x1 +"),
    ("y", lambda c: c.formula("y"), FormulaError, "the formula has no response"),
    ("y ~ 0", lambda c: c.formula("y ~ 0"), FormulaError, "the right side has no term: write '~ 1' for an intercept alone"),
    ("y ~", lambda c: c.formula("y ~"), FormulaError, "the right side is empty"),
    ("a number as formula", lambda c: c.formula(3), FormulaError, "the formula must be text, not int"),
    ("missing outcomes", lambda c: c.formula("y ~ x1", y=np.nan), DataError,
     "no row is complete: values are missing in 'y' (200)"),
    ("x1 infinite", lambda c: c.formula("y ~ x1", x1=np.inf), DataError, "'x1' is not finite"),
    ("x1 missing", lambda c: c.formula("y ~ x1", x1=np.nan), DataError, "no row is complete: values are missing in 'x1' (200)"),
    ("x1 all None", lambda c: c.formula("y ~ x1", x1=None), DataError, "no row is complete: values are missing in 'x1' (200)"),
    ("some missing, missing='raise'", lambda c: c.verb("y ~ x1", c.frame.assign(x1=changed(X[:, 1], np.nan)), missing="raise"),
     DataError, "1 row has missing values, in 'x1' (1); missing='drop' leaves them out"),
    ("x1 complex", lambda c: c.formula("y ~ x1", x1=1j), FormulaError, "column 'x1' is no predictor: it holds complex128"),
    ("x1 a date", lambda c: c.formula("y ~ x1", x1=pd.Timestamp("2020-01-01")), FormulaError, "column 'x1' holds dates"),
    ("x1 of lists", lambda c: c.formula("y ~ x1", x1=pd.Series([[1]] * N)), FormulaError,
     "column 'x1' is no predictor: it holds list"),
    ("x1 of numbers and text", lambda c: c.formula("y ~ x1", x1=pd.Series([1.0, "1"] * 100, dtype=object)), FormulaError,
     "it holds float and str, neither real numbers nor text; convert it"),
    ("x1 an integer too large", lambda c: c.formula("y ~ x1", x1=pd.Series([10**400] + [1] * 199, dtype=object)), DataError,
     "column 'x1' holds what is no float64 number"),
    ("g of one level", lambda c: c.formula("y ~ g", g="a"), DataError,
     "'g' has a single level among the rows used; leave it out"),
    ("no row", lambda c: c.verb("y ~ x1", c.frame.iloc[:0]), DataError, "the data are empty: 0 rows, 5 columns"),
    ("no data", lambda c: c.verb("y ~ x1", None), DataError, "data must be a DataFrame or a dict of arrays, not NoneType"),
    ("an array as data", lambda c: c.verb("y ~ x1", c.frame.to_numpy()), DataError, "data must be a DataFrame"),
    ("a name twice", lambda c: c.verb("y ~ x1", pd.concat([c.frame, c.frame[["x1"]]], axis=1)), DataError,
     "there is more than one column 'x1'; rename or drop one"),
    ("a number as name", lambda c: c.verb("y ~ x1", c.frame.rename(columns={"w": 3})), DataError,
     "column names must be text, not 3: try data.columns = data.columns.astype(str)"),
    ("None as name", lambda c: c.verb("y ~ x1", c.frame.rename(columns={"w": None})), DataError,
     "column names must be text, not "),
    ("MultiIndex columns", lambda c: c.verb("y ~ x1", pd.concat({"a": c.frame}, axis=1)), DataError,
     "column names must be text, not ('a', 'y'): try data.columns = ['_'.join(map(str, c)) for c in data.columns]"),
    ("columns of unequal length", lambda c: c.verb("y ~ x1", {"y": [0, 1], "x1": [1]}), DataError, "length"),
]]

# ---- results --------------------------------------------------------------------------------------------------------------

OF_RESULTS = [Entry(label, call, error, text) for label, call, error, text in [
    ("predict without a column", lambda c: c.results.predict(c.frame.drop(columns="x2")), FormulaError,
     "the data have no column 'x2', which the design needs; did you mean 'x1'?"),
    ("predict an unseen level", lambda c: c.results.predict(c.frame.assign(g="z")), FormulaError,
     "column 'g' has the level 'z'; known are 'a', 'b'"),
    ("predict an unseen level of a category", lambda c: c.results.predict(c.frame.assign(g=pd.Categorical(["a", "z"] * 100))),
     FormulaError, "column 'g' has the level 'z'; known are 'a', 'b'"),
    ("predict text for a number", lambda c: c.results.predict(c.frame.assign(x1="a")), FormulaError,
     "'x1' must be a number in each row"),
    ("predict an array for a table", lambda c: c.results.predict(X), DataError, "data must be a DataFrame or a dict of arrays"),
    ("predict infinite rows", lambda c: c.results.predict(c.frame.assign(x1=np.inf)), DataError,
     "the new data are infinite in 'x1' at row 0; leave such rows out"),
    ("predict with a name as offset", lambda c: c.results.predict(c.frame, offset="w"), ArgumentError,
     "offset='w': predict takes the numbers themselves, e.g. offset=new['w']"),
    ("predict with a short offset", lambda c: c.results.predict(c.frame, offset=[1, 2]), DataError,
     "offset has 2 values, the new data have 200"),
    ("predict with an offset of another index", lambda c: c.results.predict(c.frame, offset=series(np.ones(N))), DataError,
     "exog and offset have different indices"),
    ("predict with an infinite offset", lambda c: c.results.predict(c.frame, offset=np.inf), DataError,
     "offset has infinite values"),
    ("predict two offsets", lambda c: c.results.predict(c.frame, offset=np.ones((N, 2))), DataError, "offset has shape (200, 2)"),
    ("predict too few columns", lambda c: c.of_arrays.predict(X[:, :2]), DataError, "it must have 3 columns: one, a, b"),
    ("predict text", lambda c: c.of_arrays.predict(X.astype(str)), DataError, "exog must hold numbers, it holds text"),
    ("predict complex numbers", lambda c: c.of_arrays.predict(X * 1j), DataError, "exog must hold numbers, it holds complex128"),
    ("predict masked numbers", lambda c: c.of_arrays.predict(np.ma.masked_greater(X, 2)), DataError, "exog has masked values"),
    ("predict a frame in another order", lambda c: c.of_arrays.predict(pd.DataFrame(X, columns=["one", "b", "a"])), DataError,
     "exog has the columns one, b, a; it must have one, a, b, in this order"),
    ("get_prediction of bad rows", lambda c: c.of_arrays.get_prediction(X[:, :2]), DataError, "it must have 3 columns"),
    ("hypothesis, a name near", lambda c: c.results.hypothesis("Intercpt > 0"), ArgumentError,
     "'Intercpt' is not a parameter; did you mean 'Intercept'?"),
    ("hypothesis, no such name", lambda c: c.results.hypothesis("zzz > 0"), ArgumentError, "they are: Intercept, g[T.b], x1, x2"),
    ("hypothesis, a number", lambda c: c.results.hypothesis(3), ArgumentError, "hypothesis 3 must be text, such as 'x1 > 0'"),
    ("hypothesis, one side", lambda c: c.results.hypothesis("x1 >"), ArgumentError, "cannot read 'x1 >', one side is empty"),
    ("hypothesis, an equality", lambda c: c.results.hypothesis("x1 = 0"), ArgumentError,
     "an exact equality has probability zero"),
    ("hypothesis, a backtick too few", lambda c: c.results.hypothesis("`g[T.b] > 0"), ArgumentError, "cannot read '`g[T.b]'"),
    ("hypothesis, a number too large", lambda c: c.results.hypothesis("x1 > 1e400"), ArgumentError,
     "'1e400' is too large, or infinite"),
    *[(f"conf_int(alpha={v!r})", lambda c, v=v: c.results.conf_int(v), ArgumentError,
       f"alpha={v!r} must be between 0 and 1, e.g. 0.05")
      for v in ("a", None, [0.1], 1, -0.1, np.array([0.1, 0.2]))],
    ("conf_int(cols='x3')", lambda c: c.results.conf_int(cols="x3"), ArgumentError,
     "cols: 'x3' is not a parameter; they are: Intercept, g[T.b]"),
    ("conf_int(cols=[0])", lambda c: c.results.conf_int(cols=[0]), ArgumentError,
     "cols: 0 is not a parameter; they are: Intercept"),
    ("conf_int(cols=3)", lambda c: c.results.conf_int(cols=3), ArgumentError, "cols=3 must be a list of parameters"),
    ("ess(method='bulky')", lambda c: c.results.ess("bulky"), ArgumentError,
     "method must be one of 'bulk', 'tail', 'mean', 'sd', not 'bulky'"),
    ("summary(xname=['a'])", lambda c: c.results.summary(xname=["a"]), ArgumentError,
     lambda case: f"xname=['a'] must be {case.d + 1} names, one a parameter"),
    ("pvalues", lambda c: c.results.pvalues, AttributeError, "pvalues has no meaning for a posterior; use prob_positive"),
    ("predict before a fit", lambda c: c.model(c.y, X).predict(X), AttributeError,
     "object has no attribute 'predict': fit() returns the results, which have it"),
    ("save to a folder that is not", lambda c: c.results.save("no/such/folder/fit.sgmc"), FileNotFoundError,
     "no/such/folder/fit.sgmc"),
    ("load a file that is not", lambda c: sgmc.load("no/such/file"), FileNotFoundError, "no/such/file"),
    ("load a file of another kind", lambda c: sgmc.load(FOREIGN), ArgumentError,
     "is not a file written by Results.save, or it is damaged"),
]]

# ---- warned of ------------------------------------------------------------------------------------------------------------

OF_DOUBT = [Entry(label, call, warning, text) for label, call, warning, text in [
    ("more coefficients than rows", lambda c: c.arrays(c.y[:20], np.random.default_rng(1).normal(size=(20, 25))),
     ConditionWarning,
     "are informed by the prior alone: there are only 20 rows"),
    ("a constant column", lambda c: c.formula("y ~ x1 + w"), ConditionWarning,
     "of w is informed by the prior alone: collinear predictors or almost constant columns"),
    ("a column of zeros", lambda c: c.arrays(c.y, np.column_stack([X, np.zeros(N)])), ConditionWarning, "of x4 is informed"),
    ("a column twice", lambda c: c.formula("y ~ x1 + twin", twin=X[:, 1]), ConditionWarning,
     "of x1, twin is informed by the prior alone"),
    ("an intercept twice", lambda c: c.arrays(c.y, np.column_stack([X, np.ones(N)])), ConditionWarning, "of x4 is informed"),
    ("the dot and a date", lambda c: c.verb("y ~ .", c.frame[["y", "x1"]].assign(t=pd.Timestamp("2020")), seed=1),
     ColumnsLeftOutWarning,
     "the dot leaves out 't' (dates)"),
]]

# ---- of two classes only --------------------------------------------------------------------------------------------------

OF_CLASSES = [Entry(label, call, error, text) for label, call, error, text in [
    ("a batch of fewer rows than strata", lambda c: c.fit(sampler="sgld", subsample="stratified", batch_size=1), ArgumentError,
     "batch_size=1 is less than the 2 strata of subsample='stratified'; a batch has a row of each"),
    ("exposure", lambda c: c.fit(exposure="w"), ArgumentError,
     "exposure does not apply to"),
    ("all 0", lambda c: c.model(np.zeros(N), X), DataError, "the outcome 'y' is 0 in every row used"),
    ("all 1", lambda c: c.model(np.ones(N), X), DataError, "the outcome 'y' is 1 in every row used"),
    ("1 and 2", lambda c: c.model(c.y + 1, X), DataError, "the outcome 'y' must be 0 or 1"),
    ("0 and 0.5", lambda c: c.model(c.y / 2, X), DataError, "the outcome 'y' must be 0 or 1"),
    ("-1 and 1", lambda c: c.model(2 * c.y - 1, X), DataError, "the outcome 'y' must be 0 or 1"),
    ("counts below 0", lambda c: c.formula("n + m ~ x1", n=3, m=-c.y), DataError, "column 'm' must hold counts, 0, 1, 2, ..; it has -1"),
    ("shares as counts", lambda c: c.formula("n + m ~ x1", n=c.y / 2, m=1), DataError,
     "column 'n' must hold counts, 0, 1, 2, ..; it has 0.5"),
    ("counts that are text", lambda c: c.formula("y + g ~ x1"), DataError, "column 'g' of the response 'y + g' must hold counts"),
    ("counts without failures", lambda c: c.formula("y + m ~ x1", m=0), DataError, "the counts 'y + m' have no failure"),
    ("endogs below 0", lambda c: c.model(np.column_stack([c.y, -c.y]), X), DataError, "endog: column 'failures' must hold counts"),
    ("y ~ x1, y constant", lambda c: c.formula("y ~ x1", y=1), DataError,
     "the response 'y' is 1 in every row used: both classes are needed"),
    ("y ~ x1, one class in the subset", lambda c: c.verb("y ~ x1", c.frame, subset="y > 0"), DataError,
     "both classes are needed"),
    ("y ~ x1, one class among complete rows", lambda c: c.formula("y ~ x1", x1=np.where(c.y > 0, X[:, 1], np.nan)), DataError,
     "both classes"),
    ("y ~ x1, y of 0 .. 199", lambda c: c.formula("y ~ x1", y=np.arange(N)), DataError, "the response 'y' must be 0 or 1"),
    ("y ~ x1, y of three words", lambda c: c.formula("y ~ x1", y=list("abc" * 66 + "ab")), DataError,
     "the response 'y' has 3 levels, 'a', 'b', 'c': compare with one of them"),
    ("one row", lambda c: c.verb("y ~ x1", c.frame.iloc[:1]), DataError, "in every row used: both classes are needed"),
    ("one row of arrays", lambda c: c.model(c.y[:1], X[:1]), DataError, "in every row used"),
    ("complete separation", lambda c: c.formula("y ~ x1", x1=2 * c.y + X[:, 2] / 10), SeparationWarning,
     "the predictors separate the outcomes completely"),
    ("quasi-separation", lambda c: c.formula("y ~ x1 + q", q=((c.y == 1) & (X[:, 1] > 0)).astype(int)), SeparationWarning,
     "one value of q goes with a single outcome (quasi-complete separation)"),
    ("quasi-separation by a level", lambda c: c.formula("y ~ x1 + q", q=np.where((c.y == 1) & (X[:, 1] > 0), "u", "v")),
     SeparationWarning,
     "one value of q[T.v] goes with a single outcome"),
    ("separation with more coefficients than rows", lambda c: c.arrays(c.y[:20], np.random.default_rng(1).normal(size=(20, 25))),
     SeparationWarning, "the predictors separate the outcomes completely"),
]]

# ---- of real outcomes only ------------------------------------------------------------------------------------------------

OF_REALS = [Entry(label, call, error, text) for label, call, error, text in [
    ("exposure", lambda c: c.fit(exposure="w"), ArgumentError, "exposure does not apply to"),
    ("all alike", lambda c: c.model(np.full(N, 2.5), X), DataError, "the outcome 'y' is 2.5 in every row used"),
    ("y ~ x1, y constant", lambda c: c.formula("y ~ x1", y=2.5), DataError, "the outcome 'y' is 2.5 in every row used"),
    ("y ~ x1, one value in the subset", lambda c: c.verb("y ~ x1", c.frame.assign(y=np.arange(N) // 100), subset="y > 0"),
     DataError, "the outcome 'y' is 1 in every row used"),
    ("y ~ x1, one value among complete rows", lambda c: c.formula("y ~ x1", y=np.arange(N) % 2, x1=np.where(np.arange(N) % 2, 1.5,
                                                                                                             np.nan)),
     DataError, "the outcome 'y' is 1 in every row used"),
    ("one value among rows with weight", lambda c: c.model(c.y, X, weights=np.arange(N) == 3), DataError, "in every row used"),
    ("y ~ x1, one value among rows with weight", lambda c: c.verb(
        "y ~ x1", c.frame.assign(y=np.arange(N) // 100, w=np.arange(N) // 100), weights="w"), DataError, "is 1 in every row used"),
    ("one row", lambda c: c.verb("y ~ x1", c.frame.iloc[:1]), DataError, "in every row used"),
    ("one row of arrays", lambda c: c.model(c.y[:1], X[:1]), DataError, "in every row used"),
    ("y infinite in a row", lambda c: c.model(changed(c.y, np.inf), X), DataError, "endog has missing or infinite values"),
    ("y ~ x1, y infinite in a row", lambda c: c.formula("y ~ x1", y=changed(c.y, -np.inf)), DataError, "the response 'y' is infinite"),
    ("y ~ x1, log of zeros", lambda c: c.formula("np.log(y) ~ x1", y=np.zeros(N)), DataError, "'np.log(y)' is infinite"),
    ("y too large to square", lambda c: c.model(1e160 * c.y, X), DataError, "the outcome 'y' has an sd of"),
    ("y ~ x1, y too small to square", lambda c: c.formula("y ~ x1", y=1e-160 * c.y), DataError, "change its units"),
    ("y ~ x1, y of words", lambda c: c.formula("y ~ x1", y="a"), DataError, "the response 'y' must be numeric, it holds 'a'"),
    ("y ~ x1, y of numbers as text", lambda c: c.formula("y ~ x1", y=c.y.astype(str)), DataError,
     "the response 'y' must be numeric, it holds '"),
    ("y ~ x1, y a category of numbers", lambda c: c.formula("y ~ x1", y=pd.Categorical(np.rint(c.y))), DataError,
     "the response 'y' must be numeric"),
    ("y ~ x1, y a date", lambda c: c.formula("y ~ x1", y=pd.Timestamp("2020-01-01")), DataError, "the response 'y' must be numeric"),
    ("y ~ x1, y complex", lambda c: c.formula("y ~ x1", y=1j * c.y), DataError, "the response 'y' must be numeric"),
    ("a prior for none of the parameters", lambda c: c.fit(prior={"sigmaa": sgmc.exponential(1.0)}), ArgumentError,
     "prior: 'sigmaa' is neither a term nor a column of the design; did you mean 'sigma'?"),
    ("a prior of positive numbers for a coefficient", lambda c: c.fit(prior={"x1": sgmc.exponential(1.0)}), ArgumentError,
     "is for positive parameters, 'x1' is a coefficient"),
    ("hypothesis of sigm", lambda c: c.results.hypothesis("sigm > 1"), ArgumentError, "'sigm' is not a parameter; did you mean 'sigma'?"),
    ("init without sigma", lambda c: c.fit(init=np.zeros(3)), ArgumentError,
     "init has shape (3,); it must be (4,) or (4, 4): one number a parameter, sigma last"),
    ("init of sigma 0", lambda c: c.fit(init=np.zeros(4)), ArgumentError, "init: 'sigma' is 0; it must be positive"),
    ("init of sigma -1 in a chain", lambda c: c.fit(init=np.ones((4, 4)) - 2 * (np.arange(16).reshape(4, 4) == 11)), ArgumentError,
     "init: 'sigma' is -1; it must be positive"),
]]

GENERAL = [*OF_FIT, *OF_OBJECTS, *OF_ARRAYS, *OF_KEYWORDS, *OF_FORMULAS, *OF_RESULTS, *OF_DOUBT]
TABLE = [(case, entry) for case in CASES
         for entry in [*GENERAL, *(OF_CLASSES if case in BINARY else []), *(OF_REALS if case in REAL else [])]]


def main():
    """Print every message as the user sees it."""
    for case, entry in TABLE:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", SGMCWarning)
            said = []
            try:
                entry.call(case)
            except (SGMCError, AttributeError, OSError, TypeError) as error:
                said = [error]
        for one in said + [w.message for w in caught]:
            print(f"{case!r}: {entry.label} -> {type(one).__name__}: {one}")


if __name__ == "__main__":
    main()
