"""What a fit to an accuracy would take, before it is run."""

import inspect
import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sgmc.arguments.declared.keywords import AUTO, FIT, LEFT_OPEN, TUNE, rows
from sgmc.arguments.declared.signatures import refuse_unknown, with_keywords
from sgmc.arguments.numbers import fraction
from sgmc.arguments.seeds import one_seed
from sgmc.core.system import phases
from sgmc.core.system.blas import one_blas_thread
from sgmc.core.system.interrupts import handled
from sgmc.diagnostics.chains.convergence import ess
from sgmc.errors import ArgumentError, NotSupported
from sgmc.fit import (
    ACCURACY_IS,
    build_chain,
    check_init,
    check_settings,
    error_bound,
    largest_time,
    looks,
    noise_of,
    noise_of_plan,
    plan_fit,
    quantile,
    sample,
    variance_of,
)
from sgmc.tuning.fit_plan import FitPlan

TIMED_SECONDS, MOST_TIMED = 0.1, 20_000  # of the steps that are timed; and their number
TRIED = 250  # draws per chain by which the autocorrelation of a sampler without law is estimated
LEFT_TO_FITS = ("accuracy", "tune", "time_limit", "max_data_passes", "checkpoint", "keep_warmup")
PLANNED = [row for row in rows(*FIT, TUNE) if row.name not in LEFT_TO_FITS]
BY_LAW = "by the sampler's law"  # what tells the effective draws
LAST_LOOKS = 3  # last looks that all looks at a run take, each of half the draws of the next
# what a plan settles, of a sampler with a law: the fit then derives nothing of it anew
SETTLED = ("gradient", "step_size", "batch_size", "thin", "warmup")


@with_keywords(*PLANNED)
def plan(model: Any, accuracy: float = 0.05, **given: Any) -> FitPlan:
    """Predict what a fit to an accuracy takes: draws, data passes, seconds.

    The plan of the fit is derived as the fit derives it.  Its effective draws follow from the
    autocorrelation time of the sampler's law on a Gaussian (`SamplerSpec.law`) at the plan's
    thinning, where it has one and coordinates are whitened; else from warmup and 250 draws per
    chain.
    Rows are counted and seconds taken at some steps of a chain.

    Parameters
    ----------
    model : Logit or another model of this package
    accuracy : float
        As in a fit: the error of posterior means that is accepted, in posterior sds, between 0 and
        1.
    {keywords}

    Returns
    -------
    FitPlan

    Raises
    ------
    ArgumentError, NotSupported
        Naming the argument and saying what to do, also where no plan can tell.

    Examples
    --------
    >>> plan = sgmc.plan(sgmc.Logit.from_formula("y ~ x", df), accuracy=0.02)
    >>> print(plan)
    >>> res = model.fit(**plan.arguments)
    """
    begun = time.perf_counter()
    refuse_unknown("plan()", given, [*inspect.signature(plan).parameters])
    if not hasattr(model, "problem") or not hasattr(model, "fit"):
        raise ArgumentError(
            "plan needs a model such as sgmc.Logit.from_formula(formula, data), not "
            f"{type(model).__name__}"
        )
    fraction("accuracy", accuracy, advice=ACCURACY_IS)
    refuse(model, given)
    arguments = {**one_seed(given), "accuracy": accuracy}
    checked, prior = settings_of(model, arguments)
    with handled(), one_blas_thread(), phases.watched(given.get("progress")):
        phases.begin(phases.MODE)
        suited = model.suited(prior, checked) if hasattr(model, "suited") else model
        problem = suited.problem(prior, checked)
        check_init(checked, problem.priors)
        found = plan_fit(problem, checked)
        if found.weighted:
            raise NotSupported(
                "plan: with decreasing steps draws become ever more dependent, and their number "
                "cannot be predicted; give a constant step_size, or fit(accuracy=...) without a "
                "plan",
                because="mathematics",
            )
        setup = time.perf_counter() - begun
        told = told_by_law(found) or told_by_draws(found)
    return assembled(found, arguments, told, setup)


def refuse(model, given):
    """NotSupported for what no plan is made of."""
    if hasattr(model, "gathered"):
        raise NotSupported(
            "plan: data in partitions are gathered in fit() alone; call fit()", because="limit"
        )
    if given.get("warmup") == "threshold":
        raise NotSupported(
            "plan: the length of warmup='threshold' is found while chains run; give a number",
            because="mathematics",
        )


def settings_of(model, arguments):
    """Settings as a fit of the model has them, and the prior."""
    usual = model.usual() if hasattr(model, "usual") else model.defaults
    derived = {}
    arguments = {k: v for k, v in arguments.items() if k not in LEFT_OPEN or v != AUTO}
    if arguments.get("sampler") is None and hasattr(model, "derived"):
        derived = model.derived(arguments)
    rest = {**usual, **derived, **arguments}
    prior = rest.pop("prior", None)
    if hasattr(model, "layout"):
        rest["init"] = model.layout().pack(rest.get("init"), "init")
    return check_settings(**rest), prior


@dataclass(frozen=True)
class Told:
    """What tells the length of a run.

    Attributes
    ----------
    time : float
        Autocorrelation time of the worst mean, in kept draws.
    first_rows, step_rows : float
        Used by the first step of a chain, and by each one after it.
    step_seconds : float
        Of a step, where all chains run.
    sd_change : float
    basis : str
    """

    time: float
    first_rows: float
    step_rows: float
    step_seconds: float
    sd_change: float
    basis: str


