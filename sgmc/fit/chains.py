"""The chains of a fit: how each is built, what all of them will take, and how they run: in threads
without the interpreter lock, in short chunks between which Ctrl-C and the clock act, or on workers
of a cluster.
"""

import math
import pickle
import threading
import time
from collections import deque
from concurrent.futures import wait
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from sgmc.core.engine import STATUS_NAMES, Chain
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.core.recorders import Walkers
from sgmc.core.system import deadline, phases
from sgmc.core.system.blas import one_blas_thread
from sgmc.core.system.deadline import Deadline, OutOfTime
from sgmc.core.system.interrupts import came, taken, unbroken
from sgmc.core.system.memory import shown
from sgmc.core.system.threads import Threads
from sgmc.errors import ArgumentError, NotSupported, ReadingWarning, StepSizeWarning, warn
from sgmc.fit import paths
from sgmc.fit.choose import plan_fit
from sgmc.fit.noise import batch_search, largest, share_design_effect, subsampler
from sgmc.fit.plan import KEPT_TIME
from sgmc.fit.settings import MOST_POSITIONS, check_settings
from sgmc.subsampling.uniform import FullBatch

LONG = 10.0  # seconds of a run that are said before they are spent
MEASURED = 0.3  # seconds of steps by which the others are predicted
# steps before which these seconds are LONG: the first ones end one by one, of chains whose next
# ones are made and reported together
FEWEST_MEASURED = 20
MOST_STEPS_A_DRAW = 10**5  # from one independent draw to the next: more is a step that hardly moves
MOST_PASSES = 1000  # over a table in a file, beyond which a run is warned of
LARGE = 1 << 30  # bytes of such a table: less stays in memory once it is read
CHUNK_SECONDS = 0.03
POLL_SECONDS, SHORTEST_POLL = 0.05, 0.002
TIME_LIMIT = "time limit"
LOCAL = ("client", "progress", "checkpoint", "time_limit", "threads")  # of this machine alone
RUNNING = threading.local()  # .task: the chain that a thread runs


# ---- building ------------------------------------------------------------------------------------


def build_chain(plan, k):
    """The k-th chain; it depends on the seed and on k alone."""
    problem, settings, spec, (n, d) = plan.problem, plan.settings, plan.spec, plan.size
    rng = Rng(seed_sequence(settings.seed, "chain", k))
    batch = min(plan.batch, largest(n)) if settings.adaptive else plan.batch
    posterior = problem if spec.minibatches else problem.few
    rows = subsampler(plan, batch) if spec.minibatches else FullBatch(posterior.model.n)
    gradient = posterior.computed(plan.single).gradient(plan.gradient, rows, rng)
    if spec.needs_bounds:
        gradient.bounds = paths.bounds_of(plan)
    transition = spec.build(d, plan.schedule(0))
    chain = Chain(starts(plan, k), transition, gradient, rng, plan.schedule, spec.continuous)
    chain.sampler.plan_warmup(plan.warmup)
    if spec.direct or spec.independent:
        chain.sampler.transport = problem.transport
    if spec.conditional:
        chain.sampler.turns = problem.conditionals.turns()
    if spec.continuous:
        paths.equip(chain.sampler, plan)
    chain.recorder = recorder(plan, settings.draws)
    if settings.adaptive:
        chain.batches = batch_search(plan)
    if settings.keep_warmup and plan.warmup:
        chain.watched = Watched(plan.warmup, d, partial(problem.record.recorded, problem))
    if settings.max_data_passes is not None:
        chain.budget = int(settings.max_data_passes * n / settings.chains)
    return chain


def starts(plan, k):
    """Where chain k starts; those of its walkers one behind the other."""
    problem, settings, walkers = plan.problem, plan.settings, plan.spec.walkers
    if walkers > 1 and problem.partial:
        raise NotSupported(
            f"{plan.spec.name} with {walkers} walkers keeps draws of all parameters, which are "
            "too many here; use walkers=1",
            because="limit",
        )
    first = problem.begin(settings, k)
    if settings.start_given:
        return np.tile(first, walkers)
    others = (problem.begin(settings, k + settings.chains * w) for w in range(1, walkers))
    return np.concatenate([first, *others])


