"""Runs that are stopped, killed or saved go on without a bit of difference; files that cannot be
trusted are refused.
"""

import os
import pickle
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.core import files
from sgmc.core.files import Damaged, read_sealed, write_sealed
from sgmc.errors import ArgumentError, CheckpointWarning, InterruptedWarning
from sgmc.fit.run.checkpoint import KIND, read

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
N = 300
rng = np.random.default_rng(5)
FRAME = pd.DataFrame(
    {"a": rng.normal(size=N), "b": rng.exponential(size=N), "w": rng.integers(1, 4, N)}
)
FRAME["y"] = (rng.random(N) < 1 / (1 + np.exp(0.5 - FRAME.a))).astype(int)
FORMULA = "y ~ a + b"
RUNS = [
    dict(sampler="lmsgld"),
    dict(sampler="sgld-simple", subsample="uniform"),
    dict(sampler="csgbd", precondition=None),
    dict(sampler="mala"),
    dict(sampler="laplace"),
    dict(sampler="auto", weights="w"),
    dict(sampler="sgld", init=[0.1, 0, 0]),
    dict(sampler="sgld", step_size=sgmc.Polynomial(0.5, 10, 0.33), subsample="replacement"),
]


def fit(draws=60, frame=FRAME, **how):
    """A short fit of the frame."""
    return sgmc.logit(FORMULA, frame, **{"draws": draws, "seed": 3, **how})


def same(one, other):
    """Whether two results have the same draws, weights, facts (but for seconds) and diagnostics."""
    facts = [
        [pair for side in r.header[:2] for pair in side if pair[0] != "Time (s)"]
        for r in (one, other)
    ]
    weights = (one.weights is None) == (other.weights is None) and (
        one.weights is None or np.array_equal(one.weights, other.weights)
    )
    return (
        np.array_equal(one.draws, other.draws)
        and weights
        and facts[0] == facts[1]
        and one.ksd() == other.ksd()
    )


@pytest.mark.parametrize("how", RUNS, ids=str)
def test_a_resumed_run_is_one_long_run(how, tmp_path):
    whole, part = fit(150, **how), fit(60, **how)
    before = part.draws.copy()
    assert same(part.resume(90), whole) and same(part.resume(20).resume(70), whole)
    assert same(part.resume(), fit(120, **how))  # as many again
    np.testing.assert_array_equal(part.draws, before)  # the part stays as it was
    part.save(tmp_path / "part")
    loaded = sgmc.load(tmp_path / "part")
    assert same(loaded.resume(90, data=FRAME), whole)
    assert same(pickle.loads(pickle.dumps(loaded)).resume(90, FRAME, threads=1), whole)
    assert same(pickle.loads(pickle.dumps(loaded.resume(40, data=FRAME))).resume(50, FRAME), whole)


@pytest.mark.parametrize("how", RUNS, ids=str)
def test_a_checkpoint_continues_to_more_draws_and_gives_a_prefix_for_fewer(how, tmp_path):
    path = tmp_path / "run"
    first = fit(60, checkpoint=path, **how)
    assert same(first, fit(60, **how)) and same(fit(60, checkpoint=str(path), **how), first)
    assert same(fit(150, checkpoint=path, **how), fit(150, **how))
    np.testing.assert_array_equal(fit(40, checkpoint=path, **how).draws, first.draws[:, :40])
    assert [p.name for p in tmp_path.iterdir()] == ["run"]  # nothing left aside


def test_a_checkpoint_keeps_a_seed_that_was_not_given(tmp_path):
    first = fit(60, seed=None, checkpoint=tmp_path / "run")
    again = fit(150, seed=None, checkpoint=tmp_path / "run")
    assert again.seed == first.seed and same(again, fit(150, seed=first.seed))


def test_models_of_arrays_and_inputs_that_are_no_columns_are_resumed_from_a_model():
    X, y, offset = FRAME[["a", "b"]].to_numpy(), FRAME.y.to_numpy(), np.full(N, 0.1)
    make = lambda: sgmc.Logit(y, X, offset=offset)  # noqa: E731
    part, whole = make().fit(draws=60, seed=1), make().fit(draws=90, seed=1)
    loaded = pickle.loads(pickle.dumps(part))
    with pytest.raises(
        ArgumentError, match=r"results are of arrays: call resume\(data=sgmc.Logit\(y, X, ...\)\)"
    ):
        loaded.resume(30, data=FRAME)
    assert same(loaded.resume(30, data=make()), whole)
    part = fit(60, offset=offset)
    with pytest.raises(
        ArgumentError, match="an offset, strata or a subset that were no column names"
    ):
        pickle.loads(pickle.dumps(part)).resume(30, data=FRAME)
    again = sgmc.Logit.from_formula(FORMULA, FRAME, offset=offset)
    assert same(pickle.loads(pickle.dumps(part)).resume(30, data=again), fit(90, offset=offset))


