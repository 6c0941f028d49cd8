"""The tests are of the installed package: neither they nor their child processes must find a
source tree that is not built.
"""

import functools
import os
import runpy
import sys
from collections import Counter
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder
from pathlib import Path

import pytest

from . import tiers
from .messages import recorder

ROOT = Path(__file__).resolve().parents[1]
SLOW = Path(__file__).with_name("slow.txt")
TEST_SECONDS = 0.06  # of a usual test

os.environ["PYTHONSAFEPATH"] = "1"
# workers have a core each: BLAS of two would wait for one another
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.update({"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})


def leave_unbuilt_tree():
    """Take this tree off the path where it is not built and an installed package is there."""
    rest = [entry for entry in sys.path if Path(entry or ".").resolve() != ROOT]
    core = ROOT / "sgmc" / "core" / "contract"
    built = any(core.with_suffix(suffix).exists() for suffix in EXTENSION_SUFFIXES)
    if not built and PathFinder.find_spec("sgmc", rest):
        sys.path[:] = rest


leave_unbuilt_tree()
recorder.install()
runpy.run_path(str(ROOT / "tests" / "_ext" / "build.py"))["make_importable"]()


def pytest_configure(config):
    """Make warnings of the package errors: pyproject.toml would import it before it is found."""
    config.addinivalue_line("filterwarnings", "error::sgmc.errors.SGMCWarning")
    if config.getoption("--changed"):
        from . import reach

        config.pluginmanager.register(reach.Plugin(config.getoption("--changed")))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each file to one worker, so that its fits are made once, in the order of collection."""
    from xdist.scheduler import LoadFileScheduling

    if config.getoption("dist") != "load":
        return None
    config.option.loadscopereorder = False  # would be by numbers of tests alone
    return LoadFileScheduling(config, log)


def longest_first(items):
    """Sort tests by about how long their files take: what one worker begins last is short."""
    numbers = Counter(item.path for item in items)
    seconds = {
        path: max(TEST_SECONDS * n, slow_files().get(path, 0)) for path, n in numbers.items()
    }
    items.sort(key=lambda item: -seconds[item.path])


@functools.cache
def slow_files():
    """Seconds of files that take far longer than others with so many tests."""
    rows = [line.split() for line in SLOW.read_text().splitlines() if not line.startswith("#")]
    return {ROOT / name: float(seconds) for seconds, name in rows}


def pytest_addoption(parser, pluginmanager):
    """``--changed``, and ``--mistakes``: a table of the planted mistakes after the tests."""
    pluginmanager.register(tiers, "tiers")
    pluginmanager.register(recorder, "messages")
    parser.addoption(
        "--changed",
        nargs="?",
        const="HEAD",
        metavar="COMMIT",
        help="run the tests that files reach which differ from COMMIT (default: the last)",
    )
    parser.addoption(
        "--mistakes",
        action="store_true",
        help="print which planted mistakes were caught in which sampler",
    )


def pytest_collection_modifyitems(items):
    """Give the reports of tests of planted mistakes their row and column of the table, and workers
    their order.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        longest_first(items)
    for item in items:
        mark = item.get_closest_marker("mistake")
        if mark:
            params = item.callspec.params
            item.user_properties.append(
                ("mistake", (mark.args[0].format(**params), params["name"].split("-")[0]))
            )


def pytest_terminal_summary(terminalreporter, config):
    """The table: variants of each sampler in which the mistake was caught,
    of those in which it was planted.
    """
    if not config.getoption("--mistakes"):
        return
    reports = {
        True: terminalreporter.getreports("passed"),
        False: terminalreporter.getreports("failed"),
    }
    found = [
        (*dict(report.user_properties)["mistake"], caught)
        for caught, some in reports.items()
        for report in some
        if "mistake" in dict(report.user_properties)
    ]
    samplers, write = sorted({sampler for _, sampler, _ in found}), terminalreporter.write_line
    write(f"{'planted mistake':<36}" + "".join(f"{sampler:>9}" for sampler in samplers))
    for label in sorted({label for label, *_ in found}):
        cells = [
            [caught for other, column, caught in found if (other, column) == (label, sampler)]
            for sampler in samplers
        ]
        write(
            f"{label:<36}"
            + "".join(f"{f'{sum(cell)}/{len(cell)}' if cell else '-':>9}" for cell in cells)
        )
    missed = sum(not caught for *_, caught in found)
    write(
        f"{len(found)} planted mistakes (each variant of a sampler by itself), "
        f"{len(found) - missed} caught, {missed} missed"
    )


# ---- where several files of tests draw -----------------------------------------------------------


@pytest.fixture
def plt():
    """pyplot without a display; figures are closed afterwards."""
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


# ---- runs that end before their time -------------------------------------------------------------


@pytest.fixture
def time_limit_after(monkeypatch):
    """The keyword of a fit that its time limit ends once every chain has so many draws: the clock
    is put forward then.
    """
    import time

    from sgmc.core.system import deadline
    from sgmc.fit import chains

    def keyword(draws):
        tasks, made = [], chains.ChainTask

        def task(*arguments):
            tasks.append(made(*arguments))
            return tasks[-1]

        def perf_counter():
            return time.perf_counter() + 1e9 * (
                bool(tasks) and all(task.chain.recorder.kept >= draws for task in tasks)
            )

        monkeypatch.setattr(chains, "ChainTask", task)
        monkeypatch.setattr(deadline, "clock", perf_counter)
        monkeypatch.setattr(chains, "POLL_SECONDS", 1e-3)
        return dict(time_limit=1e6)

    return keyword


# ---- results that several files of tests look at -------------------------------------------------


@pytest.fixture(scope="session")
def votes():
    """Rows with numbers, a factor, an offset and frequency weights."""
    import numpy as np
    import pandas as pd

    rng, n = np.random.default_rng(11), 400
    df = pd.DataFrame(
        {
            "x1": rng.normal(size=n),
            "x2": rng.normal(size=n),
            "g": rng.choice(["a", "b", "c"], n),
            "off": rng.uniform(-1, 1, n),
            "count": rng.integers(1, 4, n),
        }
    )
    eta = 0.3 + 0.9 * df.x1 - 0.5 * df.x2 + 0.7 * (df.g == "b")
    return df.assign(y=(rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int))


@pytest.fixture(scope="session")
def equal(votes):
    """Draws that count alike."""
    import sgmc

    return sgmc.logit("y ~ x1 + x2 + g", votes, seed=1)


@pytest.fixture(scope="session")
def decaying(votes):
    """Draws weighted by steps that shrink to a fifth."""
    import sgmc

    return sgmc.logit(
        "y ~ x1 + x2 + g",
        votes,
        seed=1,
        sampler="lmsgld",
        step_size=lambda t: 0.9 / (1 + t / 2500),
        thin=5,
        draws=2000,
    )


@pytest.fixture(params=["equal weights", "step-size weights"])
def posterior(request, equal, decaying):
    """Results, with weights and without."""
    return equal if request.param == "equal weights" else decaying


@pytest.fixture(scope="session")
def normalised():
    """Draws (n, d) of results and their weights, which sum to one."""
    import numpy as np

    def of(results):
        draws = results.draws.reshape(-1, results.draws.shape[2])
        weights = (
            np.ones(len(draws))
            if results.weights is None
            else np.tile(results.weights, len(results.draws))
        )
        return draws, weights / weights.sum()

    return of
