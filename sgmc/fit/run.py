"""A fit from a problem to draws: plan, chains; and what is known where the time is up before there
are draws.
"""

import time
from dataclasses import dataclass, replace

import numpy as np

from sgmc import registry
from sgmc.core.engine import STATUS_NAMES
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.core.recorders import FullRecorder, Walkers
from sgmc.core.schedules import Constant
from sgmc.core.system import deadline, phases
from sgmc.core.system.blas import one_blas_thread
from sgmc.core.system.deadline import OutOfTime
from sgmc.core.system.interrupts import taken, unbroken
from sgmc.core.system.types import fits
from sgmc.errors import ArgumentError, CheckpointWarning, DivergenceError
from sgmc.fit import choose, paths, stopping
from sgmc.fit.chains import (
    TIME_LIMIT,
    Run,
    Watch,
    build_chain,
    forecast,
    recorder,
    run_chains,
    warn_of_reading,
    warn_of_tiny_steps,
)
from sgmc.fit.checkpoint import (
    RESUMED,
    Checkpoint,
    Saved,
    check_like,
    compare,
    mark,
    of_this_fit,
    read,
)
from sgmc.fit.fitted import (
    LAPLACE,
    NONE,
    PLACES,
    POSITIONS,
    ChainFacts,
    FallbackDraws,
    Fit,
    facts_of,
    places_of,
    warmup_of,
)
from sgmc.fit.noise import GradientNoise, noise_of_plan
from sgmc.fit.plan import Choice, plan_to_threshold
from sgmc.fit.problem import SEARCH
from sgmc.fit.settings import check_init
from sgmc.fit.stopping import DRAWS_CHECKED, first_look

PILOT = "the analysis of the gradient noise"  # what time_limit may end
WARMUP = "warmup"
LAPLACE_WORK, FEWEST_LAPLACE = 5e8, 25  # d^2 of a draw, in all; and draws a chain, at least


def fit(problem, settings, begun, saved=None) -> Fit:
    """Sample a problem, from the start or from where a saved run was.

    Parameters
    ----------
    problem : Problem
    settings : Settings
    begun : float
        `time.perf_counter()` when the user called.
    saved : Saved, optional
    """
    problem = problem.settled(settings)
    check_init(settings, problem.priors)
    if problem.stopped:
        return without_chains(problem, settings, begun, problem.stopped)
    try:
        return drawn(problem, settings, begun, saved)
    except OutOfTime:
        return without_chains(problem, settings, begun, PILOT)


def drawn(problem, settings, begun, saved):
    """The `Fit` of the chains that are planned, or, where those of a default sampler diverge, of an
    exact one's.

    Raises
    ------
    OutOfTime
        Before the chains run.
    """
    plan = choose.plan_fit(problem, settings)
    # without a Gaussian the noise is not known beforehand, but along the chains alone
    if settings.warmup == "threshold" and not plan.problem.coordinates.scaled:
        plan = plan_to_threshold(plan, [build_chain(plan, k) for k in range(settings.chains)])
    plan = continued(plan, saved)
    if saved is not None:  # it is known which sampler ran
        return sample(choose.as_saved(plan, saved.mark.get("sampler")), begun, saved)
    if not choose.replaceable(plan):
        return sample(plan, begun)
    other = choose.replacement(plan)
    try:
        done = sample(plan, begun)
        if not choose.diverged(done):
            return done
    except DivergenceError:
        pass
    done = sample(other, begun)
    done.warnings.append(choose.replaced(plan, other))
    return done


def continued(plan, saved):
    """A plan with the warmup that a run in progress has, where it was left open: it may have been
    derived from the number of draws, which may be another one now.
    """
    settings = plan.settings
    begun = saved or (read(settings.checkpoint) if settings.checkpoint else None)
    if begun is not None:
        settings = first_look(settings, begun.chains)
        plan = replace(plan, settings=settings)
    warmup = None if begun is None else begun.mark.get("warmup")
    if not fits(warmup, int | None) or (warmup or 0) < 0:
        raise ArgumentError(f"the run to go on with has warmup={warmup!r}: fit again")
    return plan if warmup is None or settings.warmup is not None else replace(plan, warmup=warmup)