@pytest.mark.parametrize(
    "change, text",
    [
        (dict(seed=4), "seed was 3, here it is 4"),
        (dict(sampler="sgld"), r"sampler was 'LMSGLD\(\)', here it is 'SGLD\(\)'"),
        (dict(gradient="cv"), "gradient was 'taylor', here it is 'cv'"),
        (dict(thin=3), "thin was 4, here it is 3"),
        (dict(chains=2), "chains was 4, here it is 2"),
        (dict(prior="laplace"), "prior was"),
        (dict(step_size=0.3), "step_size was"),
        (dict(precondition="diag"), "precondition was 'mode'"),
        (dict(dtype="float32"), "dtype was 'float64'"),
        (dict(batch_size=50), "batch_size was"),
        (dict(warmup=3), "warmup was 20"),
        (dict(init=[0, 0, 0]), "init was None"),
        (dict(subsample="uniform"), "subsample was 'block'"),
        (dict(frame=FRAME[1:]), "rows was 300, here it is 299"),
        (
            dict(frame=FRAME.assign(a=FRAME.a + 1e-9 * (FRAME.index == 7))),
            "was made from other data",
        ),
        (
            dict(frame=FRAME.assign(y=FRAME.y.where(FRAME.index != 7, 1 - FRAME.y))),
            "was made from other data",
        ),
    ],
    ids=lambda v: str(v)[:40] if isinstance(v, dict) and "frame" not in v else "",
)
def test_a_foreign_checkpoint_is_refused_by_name(change, text, tmp_path):
    path = tmp_path / "run"
    fit(20, sampler="lmsgld", checkpoint=path)
    content = path.read_bytes()
    with pytest.raises(ArgumentError, match=f"checkpoint='.*run' .*{text}"):
        fit(**{"draws": 20, "sampler": "lmsgld", "checkpoint": path, **change})
    assert path.read_bytes() == content  # nor is it overwritten


def test_resume_refuses_other_data_and_arguments():
    part = fit(20)
    loaded = pickle.loads(pickle.dumps(part))
    with pytest.raises(
        ArgumentError,
        match=r"loaded from a file, without the data: call resume\(data=<the table of the fit>\)",
    ):
        loaded.resume(10)
    with pytest.raises(ArgumentError, match="the run to resume was made from other data"):
        loaded.resume(10, data=FRAME.assign(a=-FRAME.a))
    with pytest.raises(ArgumentError, match="resume has no argument 'sampler'"):
        part.resume(10, sampler="mala")
    with pytest.raises(ArgumentError, match="draws=0 must be a whole number"):
        part.resume(0)
    local = fit(20, sampler="sgld", step_size=lambda t: 0.1)
    assert same(local.resume(10), fit(30, sampler="sgld", step_size=lambda t: 0.1))
    with pytest.raises(ArgumentError, match="an argument of the fit cannot be saved"):
        pickle.loads(pickle.dumps(local)).resume(10, FRAME)


# ---- files ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A checkpoint as bytes, of several kB."""
    path = tmp_path_factory.mktemp("written") / "run"
    fit(20, chains=1, checkpoint=path)
    return path.read_bytes()


def refused(path, content):
    """The message with which a file of that content is refused."""
    path.write_bytes(content)
    with pytest.raises(ArgumentError) as raised:
        read(str(path))
    return str(raised.value)


def test_a_truncated_checkpoint_is_refused(written, tmp_path):
    lengths = [*range(0, len(written), 1024), 1, 16, 17, 20, 56, len(written) - 1]
    assert len(lengths) > 10
    for length in lengths:
        assert "delete it to start afresh" in refused(tmp_path / "run", written[:length])
    assert "cut short or too long" in refused(tmp_path / "run", written + b"\0")


