"""The verb `tune`, and ``tune=`` of a fit."""

import inspect
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sgmc.arguments.choices import one_of
from sgmc.arguments.declared.keywords import METHODS, TUNE, names, rows
from sgmc.arguments.declared.signatures import refuse_unknown, with_keywords
from sgmc.arguments.numbers import positive, whole
from sgmc.arguments.seeds import entropy, one_seed
from sgmc.core.random.rng import seed_sequence
from sgmc.core.schedules import Constant, Function
from sgmc.core.system import deadline, phases
from sgmc.core.system.blas import one_blas_thread
from sgmc.core.system.deadline import OutOfTime
from sgmc.core.system.interrupts import handled
from sgmc.errors import ArgumentError, InterruptedWarning, NotSupported, warn
from sgmc.fit import (
    build_chain,
    check_init,
    check_settings,
    choose_sampler,
    make_plan,
    share_design_effect,
)
from sgmc.priors import learns
from sgmc.tuning.arms import arms_of, refuse
from sgmc.tuning.race import (
    MAX_KEPT,
    RACE_MEMORY,
    Runner,
    StepBudget,
    TimeBudget,
    race,
    rungs_of,
    shares_of,
)
from sgmc.tuning.result import TuneResult

DEFAULT_BUDGET = 5000  # steps of the winner, where no budget is given
# arguments of a fit that a race has too
PASSED = set(names(TUNE)) - {"prior", "rng"}
RACE_SHARE = 0.5  # of a fit's time_limit: a race of tune= that takes longer is given up
# of the Langevin time of a step, which the winner must bear without diverging; instabilities that
# grow slowly, as a thermostat's, show after 1e5 steps at a step, and after 1e4 at twice its time
TRIAL_FACTOR = 2
RACE, TRIAL = 0, 1  # parts of the seed's streams
HEURISTIC_SHARE = 10  # the heuristic's minibatch: a tenth of the rows


