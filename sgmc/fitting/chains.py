"""Chains in worker threads, without the interpreter lock, in short chunks between which Ctrl-C and the clock act."""
import threading
import time
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from sgmc.core.engine import STATUS

CHUNK_SECONDS = 0.03
POLL_SECONDS = 0.05


@dataclass
class Run:
    """How the chains ended.

    Attributes
    ----------
    statuses : list of str
    interrupted : str
        Empty, "Ctrl-C" or "time limit".
    seconds : float
    """

    statuses: list = field(default_factory=list)
    interrupted: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Watch:
    """What looks on while chains run, and may stop them.

    Attributes
    ----------
    time_limit : float or None
        Seconds.
    progress : callable or None
        ``progress(done, total)`` in steps of all chains, called from the waiting thread.
    checkpoint : Checkpoint or None
    """

    time_limit: float | None = None
    progress: object = None
    checkpoint: object = None


def run_chains(chains, warmup, steps, threads, watch, adapt=True):
    """Run every chain for `warmup` steps and then until its recorder is full, at most `steps` steps.

    Samplers adapt in warmup unless `adapt` is false.  The clock and the user may only stop a run: a stopped one is a prefix of
    the whole.  Chains that continue from a state go on where they were.
    """
    stop, begun, run = threading.Event(), time.perf_counter(), Run()
    crew = [Worker(k, chain, warmup, steps, adapt, stop, watch.checkpoint) for k, chain in enumerate(chains)]
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(worker.work) for worker in crew]
        try:
            while wait(futures, timeout=POLL_SECONDS, return_when=FIRST_EXCEPTION).not_done:
                if any(f.done() and f.exception() for f in futures):
                    break
                if watch.progress:
                    watch.progress(sum(c.steps for c in chains), (warmup + steps) * len(chains))
                if watch.checkpoint:
                    watch.checkpoint.write_if_due()
                if watch.time_limit is not None and time.perf_counter() - begun > watch.time_limit and not stop.is_set():
                    run.interrupted = "time limit"
                    stop.set()
        except KeyboardInterrupt:
            run.interrupted = "Ctrl-C"
        finally:
            stop.set()
    run.statuses = [STATUS[f.result()] for f in futures]      # a user model's exception surfaces here
    run.seconds = time.perf_counter() - begun
    return run


@dataclass
class Worker:
    """One chain: warmup, then recorded steps, in chunks of about CHUNK_SECONDS until `stop` is set."""

    k: int
    chain: object
    warmup: int
    steps: int
    adapt: bool
    stop: threading.Event
    checkpoint: object
    length: int = 16

    def work(self):
        """Run the chain from where it is; returns its status."""
        if STATUS[self.chain.status] == "diverged":           # it continues from the state of one that did
            return self.chain.status
        self.chain.sampler.warming = self.adapt
        status = self.run_until(self.warmup, record=False)
        self.chain.sampler.warming = False
        if status == 0 and self.chain.steps >= self.warmup:
            status = self.run_until(self.warmup + self.steps, record=True)
        return status

    def run_until(self, last, record):
        """Run to step number `last`; the chunk's length follows the clock, the draws do not."""
        chain, status = self.chain, 0
        while status == 0 and chain.steps < last and not self.stop.is_set():
            begun, before = time.perf_counter(), chain.steps
            ahead = min(self.length, last - before)
            if self.checkpoint:
                ahead = min(ahead, self.checkpoint.until_next(before))
            status = chain.run(ahead, record)
            spent = time.perf_counter() - begun
            self.length = max(1, min(4 * self.length, int((chain.steps - before) * CHUNK_SECONDS / max(spent, 1e-9))))
            if self.checkpoint:
                self.checkpoint.take(self.k, chain)
        return status
