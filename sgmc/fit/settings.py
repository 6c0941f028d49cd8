"""What the user asked for: every argument of a fit read and checked once, alone and with others."""

import math
import os
from dataclasses import dataclass

import numpy as np

from sgmc import registry
from sgmc.arguments.choices import flag, one_of
from sgmc.arguments.data.arrays import numeric, shaped
from sgmc.arguments.declared.covariances import COV_TYPES
from sgmc.arguments.declared.keywords import AUTO, DRAWS_BY_DEFAULT, SETTINGS, FirstDraws
from sgmc.arguments.declared.signatures import refuse_unknown
from sgmc.arguments.files import writable
from sgmc.arguments.messages import must_be
from sgmc.arguments.names import texts
from sgmc.arguments.numbers import (
    LARGEST_SCALE,
    SMALLEST_SCALE,
    fraction,
    number,
    positive,
    whole,
)
from sgmc.arguments.progress import function_of
from sgmc.arguments.seeds import entropy
from sgmc.coordinates.whitened import sandwich
from sgmc.core.contract import Schedule
from sgmc.core.schedules import Function
from sgmc.core.spec import SamplerSpec
from sgmc.errors import ArgumentError, DataError, NotSupported
from sgmc.fit import stopping
from sgmc.fit.checkpoint import read

PRECONDITIONERS = ("mode", "dense", "diag", None)
DISPERSED = "dispersed"  # the word that init= may be
SPACED = "distance"  # and that thin= may be
MOST_POSITIONS = 500  # of a chain in warmup that are kept, besides its start


@dataclass(frozen=True)
class Settings:
    """Checked arguments; None where a default is to be derived from the data."""

    sampler: SamplerSpec | None
    gradient: str | None
    scheme: type
    batch_size: int | None
    adaptive: bool
    step_size: float | Schedule | None
    precondition: str | None
    init: np.ndarray | str | None
    draws: int
    thin: int | str | None
    warmup: int | str | None
    chains: int
    threads: int
    seed: object
    time_limit: float | None
    max_data_passes: float | None
    progress: object
    dtype: np.dtype
    checkpoint: str | None
    cov_type: str = "nonrobust"
    tuned: bool = False  # step and batch come from a race
    keep: tuple | None = None
    modes: str = "one"
    prior_only: bool = False
    accuracy: float | None = None  # then `draws` is the largest number
    client: object = None  # of the cluster whose workers run the chains
    keep_warmup: bool = False
    # draws that chains begin with where their number is left open; 0 where it is given
    begun: int = 0

    @property
    def extended(self):
        """Whether chains went on beyond the draws that they began with."""
        return 0 < self.begun < self.draws

    @property
    def subsample(self):
        """The name of the scheme that draws the rows of mini-batches."""
        return self.scheme.name

    @property
    def dispersed(self):
        """Whether chains start farther out than draws of the posterior."""
        return isinstance(self.init, str)

    @property
    def spaced(self):
        """Whether draws are kept by the time between them, not by a number of steps."""
        return self.thin == SPACED

    @property
    def positions(self):
        """Positions of each chain that are kept, those of warmup among them."""
        return self.draws + (MOST_POSITIONS + 1) * self.keep_warmup

    @property
    def kept_text(self):
        """What is kept of each chain, in words."""
        also = f" and {MOST_POSITIONS + 1} positions of warmup" if self.keep_warmup else ""
        return f"draws={self.draws}{also}"

    @property
    def start_given(self):
        """Whether the user gave numbers to start at."""
        return not (self.init is None or self.dispersed)

    @property
    def unchained(self):
        """Whether independent draws may be taken: a sampler of them is named, or nothing is given
        that only chains or mini-batches have.
        """
        if self.sampler is not None:
            return self.sampler.direct
        chained = self.warmup, self.thin, self.init
        alone = not self.keep_warmup and all(one is None for one in chained)
        return alone and self.plain

    @property
    def in_turns(self):
        """Whether parameters may be drawn from conditional distributions: a sampler that does so is
        named, or nothing is given that only other samplers have.
        """
        return self.plain if self.sampler is None else self.sampler.conditional

    @property
    def plain(self):
        """Whether nothing is given that only gradients or mini-batches have."""
        given = self.gradient, self.batch_size, self.step_size, self.max_data_passes
        others = self.adaptive or self.robust or self.prior_only
        usual = self.subsample == SETTINGS["subsample"] and self.modes == SETTINGS["modes"]
        return usual and not others and all(one is None for one in given)

    @property
    def approximate(self):
        """Whether mini-batches or draws of the Gaussian approximation are asked for: by the
        sampler, or by an argument that is for mini-batches alone.
        """
        spec = self.sampler
        if spec is None:
            given = self.gradient is not None or self.batch_size is not None or self.adaptive
            return given or self.subsample != SETTINGS["subsample"]
        # mhss is exact, but for bounds of Taylor remainders it needs what a pilot has of the rows
        return not spec.exact or spec.continuous or spec.independent or bool(spec.estimator)

    @property
    def robust(self):
        """Whether draws are to have the sandwich's covariance."""
        return self.cov_type != "nonrobust"


