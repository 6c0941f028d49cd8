"""The verbs: one line from a table to a posterior."""

from sgmc.core import contract
from sgmc.errors import ArgumentError
from sgmc.models.user.model import KernelModel
from sgmc.models.bases.model import Model
from sgmc.models.regression.model import Regression
from sgmc.registry import room

ARGUMENTS = """
    Parameters
    ----------
    formula : str
        R-style: ``"y ~ x1 + C(g)"``, ``"y ~ ."`` for all other columns, ``"y ~ . - x1"``, backticks
        for awkward names.  Where outcomes are 0 and 1 also ``"successes + failures ~ x1"``, counts
        of both in each row (R's ``cbind``).
    data : pandas, polars or pyarrow table, or dict of arrays
        Never changed.
    prior : str, prior or dict, optional
        For all slopes, or by term or column (``"*"``: all others).  Default
        ``normal(0, 2.5, autoscale=True)``; ``"horseshoe"`` where few of many slopes matter.
    sampler : str or specification
        ``"auto"``, ``"lmsgld"``, ``"sgld-cv"``, ``sgmc.MALA()``, ...; see `sgmc.samplers`.
    gradient : {"taylor", "cv", "saga", "svrg", "simple"}, optional
        Estimator; default the one with the least noise at these data.
    subsample : {"block", "uniform", "replacement", "preferential", "stratified"}
        Which rows make a minibatch: a block of rows in random order; a simple sample without or
        with replacement; rows with large gradients more often; a sample of each stratum (of
        `strata`, or else of the outcome).
    batch_size : int or "adaptive", optional
        Rows of a minibatch; default derived from the gradient's noise at draws of the Laplace
        approximation.  ``"adaptive"``: each chain goes on adapting them in warmup to the noise that
        it meets, so that noise adds at most 1 % to the variance.
    step_size : float, schedule or callable, optional
        In the sampler's coordinates: whitened at the mode unless ``precondition=None``.  A callable
        maps the step's number 0, 1, ... to a positive number.
    precondition : {"mode", "dense", "diag", None}
    init : array (d,) or (chains, d), optional
        Start: the formula's coefficients, then the family's own parameters as they are reported;
        default draws of the Laplace approximation.
    draws : int
        Kept draws a chain.
    thin : int, optional
        Steps a kept draw.  Piecewise-deterministic samplers refuse it: their draws lie on a regular
        grid of times.
    warmup : int or "threshold", optional
        Steps (events of piecewise-deterministic samplers) before the first kept
        draw.  ``"threshold"``: as many as it takes until gradient noise adds no more than a tenth
        to the variance of a step (Welling & Teh's alpha; see `Results.sampling_threshold`), for
        decreasing steps.
    chains, threads : int
    seed : int, SeedSequence or Generator, optional
    weights, offset, exposure : str or array, optional
        Frequency weights, offset of the linear predictor, and for counts the exposure whose log is
        added to it, as column names or arrays.
    strata : str or array, optional
        Groups of rows for ``subsample="stratified"``, as a column name or labels: levels, or eight
        groups by quantiles of numbers with more than 32 values.  The posterior does not depend on
        them, and a column stays a predictor.
    subset : str, array or callable, optional
        Rows to use; a callable gets a shallow copy of the data.
    missing : {"drop", "raise"}
    cov_type : {"nonrobust", "robust"}
        ``"robust"``: draws around the mode whose covariance is the sandwich H^-1 (V + P) H^-1 (HC0
        for many rows): H the curvature of the log posterior, P the prior's part, V the covariance
        of the rows' scores.  For independent rows whose spread the model has wrong, as
        overdispersed counts; the summary has the model's own sds beside.  Without accept-reject
        only.
    tune : {"mamba", "grid", "default", "heuristic"} or TuneResult, optional
        Choose step and minibatch by `sgmc.tune` first; ``results.tuning`` is its result.  Default:
        they are derived.  `progress` is told of the race first, with a total of its own, and then
        of the fit.
    time_limit, max_data_passes : float, optional
        Stop after so many seconds, or rows touched over N; the draws are the first ones of the
        unlimited run.
    progress : callable, bool or None
        ``progress(done, total)``; True for a bar; None for a bar at terminals only.  What a
        callable raises ends the fit.
    dtype : {"float64", "float32"}
        Of the copy of the data.
    checkpoint : path, optional
        A file for the state of the run, written now and then.  If it is there, and of this very
        fit, the run goes on from it; its draws are then those of a run that never stopped.

    Returns
    -------
    Results

    Raises
    ------
    FormulaError, DataError, ArgumentError, NotSupported
        Naming the column or argument and saying what to do.
"""


