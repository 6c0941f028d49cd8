"""Chains in worker threads, without the interpreter lock,
in short chunks between which Ctrl-C and the clock act.
"""

import threading
import time
from collections import deque
from concurrent.futures import wait
from dataclasses import dataclass, field

from sgmc.core import deadline, phases
from sgmc.core.deadline import Deadline, OutOfTime
from sgmc.core.engine import STATUS_NAMES
from sgmc.core.interrupts import came, taken, unbroken
from sgmc.core.threads import Threads

CHUNK_SECONDS = 0.03
POLL_SECONDS, SHORTEST_POLL = 0.05, 0.002
TIME_LIMIT = "time limit"
RUNNING = threading.local()  # .task: the chain that a thread runs


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


def run_chains(chains, warmup, steps, threads, watch, adapt=True):
    """Run every chain for `warmup` steps and then until its recorder is full,
    at most `steps` steps.

    Chains in continuous time make as many events as their recorder takes; `steps` is then what is
    expected.

    Samplers adapt in warmup unless `adapt` is false.  The clock and the user may only stop a run: a
    stopped one is a prefix of the whole.  Chains that continue from a state go on where they were;
    chains take turns, so that a stopped run has some of each.
    """
    stop, begun, run = threading.Event(), time.perf_counter(), Run()
    end = Deadline(deadline.current().end - watch.reserve)
    tell, total = watch.progress or phases.reporting(), (warmup + steps) * len(chains)

    def made():
        return sum(min(c.steps, warmup + steps) for c in chains)

    earlier = made()
    queue = deque(
        Task(k, chain, warmup, steps, adapt, watch.checkpoint, end)
        for k, chain in enumerate(chains)
    )
    threads = min(threads, len(chains))
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


def running():
    """The `Task` whose steps this thread makes, or None: for messages of functions that chains
    call.
    """
    return getattr(RUNNING, "task", None)


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
class Task:
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
