"""Models that are no regressions: the base of the package's own and of users'."""

import time
from dataclasses import replace

import numpy as np

from sgmc.arguments.data.arrays import shaped
from sgmc.arguments.declared.keywords import (
    ARRAYS,
    AUTO,
    FORMULA,
    LEFT_OPEN,
    MODEL,
    REGRESSION,
    names,
    rows,
)
from sgmc.arguments.declared.signatures import per_class, refuse_unknown
from sgmc.arguments.numbers import whole
from sgmc.elsewhere import renamed
from sgmc.errors import ArgumentError
from sgmc.fit.parts import EXACT
from sgmc.models.bases.calls import functions, owner

REGRESSION_ARGUMENTS = [
    name for name in names(FORMULA, ARRAYS, REGRESSION) if name not in names(MODEL)
]


class Model:
    """A model of exchangeable rows with named, shaped parameters.

    Subclass it with numpy, and every sampler fits it:

    >>> class Heights(sgmc.Model):
    ...     parameters = {"mu": (), "sigma": ()}
    ...     constraints = {"sigma": "positive"}
    ...     def __init__(self, y):
    ...         self.y, self.n = y, len(y)
    ...     def log_lik(self, theta, rows):
    ...         e = (self.y[rows] - theta["mu"]) / theta["sigma"]
    ...         return -0.5 * (e @ e) - len(e) * np.log(theta["sigma"])
    >>> Heights(y).fit(seed=1).summary()

    ``theta`` is a dict of arrays by name (numbers where the shape is ``()``), in the units and
    constraints of the parameters; ``rows`` is a slice or an array of row numbers.  ``log_lik``
    returns the log density of these rows together, one number.  ``grad(theta, rows)``, if there is
    one, returns its gradient as a dict like theta, or as one vector in the parameters' order;
    without it gradients are finite differences, for at most 50 numbers of theta.  The prior is
    not theirs: it is given by name, or, where parameters depend on each other, by
    ``log_prior(theta)`` and ``grad_log_prior(theta)`` of the same form.
    Both may be called from several threads: they must not write to the model.  `sgmc.check_model`
    says what is wrong.

    Attributes
    ----------
    n : int
        Rows.
    parameters : dict
        Name -> shape: ``()``, a whole number, or a tuple.
    constraints : dict
        Name -> ``"positive"``, ``("interval", low, high)`` with at least one finite end,
        ``"ascending"`` (the rows of a matrix, by their first number), or along the last axis
        ``"ordered"``, ``"positive_ordered"`` (0 < theta_0 < theta_1 < ...: rates or scales of
        components), ``"simplex"`` or ``"mirrored"`` (the simplex, in which `sgld` with
        ``precondition=None`` is mirrored Langevin
        dynamics); draws and priors are in these terms.
    prior : dict, prior or None
        The default of ``fit(prior=)``.  None: normal(0, 10) (half of it for positive parameters),
        flat in intervals and on simplices.
    start : dict, array or None
        Where the search for the mode begins, and chains where there is none.  None: the centre of
        what is allowed.
    defaults : dict
        Arguments of `fit` whose defaults are others here.
    scaled : bool
        False where no Gaussian approximation at one mode will do (several modes, symmetries):
        coordinates are then those of the parameters, and samplers with minibatches take their step
        from the mode next to the start, or want a `step_size`.
    exact_sampler : str
        That of ``sampler="auto"``: "mala", or "hmc" for posteriors far from a Gaussian.  Compiled
        densities of little work take "nuts" where it is left at "mala".
    own_metric : bool
        Whether the compiled model's `metric` keeps parameters within their constraints, so that
        `sgrld` may move them as they are.
    shuffled : bool
        Whether rows are in random order, so that ``subsample="block"`` may take neighbours.
    checked : bool
        Whether a fit begins with a check of `grad` and `rows` against `log_lik`, at two places and
        at most 100 rows.  It takes at most 28 calls.
    title : str
        As printed.
    dims, coords : dict
        Parameter -> names of its dimensions, and dimension -> labels, for `to_arviz`.
    """

    n = None
    parameters = None
    constraints = {}
    prior = None
    start = None
    defaults = {}
    scaled = True
    exact_sampler = EXACT
    own_metric = False
    shuffled = False
    checked = True
    title = ""
    dims = {}
    coords = {}

    def __new__(cls, *given, **named):
        # object's own message names neither what is missing nor what else may be meant
        if (given or named) and cls.__init__ is object.__init__:
            raise TypeError(
                f"{cls.__name__}() takes no arguments: it is a class to subclass, with an __init__ "
                "of its own for data; of a formula use a verb, such as sgmc.ols('y ~ x', df)"
            )
        return super().__new__(cls)

    def kernel(self):
        """Return the compiled model; compiled leaves return theirs, and need neither `log_lik` nor
        `grad`.
        """
        from sgmc.models.bases.callbacks import PythonKernel

        if not hasattr(self, "log_lik"):
            raise ArgumentError(
                f"{type(self).__name__} needs log_lik(theta, rows), or a compiled kernel()"
            )
        layout = self.layout()
        return PythonKernel(layout.size, self.rows(), *functions(self, layout, ("log_lik", "grad")))

    def prior_kernel(self):
        """Return a compiled prior in the place of independent ones by name, or None."""
        if not hasattr(self, "log_prior"):
            return None
        from sgmc.models.bases.callbacks import PythonPrior

        layout = self.layout()
        names = "log_prior", "grad_log_prior"
        return PythonPrior(layout.size, *functions(self, layout, names))

    def recorder_class(self):
        """Return `SubsetRecorder`, or a compiled subclass that sums up more of the draws than their
        moments, for what is not kept.
        """
        from sgmc.core.partial import SubsetRecorder

        return SubsetRecorder

    def functionals(self):
        """Return what the verdict is about, `Functionals`, where parameters one by one mean
        nothing, as they can change places or signs; None where they have meanings of their own.
        """

    def result_class(self):
        """Return `ModelResults`, or a subclass with predictions of the model's own."""
        from sgmc.models.bases.results import ModelResults

        return ModelResults

    def info(self):
        """Return what results keep of the model: a `GeneralInfo`, or a subclass with what
        predictions need.
        """
        from sgmc.models.bases.results import GeneralInfo

        return GeneralInfo(self)

    def layout(self):
        """Return where each parameter is in the vector of all; ArgumentError for shapes or
        constraints that are none.
        """
        from sgmc.coordinates.transforms.layout import Layout

        return Layout(self.parameters, self.constraints)

    def rows(self):
        """Return n, checked."""
        return whole(f"{type(self).__name__}.n", self.n, 1, advice="it is the number of rows")

    def starts(self, rng):
        """Return where a chain without a Gaussian approximation begins, or the search for a mode:
        theta as a vector.

        By default `start`, or the centre of what is allowed, with free numbers moved by N(0,
        0.1^2).
        """
        from sgmc.coordinates.whitened.free import START_SD

        layout = self.layout()
        map, free = layout.map, np.zeros(len(layout.free_names))
        if self.start is not None:
            given = np.asarray(layout.pack(self.start, "start"), dtype=float)
            shaped("start", given, (layout.size,), advice="or give a dict by name")
            try:
                free = given if map is None else map.inverse(given)
            except ValueError as error:
                raise ArgumentError(f"start: {error}") from error
        moved = free + START_SD * rng.normal(size=len(free))
        return moved if map is None else map(moved)

    def __repr__(self):
        return (
            f"<{self.title or type(self).__name__} model: {self.n} rows, {self.layout().size} "
            "parameters>"
        )

    @per_class(MODEL)
    def fit(self, **given):
        """Sample the posterior.

        Parameters
        ----------
        {keywords}

        Returns
        -------
        ModelResults
            Or the model's own kind of results.

        Raises
        ------
        ArgumentError, NotSupported
            Naming the argument and saying what to do.
        """
        from sgmc.arguments.seeds import one_seed

        known = [*names(MODEL), *REGRESSION_ARGUMENTS]
        given = renamed(f"{type(self).__name__}.fit()", given, known)
        refuse_unknown(f"{type(self).__name__}.fit()", given, known)
        self.refuse(given)
        # "auto" is the default's name
        given = {k: v for k, v in given.items() if k not in LEFT_OPEN or v != AUTO}
        derived = self.derived(given) if given.get("sampler") is None else {}
        arguments = {"prior": None, **self.usual(), **derived, **one_seed(given)}
        if arguments.get("tune") is None:
            arguments.pop("tune", None)
            return self.continue_from(None, arguments)
        from sgmc.core.system.deadline import limited
        from sgmc.core.system.interrupts import handled
        from sgmc.tuning.tuner import chosen

        prior = arguments.pop("prior")
        with handled(), limited(arguments.get("time_limit")):
            arguments, race = chosen(self, prior, arguments)
            fitted = {"prior": prior, **arguments}
            results = self.continue_from(None, fitted, tuned=race is not None)
        results.tuning = race
        return results

    def derived(self, given):
        """Return arguments of a fit without a `sampler` that follow from the data and from those
        that were given, a dict.
        """
        return {}

    def usual(self):
        """Return the arguments of `fit` whose defaults differ from those of regressions."""
        return usual(type(self), self.shuffled, self.defaults)

    @classmethod
    def _keywords(cls, *takers):
        """Return the rows of the keywords of `takers`, with the defaults of this class."""
        own = {} if cls.derived is Model.derived else {"sampler": None}
        own |= usual(cls, cls.shuffled, cls.defaults if isinstance(cls.defaults, dict) else {})
        return [replace(row, default=own.get(row.name, row.default)) for row in rows(*takers)]

    def race_metric(self):
        """Return what `sgmc.tune` judges draws by where no metric is given: a name, or a function
        of draws (n, size).
        """
        return "ksd"

    def derived_step(self, spec, batch):
        """Return (step_size, batch_size, thin) of a sampler where no Gaussian approximation tells
        them, or None; `batch` is the minibatch that was given, or None.
        """
        return

    def scaled_for(self, checked):
        """Return whether a fit of checked settings looks for a Gaussian approximation."""
        return self.scaled

    def refuse(self, arguments):
        """Refuse arguments of regressions by name."""
        for name in REGRESSION_ARGUMENTS:
            if arguments.get(name) is not None:
                raise ArgumentError(
                    f"{name} does not apply to {self.title or type(self).__name__}: it belongs to "
                    "regressions"
                )

    def continue_from(self, saved, arguments, tuned=False):
        """Fit from where a saved run was (None: from the start), with all arguments of `fit` as a
        dict, `tuned` by a race or not.
        """
        from sgmc.core.system.deadline import limited
        from sgmc.core.system.interrupts import handled
        from sgmc.core.system.memory import named
        from sgmc.core.system.phases import MODE, begin, watched
        from sgmc.fit.chains import on_workers
        from sgmc.fit.run import fit
        from sgmc.fit.settings import check_settings

        begun = time.perf_counter()
        arguments = {**arguments, "init": self.layout().pack(arguments.get("init"), "init")}
        rest = dict(arguments)
        prior = rest.pop("prior")
        checked = replace(check_settings(**rest), tuned=tuned)
        checked = on_workers(self, prior, checked, arguments)
        with (
            handled(),
            limited(checked.time_limit),
            named(lambda: self.blame(checked)),
            watched(arguments.get("progress")),
        ):
            begin(MODE if self.scaled_for(checked) else "preparation")
            problem = self.problem(prior, checked)
            return self.result_class().of_fit(
                self.info(), fit(problem, checked, begun, saved), arguments
            )

    def blame(self, checked):
        """Return what a fit that runs out of memory should have less of: a clause."""
        return (
            f"{self.layout().size} parameters, draws={checked.draws} in {checked.chains} chains, "
            f"{self.n} rows; keep fewer draws, or draws of some parameters (keep=), or fit a "
            "sample of the rows"
        )

    def problem(self, prior, checked):
        """Return the posterior in sampler coordinates, for checked settings."""
        from sgmc.core.system.blas import one_blas_thread
        from sgmc.models.bases.ingredients import Ingredients
        from sgmc.models.bases.problem import general_problem

        own = self.derived({}).get("sampler", "")
        with one_blas_thread():
            made = Ingredients(
                self.kernel(),
                self.layout(),
                self.prior_kernel(),
                self.starts,
                self.scaled_for(checked),
                self.shuffled,
                self.recorder_class(),
                self.own_metric,
                own_starts=type(self).starts is not Model.starts,
                compiled=compiled(type(self)),
                differenced=not compiled(type(self)) and not hasattr(self, "grad"),
                functionals=self.functionals(),
                exact_sampler=self.exact_sampler,
                own_sampler=getattr(own, "name", own),
                derived_step=self.derived_step,
                checked=self.checked,
                called=owner(self),
            )
            return general_problem(made, self.prior if prior is None else prior, checked)


def compiled(kind):
    """Return whether models of a class run without the interpreter lock."""
    return kind.kernel is not Model.kernel


def usual(kind, shuffled, defaults):
    """Return the defaults of a class of models that differ from those of regressions, a dict."""
    # more threads of a model in Python would wait for the interpreter lock
    one = {} if compiled(kind) else {"threads": 1}
    return {"subsample": "block" if shuffled else "uniform", **one, **defaults}
