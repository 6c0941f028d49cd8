"""Successive halving: arms are chains that go on from rung to rung; the clock may decide only where
a time limit is the budget.
"""

import threading
import time
from concurrent.futures import FIRST_EXCEPTION, wait

import numpy as np

from sgmc.core.engine import STATUS_NAMES
from sgmc.core.recorders import FullRecorder
from sgmc.core.system import deadline
from sgmc.core.system.interrupts import came, unbroken
from sgmc.core.system.threads import Threads
from sgmc.errors import ArgumentError
from sgmc.fit import CHUNK_SECONDS, OVERHEAD, POLL_SECONDS

MAX_KEPT = 8000  # kept draws of an arm: then every second goes, and the thinning doubles
TRIAL_LENGTH = 3  # steps of the winner's trial, over those of its race
RACE_MEMORY = 1 << 28  # bytes of kept draws of all arms


class Runner:
    """An arm and its chain.

    Attributes
    ----------
    arm : Arm
    chain : Chain
    thin : int
        Steps a kept draw, evenly over all of the run.
    seconds : float
        In which its chain ran.
    metric : float
        At the last rung.
    unstable : bool
        Whether it did not stand its trial.
    """

    def __init__(self, arm, chain, room):
        self.arm, self.chain, self.room, self.thin = arm, chain, room, 1
        self.seconds, self.metric, self.length, self.unstable = 0.0, np.inf, 1, False
        chain.recorder = FullRecorder(room, len(chain.x), 1)

    @property
    def work(self):
        """Rows touched, and OVERHEAD for each step."""
        return self.chain.gradient.touched + OVERHEAD * self.chain.steps

    @property
    def unit(self):
        """Work of a step, so far."""
        return self.work / self.chain.steps

    @property
    def draws(self):
        """Kept draws (n, d) of all its steps."""
        recorder = self.chain.recorder
        return np.array(recorder.draws[: recorder.kept])

    @property
    def weights(self):
        """Langevin time of the kept draws' steps, where these vary; else None."""
        plan, recorder = self.arm.plan, self.chain.recorder
        return (
            plan.spec.langevin_time(np.array(recorder.weights[: recorder.kept]))
            if plan.weighted
            else None
        )

    @property
    def diverged(self):
        """Whether its chain has ended."""
        return STATUS_NAMES[self.chain.status] not in ("ok", "full")

    def run(self, left, stop):
        """Run chunks of steps while `left()`, the steps wanted at most, is positive."""
        while not stop.is_set() and not self.diverged:
            ahead = min(self.length, left())
            if ahead < 1:
                return
            before, begun = self.chain.steps, time.perf_counter()
            self.chain.run(int(ahead))
            if STATUS_NAMES[self.chain.status] == "full":
                self.halve()
            spent = time.perf_counter() - begun
            self.seconds += spent
            self.length = max(
                1,
                min(
                    4 * self.length,
                    int((self.chain.steps - before) * CHUNK_SECONDS / max(spent, 1e-9)),
                ),
            )

    def halve(self):
        """Keep every second draw, and from now on half as many."""
        old, self.thin = self.chain.recorder.state(), 2 * self.thin
        self.chain.recorder = FullRecorder(self.room, len(self.chain.x), self.thin)
        self.chain.recorder.set_state(
            {"draws": old["draws"][1::2], "weights": old["weights"][1::2], "since": 0}
        )