def longer(done, draws, why, reserve) -> Fit:
    """Go on with the chains of a fit to so many draws, as if these had been asked for.

    Parameters
    ----------
    done : Fit
    draws : int
        Per chain.
    why : str
        What for, in words.
    reserve : float
        Seconds of the time of the call that are left to the checks.
    """
    plan = replace(done.plan, settings=replace(done.settings, draws=draws))
    further = Further.of(done, why, reserve)
    return sample(plan, time.perf_counter(), Saved({}, done.states, done.seconds), further)


def anew(done, plan, reserve) -> Fit:
    """The fit of chains of this plan, begun in the place of a fit's; see `choose.begun_anew`."""
    why = f"going on: {plan.spec.name} in the place of {done.plan.spec.name}"
    further = Further.of(done, why, reserve)
    return sample(plan, time.perf_counter() - done.seconds, further=further)


@dataclass(frozen=True)
class Further:
    """How chains of a fit go on.

    Attributes
    ----------
    why : str
        What for, in words.
    reserve : float
        Seconds that are left to the checks.
    known : list of SGMCWarning
        What the fit was warned of when it began.
    """

    why: str
    reserve: float
    known: list

    @classmethod
    def of(cls, done, why, reserve):
        """Of the fit that goes on."""
        known = [one for one in done.warnings if not isinstance(one, CheckpointWarning)]
        return cls(why, reserve, known)


def sample(plan, begun, saved=None, further=None) -> Fit:
    """Run the chains of a plan; see `fit`.  `further`: they go on within one call."""
    problem, settings = plan.problem, plan.settings
    chains = [build_chain(plan, k) for k in range(settings.chains)]
    noise, steps = noise_of_plan(plan, chains), plan.steps(settings.draws)
    begin = places_of(chains, plan)
    checkpoint, earlier = restore(plan, chains, plan.warmup + steps, saved)
    block = together([chain.recorder for chain in chains]) if settings.accuracy is None else None
    reserve = further.reserve if further else stopping.reserve_of(problem, settings)
    watch = Watch(reserve, settings.progress, checkpoint, forecast(plan, steps))
    problem.rows.will_read(random=plan.spec.minibatches)
    known = further.known if further else warn_of_reading(plan, steps) + warn_of_tiny_steps(plan)
    phases.begin(further.why if further else phases.SAMPLING)
    # a run that goes on goes on here: workers make chains from their starts alone
    remote = settings.client is not None and saved is None
    if remote:
        with one_blas_thread():
            run, draws = settings.client.run(chains, plan), settings.draws
    with unbroken():  # draws that are there are not lost by Ctrl-C
        if not remote:
            with one_blas_thread():  # for models whose gradients are products of matrices
                run, draws = run_rounds(plan, chains, watch)
        states = checkpoint.finish(chains) if checkpoint else [chain.state() for chain in chains]
        if run.interrupted == TIME_LIMIT and not any(chain.recorder.kept for chain in chains):
            return without_draws(plan, begun, chains, known)
        paths.check(plan.spec, run, chains)
        x, times, weights, used = collect(plan, chains, run, draws, block)
        x = problem.signs.folded(x, settings.seed)
        noise = noise.as_seen(
            [chain.batches for chain in chains], [chain.gradient.rows for chain in chains]
        )
        done = Fit(
            plan,
            x,
            times,
            weights,
            run,
            [facts_of(chain, plan) for chain in chains],
            noise,
            earlier + time.perf_counter() - begun,
            states,
            [*known, *(checkpoint.warnings() if checkpoint else [])],
            [chain.recorder for chain in chains],
            paths.travelled(chains, run, problem.coordinates) if plan.spec.continuous else None,
            stopping=stopping.check_accuracy(plan, x, weights, run),
            warmup=warmup_of([chains[k] for k in used], plan),
            starts=begin[used],
        )
        taken()
    return done