def check_settings(**given):
    """Check every argument of a fit; see `sgmc.logit` for their meaning.

    Raises
    ------
    ArgumentError
        Naming the argument and what it may be.
    NotSupported
        For what this release does not do.
    TypeError
        For arguments that there are none of.
    """
    refuse_unknown("fit()", given, SETTINGS)
    asked = {**SETTINGS, **given}
    check_covariance(asked["cov_type"])
    spec, gradient = registry.sampler_and_gradient(asked["sampler"], asked["gradient"])
    one_of("precondition", asked["precondition"], PRECONDITIONERS)
    dtype = str(asked["dtype"]) if isinstance(asked["dtype"], np.dtype) else asked["dtype"]
    dtype = np.dtype(one_of("dtype", dtype, ("float64", "float32")))
    if asked["cov_type"] != "nonrobust":
        sandwich.refuse(spec, asked["precondition"], asked["cov_type"])
    adaptive = isinstance(asked["batch_size"], str) and asked["batch_size"] == "adaptive"
    chains, accuracy = whole("chains", asked["chains"], 1), asked["accuracy"]
    draws, begun = number_of_draws(asked["draws"])
    threads = asked["threads"]
    if accuracy is not None:
        accuracy = fraction("accuracy", accuracy, advice=stopping.ACCURACY_IS)
        stopping.refuse(spec, accuracy, asked["client"])
        # a limit that nobody chose is not to end the run before its accuracy
        draws, begun = stopping.LIMIT_BY_DEFAULT * begun or draws, 0
    checkpoint, keep = writable("checkpoint", asked["checkpoint"]), asked["keep"]
    return Settings(
        sampler=spec,
        gradient=gradient,
        scheme=registry.lookup("subsampling", asked["subsample"], "subsample"),
        batch_size=None if adaptive else whole("batch_size", asked["batch_size"], 1, none=True),
        adaptive=adaptive,
        step_size=check_step(asked["step_size"]),
        precondition=asked["precondition"],
        init=start(asked["init"]),
        draws=draws,
        thin=steps_per_draw(asked["thin"]),
        warmup=warmup_steps(asked["warmup"]),
        chains=chains,
        threads=min(whole("threads", threads, 1, none=True) or chains, os.cpu_count() or 1),
        seed=seed_of_run(asked["seed"], checkpoint),
        time_limit=positive("time_limit", asked["time_limit"], none=True),
        max_data_passes=positive("max_data_passes", asked["max_data_passes"], none=True),
        progress=function_of(asked["progress"]),
        dtype=dtype,
        checkpoint=checkpoint,
        cov_type=asked["cov_type"],
        keep=None if keep is None else tuple(texts("keep", keep, "names of parameters")),
        modes=one_of("modes", asked["modes"], ("one", "search")),
        prior_only=flag("prior_only", asked["prior_only"]),
        accuracy=accuracy,
        client=asked["client"],
        keep_warmup=warmup_kept(asked["keep_warmup"], asked["warmup"]),
        begun=begun,
    )


# ---- single arguments ----------------------------------------------------------------------------


def check_covariance(cov_type):
    """Refuse what is neither the model's posterior nor its sandwich."""
    if not isinstance(cov_type, str) or cov_type not in COV_TYPES:
        raise NotSupported(
            f"cov_type={cov_type!r} must be 'nonrobust' (the model's posterior), 'robust' (the "
            "sandwich, HC0), 'HC3' or 'cluster' (with groups=)",
            because="limit",
        )


def check_step(value, name="step_size"):
    """A number, a schedule, or a callable made into one."""
    if isinstance(value, Schedule):
        return value
    if callable(value):
        return Function(value)
    step = positive(name, value, none=True)
    return step if step is None else number(name, step, SMALLEST_SCALE, LARGEST_SCALE)


def start(init):
    """Finite numbers as an array, "dispersed" or None."""
    if init is None:
        return None
    if isinstance(init, str):
        return one_of("init", init, (DISPERSED,), ", or an array with one number per parameter")
    try:
        array = np.atleast_1d(numeric("init", init)).astype(float)
    except DataError as error:
        raise must_be("init", init, "an array of numbers, one for each parameter") from error
    if not np.isfinite(array).all():
        raise must_be("init", init, "an array of finite numbers")
    return array


def number_of_draws(value):
    """Draws a chain, and the same number where chains may go on, else 0."""
    if isinstance(value, str):
        one_of("draws", value, (AUTO,), ", or a whole number")
        return DRAWS_BY_DEFAULT, DRAWS_BY_DEFAULT
    return whole("draws", value, 1), int(value) if isinstance(value, FirstDraws) else 0


def steps_per_draw(value):
    """A number of steps, "distance" or None."""
    if isinstance(value, str):
        return one_of("thin", value, (SPACED,), ", or a whole number of steps")
    return whole("thin", value, 1, none=True)


