"""What docs/matrix.md tries: the table of rows, and each cell as a call.

A cell is (table, row, column).  `cells()` has all of them in the order of the page; `attempt(cell)`
makes it and says what came out.  Everything is small: a cell is about whether things go together,
never about how well chains mix.
"""

import contextlib
import functools
import io
import itertools
import pickle
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

import sgmc
from sgmc.api import verbs
from sgmc.errors import SGMCError
from sgmc.fit.problem import ANY_MAP
from sgmc.models.regression import coordinates, model
from sgmc.registry import room


class Cell(NamedTuple):
    """A place of the page."""

    table: str
    row: str
    column: str


# ---- rows ----------------------------------------------------------------------------------------

N, MANY = 60, 30  # rows; levels of the factor that counts as one of very many


def rows(n, seed):
    """A table with outcomes of every family."""
    rng = np.random.default_rng(seed)
    x, q = rng.uniform(-1.8, 1.8, (2, n))
    x[:4], q[:4] = [-2.0, 2.0, -1.9, 1.9], [1.9, -1.9, 2.0, -2.0]  # ends, for new rows and knots
    d = pd.DataFrame({"x": x, "q": q, "t": rng.integers(0, 2, n).astype(float)})
    d["g"], d["u"] = np.arange(n) % 6, rng.integers(0, 5, n)
    d["h"], d["many"] = rng.integers(0, 2, n), [f"l{j:02d}" for j in np.arange(n) % MANY]
    d["w"], d["o"], d["e"] = rng.integers(1, 4, n), rng.uniform(-0.5, 0.5, n), rng.uniform(1, 2, n)
    d["se"] = rng.uniform(0.5, 1.0, n)
    eta = 0.3 + 0.5 * d.x - 0.4 * d.t + np.sin(2 * d.q) / 2 + np.array([-1, 1, 0.5] * 2)[d.g] / 2
    d["real"] = 3 + 2 * eta + rng.normal(size=n)
    d["binary"] = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int)
    d["won"] = rng.binomial(4, 1 / (1 + np.exp(-eta)))
    d["lost"] = 4 - d.won
    d["count"] = rng.poisson(1.5 * np.exp(eta / 2)) * (rng.random(n) < 0.8)
    d["positive"] = np.exp(eta / 2) * (0.5 + rng.gamma(4, size=n) / 8)
    d["share"] = rng.beta(2 / (1 + np.exp(-eta)) + 0.5, 1.5)
    d["kind"] = np.array(["ape", "bee", "cat"])[np.arange(n) * 7 % 3]
    d["grade"] = np.digitize(eta + rng.logistic(size=n), [-0.3, 1.2])
    d["time"], d["event"] = d.positive, (rng.random(n) < 0.8).astype(int)
    return d


DATA, NEW = rows(N, 5), rows(12, 6)
KEPT = tempfile.TemporaryDirectory(prefix="sgmc-matrix-")  # removed at exit
FOLDER = Path(KEPT.name)

# ---- families ------------------------------------------------------------------------------------

# outcomes of the families of the registry: a new one needs its line here
OUTCOMES = {
    "beta": "share",
    **dict.fromkeys(("cauchit", "cloglog", "loglog", "logit", "probit"), "binary"),
    **dict.fromkeys(("gamma", "gaussianlog", "inversegaussian"), "positive"),
    **dict.fromkeys(("hurdle", "negativebinomial", "poisson", "zeroinflated"), "count"),
    "mnlogit": "kind",
    **dict.fromkeys(("ols", "quantreg", "rlm"), "real"),
    "ordinal": "grade",
    "survreg": "Surv(time, event)",
}
# a family's other forms: its name, outcome, what follows the terms, arguments
FORMS = {
    "beta, phi": ("beta", "share", "", {"phi": "~ t"}),
    "gamma, dispersion": ("gamma", "positive", "", {"dispersion": "~ t"}),
    "logit, counts": ("logit", "won + lost", "", {}),
    "negativebinomial, dispersion": ("negativebinomial", "count", " | t", {}),
    "ols, sigma": ("ols", "real", "", {"sigma": "~ t"}),
    "ols, se=": ("ols", "real", "", {"se": "se"}),
    "ordinal, sequential": ("ordinal", "grade", "", {"kind": "sequential"}),
    "ordinal, cs()": ("ordinal", "grade", " + cs(h)", {"kind": "sequential"}),
    "ordinal, discrimination": ("ordinal", "grade", "", {"discrimination": "~ t"}),
    "ordinal, sequential, discrimination": (
        "ordinal",
        "grade",
        "",
        {"kind": "sequential", "discrimination": "~ t"},
    ),
    "zeroinflated, zeros": ("zeroinflated", "count", " | t", {}),
}