class StepBudget:
    """Counted work: so many steps of an arm whose steps cost what the median arm's do;
    dearer arms make fewer.

    Nothing that is drawn or decided depends on the clock.
    """

    def __init__(self, steps, shares):
        self.steps, self.shares, self.rungs, self.unit = steps, shares, len(shares), None

    def quota(self, rung, runners, threads):
        """Runner -> a function of the steps that it has left in this rung."""
        if self.unit is None:
            self.unit = sorted(r.unit for r in runners)[(len(runners) - 1) // 2]
        goal = self.goal(rung)
        return lambda runner: lambda: round((goal - runner.work) / runner.unit)

    def goal(self, rung):
        """Work of an arm until the end of a rung."""
        return self.unit * self.steps * sum(self.shares[: rung + 1])

    def done(self, rung, runners, arms):
        """Steps of the median arm that the race has come to, of how many;
        a rung has as many of them as another.
        """
        low, high = self.goal(rung - 1) if rung else 0.0, self.goal(rung)
        parts = [
            1.0 if r.diverged else np.clip((r.work - low) / (high - low), 0.0, 1.0) for r in runners
        ]
        each = arms * self.steps * self.shares[0]
        return int(each * (rung + np.mean(parts))), int(each * self.rungs)

    def trial(self, steps):
        """Runner -> a function of the steps that are left of so many."""
        return lambda runner: lambda: steps - runner.chain.steps

    def note(self, seconds):
        """What scores cost is no part of it."""


class TimeBudget:
    """Seconds of all: each rung gets an equal part of what is left, and the trial of the winner, if
    any, the last; an arm gets its part of the threads in a rung, its score included.
    """

    def __init__(self, seconds, shares, tried):
        self.end, self.seconds = time.perf_counter() + seconds, seconds
        self.rungs, self.parts, self.score = len(shares), len(shares) + tried, 0.0

    def quota(self, rung, runners, threads):
        """Runner -> a function of the steps that it has left in this rung:
        without end until its time is up.
        """
        left = max(self.end - time.perf_counter(), 0.0) / (self.parts - rung)
        slot = left / -(-len(runners) // threads)

        def of(runner):
            until = runner.seconds + max(slot - self.score, slot / 4)
            return lambda: 2**40 if runner.seconds < until and time.perf_counter() < self.end else 0

        return of

    def done(self, rung, runners, arms):
        """Seconds passed, of how many."""
        return min(
            max(self.seconds - self.end + time.perf_counter(), 0.0), self.seconds
        ), self.seconds

    def trial(self, steps):
        """Runner -> a function of the steps that are left: without end until the time is up."""
        return lambda runner: lambda: 2**40 if time.perf_counter() < self.end else 0

    def note(self, seconds):
        """Learn what the dearest score takes."""
        self.score = max(self.score, seconds)


def rungs_of(arms, eta):
    """Rungs of a race of so many arms, floor(log_eta M)
    and at least one (Coullon, South & Nemeth 2023, Algorithm 1).
    """
    count = 1
    while arms >= eta ** (count + 1):
        count += 1
    return count


def shares_of(rungs, eta):
    """Parts of the winner's run that fall on each rung: 1, eta, eta^2, ... over their sum."""
    parts = eta ** np.arange(rungs, dtype=float)
    return tuple(parts / parts.sum())


def race(runners, metric, eta, budget, threads, rival=None, progress=None):
    """Run, score, keep the best floor(n / eta) and go on, for the budget's rungs;
    the best of the last one wins that stands its trial (`stands`).

    Returns the winner, and records (arm, rung, steps, seconds, draws, metric) of every arm in every
    rung that it ran.  Equal scores: the arm that comes first in the grid is the better one.  Arms
    that diverged score infinity; the race ends early where all have.  ``rival(runner)``: the same
    arm with a longer step, for the trial; None: no trial.  ``progress(done, total)``:
    what the budget counts, called from the waiting thread.
    """
    records, arms, entered, places = [], len(runners), runners, []
    for runner in runners:
        runner.chain.run(1)  # so that its cost is known
    for rung in range(budget.rungs):
        tell = (
            (lambda now=runners, rung=rung: progress(*budget.done(rung, now, arms)))
            if progress
            else None
        )
        judge = metric.in_rung(rung, budget.rungs)
        together(runners, budget.quota(rung, runners, threads), judge, budget, threads, tell)
        for r in runners:
            r.metric = (
                np.inf if r.diverged else judge(r.draws, r.weights) if metric.serial else r.metric
            )
            records.append(
                (r.arm.number, rung, r.chain.steps, r.seconds, r.chain.recorder.kept, r.metric)
            )
        ranked = sorted(runners, key=lambda r: (r.metric, r.arm.number))
        if not np.isfinite(ranked[0].metric):
            raise ArgumentError(nobody(runners, metric))
        alive = [r for r in ranked if np.isfinite(r.metric)]
        kept = max(1, len(runners) // eta) if rung + 1 < budget.rungs else 0
        places = alive[kept:] + places
        runners = sorted(alive[:kept], key=lambda r: r.arm.number)
    winner = next((r for r in places if stands(r, rival, budget, threads)), None)
    if winner is None:
        raise ArgumentError(nobody(entered, metric))
    if progress:
        _, total = budget.done(rung, ranked, arms)
        progress(total, total)
    return winner, records


def stands(runner, rival, budget, threads):
    """Whether a chain with a longer step, from where the arm is, does not diverge in TRIAL_LENGTH
    times as many steps as the arm has made; an arm that has no such margin is marked as one that
    diverges.
    """
    if rival is not None:
        other, length = rival(runner), TRIAL_LENGTH * runner.chain.steps
        together([other], budget.trial(length), None, budget, threads)
        runner.unstable = other.diverged
    return not runner.unstable


def nobody(runners, metric):
    """Why a race has no winner."""
    if all(r.diverged or r.unstable for r in runners):
        steps = ", ".join(f"{h:.3g}" for h in sorted({r.arm.plan.schedule(0) for r in runners})[:5])
        return (
            f"every arm diverged (step_size {steps}, ...): give smaller ones, grid={{'step_size': "
            "[...]}"
        )
    fewest = min(r.chain.recorder.kept for r in runners)
    return (
        f"no arm has a finite {metric.name}: it has no value, or there are too few draws (an arm "
        f"has {fewest}); raise budget_steps or time_limit"
    )


def together(runners, quota, metric, budget, threads, tell=None):
    """Run the arms of a rung in threads, each until its quota is used up, and score them where
    there is a metric; ``tell()`` now and then.
    """
    stop = threading.Event()

    def one(runner):
        runner.run(quota(runner), stop)
        scored = metric is not None and not metric.serial
        if scored and not runner.diverged and not stop.is_set():
            begun = time.perf_counter()
            runner.metric = metric(runner.draws, runner.weights)
            budget.note(time.perf_counter() - begun)

    with unbroken(), Threads(threads) as pool:
        futures = []
        try:
            futures = waiting = [pool.submit(one, runner) for runner in runners]
            while waiting:
                done, waiting = wait(waiting, POLL_SECONDS, FIRST_EXCEPTION)
                if came():
                    raise KeyboardInterrupt
                deadline.check()
                for future in done:
                    future.result()
                if tell:
                    tell()
        finally:
            stop.set()
            for future in futures:
                future.cancel()