def recorder(plan, draws):
    """Where the draws of a chain go."""
    walkers = plan.spec.walkers
    if walkers > 1:  # whole steps, so that a chain that goes on has its walkers in turn
        return Walkers(math.ceil(draws / walkers) * walkers, walkers, plan.problem.dim, plan.thin)
    if plan.spec.continuous:  # draws lie on lines, which are kept too
        return paths.recorder(plan, draws)
    return plan.problem.record.recorder(plan.problem, draws, plan)


class Watched:
    """Keeps evenly spaced positions of one chain from its start to the end of warmup.  It only
    looks on: the chain's steps are the same without it.

    Parameters
    ----------
    warmup, dim : int
        Steps of warmup, and coordinates of a draw.
    recorded : callable
        What is kept of a position (dim,), see `Problem.recorded`.
    """

    def __init__(self, warmup, dim, recorded):
        self.every = max(1, -(-warmup // MOST_POSITIONS))
        self.dim, self.recorded, self.positions = dim, recorded, []

    def until_next(self, step):
        """Steps from `step` to the next position that is kept."""
        return self.every - step % self.every

    def look(self, chain):
        """Keep the position of a chain that is at such a step, once."""
        if chain.status == 0 and chain.steps == self.every * len(self.positions):
            self.positions.append(self.recorded(np.array(chain.x[: self.dim])))

    def state(self):
        """The positions so far; None before the first."""
        return np.array(self.positions) if self.positions else None

    def set_state(self, state):
        """Continue from a `state()`."""
        self.positions = [] if state is None else list(state)


# ---- what a run will take, said where it begins --------------------------------------------------


@dataclass
class RuntimeForecast:
    """Says once what a run takes, if that is long: its steps, and seconds by the first ones made.
    These are for people: no draw depends on them.

    Attributes
    ----------
    what : str
        The run, in rows and steps.
    ahead : int
        Steps that are made at once at its beginning: fewer do not tell what the others take.
    said : bool
    """

    what: str
    ahead: int = 1
    said: bool = False

    def look(self, done, total, seconds):
        """Say it where so many steps of `total` took so many seconds, and all of them are to take
        long.
        """
        least = MEASURED if done >= FEWEST_MEASURED else LONG
        if self.said or seconds < least or done < self.ahead:
            return
        expected = seconds * total / done
        if expected <= LONG:
            return
        self.said = True
        ends = deadline.current().left() + seconds < expected
        limit = "; time_limit ends it earlier" if ends else ""
        phases.say(f"{self.what}: about {lasting(expected)}{limit}")


def forecast(plan, steps):
    """The `RuntimeForecast` of a plan's chains, each of which makes so many steps after warmup."""
    rows, unit = plan.problem.model.n, plan.problem.rows.unit
    each = plan.batch if plan.spec.minibatches else rows
    made = "events" if plan.spec.continuous else "steps"
    at_once = plan.spec.made_at_once(plan.problem.dim)
    return RuntimeForecast(
        f"{plan.spec.name} with {rows:,} {unit}s, {plan.settings.chains} chains x "
        f"{plan.warmup + steps:,} {made} of {each:,} {unit}{'s' if each > 1 else ''}",
        at_once * plan.settings.chains if at_once > 1 else 1,
    )


def lasting(seconds):
    """A time as text, in units of which there are not many."""
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.{0 if seconds >= 10 * size else 1}f} {unit}"
    return f"{seconds:.0f} s"


def warn_of_tiny_steps(plan):
    """A StepSizeWarning, in a list, where steps are so small against the posterior that chains
    hardly move; issued before they start.
    """
    spec, where = plan.spec, plan.problem.coordinates
    # others are adapted while chains run, or in units of their own
    told = plan.step_origin in ("given", "derived") and not spec.own_preconditioner
    if not (told and where.scaled and spec.uses_gradient) or spec.continuous:
        return []
    h = spec.langevin_time(plan.schedule(0)) * (1.0 if spec.own_units else where.max_precision)
    if not KEPT_TIME / h > MOST_STEPS_A_DRAW:
        return []
    given = plan.step_origin == "given"
    found = StepSizeWarning(
        f"the step {'' if given else 'that so noisy gradients allow '}is tiny against the "
        f"posterior: {spec.name} with step_size={plan.schedule(0):.3g} takes about "
        f"{KEPT_TIME / h:,.0f} steps from one independent draw to the next.",
        "Leave step_size=None."
        if given
        else "Leave gradient=None and batch_size=None, or take a larger batch_size.",
    )
    warn(found)
    return [found]


def warn_of_reading(plan, steps):
    """A ReadingWarning, in a list, where chains of so many steps after warmup would read a large
    file very often; issued before they start.

    Its seconds are those of one pass that is made here.
    """
    problem, settings = plan.problem, plan.settings
    passes = settings.chains * (plan.warmup + steps)
    if not plan.spec.all_rows or problem.rows.file_bytes < LARGE or passes <= MOST_PASSES:
        return []
    begun = time.perf_counter()
    problem.is_finite(problem.coordinates.from_white(np.zeros(problem.dim)))
    seconds = time.perf_counter() - begun
    found = ReadingWarning(
        f"{plan.spec.name} reads all {shown(problem.rows.file_bytes)} of the table at least "
        f"{passes:,} times ({settings.chains} chains x {plan.warmup + steps} steps); one pass took "
        f"{seconds:.2g} s, all of them about {passes * seconds / 3600:.2g} hours.",
        "Use a mini-batch sampler such as sampler='lmsgld', fewer draws, or time_limit.",
    )
    warn(found)
    return [found]


# ---- running -------------------------------------------------------------------------------------


@dataclass
class Run:
    """How the chains ended.

    Attributes
    ----------
    statuses : list of str
    interrupted : str
        Empty, "Ctrl-C" or "time limit".
    seconds : float
    undefined : list
        What functions of a user returned NaN on workers: see `Problem.undefined`.
    """

    statuses: list = field(default_factory=list)
    interrupted: str = ""
    seconds: float = 0.0
    undefined: list = field(default_factory=list)


@dataclass(frozen=True)
class Watch:
    """What looks on while chains run, and may stop them.

    Attributes
    ----------
    reserve : float
        Seconds that are left to whoever asked, of the time of the call.
    progress : callable or None
        ``progress(done, total)`` in steps of all chains, called from the waiting thread.  None: the
        bar of the call, where there is one.
    checkpoint : Checkpoint or None
    forecast : Forecast or None
        Says what the run takes, if that is long.
    """

    reserve: float = 0.0
    progress: object = None
    checkpoint: object = None
    forecast: object = None


def run_chains(chains, plan, watch, draws=None):
    """Run every chain for its warmup and then until its recorder is full, at most for the steps
    that so many draws take; by default those that are asked for.

    Chains in continuous time make as many events as their recorder takes; the steps are then what
    is expected.

    Samplers adapt in warmup unless their step is given.  The clock and the user may only stop a
    run: a stopped one is a prefix of the whole.  Chains that continue from a state go on where they
    were; chains take turns, so that a stopped run has some of each.
    """
    warmup, steps = plan.warmup, plan.steps(draws or plan.settings.draws)
    stop, begun, run = threading.Event(), time.perf_counter(), Run()
    end = Deadline(deadline.current().end - watch.reserve)
    tell, total = watch.progress or phases.reporting(), (warmup + steps) * len(chains)

    def made():
        return sum(min(c.steps, warmup + steps) for c in chains)

    earlier = made()
    queue = deque(
        ChainTask(k, chain, warmup, steps, plan.adapts, watch.checkpoint, end)
        for k, chain in enumerate(chains)
    )
    threads = min(plan.settings.threads, len(chains))
    pool = Threads(threads)
    with unbroken():  # Ctrl-C in the midst of `submit` or `wait` would leave their locks held
        try:
            futures = [pool.submit(work, queue, stop) for _ in range(threads)]
            while wait(futures, timeout=max(min(POLL_SECONDS, end.left()), SHORTEST_POLL)).not_done:
                if came():
                    raise KeyboardInterrupt
                if tell:
                    tell(made(), total)
                if watch.forecast:
                    seconds = time.perf_counter() - begun
                    watch.forecast.look(made() - earlier, total - earlier, seconds)
                if watch.checkpoint:
                    watch.checkpoint.write_if_due()
                if end.left() <= 0 and not stop.is_set():
                    run.interrupted = TIME_LIMIT
                    stop.set()
        except KeyboardInterrupt:
            run.interrupted = "Ctrl-C"
        finally:
            stop.set()
            pool.shutdown()
        taken()
    for future in futures:
        try:
            future.result()  # an exception in a user's function surfaces here
        except OutOfTime:
            run.interrupted = run.interrupted or TIME_LIMIT
    run.statuses = [STATUS_NAMES[chain.status] for chain in chains]
    run.seconds = time.perf_counter() - begun
    return run


def work(queue, stop):
    """What a thread does: a chunk of the chain that waits longest, again and again."""
    try:
        while not stop.is_set():
            try:
                task = queue.popleft()
            except IndexError:
                return
            if not task.chunk():
                queue.append(task)
    except BaseException:
        stop.set()  # of the other threads, before it surfaces
        raise


@dataclass
class ChainTask:
    """One chain: warmup, then recorded steps, in chunks of about CHUNK_SECONDS."""

    k: int
    chain: object
    warmup: int
    steps: int
    adapt: bool
    checkpoint: object
    end: Deadline = Deadline()
    length: int = 1
    step_seconds: float = 0.0

    @property
    def step(self):
        """The number of the step that is being made."""
        return self.chain.steps + 1

    @property
    def warming(self):
        """Whether it is one of warmup."""
        return self.chain.steps < self.warmup

    def chunk(self):
        """Run some steps; returns whether the chain is done.

        The chunk's length follows the clock, the draws do not.  OutOfTime where a step would end
        too late.
        """
        chain, before, begun = self.chain, self.chain.steps, time.perf_counter()
        warming = self.warming
        ahead = (
            self.length
            if chain.continuous and not warming
            else min(self.length, (self.warmup if warming else self.warmup + self.steps) - before)
        )
        if ahead <= 0 or chain.status != 0 or chain.recorder.full:
            return True
        self.end.check(self.step_seconds)
        if self.checkpoint:
            ahead = min(ahead, self.checkpoint.until_next(before))
        if chain.batches and warming:
            ahead = min(ahead, chain.batches.until_next(before))
        if chain.watched and warming:
            chain.watched.look(chain)  # at its start
            ahead = min(ahead, chain.watched.until_next(before))
        chain.sampler.warming = warming and self.adapt
        RUNNING.task = self
        try:
            chain.run(ahead, not warming or chain.continuous)  # a path's recorder learns in warmup
        finally:
            RUNNING.task = None
        if chain.batches and warming and chain.status == 0:
            chain.batches.adapt(chain)
        if chain.watched and warming:
            chain.watched.look(chain)
        spent = time.perf_counter() - begun
        self.step_seconds = spent / max(chain.steps - before, 1)
        self.length = max(
            1, min(4 * self.length, int((chain.steps - before) * CHUNK_SECONDS / max(spent, 1e-9)))
        )
        if self.checkpoint:
            self.checkpoint.store(self.k, chain)
        return False


def running():
    """The `ChainTask` whose steps this thread makes, or None: for messages of functions that chains
    call.
    """
    return getattr(RUNNING, "task", None)


# ---- on workers of a cluster ---------------------------------------------------------------------

# Each makes a chain from the model, the seed and its number, as a thread here would, and returns
# its state.


@dataclass(frozen=True)
class Workers:
    """Where chains run, and what they are made of.

    Attributes
    ----------
    client : distributed.Client
    model : Model
        With `problem`.
    prior : object
    arguments : dict
        Of the fit.
    """

    client: object
    model: object
    prior: object
    arguments: dict

    def refuse(self, settings):
        """NotSupported or ArgumentError for what does not go with chains elsewhere."""
        if not (hasattr(self.client, "submit") and hasattr(self.client, "scatter")):
            raise ArgumentError(
                f"client must be a dask.distributed.Client, not {self.client!r:.80}"
            )
        for name in ("checkpoint", "time_limit"):
            if getattr(settings, name) is not None:
                raise NotSupported(
                    f"{name} does not go with client=, whose chains run elsewhere: leave one out",
                    because="limit",
                )

    def sealed(self):
        """What a worker needs, pickled."""
        rest = {k: v for k, v in self.arguments.items() if k not in LOCAL}
        try:
            import cloudpickle

            return cloudpickle.dumps((self.model, self.prior, rest))
        except Exception as error:  # whatever a user's class raises
            raise ArgumentError(
                f"client: the model cannot be sent to workers ({type(error).__name__}: {error}); "
                "leave files, locks and other open things out of its attributes, or leave client "
                "out"
            ) from error

    def run(self, chains, plan):
        """Run the chains of a plan, which a worker's must be equal to, elsewhere, and put their
        states into those here.
        """
        begun, mine = time.perf_counter(), in_words(plan)
        shared = self.client.scatter(self.sealed(), broadcast=True, hash=False)
        futures = [self.client.submit(one_chain, shared, k, pure=False) for k in range(len(chains))]
        results = self.client.gather(futures)
        for chain, (theirs, state, *_) in zip(chains, results):
            other = [name for name, value in mine.items() if theirs[name] != value]
            if other:
                raise NotSupported(
                    f"client: a worker found another {other[0]} ({theirs[other[0]]}, here "
                    f"{mine[other[0]]}): its linear algebra rounds otherwise; give step_size=, "
                    "batch_size=, thin= and warmup=, or leave client out",
                    because="limit",
                )
            chain.set_state(state)
        statuses = [status for *_, status, _ in results]
        nans = [one for *_, found in results for one in found]
        undefined = [NaNs(nans[0].text, sum(one.recorded for one in nans))] if nans else []
        return Run(statuses, "", time.perf_counter() - begun, undefined)


@dataclass(frozen=True)
class NaNs:
    """What a function returned that is no number, in words, and at how many steps."""

    text: str
    recorded: int


def on_workers(model, prior, settings, arguments):
    """Settings whose client, if there is one, knows what chains are made of."""
    if settings.client is None:
        return settings
    given = {**arguments, "seed": settings.seed}
    given.pop("prior", None)
    workers = Workers(settings.client, model, prior, given)
    workers.refuse(settings)
    return replace(settings, client=workers)


def one_chain(sealed, k):
    """Chain k of a fit, on a worker: its plan, state and status, and what was NaN in it."""
    model, prior, arguments = pickle.loads(sealed)
    settings = replace(check_settings(**arguments, progress=False), threads=1)
    plan = plan_fit(model.problem(prior, settings), settings)
    chain = build_chain(plan, k)
    if plan.spec.noisy and plan.pilot is not None:
        share_design_effect(plan, [chain])
    with one_blas_thread():
        run = run_chains([chain], plan, Watch())
    nans = [NaNs(one.text, one.recorded) for one in plan.problem.undefined]
    return in_words(plan), chain.state(), run.statuses[0], nans


def in_words(plan):
    """What must be the same on a worker, in words that can be compared."""
    return {
        "sampler": repr(plan.spec),
        "gradient": plan.gradient,
        "step size": float(np.float64(plan.schedule(0))),
        "mini-batch": plan.batch,
        "thinning": plan.thinning,
        "warmup": plan.warmup,
    }