def warmup_steps(value):
    """A number of steps, "threshold" or None."""
    if isinstance(value, str):
        return one_of("warmup", value, ("threshold",), ", or a whole number of steps")
    return whole("warmup", value, 0, none=True)


def warmup_kept(value, warmup):
    """Whether positions of warmup are kept; ArgumentError where there is no warmup."""
    if flag("keep_warmup", value) and warmup == 0:
        raise ArgumentError(
            "keep_warmup=True: there is no warmup to keep with warmup=0, which keeps every draw; "
            "leave one of them out"
        )
    return value


def seed_of_run(seed, checkpoint):
    """The seed given, or that of the run in a checkpoint file, or a fresh one."""
    found = read(checkpoint) if seed is None and checkpoint else None
    return entropy(seed) if found is None else found.mark["seed"]


# ---- arguments with the sampler, and with the model ----------------------------------------------


def check_with_sampler(spec, settings, problem, n):
    """ArgumentError for arguments that do not go together with the sampler or the data: a problem
    of n rows.
    """
    if settings.batch_size is not None and settings.batch_size > n:
        raise ArgumentError(f"batch_size={settings.batch_size} exceeds the {n} rows")
    given = of_batches(settings, problem)
    if given and not spec.minibatches:
        used = "as many rows as its bounds ask for" if spec.exact else "no rows for its draws"
        used = "all rows at each step" if spec.all_rows else used
        chosen = ", which sampler='auto' chose" if settings.sampler is None else ""
        cure = "leave it, or use a mini-batch sampler such as sampler='lmsgld'"
        raise ArgumentError(
            f"{given} does not apply to {spec.name}{chosen}: it uses {used}; {cure}"
        )
    if settings.scheme.sweeps and spec.minibatches:
        check_sweeps(spec, settings)
    if spec.implied_time(1.0) is not None and settings.step_size is not None:
        raise ArgumentError(f"step_size does not apply to {spec!r}: the noise settles its steps")
    if (spec.independent or spec.direct) and settings.step_size is not None:
        what = "draws" if spec.direct else "proposals"
        raise ArgumentError(
            f"step_size does not apply to {spec.name}: {what} do not depend on the position"
        )
    if spec.conditional and settings.step_size is not None:
        raise ArgumentError(f"step_size does not apply to {spec.name}: it has no steps of a size")
    if settings.warmup == "threshold" and not spec.noisy:
        why = (
            "no noise of its gradients shows in its draws"
            if spec.minibatches
            else "its gradients have no noise"
        )
        raise ArgumentError(f"warmup='threshold' does not apply to {spec.name}: {why}")
    if spec.needs_step:
        unknown = "as its error on a Gaussian is not known; give a number"
        if settings.step_size is None:
            raise ArgumentError(f"step_size: {spec.name} has no default, {unknown}")
        if settings.adaptive:
            raise ArgumentError(f"batch_size='adaptive': {spec.name} has no target, {unknown}")


def of_batches(settings, problem):
    """What is asked for that mini-batches alone have, as it is written; empty where nothing is."""
    if settings.adaptive:
        return "batch_size='adaptive'"
    if settings.batch_size is not None:
        return "batch_size"
    # rows that stay in their order are drawn one by one unless a scheme is given, and 'uniform'
    # asks a regression to leave them there; sampler='auto' may find that no mini-batch is needed
    scheme, named = settings.scheme.name, settings.sampler is not None
    usual = scheme == "block" or scheme == "uniform" and not problem.rows.shuffled
    return f"subsample={scheme!r}" if named and not usual else ""


def check_sweeps(spec, settings):
    """ArgumentError where batches are independent by assumption, and those of a sweep are not."""
    given = f"subsample={settings.subsample!r}"
    if math.isnan(spec.noise_left(1.0, 1)):
        raise ArgumentError(
            f"{given} does not go with {spec!r}, which takes the noise of successive mini-batches "
            "for independent; use sampler='baoab', 'sghmc', 'lmsgld' or 'sgld', or "
            "subsample='uniform'"
        )
    if settings.adaptive:
        raise ArgumentError(
            f"batch_size='adaptive' does not go with {given}: it takes the noise of successive "
            "mini-batches for independent; leave batch_size=None, or give a number"
        )


def check_init(settings, priors):
    """Refuse a start that has not one number a parameter,
    or none that is positive where the parameter is.
    """
    init, chains, d = settings.init, settings.chains, len(priors.names)
    if not settings.start_given:
        return
    first = d - priors.auxiliary
    last = f", {', '.join(priors.names[first:])} last" if priors.auxiliary else ""
    shaped("init", init, (d,), (chains, d), advice=f"give one number for each parameter{last}")
    if priors.report is not None:
        priors.report.check_start(init)
        return
    for name, values in zip(priors.names[first:], init.T[first:]):
        if np.min(values) <= 0:
            raise ArgumentError(f"init: {name!r} is {np.min(values):g}; it must be positive")