@with_keywords(*rows(TUNE))
def tune(
    model: Any,
    sampler: Any = "sgld",
    method: str = "mamba",
    metric: Any = None,
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    eta: int = 3,
    budget_steps: int | None = None,
    time_limit: float | None = None,
    prior: Any = None,
    **given: Any,
) -> TuneResult:
    r"""Choose step, minibatch and any declared parameter of a sampler by the quality of its draws.

    ``"mamba"``: M arms begin; each runs for r_0, all are scored by all their draws, the best 1/eta
    go on from where they are for r_1 = eta r_0, and so on for floor(log_eta M) rungs (Coullon,
    South and Nemeth 2023, Algorithm 1).  ``"grid"``: every arm makes the whole run, and is scored
    once.  ``"default"``: the derived step and minibatch, as an arm without
    rivals.  ``"heuristic"``: h = 1/N and a tenth of the rows in raw coordinates (Brosse, Durmus and
    Moulines 2018).

    Arms start at draws of the Laplace approximation, each with a stream of its own.  Where two
    score the same, the one that comes first in the grid is the better.  An arm that diverges has
    the score infinity.  The best arm then stands a trial: a chain from where it is, with twice the
    Langevin time a step, must not diverge in three times as many steps as the arm has made (with a
    `time_limit`, until the time is up); else the next best arm stands it.  So no arm is taken that
    is at the edge of stability, and would diverge in a longer run.  Exact samplers need no trial.

    Parameters
    ----------
    model : Logit or another model of this package
    sampler : str or specification
    method : {"mamba", "grid", "default", "heuristic"}
    metric : {"ksd", "fssd", "fssd-opt", "fssd-max", "log_loss"} or callable, optional
        The smaller the better.  Default: "ksd", and for `LDA`, whose likelihood has no closed form,
        the log perplexity of words given others of their documents.  Stein discrepancies are taken
        in whitened coordinates, those of finite sets at "optimised" ("fssd-opt") or "maximised"
        locations ("fssd-max", as in the MAMBA paper) of `sgmc.diagnostics.fssd`; ``"log_loss"`` is
        that of the rows of the fit; a callable maps coefficients as they are reported, (n, d), to a
        number, such as an `ece` of held-out rows.
    grid : dict, optional
        Values by axis: ``"step_size"``, ``"batch_size"`` or a declared parameter, such as
        ``{"leapfrog": [5, 10]}``.  Steps are numbers, schedules or callables, as in a fit; varying
        ones are judged over the steps of the race, from the first, and their draws weigh the
        Langevin time of theirs (a callable as metric gets them resampled in that proportion).  Step
        and minibatch that are neither here nor given as arguments are those of the default grid:
        nine steps, by half decades of Langevin time around the derived one, and a third, once and
        three times the derived minibatch.
    eta : int
        At least 2.
    budget_steps : int, optional
        Steps of the winner, or of each arm of a grid, where a step costs what the median arm's does
        (rows, and what a step costs besides); arms with dearer steps make fewer.  The result is the
        same for any number of threads.  Default 5000 steps.
    time_limit : float, optional
        Seconds of the whole race instead, scores included; then other runs may choose other arms.
    {keywords}

    Returns
    -------
    TuneResult

    Raises
    ------
    ArgumentError, NotSupported
        Naming the argument and saying what to do.

    Notes
    -----
    The arguments from `prior` on are those of a fit.  Of `progress`, ``(done, total)`` are steps of
    an arm of median cost, in all arms and rungs, or seconds where there is a `time_limit`.
    """
    from sgmc.tuning.scores import metric_of  # with all that results need, such as pandas

    begun = time.perf_counter()
    refuse_unknown("tune()", given, [*inspect.signature(tune).parameters])
    arguments = one_seed(given)
    if not hasattr(model, "problem"):
        raise ArgumentError(
            "tune needs a model such as sgmc.Logit.from_formula(formula, data), not "
            f"{type(model).__name__}"
        )
    one_of("method", method, METHODS)
    eta, clocked = whole("eta", eta, 2), positive("time_limit", time_limit, none=True)
    steps = whole("budget_steps", budget_steps, 1, none=True)
    if clocked is not None and steps is not None:
        raise ArgumentError("budget_steps and time_limit are both given: leave one of them out")
    if method in ("default", "heuristic") and grid is not None:
        raise ArgumentError(f"grid does not apply to method={method!r}: it has one arm")
    checked = checked_settings(sampler, method, model, arguments)
    with handled(), one_blas_thread(), phases.watched(arguments.get("progress")):
        phases.begin(phases.MODE)
        # scales that are learned are parameters of another model of the same rows
        own = model.suited(prior, checked) if learns(prior) else model
        problem = own.problem(prior, checked)
        if problem.partial:  # draws of arms are scored whole
            problem = problem.kept_whole(checked)
        check_init(checked, problem.priors)
        if problem.stopped:
            raise OutOfTime
        choice = choose_sampler(problem, checked)
        if metric is None:
            metric = model.race_metric() if hasattr(model, "race_metric") else "ksd"
        judge = metric_of(metric, problem, getattr(model, "family", None), checked.seed)
        arms = competitors(method, grid, choice)
        rungs = rungs_of(len(arms), eta) if method == "mamba" else 1
        runners = runners_of(arms, checked)
        threads = whole("threads", arguments.get("threads"), 1, none=True) or min(
            len(arms), os.cpu_count() or 1
        )
        shares = shares_of(rungs, eta)
        budget = (
            StepBudget(steps or DEFAULT_BUDGET, shares)
            if clocked is None
            else TimeBudget(clocked - (time.perf_counter() - begun), shares, not choice.spec.exact)
        )
        phases.begin(phases.TUNING)
        tell = checked.progress or phases.reporting()
        rival = None if choice.spec.exact else partial(rival_of, checked=checked)
        winner, records = race(runners, judge, eta, budget, threads, rival, tell)
    asked = (
        f"budget_steps={steps or DEFAULT_BUDGET}" if clocked is None else f"time_limit={clocked:g}"
    )
    return TuneResult(
        best_of(winner.arm, checked),
        *tables(records, runners),
        winner.arm.number,
        method,
        judge.name,
        asked,
        clocked is None,
        checked.seed,
        time.perf_counter() - begun,
    )


def checked_settings(sampler, method, model, arguments):
    """Settings of all arms."""
    usual = model.usual() if hasattr(model, "usual") else {}
    given = {
        name: value
        for name, value in {**usual, **arguments}.items()
        if name in PASSED and name != "threads"
    }
    if method == "heuristic":
        for name in ("step_size", "batch_size", "precondition"):
            if given.get(name) is not None:
                raise ArgumentError(
                    f"{name} does not apply to method='heuristic': it is 1/N and a tenth of the "
                    "rows, in raw coordinates"
                )
        given["precondition"] = None
    checked = check_settings(sampler=sampler, chains=1, warmup=0, **given)
    refuse(checked)
    return checked