def family(row):
    """(class, outcome, what follows the terms, arguments) of a row."""
    name, outcome, rest, given = FORMS.get(row) or (row, OUTCOMES[row], "", {})
    return room("families")[name], outcome, rest, given


def families():
    """Rows of families: those of the registry and their other forms."""
    return sorted([*room("families"), *FORMS])


# ---- terms and priors ----------------------------------------------------------------------------

TERMS = {
    "x": "x + t",
    "very many levels": "x + t + C(many)",
    "(1 | g)": "x + t + (1 | g)",
    "(x | g)": "x + t + (x | g)",
    "(1 | g/h)": "x + t + (1 | g/h)",
    "(1 | g) + (1 | u)": "x + t + (1 | g) + (1 | u)",
    "s(q)": "x + t + s(q, k=5)",
    "te(x, q)": "t + te(x, q, k=3)",
    "car(g, graph)": "x + t + car(g, GRAPH)",
    "ar1(g)": "x + t + ar1(g)",
    "mo(g)": "x + t + mo(g)",
    "gp(q, scale=)": "x + t + gp(q, scale=1.0)",
    "(1 | gr(g, cov=A))": "x + t + (1 | gr(g, cov=ALIKE))",
}
GRAPH = {k: [(k - 1) % 6, (k + 1) % 6] for k in range(6)}  # neighbours in a ring
ALIKE = pd.DataFrame(0.5 + 0.5 * np.eye(6), range(6), range(6))
LEARNED = {"ridge()": sgmc.ridge(), "horseshoe(learned=True)": sgmc.horseshoe(learned=True)}
COLUMNS = (*TERMS, *LEARNED)  # with priors whose scales are learned
PRIORS = {
    "normal": sgmc.normal(0, 1),
    "student_t": sgmc.student_t(3, 0, 1),
    "cauchy": sgmc.cauchy(0, 1),
    "laplace": sgmc.laplace(0, 1),
    "flat": "flat",
    "horseshoe": sgmc.horseshoe(),
    "truncated": {"x": sgmc.truncated(sgmc.normal(0, 1), low=0)},
    "mvnormal": {("x", "t"): sgmc.mvnormal([0, 0], [[1, 0.5], [0.5, 1]])},
    "r2d2": sgmc.r2d2(),
    **LEARNED,
}


@contextlib.contextmanager
def as_very_many(term):
    """Let a factor of 30 levels count as one of thousands, whose levels are integrated out."""
    if term != "very many levels":
        yield
        return
    before = model.MANY, coordinates.LONGEST_PULLED
    model.MANY, coordinates.LONGEST_PULLED = 0, MANY // 2
    try:
        yield
    finally:
        model.MANY, coordinates.LONGEST_PULLED = before


SHORT = {"seed": 1, "draws": 50, "chains": 2, "warmup": 30, "thin": 1, "threads": 1}
SHORTER = {**SHORT, "draws": 10, "warmup": 10}  # where no method is called


def formula_of(row, term, more=""):
    """The formula of a family and a term."""
    _, outcome, rest, _ = family(row)
    return f"{outcome} ~ {TERMS.get(term, TERMS['x'])}{more}{rest}"