def told_by_law(found):
    """`Told` by the law of a sampler on a Gaussian; None where there is none that holds here."""
    spec, where, settings = found.spec, found.problem.coordinates, found.settings
    if spec.exact or spec.continuous or not spec.uses_gradient or not where.whitened:
        return None
    if settings.adaptive or settings.robust or found.pilot is None:
        return None
    noise = noise_of(found).felt(spec, found.batch, found.size[0])(found.langevin_time)
    try:
        law = spec.law(found.langevin_time, noise)
    except NotSupported:
        return None
    chain = build_chain(found, 0)
    noise_of_plan(found, [chain])
    first, each, seconds = timed(chain)
    seconds = timed_together(found, seconds)
    change = math.sqrt(variance_of(spec, found.langevin_time, noise)) - 1
    return Told(law.time(found.thin), first, each, seconds, change, BY_LAW)


def timed(chain, at_least=TIMED_SECONDS):
    """Rows of the first step of a chain, rows and seconds of each one after it, by steps that take
    so many seconds.
    """
    chain.sampler.warming = False
    chain.run(1, False)
    first, ahead, begun = chain.gradient.touched, 64, time.perf_counter()
    while True:
        chain.run(ahead)
        spent = time.perf_counter() - begun
        if spent > at_least or chain.steps > MOST_TIMED or chain.status != 0:
            break
        ahead *= 2
    made = max(chain.steps - 1, 1)
    return first, (chain.gradient.touched - first) / made, spent / made


def timed_together(found, alone):
    """Seconds of a step in a thread, where all chains run in theirs; of a chain alone it is
    `alone`.
    """
    draws, settings = int(TIMED_SECONDS / max(alone * found.thin, 1e-9)), found.settings
    own = replace(settings, accuracy=None, draws=min(max(draws, 1), TRIED), progress=None)
    begun = time.perf_counter()
    done = sample(replace(found, warmup=0, settings=own), begun)
    made = sum(chain.steps for chain in done.chains)
    return done.run.seconds * min(settings.threads, settings.chains) / made


def told_by_draws(found):
    """`Told` by some draws after warmup: the first ones of the fit."""
    problem, settings = found.problem, found.settings
    own = replace(settings, accuracy=None, draws=TRIED, progress=None)
    done = sample(replace(found, settings=own), time.perf_counter())
    theta = problem.kept(done.x)[0]
    size = np.minimum(ess(theta, method="mean"), theta.shape[0] * theta.shape[1])
    if not np.isfinite(size).all():
        raise NotSupported(
            f"plan: {TRIED} draws per chain are too few to estimate the autocorrelation of "
            f"{found.spec.name}; use fit(accuracy=...) without a plan, or a longer warmup",
            because="limit",
        )
    made = sum(chain.steps for chain in done.chains)
    first = timed(build_chain(found, 0), 0.0)[0]
    used = sum(chain.data_passes for chain in done.chains) * problem.model.n
    each = (used - len(done.chains) * first) / (made - len(done.chains))
    together = min(settings.threads, settings.chains)
    return Told(
        float((theta.shape[0] * theta.shape[1] / size).max()),
        first,
        each,
        done.run.seconds * together / made,
        done.sd_change,
        f"by {TRIED} draws per chain",
    )


def assembled(found, arguments, told, setup):
    """The `FitPlan`."""
    problem, settings = found.problem, found.settings
    chains, p = settings.chains, len(problem.kept(np.zeros((1, 1, problem.dim)))[1])

    def error(draws):
        count = chains * draws
        return quantile(p) * math.sqrt(largest_time(told.time, count) / count)

    draws = next((one for one in looks(settings.draws) if error(one) <= settings.accuracy), None)
    if draws is None:
        raise ArgumentError(
            f"plan: accuracy={settings.accuracy:g} needs more than draws={settings.draws} per "
            "chain, where Monte Carlo errors of means are expected up to "
            f"{error(settings.draws):.2g} posterior sd; give more draws, a larger thin, or a "
            "larger accuracy"
        )
    made = found.warmup + found.steps(draws)
    used = chains * (told.first_rows + told.step_rows * (made - 1))
    at_once = min(settings.threads, chains)
    spec = found.spec
    own_step = spec.exact or not spec.uses_gradient
    begun = time.perf_counter()
    error_bound(np.random.default_rng(0).normal(size=(chains, draws, p)))
    checked = LAST_LOOKS * (time.perf_counter() - begun)
    return FitPlan(
        settings.accuracy,
        spec,
        found.gradient,
        math.nan if own_step else float(found.schedule(0)),
        found.batch,
        found.thin,
        found.warmup,
        chains,
        draws,
        float(chains * draws / max(told.time, 1.0)),
        float(told.sd_change),
        float(used),
        float(used / problem.model.n),
        setup + math.ceil(chains / at_once) * made * told.step_seconds + checked,
        told.basis,
        arguments_of(found, arguments, told),
    )


def arguments_of(found, arguments, told):
    """Arguments of a fit that follows the plan."""
    rest = {name: value for name, value in arguments.items() if name != "progress"}
    rest["seed"] = found.settings.seed
    if told.basis != BY_LAW or found.spec.implied_time(1.0) is not None:
        return rest
    chosen = {name: getattr(found, name, None) for name in SETTLED}
    chosen |= {"step_size": found.schedule, "batch_size": found.batch, "sampler": found.spec}
    if found.spec.all_rows:
        del chosen["batch_size"], chosen["gradient"]
    return {**rest, **chosen}