def verb(model):
    """The verb of a regression class."""

    def fit(
        formula,
        data,
        *,
        prior=None,
        weights=None,
        offset=None,
        exposure=None,
        strata=None,
        subset=None,
        missing="drop",
        **arguments,
    ):
        options = {name: arguments.pop(name) for name in model.options if name in arguments}
        built = model.from_formula(
            formula,
            data,
            weights=weights,
            offset=offset,
            exposure=exposure,
            strata=strata,
            subset=subset,
            missing=missing,
            **options,
        )
        return built.fit(prior=prior, **arguments)

    fit.__name__ = fit.__qualname__ = model.family.name
    fit.__doc__ = f"{model.__doc__}\n{ARGUMENTS}"
    return fit


def __getattr__(name):
    """The verb of a family, made at first use: `sgmc.logit` and the like."""
    models = room("families")
    if name not in models:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = verb(models[name])
    return globals()[name]


def links(distribution):
    """Links of a distribution, its default first: link -> name of the verb."""
    families = [
        model.family
        for model in room("families").values()
        if model.family.distribution == distribution
    ]
    return {one.link: one.name for one in sorted(families, key=lambda one: not one.default_link)}


ALIASES = {"cauchy": "cauchit"}
UNBOUNDED = (
    "identity",
    "inverse",
    "inversepower",
    "inversesquared",
    "1/mu^2",
    "power",
    "sqrt",
    "log",
    "logc",
)
# what the mean is for some coefficients; else not positive
OUTSIDE = {"binomial": "no probability", "gaussian": None}


def glm(formula, data, *, family, link=None, **arguments):
    """A generalised linear model by family and link, as in R's ``glm``; the other arguments are
    those of the verb it stands for.

    Parameters
    ----------
    formula, data
        See `sgmc.logit`.
    family : str or statsmodels family
        ``"binomial"``, ``"poisson"``, ``"negativebinomial"``, ``"gaussian"``, ``"gamma"`` or
        ``"inversegaussian"``, or e.g.  ``sm.families.Binomial(sm.families.links.Probit())``.
        Dispersions are parameters, also where statsmodels wants them given.
    link : str, optional
        Default that of the verb: ``"logit"`` (also ``"probit"``, ``"cloglog"``, ``"loglog"``,
        ``"cauchit"``), ``"identity"`` of gaussian (also ``"log"``), else ``"log"``.  So it is for
        gamma and inversegaussian, whose default is ``inverse_power`` and ``inverse_squared``
        in statsmodels: with these links the mean is negative, or does not exist, for some
        coefficients.  A statsmodels family has its own link.

    Returns
    -------
    Results

    Raises
    ------
    ArgumentError
        For a family or link that there is not; it lists those there are.

    Examples
    --------
    >>> sgmc.glm("y ~ x", df, family="binomial", link="probit")       # sgmc.probit("y ~ x", df)
    >>> sgmc.glm("y ~ x", df, family=sm.families.Gamma(sm.families.links.Log()))
    """
    name = (
        family.lower()
        if isinstance(family, str)
        else getattr(family, "__name__", type(family).__name__).lower()
    )
    # of statsmodels' families
    own = None if isinstance(family, type) else getattr(family, "link", None)
    if link is None and own is not None:
        link = type(own).__name__.lower()
    name = name.replace(".", "").replace("_", "")  # R's inverse.gaussian
    known = links(name)
    if not known:
        there = sorted({model.family.distribution for model in room("families").values()} - {None})
        raise ArgumentError(f"family={family!r} is not known; known: {', '.join(there)}")
    asked = str(link).lower()
    chosen = next(iter(known)) if link is None else ALIASES.get(asked, asked)
    if chosen not in known:
        why = OUTSIDE.get(name, "not positive") if asked.replace("_", "") in UNBOUNDED else None
        raise ArgumentError(
            f"link={link!r} is not one of the {name} family here; known: {', '.join(known)}"
            + f" (with {link!r} the mean is {why} for some coefficients)" * bool(why)
        )
    return verb(room("families")[known[chosen]])(formula, data, **arguments)


def sample(model, **arguments):
    """Sample any model object; the arguments are those of its `fit`.

    Parameters
    ----------
    model : Logit or another model of this package, one of your own (`sgmc.Model`), or a compiled one

    Returns
    -------
    Results
    """
    if isinstance(model, contract.Model):
        model = KernelModel(model)
    if not isinstance(model, (Regression, Model)):
        raise ArgumentError(
            "sample needs a model such as sgmc.Logit.from_formula(formula, data), or one of "
            f"sgmc.Model, not {type(model).__name__}"
        )
    return model.fit(**arguments)