def fit(row, term, data=DATA, more="", without=(), length=SHORTER, **given):
    """Results of a short fit; `without` names what a cell leaves to its default."""
    cls, _, _, own = family(row)
    learned = {"prior": LEARNED[term]} if term in LEARNED else {}
    how = {**length, **own, **learned, **given}
    how = {name: value for name, value in how.items() if name not in without}
    return verbs.verb(cls)(formula_of(row, term, more), data, **how)


@functools.lru_cache(maxsize=4)
def fitted(row, term):
    """The fit whose methods are tried, or the error that refuses it."""
    try:
        return fit(row, term, length=SHORT)
    except SGMCError as error:
        return error


# ---- methods -------------------------------------------------------------------------------------


def saved(results):
    """Results, saved and loaded."""
    path = str(FOLDER / "saved.sgmc")
    results.save(path)
    return sgmc.load(path, trust_formulas=True).summary()


def slope(results):
    """The name of a coefficient."""
    return next(name for name in results.names if str(name).endswith("x"))


def factor(results):
    """The name of a grouping factor, where there are several."""
    table = results.ranef()
    return next(iter(table)) if isinstance(table, dict) else None


METHODS = {
    "summary": lambda r, _: str(r.summary(details=True)),
    "hypothesis": lambda r, _: r.hypothesis(f"`{slope(r)}` > 0"),
    "contrast": lambda r, _: r.contrast(f"`{slope(r)}`"),
    "predict": lambda r, _: r.predict(NEW),
    "get_prediction": lambda r, new: r.get_prediction(NEW, **new).summary_frame(),
    "posterior_predict": lambda r, new: r.posterior_predict(NEW, **new),
    "predictions": lambda r, _: r.predictions(),
    "avg_predictions": lambda r, _: r.avg_predictions(by="t"),
    "comparisons": lambda r, _: r.comparisons("x"),
    "avg_comparisons": lambda r, _: r.avg_comparisons("x"),
    "slopes": lambda r, _: r.slopes("x"),
    "avg_slopes": lambda r, _: r.avg_slopes("x"),
    "get_margeff": lambda r, _: r.get_margeff(),
    "ranef": lambda r, _: r.ranef(),
    "ranef_draws": lambda r, _: r.ranef_draws(factor(r)),
    "cov_re": lambda r, _: r.cov_re,
    "smooth": lambda r, _: r.smooth(),
    "loo": lambda r, _: r.loo(),
    "loo(group=True)": lambda r, _: r.loo(group=True),
    "kfold": lambda r, _: r.kfold(DATA, 2, seed=1),
    "reloo": lambda r, _: r.reloo(r.loo(), DATA),
    "log_lik": lambda r, _: r.log_lik(),
    "pp_check": lambda r, _: r.pp_check(seed=1),
    "loo_pit": lambda r, _: r.loo_pit(seed=1),
    "calibration": lambda r, _: r.calibration(seed=1),
    "residuals": lambda r, _: r.residuals(),
    "resid_pearson": lambda r, _: r.resid_pearson,
    "resid_deviance": lambda r, _: r.resid_deviance,
    "deviance": lambda r, _: r.deviance,
    "null_deviance": lambda r, _: r.null_deviance,
    "r2": lambda r, _: r.r2(),
    "prior_summary": lambda r, _: r.prior_summary(),
    "sensitivity": lambda r, _: r.sensitivity(),
    "bayes_factor": lambda r, _: r.bayes_factor(f"`{slope(r)}` = {r.params[slope(r)]:.2f}"),
    "resume": lambda r, _: r.resume(draws=10),
    "update": lambda r, _: r.update(NEW, draws=50, seed=1),
    "update of the formula": lambda r, _: r.update(". ~ . + q", data=DATA),
    "save, load": lambda r, _: saved(r),
    "pickle": lambda r, _: pickle.loads(pickle.dumps(r)).summary(),
    "to_arviz": lambda r, _: r.to_arviz(),
    "to_arviz(log_likelihood=True)": lambda r, _: r.to_arviz(log_likelihood=True),
    "to_arviz(posterior_predictive=True)": lambda r, _: r.to_arviz(posterior_predictive=True),
    "survival": lambda r, _: r.survival([1.0], NEW),
    "resid_cox_snell": lambda r, _: r.resid_cox_snell,
}
GROUPED = ("ranef", "ranef_draws", "cov_re", "loo(group=True)")  # belong to group terms


