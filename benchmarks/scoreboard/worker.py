"""One contestant on one task, in a process of its own: started by `run.py`, not by hand.

Prints a JSON line for each thing done: the import, the preparation, each run.  Seconds are CPU time
of this process on its one core, which other work on the machine moves little; "wall" is elapsed.
"""

import json
import os
import sys
import time

ONE_CORE = {
    **dict.fromkeys(
        ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
    ),
    "RAYON_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
}
LONG = 5.0  # seconds after which a point estimate is not repeated


def say(**what):
    """One line for the parent."""
    print("@" + json.dumps(what), flush=True)


def versions(packages):
    """Of what a contestant needs."""
    from importlib import metadata

    names = {"sklearn": "scikit-learn"}
    found = {}
    for package in packages:
        try:
            found[package] = metadata.version(names.get(package, package))
        except metadata.PackageNotFoundError:
            found[package] = getattr(sys.modules.get(package), "__version__", "?")
    return found


def bound(gigabytes, seconds):
    """Let the system end this process where it takes more memory, or CPU time from here on."""
    try:
        import resource
    except ImportError:
        return
    if gigabytes:
        resource.setrlimit(resource.RLIMIT_AS, (int(gigabytes * 2**30),) * 2)
    if seconds:
        most = int(time.process_time() + seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 10))


def work(task, contestant, seeds, cpu, gigabytes, limit):
    """Run lengths until all seeds are within the tolerance."""
    if hasattr(os, "sched_setaffinity") and cpu is not None:
        os.sched_setaffinity(0, {cpu})
    bound(gigabytes, None)
    begun = time.process_time()
    from importlib import import_module

    module = import_module(f"contestants.{contestant}")
    say(seconds_import=time.process_time() - begun, versions=versions(module.PACKAGES))
    from contestants import NotExpressible
    from metric import errors, load, within
    from tasks import problem

    this, exact = problem(task), load(task)
    bound(None, limit)
    begun = time.process_time()
    try:
        run = module.prepare(this)
    except NotExpressible as reason:
        say(not_expressible=str(reason))
        return
    say(seconds_prepare=time.process_time() - begun)
    for length in module.LENGTHS:
        for seed in seeds:
            begun, clock = time.process_time(), time.perf_counter()
            answer = run(length, seed)
            seconds = getattr(run, "seconds", time.process_time() - begun)
            wall = time.perf_counter() - clock
            error_mean, error_sd = errors(answer, exact)
            say(
                length=length,
                seed=seed,
                seconds=seconds,
                wall=wall,
                error_mean=error_mean,
                error_sd=error_sd,
                scored=len(answer.names),
                of=len(exact["names"]),
                note=answer.note,
            )
            good = within(error_mean, error_sd)
            if module.KIND == "posterior" and not good or module.KIND == "floor" and seconds > LONG:
                break
        else:
            return


if __name__ == "__main__":
    settings = json.loads(sys.argv[1])
    try:
        work(**settings)
    except Exception as error:
        first = str(error).strip().partition("\n")[0][:200]
        say(failure=f"{type(error).__name__}: {first}")
        raise