def restore(plan, chains, steps, saved):
    """Put chains where a saved run was: the one given,
    or that of the checkpoint file if there is one.

    Returns
    -------
    checkpoint : Checkpoint or None
    earlier : float
        Seconds that the saved run took.
    """
    path = plan.settings.checkpoint
    mine = mark(plan) if path or (saved and saved.mark) else {}
    filed = read(path) if path else None
    for one, source in ((filed, f"checkpoint={path!r}"), (saved, RESUMED)):
        if one and one.mark:
            compare(one.mark, mine, source)
    saved = saved or filed
    source = f"checkpoint={path!r}" if saved is filed else RESUMED
    for chain, state in zip(chains, saved.chains if saved else ()):
        with of_this_fit(source):
            chain.recorder = recorder(plan, room_of(state, plan.settings.draws))
            check_like(state, chain.state())
            chain.set_state(state)
    earlier = saved.seconds if saved else 0.0
    return Checkpoint(path, mine, chains, steps, earlier) if path else None, earlier


def room_of(state, draws):
    """Draws that a recorder must have room for: those asked for, or more that are there already."""
    return max(draws, len(state["recorder"]["draws"]))


def together(recorders):
    """One array (chain, draw, dim) in which recorders have their draws from now on, so that these
    are together without a copy; None where the recorders are not alike.
    """
    shapes = {one.draws.shape if type(one) is FullRecorder else None for one in recorders}
    if len(shapes) > 1 or None in shapes:
        return None
    block = np.zeros((len(recorders), *shapes.pop()))
    for one, into in zip(recorders, block):
        one.move(into)
    return block


def run_rounds(plan, chains, watch):
    """Run chains to their end, or with `accuracy` from look to look until one stops them.

    Returns
    -------
    run : Run
    draws : int
        Of a chain that the run ended at, as if they had been asked for.
    """
    settings, seconds = plan.settings, 0.0
    if settings.accuracy is None:
        return run_chains(chains, plan, watch), settings.draws
    for draws in stopping.looks(settings.draws):
        for chain in chains:
            state = chain.state()
            chain.recorder = recorder(plan, room_of(state, draws))
            chain.set_state(state)
        run = run_chains(chains, plan, watch, draws)
        run.seconds = seconds = seconds + run.seconds
        # what was stopped has no further look
        if run.interrupted or {"diverged", "spent"} & set(run.statuses):
            return run, settings.draws
        x, _, weights, _ = collect(plan, chains, run, draws, None)
        x = plan.problem.signs.folded(x, settings.seed)
        if stopping.check_accuracy(plan, x, weights, run).reached:
            break
    return run, draws


def collect(plan, chains, run, draws, block):
    """Kept draws (chain, draw, d), times of their steps and weights, so many draws or as many as
    the shortest chain has, and the numbers of the chains that they are of, without those that
    diverged early; `block` is what is `together`.
    """
    kept = np.array([c.recorder.kept for c in chains])
    if kept.max() == 0:
        raise_without_draws(plan, chains, run)
    # a chain that diverged late still has draws of the posterior
    enough = [k for k, n in enumerate(kept) if run.statuses[k] != "diverged" or n >= kept.max() / 2]
    length = min(draws, min(kept[k] for k in enough) or kept[enough].max())
    enough = [k for k in enough if kept[k] >= length]
    if block is not None and len(enough) == len(chains):
        x = block[:, :length]
    else:
        x = np.stack([np.asarray(chains[k].recorder.draws)[:length] for k in enough])
    if plan.spec.walkers > 1:
        x = np.stack([Walkers.by_walker(one, plan.spec.walkers) for one in x])
    if not plan.weighted:
        return x, None, None, enough
    kept = chains[enough[0]].recorder
    times = plan.spec.langevin_time(np.array(kept.weights[:length]))
    if not plan.spaced:
        return x, times, times, enough
    between = np.array(kept.times[:length])
    return x, times, plan.spec.langevin_time(kept.first) * between, enough


def raise_without_draws(plan, chains, run):
    """Raise what ended the chains before their first draw: Ctrl-C, the budget or divergence."""
    if run.interrupted == "Ctrl-C":
        raise KeyboardInterrupt
    if "spent" in run.statuses:
        rows = np.mean([c.gradient.touched / c.steps for c in chains])
        budget = plan.settings.max_data_passes
        raise ArgumentError(
            f"max_data_passes={budget:g} is used up before the first draw of {len(chains)} "
            f"chains: {plan.warmup} warmup steps of {rows:,.0f} rows each; raise it, leave it "
            "out, or lower warmup or chains"
        )
    where = ", ".join(f"chain {k} at step {c.steps}" for k, c in enumerate(chains))
    h, stable = plan.schedule(0), plan.spec.from_langevin(1 / plan.max_precision)
    advice = f"use a smaller step_size than {h:.3g}, e.g. {min(h / 10, stable):.1g}"
    if plan.settings.sampler is not None:
        advice += ", or sampler='auto'"
    if plan.problem.undefined:
        advice = f"{plan.problem.undefined[0].text}. Correct it, or {advice}"
    raise DivergenceError(f"every chain diverged before its first draw ({where}); {advice}")