def belongs(name, term):
    """Whether results of a term have a method of groups or smooths at all."""
    if name in GROUPED:
        return "|" in term and "gr(" not in term
    return name != "smooth" or term.startswith(("s(", "te(", "car(", "ar1(", "gp(", "(1 | gr("))


TRUST = {
    "diagnostics": lambda r, _: (r.diagnostics(), r.chain_diagnostics(), r.verdict),
    "ksd": lambda r, _: r.ksd(),
    "fssd": lambda r, _: r.fssd(),
    "ksd_test": lambda r, _: r.ksd_test(),
    "thin_stein": lambda r, _: r.thin_stein(10),
    "zv_means": lambda r, _: r.zv_means(),
    "arbiter": lambda r, _: r.arbiter(draws=50, steps=2),
    "half_step": lambda r, _: r.half_step(draws=20),
    "gradient_noise": lambda r, _: r.gradient_noise(),
    "path_summary": lambda r, _: r.path_summary(),
    "inclusion": lambda r, _: r.inclusion(),
}


# what new rows of a form need besides
BESIDE = {
    "logit, counts": {"trials": np.full(len(NEW), 4)},
    "ols, se=": {"se": NEW.se.to_numpy()},
}


class NoFit(Exception):
    """There are no results whose method could be tried."""


def method(row, term, name):
    """A method of the results of a family and a term."""
    results = fitted(row, term)
    if isinstance(results, SGMCError):
        raise NoFit
    return METHODS[name](results, BESIDE.get(row, {}))


# ---- tables and options --------------------------------------------------------------------------