def test_a_flipped_bit_is_noticed_wherever_it_is(written, tmp_path):
    for at in [*range(70), *np.random.default_rng(0).integers(0, len(written), 200)]:
        changed = bytearray(written)
        changed[at] ^= 1 << at % 8
        assert "cannot be used: the file" in refused(tmp_path / "run", bytes(changed))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"x1,x2\n1,2\n",
        pickle.dumps({"sgmc": 1}),
        b"\0" * 5000,
        b"sgmc checkpoint 0\n" + b"\0" * 100,
    ],
)
def test_a_file_of_another_kind_is_refused(content, tmp_path):
    message = refused(tmp_path / "run", content)
    assert "run' cannot be used: the file does not begin with 'sgmc checkpoint 1'" in message


def test_a_checkpoint_of_another_version_is_refused(written, tmp_path):
    path = tmp_path / "run"
    path.write_bytes(written)
    write_sealed(path, KIND, {**read_sealed(path, KIND), "version": "0.0"})
    with pytest.raises(ArgumentError, match="was written by sgmc 0.0, this is"):
        read(str(path))


def test_sealed_files_give_back_what_was_written(tmp_path):
    tree = {
        "a": [1, 2**70, -1.5, float("inf"), None, True, "é\n"],
        "b": {"c": np.arange(6.0).reshape(2, 3), "d": {}},
        "e": np.array([], dtype=np.uint64),
        "f": np.float64(0.1),
        "g": (np.array([1, 2], dtype=np.intp), np.int64(3)),
    }
    write_sealed(tmp_path / "file", b"kind", tree)
    again = read_sealed(tmp_path / "file", b"kind")
    assert again["a"] == tree["a"]
    assert again["b"]["d"] == {}
    assert again["f"] == 0.1
    assert again["g"][1] == 3
    for one, other in (
        (again["b"]["c"], tree["b"]["c"]),
        (again["e"], tree["e"]),
        (again["g"][0], tree["g"][0]),
    ):
        assert one.dtype == other.dtype and np.array_equal(one, other)
    with pytest.raises(Damaged, match="does not begin with 'other'"):
        read_sealed(tmp_path / "file", b"other")


@pytest.mark.parametrize(
    "path, text",
    [
        ("", "must name a file in a folder that exists"),
        ("nowhere/run", "in a folder that exists"),
        (3, "checkpoint=3 must be a path"),
    ],
)
def test_paths_that_cannot_be(path, text, tmp_path):
    with pytest.raises(ArgumentError, match=text):
        fit(20, checkpoint=path if path == 3 else tmp_path / path)


def full_disk(*_):
    """os.fsync of a disk without room."""
    raise OSError(28, "No space left on device")