# ---- where the time is up ------------------------------------------------------------------------


def without_chains(problem, settings, begun, during):
    """A `Fit` of what is known where no chain has run yet: the Gaussian approximation at the mode,
    or, where there is none, one step of each chain of an exact sampler.
    """
    if problem.coordinates.scaled:
        return laplace_draws(problem, settings, begun, during)
    with deadline.suspended():
        open_ = replace(settings, sampler=None, gradient=None, step_size=None, batch_size=None)
        plan = choose.make_plan(choose.choose_sampler(problem, open_))
        chains = [build_chain(plan, k) for k in range(settings.chains)]
    return without_draws(plan, begun, chains)


def without_draws(plan, begun, chains, known=()):
    """A `Fit` of what is known where chains have no draw yet: the Gaussian approximation at the
    mode, or, where there is none, where the chains are, one step later; `known`: what the run was
    warned of.
    """
    problem, settings = plan.problem, plan.settings
    if problem.coordinates.scaled:
        return replace(laplace_draws(problem, settings, begun, WARMUP), warnings=[*known])
    last = replace(plan, thin=1, warmup=0)
    for chain in chains:
        chain.recorder = recorder(last, 1)
        chain.sampler.warming = False
        chain.run(1)
    kept = [k for k, chain in enumerate(chains) if chain.recorder.kept]
    if not kept:
        raise DivergenceError(
            "every chain diverged before its first draw, and time_limit ended the run; give more "
            "time, or a smaller step_size"
        )
    return Fit(
        replace(plan, pilot=None),
        np.stack([np.asarray(chains[k].recorder.draws)[:1] for k in kept]),
        None,
        None,
        Run([STATUS_NAMES[chain.status] for chain in chains], TIME_LIMIT),
        [facts_of(chain, plan) for chain in chains],
        GradientNoise(np.nan, np.nan, np.full(problem.dim, np.nan)),
        time.perf_counter() - begun,
        [chain.state() for chain in chains],
        [*known],
        [chain.recorder for chain in chains],
        stand_in=FallbackDraws(WARMUP, POSITIONS),
    )


def laplace_draws(problem, settings, begun, during):
    """A `Fit` whose draws are of the Gaussian approximation at the mode, or where the search for it
    has not ended, around the place that it has reached; `during`: what the limit ended.
    """
    d, where = problem.dim, problem.coordinates
    most = max(FEWEST_LAPLACE, int(min(LAPLACE_WORK / d**2, DRAWS_CHECKED) / settings.chains))
    draws, x = min(settings.draws, most), []
    for k in range(settings.chains):
        z = Rng(seed_sequence(settings.seed, "chain", k)).normals(draws * d).reshape(draws, d)
        chain = z if where.whitened else np.array([where.from_white(one) for one in z])
        x.append(problem.record.recorded(problem, chain))
    choice = Choice(
        problem=problem,
        settings=settings,
        gradient=problem.defaults.estimator,
        spec=registry.room("samplers")["laplace"](),
        reason=f"Stand-in draws taken: time_limit ended {during}",
    )
    return Fit(
        choice.with_steps(
            schedule=Constant(1.0),
            langevin_time=1.0,
            batch=problem.model.n,
            thin=1,
            warmup=0,
            step_origin="",
        ),
        np.array(x),
        None,
        None,
        Run(["ok"] * settings.chains, TIME_LIMIT),
        [ChainFacts(draws, 0.0, *[NONE] * 6)] * settings.chains,
        GradientNoise(0.0, 0.0, np.zeros(d)),
        time.perf_counter() - begun,
        [],
        [],
        [],
        stand_in=FallbackDraws(during, PLACES if SEARCH in problem.stopped else LAPLACE),
    )