def competitors(method, grid, choice):
    """The arms of a method."""
    spec, n = choice.spec, choice.size[0]
    steps = spec.uses_gradient or (spec.exact and not spec.direct)
    if spec.continuous or spec.independent or spec.conditional or not steps:
        raise ArgumentError(f"sampler={spec.name!r} has no step to tune")
    if method in ("mamba", "grid"):
        return arms_of(grid, choice)
    if method == "heuristic":
        own = {"step_size": [spec.from_langevin(1 / n)]}
        own |= {"batch_size": [max(1, n // HEURISTIC_SHARE)]} if spec.minibatches else {}
    else:
        plan = make_plan(choice)
        own = {"step_size": [plan.schedule]} | (
            {"batch_size": [plan.batch]} if spec.minibatches else {}
        )
    open_ = replace(choice.settings, step_size=None, batch_size=None)
    return arms_of(own, replace(choice, settings=open_))


def runners_of(arms, checked):
    """Chains of the arms, at their starts, with streams of the seed's ``tune`` key."""
    dim = arms[0].plan.problem.dim
    room = int(max(64, min(MAX_KEPT, RACE_MEMORY / (8 * dim * len(arms)))))
    init = checked.init if np.ndim(checked.init) < 2 else checked.init[0]
    own = replace(checked, init=init, chains=len(arms))
    return [Runner(arm, chain_of(arm, own), room) for arm in arms]


def chain_of(arm, settings, part=RACE):
    """The chain of an arm in a part of the seed's ``tune`` key."""
    seed = entropy(seed_sequence(settings.seed, "tune", part))
    own = replace(settings, sampler=arm.spec, seed=seed, draws=1)
    plan = replace(arm.plan, settings=own)
    chain = build_chain(plan, arm.number)
    if plan.spec.needs_noise:
        share_design_effect(plan, [chain])
    return chain


def rival_of(runner, checked):
    """A runner like another, with a step TRIAL_FACTOR times as long in Langevin time, from where
    that one is.
    """
    plan, spec = runner.arm.plan, runner.arm.plan.spec

    def longer(t):
        return spec.from_langevin(TRIAL_FACTOR * spec.langevin_time(plan.schedule(t)))

    schedule = Function(longer) if plan.weighted else Constant(longer(0))
    arm = replace(runner.arm, plan=replace(plan, schedule=schedule))
    begun = plan.problem.coordinates.reported(np.array(runner.chain.x))
    own = replace(checked, init=begun, chains=arm.number + 1)
    return Runner(arm, chain_of(arm, own, TRIAL), runner.room)


def best_of(arm, checked):
    """The arguments of a fit that an arm stands for."""
    best = {
        "sampler": arm.spec,
        "step_size": arm.values["step_size"],
        "precondition": checked.precondition,
    }
    if arm.spec.minibatches:
        best |= {
            "gradient": arm.plan.gradient,
            "subsample": checked.subsample,
            "batch_size": arm.values["batch_size"],
        }
    return best


def tables(records, runners):
    """`TuneResult.history` and `TuneResult.arms`."""
    import pandas as pd

    history = pd.DataFrame(records, columns=["arm", "rung", "steps", "seconds", "draws", "metric"])
    arms = pd.DataFrame(
        [{**r.arm.values, "diverged": r.diverged or r.unstable} for r in runners]
    ).rename_axis("arm")
    return history, arms


def chosen(model, prior, arguments):
    """Arguments of a fit, ``tune=`` replaced by what it chooses, and the `TuneResult`.

    ``tune="mamba"`` and the other methods race with the sampler, seed and other arguments of the
    fit; steps and minibatches that these give stay as they are.
    """
    rest = {name: value for name, value in arguments.items() if name != "tune"}
    result = arguments["tune"]
    if isinstance(result, TuneResult):
        for name in result.best:
            if name in rest:
                raise ArgumentError(f"{name} is given, and chosen by tune=: leave one of them out")
        return {**rest, **result.best}, result
    steps = "; steps before the draws are warmup=" * isinstance(result, int)  # PyMC's tune=500
    one_of("tune", result, METHODS, f", or what sgmc.tune returned{steps}")
    if rest.get("cov_type", "nonrobust") != "nonrobust":
        raise NotSupported(
            f"tune={result!r} with cov_type={rest['cov_type']!r}: a sandwich is no density that "
            "draws are scored by",
            because="mathematics",
        )
    # bad arguments before the race, not after it; no bar yet
    check_settings(**{**rest, "progress": False})
    given = {name: value for name, value in rest.items() if name in PASSED and name != "init"}
    try:
        with deadline.leaving((1 - RACE_SHARE) * deadline.current().left()):
            result = tune(model, rest.get("sampler", "auto"), result, prior=prior, **given)
    except OutOfTime:
        warn(
            InterruptedWarning(
                f"time_limit ended the race of tune={result!r}: what it was to choose is derived.",
                "Give a larger time_limit, or tune once with sgmc.tune.",
            )
        )
        return rest, None
    return {**rest, **result.best}, result
