"""Chains in worker threads, without the interpreter lock, in short chunks between which Ctrl-C and the clock act."""
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
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


def run_chains(chains, warmup, steps, threads, *, adapt=True, time_limit=None, progress=None):
    """Run every chain for `warmup` steps and then until its recorder is full, at most `steps` steps.

    Samplers adapt in warmup unless `adapt` is false.  The clock and the user may only stop a run: a stopped one is a prefix of the whole.  `progress(done, total)` is called
    from this thread.
    """
    stop, begun, done = threading.Event(), time.perf_counter(), [0] * len(chains)
    run = Run()
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(work, chain, warmup, steps, adapt, stop, done, k) for k, chain in enumerate(chains)]
        try:
            while wait(futures, timeout=POLL_SECONDS).not_done:
                if progress:
                    progress(sum(done), (warmup + steps) * len(chains))
                if time_limit is not None and time.perf_counter() - begun > time_limit and not stop.is_set():
                    run.interrupted = "time limit"
                    stop.set()
        except KeyboardInterrupt:
            run.interrupted = "Ctrl-C"
        finally:
            stop.set()
    run.statuses = [STATUS[f.result()] for f in futures]      # a user model's exception surfaces here
    run.seconds = time.perf_counter() - begun
    return run


def work(chain, warmup, steps, adapt, stop, done, k):
    """One chain: warmup, then recorded steps, in chunks of about CHUNK_SECONDS."""
    chain.sampler.warming = adapt
    status = chunks(chain, warmup, False, stop, done, k)
    chain.sampler.warming = False
    if status == 0 and chain.steps >= warmup:
        status = chunks(chain, warmup + steps, True, stop, done, k)
    return status


def chunks(chain, last, record, stop, done, k):
    """Run until step number `last`; the chunk's length follows the clock, the draws do not."""
    length, status = 16, 0
    while status == 0 and chain.steps < last and not stop.is_set():
        begun, before = time.perf_counter(), chain.steps
        status = chain.run(min(length, last - chain.steps), record)
        spent = time.perf_counter() - begun
        length = max(1, min(4 * length, int((chain.steps - before) * CHUNK_SECONDS / max(spent, 1e-9))))
        done[k] = chain.steps
    return status