class Partitions:
    """Rows in two parts, as of a dask DataFrame."""

    def __init__(self, frame):
        self.frames = [frame.iloc[: len(frame) // 2], frame.iloc[len(frame) // 2 :]]

    def map_blocks(self, function):
        """``function(number, table)`` of every part."""
        return [function(k, frame) for k, frame in enumerate(self.frames)]


def polars(row, term):
    """Rows in a polars DataFrame."""
    import polars

    return fit(row, term, polars.from_pandas(DATA))


def in_a_file(row, term):
    """Rows in a Parquet file."""
    path = FOLDER / "rows.parquet"
    if not path.exists():
        DATA.to_parquet(path)
    return fit(row, term, str(path))


def prepared(row, term):
    """A prepared file."""
    cls, _, _, given = family(row)
    own = {name: value for name, value in given.items() if name == "se"}
    formula = formula_of(row, term)
    if cls.for_formula(formula, given).family.parts:  # a second part, and its predictors or none
        second = [value for value in given.values() if str(value).startswith("~")]
        formula += " | " + (second[0].partition("~")[2] if second else "1")
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        table = sgmc.prepare(formula, DATA, f"{folder}/table.sgmc", **own)
        return fit(row, term, table)


def arrays(row, term):
    """A sparse design."""
    X = np.column_stack([np.ones(N), DATA.x, DATA.t])
    cls, outcome, _, own = family(row)
    if outcome.startswith("Surv"):
        y = sgmc.Surv(DATA.time, DATA.event)
    else:
        y = DATA[outcome.split(" + ")].to_numpy().squeeze()
    if cls.family.name == "ordinal":
        X = X[:, 1:]
    own = {name: DATA[value].to_numpy() if name == "se" else value for name, value in own.items()}
    return cls(y, sparse.csr_array(X), **own).fit(**SHORT)


TABLES = {
    "dict": lambda row, term: fit(row, term, {name: DATA[name].to_numpy() for name in DATA}),
    "polars": polars,
    "a file": in_a_file,
    "prepared": prepared,
    "partitions": lambda row, term: fit(row, term, Partitions(DATA), without=("threads",)),
    "weights=": lambda row, term: fit(row, term, weights="w"),
    "offset=": lambda row, term: fit(row, term, offset="o"),
    "offset(o)": lambda row, term: fit(row, term, more=" + offset(o)"),
    "exposure=": lambda row, term: fit(row, term, exposure="e"),
}


def starts(row, term):
    """``init=`` numbers, where another fit ended."""
    return fit(row, term, init=np.median(fit(row, term).flat, axis=0))


def option(**given):
    """A fit with these arguments; ``thin`` and ``warmup`` of `SHORT` go where they are given."""
    return lambda row, term: fit(row, term, **given)


def stochastic(**given):
    """A fit by mini-batches with these arguments."""
    return lambda row, term: fit(row, term, **{"sampler": "sgld", "batch_size": 4, **given})


OPTIONS = {
    'cov_type="robust"': option(cov_type="robust"),
    'cov_type="HC3"': option(cov_type="HC3"),
    'cov_type="cluster"': option(cov_type="cluster", groups="g"),
    "prior_only=True": option(prior_only=True),
    'modes="search"': option(modes="search"),
    "init=numbers": starts,
    'init="dispersed"': option(init="dispersed"),
    'dtype="float32"': option(dtype="float32"),
    "accuracy=": option(accuracy=0.5, without=("warmup", "thin", "draws")),
    'precondition="dense"': option(precondition="dense"),
    'precondition="diag"': option(precondition="diag"),
    "precondition=None": option(precondition=None),
    "nodes=5": option(nodes=5),
    "keep_warmup=True": option(keep_warmup=True),
    "keep=": option(keep=["x"]),
    "tune=": option(tune="default", without=("warmup", "thin")),
    'subsample="uniform"': stochastic(subsample="uniform"),
    'subsample="replacement"': stochastic(subsample="replacement"),
    'subsample="preferential"': stochastic(subsample="preferential"),
    'subsample="stratified"': stochastic(subsample="stratified", batch_size=12),
    'subsample="symmetric"': stochastic(subsample="symmetric", sampler="baoab"),
    'batch_size="adaptive"': stochastic(batch_size="adaptive", without=("warmup",)),
    **{f'gradient="{name}"': stochastic(gradient=name) for name in sorted(room("gradients"))},
}

# ---- samplers ------------------------------------------------------------------------------------


def samplers():
    """Samplers by name."""
    return sorted(room("samplers"))


def sampled(row, term, name, **given):
    """A fit by a sampler, in coordinates that it can take."""
    spec, own = room("samplers")[name], {}
    if spec.continuous:
        own = {"without": ("thin",)}
    elif spec().needs_noise:
        own = {"precondition": "diag"}
    elif spec().refusal(ANY_MAP):  # it moves natural coordinates
        own = {"precondition": None}
    return fit(row, term, sampler=name, **own, **given)


@functools.lru_cache(maxsize=1)
def drawn(name):
    """The fit of a sampler whose methods are tried, or the error that refuses it."""
    try:
        return sampled("logit", "x", name, length=SHORT)
    except SGMCError as error:
        return error


# ---- cells ---------------------------------------------------------------------------------------

BOTH = ("ols", "logit")  # families with which tables, options and priors are tried
# families whose methods are tried with every term; all have theirs tried with plain terms
KINDS = ("ols", "logit", "survreg", "mnlogit", "ordinal", "zeroinflated", "ols, sigma")
KINDS += ("ordinal, sequential", "ordinal, cs()")
# those that tables, options and samplers are tried with: one of each shape of a density
SHAPES = (*BOTH, "poisson", "gamma", "negativebinomial", "quantreg", *KINDS[2:])

# what kinds of ordered outcomes are tried with: what follows the terms, arguments
STAGES = {
    "discrimination=": ("", {"discrimination": "~ h"}),
    "discrimination= with (1 | u)": ("", {"discrimination": "~ h + (1 | u)"}),
    **{text: (f" + {text}", {}) for text in ("cs(h)", "cs(C(u))", "cs(ns(q, df=3))")},
    **{text: (f" + {text}", {}) for text in ("cs(h + (1 | g))", "cs(s(q))", "cs(mo(g))")},
    "cs(h) and discrimination=": (" + cs(h)", {"discrimination": "~ t"}),
}


def by_stages(kind, more, given):
    """A fit of ordered outcomes of a kind."""
    return sgmc.ordinal(f"grade ~ x{more}", DATA, kind=kind, **given, **SHORTER)


def calls():
    """{cell: call} of all cells, in the order of the page."""
    made = {}

    def add(table, row, column, call, *given):
        made[Cell(table, row, column)] = functools.partial(call, *given)

    for row, term in itertools.product(families(), COLUMNS):
        add("families", row, term, summarized, row, term)
    for kind, (name, given) in itertools.product(("cumulative", "sequential"), STAGES.items()):
        add("kinds of ordinal", kind, name, by_stages, kind, *given)
    for name, prior, term in itertools.product(BOTH, PRIORS, TERMS):
        add(f"priors of {name}", prior, term, with_prior, name, term, prior)
    for row, name in itertools.product(families(), METHODS):
        if belongs(name, "x"):
            add("methods and families", row, name, method, row, "x", name)
    for row, term, name in itertools.product(KINDS, COLUMNS, METHODS):
        if belongs(name, term):
            add(f"methods of {row}", name, term, method, row, term, name)
    for kind, some in (("tables", TABLES), ("options", OPTIONS)):
        for row, (name, call), term in itertools.product(BOTH, some.items(), COLUMNS):
            add(f"{kind} of {row}", name, term, call, row, term)
        for row, (name, call) in itertools.product(SHAPES, some.items()):
            add(f"{kind} and families", row, name, call, row, "x")
    for name in samplers():
        for term in COLUMNS:
            add("samplers and terms", name, term, sampled, "logit", term, name)
        for prior in PRIORS:
            add("samplers and priors", name, prior, by_sampler, name, prior)
        for row in SHAPES:
            add("samplers and families", name, row, sampled, row, "x", name)
        for way in TRUST:
            add("samplers and methods", name, way, trusted, name, way)
    return made


def summarized(row, term):
    """A fit and its summary."""
    results = fitted(row, term)
    if isinstance(results, SGMCError):
        raise results
    return str(results.summary())


def with_prior(row, term, prior):
    """A fit under a prior."""
    return fit(row, term, prior=PRIORS[prior])


def by_sampler(name, prior):
    """A fit by a sampler under a prior."""
    return sampled("logit", "x", name, prior=PRIORS[prior])


def trusted(name, way):
    """A method of trust, of the draws of a sampler."""
    if isinstance(drawn(name), SGMCError):
        raise NoFit
    return TRUST[way](drawn(name), {})


# ---- what comes out ------------------------------------------------------------------------------


class Refused(NamedTuple):
    """A refusal of the package."""

    because: str
    text: str


class Fault(NamedTuple):
    """Any other exception."""

    text: str


WORKS, NONE = "works", "none"  # nothing: there is no fit whose method could be tried


def attempt(cell, call):
    """`WORKS`, `NONE`, `Refused` or `Fault`."""
    term = cell.column if cell.column in TERMS else "x"
    try:
        with (
            as_very_many(term),
            warnings.catch_warnings(),
            contextlib.redirect_stderr(io.StringIO()),
            np.errstate(all="ignore"),
        ):
            warnings.simplefilter("ignore")
            call()
    except SGMCError as error:
        return Refused(error.because, str(error))
    except NoFit:
        return NONE
    except Exception as error:  # whatever else comes out of a cell is a fault of the package
        return Fault("".join(traceback.format_exception(error)[-3:]))
    return WORKS
