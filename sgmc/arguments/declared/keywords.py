"""The table of fit keywords: one row for each argument of verbs, models, fits and the command line.

From it come defaults, the errors for unknown arguments, signatures, docstrings, the options of the
command line and the package's stub.  A new argument of a fit is a row here, and a check where
`sgmc.fit.settings` checks the others.
"""

from sgmc.arguments.declared.covariances import COVARIANCES
from sgmc.arguments.declared.parameter import REQUIRED, Keyword, number_or_auto, number_or_word

# Who takes an argument.
FORMULA = "formula"  # verbs, and from_formula() of regressions
ARRAYS = "arrays"  # regressions made from arrays
REGRESSION = "regression"  # verbs, and fit() of regressions
MODEL = "model"  # fit() of all other models
TUNE = "tune"  # passed on by tune()
FIT = (REGRESSION, MODEL)
RACED = (REGRESSION, MODEL, TUNE)
METHODS = ("mamba", "grid", "default", "heuristic")
AUTO = "auto"  # the word that draws= and sampler= may be, and are where they are left out
LEFT_OPEN = "draws", "sampler"
DRAWS_BY_DEFAULT = 1000  # per chain, at first


class FirstDraws(int):
    """Draws per chain that a class of models begins with where draws= is left out."""


TABLE = (
    Keyword(
        "formula",
        REQUIRED,
        """As in R: ``"y ~ x1 + C(g)"``; ``"y ~ ."`` for all other columns, ``"y ~ . - x1"``; group
        terms ``(x1 | g)``, smooths ``s(x1)`` and ``te(x1, x2)``, random walks ``rw1(week)``;
        backticks around names with spaces.  Counts of outcomes:
        ``"cbind(successes, failures) ~ x1"``.
        Texts from outside: ``sgmc.formula(text, safe=True)``.""",
        "str or `sgmc.formula`",
        "str | SafeFormula",
        (FORMULA,),
    ),
    Keyword(
        "data",
        REQUIRED,
        """Never changed.  Paths are of CSV, TSV, Parquet and Arrow files, a folder of these, or a
        pattern such as ``"data/*.parquet"``.  Of a list of imputed tables a verb fits each, and
        pools the draws.""",
        "table, dict of arrays, path or list of paths, lazy table, list of tables, or Prepared",
        "_Table",
        (FORMULA,),
    ),
    Keyword(
        "names",
        None,
        "Columns of the design.  Default: those of a table, or x1, x2, ...",
        "list of str",
        "Sequence[str] | None",
        (ARRAYS,),
    ),
    Keyword(
        "prior",
        None,
        """For all slopes, or by term or column (``"*"``: all others).  Default:
        ``normal(0, 2.5, autoscale=True)``, divided by sd(x) except for factor levels and 0/1
        columns; ``"horseshoe"`` where few of many slopes matter.""",
        "str, prior or dict",
        "_Prior | Mapping[str, _Prior] | None",
        (REGRESSION, TUNE),
        str,
    ),
    Keyword(
        "prior",
        None,
        """One for all parameters, or by name: ``{"W": sgmc.normal(0, 1), "*": "flat"}``.
        Default: the model's own.""",
        "str, prior or dict",
        "_Prior | Mapping[str, _Prior] | None",
        (MODEL,),
    ),
    Keyword(
        "sampler",
        "auto",
        """Name or specification, such as ``"auto"``, ``"lmsgld"``, ``"sgld-cv"`` or
        ``sgmc.MALA()``.  ``sgmc samplers`` on the command line lists them.""",
        "str or specification",
        "str | SamplerSpec | type[SamplerSpec]",
        FIT,
        str,
    ),
    Keyword(
        "gradient",
        None,
        "Gradient estimator.  Default: the one with the least noise at these data.",
        '{"taylor", "cv", "switched", "saga", "svrg", "simple"}',
        "str | None",
        RACED,
        str,
    ),
    Keyword(
        "subsample",
        "block",
        """How the rows of a mini-batch are chosen.  A block of rows in random order; a simple
        sample without or with replacement; rows with large gradients more often; a sample of each
        stratum (of `strata`, or else of the outcome); forward and backward through a random
        partition of the rows, so that the noise of mini-batches cancels.""",
        '{"block", "uniform", "replacement", "preferential", "stratified", "symmetric"}',
        'Literal["block", "uniform", "replacement", "preferential", "stratified", "symmetric"]',
        RACED,
        str,
    ),
    Keyword(
        "batch_size",
        None,
        """Rows per mini-batch.  Default: derived from the gradient's noise at draws of the Laplace
        approximation.  ``"adaptive"``: each chain adapts its batch during warmup, so that gradient
        noise adds at most 1 % to the variance.""",
        'int, from 1 to the number of rows, or "adaptive"',
        'int | Literal["adaptive"] | None',
        RACED,
        number_or_word,
    ),
    Keyword(
        "step_size",
        None,
        """Step size in the sampler's coordinates, which are whitened at the mode unless
        ``precondition=None``.  A callable maps the step's number 0, 1, ... to a positive number.
        Default: derived from the error that it causes.""",
        "float > 0, schedule or callable",
        "float | _Schedule | Callable[[int], float] | None",
        RACED,
        float,
    ),
    Keyword(
        "precondition",
        "mode",
        """Coordinates of the sampler.  ``"mode"`` and ``"dense"``: whitened by the Hessian at the
        mode; ``"diag"``: by its diagonal; None: the model's own.  Models beyond regression with no
        mode, or more than 300 free numbers, keep their own coordinates with ``"mode"``.""",
        '{"mode", "dense", "diag", None}',
        'Literal["mode", "dense", "diag"] | None',
        RACED,
    ),
    Keyword(
        "init",
        None,
        """Start of the chains: coefficients of the formula, then auxiliary parameters as they are
        reported.  ``"dispersed"``: a start for each chain that is 2.5 times as far out as a draw of
        the Laplace approximation, with the tails of a t with 4 degrees of freedom.  Warmup is then
        twice as long by default.  Default: draws of the Laplace approximation.""",
        'array (d,) or (chains, d), or "dispersed"',
        'ArrayLike | Literal["dispersed"] | None',
        (REGRESSION, TUNE),
    ),
    Keyword(
        "init",
        None,
        """Start of the chains, by name or as a vector; with a first axis, one for each chain.
        ``"dispersed"``: a start for each chain that is 2.5 times as far out as a draw of the
        Laplace approximation, with the tails of a t with 4 degrees of freedom.  Models without that
        approximation start at draws of the prior, or at starts of their own.  Warmup is then twice
        as long by default.""",
        'dict or array, or "dispersed"',
        'Mapping[str, ArrayLike] | ArrayLike | Literal["dispersed"] | None',
        (MODEL,),
    ),
    Keyword(
        "modes",
        "one",
        """Search for the posterior mode.  ``"one"``: from one start.  ``"search"``: from sixteen,
        for posteriors that may have several modes.  Chains then start at the modes found, each at
        one and the others by the modes' Laplace masses, and a `ModesWarning` lists these masses if
        there is more than one mode.""",
        '{"one", "search"}',
        'Literal["one", "search"]',
        FIT,
        str,
    ),
    Keyword(
        "prior_only",
        False,
        """Draw from the prior alone, by the same sampler, as if there were no outcomes: these only
        give units to priors that are scaled by the data.""",
        "bool",
        "bool",
        (REGRESSION,),
    ),
    Keyword(
        "draws",
        AUTO,
        """Kept draws per chain.  ``"auto"``: 1,000, then twice as many again and again while Monte
        Carlo error is the only reason of a verdict "not trustworthy", up to 32,000 or to a limit of
        counted work.  Time never decides: draws are the first ones of a longer run.  A number is
        kept, whatever the verdict.""",
        'int >= 1, or "auto"',
        'int | Literal["auto"]',
        FIT,
        number_or_auto,
    ),
    Keyword(
        "accuracy",
        None,
        """Largest accepted Monte Carlo error of posterior means, in posterior sds, e.g. 0.05.
        Chains stop at the first of 250, 500, 1000, ... draws per chain at which all means are
        within it with 95 % confidence.  A number of `draws` is then the limit; by default it is
        20,000.  Draws are the first ones of a longer run.  Samplers in continuous time and `client`
        are refused.""",
        "float between 0 and 1",
        "float | None",
        FIT,
        float,
    ),
    Keyword(
        "thin",
        None,
        """Thinning: steps per kept draw.  ``"distance"``, for decreasing steps: a draw is kept when
        the sum of the steps since the last one exceeds the first step after warmup (Welling & Teh
        2011, section 5.3.1), so that draws are about equally far apart and equally weighted.
        Piecewise-deterministic samplers refuse it: their draws lie on a regular grid of times.""",
        'int >= 1, or "distance"',
        'int | Literal["distance"] | None',
        FIT,
        number_or_word,
    ),
    Keyword(
        "warmup",
        None,
        """Steps (events of piecewise-deterministic samplers) before the first kept draw.
        ``"threshold"``, for decreasing steps: until gradient noise adds at most a tenth to the
        variance of a step (alpha of Welling & Teh 2011, section 4.2; see
        `Results.sampling_threshold`).  Models without a Gaussian approximation have their chains
        followed until then, which runs the warmup twice.""",
        'int >= 0, or "threshold"',
        'int | Literal["threshold"] | None',
        FIT,
        number_or_word,
    ),
    Keyword(
        "keep_warmup",
        False,
        """Keep evenly spaced positions of each chain in warmup, at most 501, for
        `Results.plot_trace` and `Results.to_arviz`, as ``results.warmup``.  Draws do not depend on
        it.""",
        "bool",
        "bool",
        FIT,
    ),
    Keyword("chains", 4, "Independent chains.", "int >= 1", "int", FIT, int),
    Keyword(
        "threads",
        None,
        """Threads that run the chains; draws do not depend on it.  Default: one per chain, at most
        the number of cores.  Models written in Python use 1: they hold the interpreter lock.""",
        "int >= 1",
        "int | None",
        RACED,
        int,
    ),
    Keyword(
        "seed",
        None,
        """Seed of all random numbers; the same seed gives the same bits.  Default: a fresh one,
        which ``results.seed`` reports.""",
        "int >= 0, SeedSequence, BitGenerator or Generator",
        "_Seed",
        RACED,
        int,
    ),
    Keyword(
        "rng",
        None,
        "The same as `seed`, by the name of SPEC 7; give one of them.",
        "int >= 0, SeedSequence, BitGenerator or Generator",
        "_Seed",
        RACED,
    ),
    Keyword(
        "weights",
        None,
        "Frequency weights, a column name or array: the i-th log density counts weights[i] times.",
        "str or array (n,), >= 0",
        "_Column",
        (FORMULA, ARRAYS),
        str,
    ),
    Keyword(
        "offset",
        None,
        "Added to the linear predictor, as a column name or an array.",
        "str or array (n,)",
        "_Column",
        (FORMULA, ARRAYS),
        str,
    ),
    Keyword(
        "exposure",
        None,
        "Of counts: its log is added to the linear predictor; a column name or an array.",
        "str or array (n,), > 0",
        "_Column",
        (FORMULA, ARRAYS),
        str,
    ),
    Keyword(
        "se",
        None,
        """Known standard errors of outcomes, a column name or an array: y_i ~ N(eta_i, se[i]^2),
        without sigma.  With a group term ``(1 | study)``, a random-effects meta-analysis.""",
        "str or array (n,), > 0",
        "_Column",
        (FORMULA, ARRAYS),
        str,
    ),
    Keyword(
        "strata",
        None,
        """Groups of rows for ``subsample="stratified"``, as a column name or labels: levels, or
        eight groups by quantiles of numbers with more than 32 values.  The posterior does not
        depend on them, and a column stays a predictor.""",
        "str or array (n,)",
        "_Column",
        (FORMULA, ARRAYS),
        str,
    ),
    Keyword(
        "subset",
        None,
        """Rows to use, as an expression in columns, a column name or an array; a callable gets a
        shallow copy of the data.""",
        "str, array or callable",
        "str | ArrayLike | Callable[[Any], Any] | None",
        (FORMULA,),
        str,
    ),
    Keyword(
        "missing",
        "drop",
        "Whether rows that lack a needed value are dropped or refused.",
        '{"drop", "raise"}',
        'Literal["drop", "raise"]',
        (FORMULA,),
        str,
    ),
    Keyword(
        "cache",
        None,
        """A folder for what is prepared of files that are too large to be read at once; the next
        fit of the same formula to the same files finds it there.  Default: a temporary folder,
        removed with the results.""",
        "path",
        "str | PathLike[str] | None",
        (FORMULA,),
        str,
    ),
    Keyword(
        "memory_limit",
        None,
        """Of files: rows that take more memory are prepared in a file, in as much memory.  Default:
        a quarter of what is available.""",
        'bytes, at least 64 MB, or text such as "500MB"',
        "float | str | None",
        (FORMULA,),
        str,
    ),
    Keyword(
        "nodes",
        None,
        """Of group terms: quadrature nodes per effect, or points per group where it has four
        effects or more.  Default: as many as the integrals need.""",
        "int >= 1",
        "int | None",
        (FORMULA,),
        int,
    ),
    Keyword(
        "client",
        None,
        """Of a dask cluster, for data in partitions: a dask DataFrame, or the path or pattern of
        Parquet or CSV files that the workers can read.  Sums over all rows come from the workers,
        mini-batches from a uniform sample of the rows (see `reservoir`).""",
        "dask.distributed.Client",
        "Any",
        (FORMULA,),
    ),
    Keyword(
        "client",
        None,
        """Of a dask cluster: chains run on its workers, with the draws that they have here.""",
        "dask.distributed.Client",
        "Any",
        (MODEL,),
    ),
    Keyword(
        "reservoir",
        None,
        """Of data in partitions: rows of the uniform sample that mini-batches are drawn from.
        Default: as many as keep its error, which the verdict states, below 0.02 sd.""",
        "int >= 100",
        "int | None",
        (FORMULA,),
    ),
    *COVARIANCES,
    Keyword(
        "tune",
        None,
        """Method by which `sgmc.tune` chooses step and mini-batch first.  ``results.tuning`` is
        its result, and `progress` is called first for tuning, then for the fit.  Default: step and
        mini-batch are derived.""",
        '{"mamba", "grid", "default", "heuristic"} or TuneResult',
        'Literal["mamba", "grid", "default", "heuristic"] | TuneResult | None',
        FIT,
        str,
    ),
    Keyword(
        "time_limit",
        None,
        """Seconds from the call to the return, within a tenth and half a second, checks included.
        Draws are the first ones of the unlimited run; where there is no time for any, they are of
        the Gaussian approximation at the mode, and marked (``results.stand_in``); where there is
        none for the mode, the summary has no numbers.""",
        "float > 0",
        "float | None",
        FIT,
        float,
    ),
    Keyword(
        "max_data_passes",
        None,
        """Data passes (rows used, divided by their number) after which sampling stops.  Its draws
        are the first ones of the unlimited run.""",
        "float > 0",
        "float | None",
        FIT,
        float,
    ),
    Keyword(
        "progress",
        None,
        """``progress(done, total)`` in steps of all chains; True for a bar, which names the phase;
        None for one in notebooks and at terminals, once a call has taken a second; False for none.
        Unless it is False, runs of more than 10 seconds print what they take on stderr (logger
        ``sgmc``).  An exception of a callable ends the fit.""",
        "callable, bool or None",
        "Callable[[int, int], object] | bool | None",
        RACED,
    ),
    Keyword(
        "dtype",
        "float64",
        "Precision of the copy of the data.",
        '{"float64", "float32"}',
        'Literal["float64", "float32"]',
        (REGRESSION, TUNE),
        str,
    ),
    Keyword(
        "checkpoint",
        None,
        """A file to which the state of the run is written now and then.  If it exists and is of
        this very fit, the run goes on from it; its draws are those of a run that never stopped.""",
        "path",
        "str | PathLike[str] | None",
        FIT,
        str,
    ),
    Keyword(
        "keep",
        None,
        """Parameters whose draws are kept, in models without a Gaussian approximation; of the
        others there are means and sds (`ModelResults.moments`).  Default: all, or where they
        are over 1 GB an even sample of 200 numbers.""",
        "list of str",
        "str | Sequence[str] | None",
        (MODEL,),
    ),
)
# what `sgmc.fit.settings` checks: the others are the models' own affair
SETTINGS = {
    row.name: row.default
    for row in TABLE
    if {REGRESSION, MODEL} & set(row.takers) and row.name not in ("prior", "tune", "rng")
}
# arguments of verbs that few fits need, which their documentation has apart
SELDOM = (
    "gradient", "subsample", "batch_size", "step_size", "precondition", "init", "modes", "thin",
    "warmup", "keep_warmup", "rng", "strata", "cache", "memory_limit", "nodes", "client",
    "reservoir", "tune", "max_data_passes", "dtype", "checkpoint",
)  # fmt: skip
OF_RUN = ("sampler", "draws", "accuracy", "chains", "threads", "seed", "time_limit", "progress")


def rows(*takers: str) -> list[Keyword]:
    """Return the rows of those takers in the table's order, of each name the first."""
    found: dict[str, Keyword] = {}
    for row in TABLE:
        if set(takers) & set(row.takers):
            found.setdefault(row.name, row)
    return list(found.values())


def names(*takers: str) -> list[str]:
    """Return the names of the arguments of those takers."""
    return [row.name for row in rows(*takers)]