def test_a_checkpoint_that_cannot_be_written_is_refused_at_the_start(tmp_path, monkeypatch):
    monkeypatch.setattr(files.os, "fsync", full_disk)
    with pytest.raises(ArgumentError, match="run' cannot be written: No space left on device"):
        fit(20, checkpoint=tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_up_does_not_end_the_run(tmp_path, monkeypatch):
    """The file keeps the state before; the warning says so, and the run can go on from it."""
    real, calls = os.fsync, []

    def fsync(handle):
        calls.append(handle)
        # file and folder of the first writing
        return real(handle) if len(calls) <= 2 else full_disk()

    monkeypatch.setattr(files.os, "fsync", fsync)
    with pytest.warns(CheckpointWarning, match="could not be written: No space left"):
        results = fit(60, checkpoint=tmp_path / "run")
    assert "CheckpointWarning" in str(results.summary()) and same(results, fit(60))
    monkeypatch.undo()
    assert same(fit(60, checkpoint=tmp_path / "run"), results)


# ---- stopped and killed --------------------------------------------------------------------------


def test_a_run_out_of_time_is_a_prefix_that_can_be_finished(tmp_path, time_limit_after):
    long = dict(sampler="sgld", step_size=0.001, thin=100, warmup=100, chains=2)
    with pytest.warns(InterruptedWarning, match="stopped by time limit"):
        part = fit(4000, checkpoint=tmp_path / "run", **time_limit_after(100), **long)
    whole, kept = fit(4000, **long), part.draws.shape[1]
    assert 100 <= kept < 4000
    np.testing.assert_array_equal(part.draws, whole.draws[:, :kept])
    assert same(part.resume(), whole)
    assert same(fit(4000, checkpoint=tmp_path / "run", **long), whole)


CHILD = textwrap.dedent("""
    import os, signal, sys, threading, warnings
    import numpy as np, pandas as pd, sgmc
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(40000), rng.normal(size=(40000, 4))])
    y = (rng.random(40000) < 0.3).astype(float)
    def fit(draws=1500, **how):
        how = dict(sampler="mala", seed=1, chains=2, warmup=100) | how
        return sgmc.Logit(y, X).fit(draws=draws, **how)
""")


def child(code, *arguments):
    """A Python process with the fit above at hand."""
    return subprocess.Popen(
        [sys.executable, "-c", CHILD + textwrap.dedent(code), *map(str, arguments)],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finished(process):
    """Lines that a process printed."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out.split("\n")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Draws of the child's fit, never stopped."""
    path = tmp_path_factory.mktemp("whole") / "draws.npy"
    finished(child("np.save(sys.argv[1], fit().draws)", path))
    return np.load(path)


def test_ctrl_c_at_any_time_gives_what_is_there(whole, tmp_path):
    """Twenty times, in a chain's thread or in the user's function: a prefix of the draws of a run
    that was not stopped.

    No chunk of a chain is begun once the run stops, but for one a thread that was about to.  A
    chain that a busy machine has kept waiting may have no draw yet, and is left out.
    """
    lines = finished(
        child(
            """
        from sgmc.fitting import chains
        work, chunk, lock = chains.work, chains.Task.chunk, threading.Lock()
        def interrupt():
            os.kill(os.getpid(), signal.SIGINT)
        def watched(queue, stop):
            stops.append(stop)
            work(queue, stop)
        def counted(task):
            late.append(stops[0].is_set())
            done = chunk(task)
            with lock:
                with_draws.append(task.chain.recorder.kept > 0)
                here = sum(with_draws) == after and with_draws[-1] and in_thread
            if here:
                kept.append(task.chain.recorder.kept)
                interrupt()
                assert stops[0].wait(60), "the run goes on after Ctrl-C"
            return done
        def progress(done, total):
            if not in_thread and not kept and sum(with_draws) >= after:
                kept.append(100_000)
                interrupt()
        chains.work, chains.Task.chunk = watched, counted
        for k, after in enumerate(np.random.default_rng(2).integers(1, 30, 20)):
            stops, late, with_draws, kept, in_thread = [], [], [], [], k % 2 == 0
            results = fit(100_000, progress=progress)
            print(results.interrupted, results.draws.shape[1] <= kept[0], sum(late) <= 2)
            np.save(f"{sys.argv[1]}/{k}.npy", results.draws)
        assert threading.active_count() == 1
    """,
            tmp_path,
        )
    )[:20]
    assert set(lines) == {"Ctrl-C True True"}
    parts = [whole, *(np.load(tmp_path / f"{k}.npy") for k in range(20))]
    longest = max(parts, key=lambda draws: draws.shape[1])
    for draws in parts:
        assert 0 < draws.shape[1] < 100_000
        assert all(
            any(np.array_equal(chain, other[: len(chain)]) for other in longest) for chain in draws
        )


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("share", [0.02, 0.2, 0.5, 0.75, 0.9])
def test_a_killed_run_goes_on_from_its_checkpoint(share, whole, tmp_path):
    process = child(
        """
        from sgmc.fit import sampling as room
        from sgmc.fit.run.checkpoint import Checkpoint
        share, steps, written = float(sys.argv[2]), 2 * 1600, threading.Lock()
        class Doomed(Checkpoint):
            def store(self, k, chain):
                # the clock has no say: written on the way, killed at the share
                super().store(k, chain)
                done = sum(state["t"] for state in self.states)
                with written:
                    self.due = float("inf")
                    if done >= 0.7 * share * steps:
                        self.write()
                    if done >= share * steps:
                        os.kill(os.getpid(), signal.SIGKILL)
        room.Checkpoint = Doomed
        fit(checkpoint=sys.argv[1])
    """,
        tmp_path / "run",
        share,
    )
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    saved = read(str(tmp_path / "run"))
    kept = [len(state["recorder"]["draws"]) for state in saved.chains]
    # one chain may be done when the run is killed
    assert min(kept) < 1500 and (share < 0.5 or max(kept) > 0)
    finished(
        child(
            "np.save(sys.argv[2], fit(checkpoint=sys.argv[1]).draws)",
            tmp_path / "run",
            tmp_path / "draws.npy",
        )
    )
    np.testing.assert_array_equal(np.load(tmp_path / "draws.npy"), whole)


def test_ctrl_c_while_summarising_does_not_lose_the_draws(monkeypatch):
    from sgmc.results import results as room

    calls, real = [], room.stein_discrepancy

    def interrupted_once(*arguments):
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(room, "stein_discrepancy", interrupted_once)
    assert same(fit(60), fit(60)) and len(calls) == 3
