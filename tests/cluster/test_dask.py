"""A dask cluster of two and of four processes: deaths, retries and slow workers change no bit."""

import functools
import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import sgmc
from sgmc.cluster.blocks import DaskBlocks
from sgmc.errors import ArgumentError, DataError, NotSupported

from .frames import Frames, outcomes

dataframe = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

# of other packages, which the tests' own filters would turn into errors
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning"),  # of few draws
]
GUIDE = Path(__file__).parents[2] / "docs" / "cluster.md"
PARTS, ROWS, SEED = 6, 6000, 4
PHASES = ["first look", "survey", "mode", "leverage and check"]
FIT = dict(seed=SEED, reservoir=1500, draws=400)


@pytest.fixture(scope="module")
def table():
    return outcomes(ROWS)


@pytest.fixture(scope="module")
def undisturbed(table):
    """The fit without a cluster: partitions one after the other."""
    return sgmc.logit("b ~ x + z + g", Frames(table, PARTS), **FIT)


@pytest.fixture(scope="module", params=[2, 4])
def client(request):
    with (
        distributed.LocalCluster(
            n_workers=request.param, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as one,
    ):
        yield one


def in_partitions(table):
    """The same partitions as a dask DataFrame."""
    from dask import delayed

    frames = [delayed(one) for one in Frames(table, PARTS).frames]
    return dataframe.from_delayed(frames, meta=table, verify_meta=False)


def same(res, other):
    """Whether draws are the same, bit by bit."""
    return res.draws.shape == other.draws.shape and (res.draws == other.draws).all()


@pytest.mark.extended
def test_draws_are_those_without_a_cluster(client, table, undisturbed):
    res = sgmc.logit("b ~ x + z + g", in_partitions(table), client=client, **FIT)
    assert same(res, undisturbed)
    assert res.cluster.workers == len(client.scheduler_info(n_workers=-1)["workers"])
    assert list(res.cluster.bytes) == PHASES
    assert res.cluster.bytes["mode"] == undisturbed.cluster.bytes["mode"]


def pid_of_one(client):
    """The process of one of the workers."""
    return sorted(client.run(os.getpid).values())[0]


@pytest.mark.extended
@pytest.mark.parametrize("phase", PHASES)
def test_a_worker_that_dies_changes_no_bit(client, table, undisturbed, monkeypatch, phase):
    """It is killed while its tasks of that phase run, with the rows that it keeps."""
    right, done = DaskBlocks.submitted, []

    def submitted(self, function):
        def slow(number, data):
            time.sleep(0.2)
            return function(number, data)

        names = {"SchemaSampling": PHASES[0], "Survey": PHASES[1], "Expansion": PHASES[2]}
        now = names.get(type(function).__name__, PHASES[3])
        if type(function).__name__ == "Encoding" or now != phase or done:
            return right(self, function)
        pid = pid_of_one(client)
        futures = right(self, slow)
        time.sleep(0.1)
        os.kill(pid, 9)
        done.append(pid)
        return futures

    monkeypatch.setattr(DaskBlocks, "submitted", submitted)
    res = sgmc.logit("b ~ x + z + g", in_partitions(table), client=client, **FIT)
    assert len(done) == 1 and same(res, undisturbed)


@pytest.mark.extended
def test_a_retry_and_a_slow_worker_change_no_bit(client, table, undisturbed, monkeypatch, tmp_path):
    right = DaskBlocks.submitted

    def submitted(self, function):
        folder, name = str(tmp_path), type(function).__name__

        @functools.wraps(function.__call__)
        def disturbed(number, data):
            mark = os.path.join(folder, f"{name}{number}")
            if number == 2 and not os.path.exists(mark):
                open(mark, "w").close()
                raise OSError("a file out of reach")
            time.sleep(0.3 * (number == 1))
            return function(number, data)

        return right(self, disturbed)

    monkeypatch.setattr(DaskBlocks, "submitted", submitted)
    res = sgmc.logit("b ~ x + z + g", in_partitions(table), client=client, **FIT)
    assert same(res, undisturbed)
    assert len(list(tmp_path.iterdir())) >= 4  # one retry a pass


@pytest.mark.extended
def test_files_are_read_by_the_workers(client, table, tmp_path):
    pytest.importorskip("pyarrow")
    for k, frame in enumerate(Frames(table, PARTS).frames):
        frame.to_parquet(tmp_path / f"part{k}.parquet")
    res = sgmc.logit("b ~ x + z + g", str(tmp_path / "*.parquet"), client=client, **FIT)
    whole = sgmc.logit("b ~ x + z + g", table, seed=SEED)
    assert (np.abs(res.params - whole.params) / whole.bse).max() < 0.25  # 400 draws of a chain
    assert res.cluster.partitions == PARTS and res.nobs == whole.nobs


@pytest.mark.extended
def test_what_is_wrong_in_a_partition_is_named(client, table):
    frames = Frames(table, PARTS).frames
    frames[3] = frames[3].assign(g=frames[3].g.replace("a", "new"), z=1.0)
    from dask import delayed

    data = dataframe.from_delayed([delayed(f) for f in frames], meta=table, verify_meta=False)
    res = sgmc.logit("b ~ x + g", data, client=client, **FIT)
    assert "g[T.new]" in res.params.index  # a level that one partition alone has
    frames[3] = frames[3].assign(x=np.where(np.arange(len(frames[3])) == 7, np.inf, frames[3].x))
    data = dataframe.from_delayed([delayed(f) for f in frames], meta=table, verify_meta=False)
    with pytest.raises(DataError, match="partition 3: predictor 'x' is not finite"):
        sgmc.logit("b ~ x + g", data, client=client, **FIT)


class Held(sgmc.Model):
    """A model with something that cannot be sent."""

    parameters = {"mu": 2}

    def __init__(self, x, lock=None):
        self.x, self.n, self.lock = x, len(x), lock

    def log_lik(self, theta, rows):
        """Of normal rows."""
        return float(-0.5 * ((self.x[rows] - theta["mu"]) ** 2).sum())

    def grad(self, theta, rows):
        """See `log_lik`."""
        return {"mu": (self.x[rows] - theta["mu"]).sum(axis=0)}


def models(random):
    """A model of each kind: the package's, a user's, a regression of arrays."""
    x = random.normal(size=(300, 2))
    y = (random.random(300) < 0.5).astype(float)
    design = np.column_stack([np.ones(300), x])
    return {
        "mixture": sgmc.GaussianMixture(x[:, 0], 2),
        "hmm": sgmc.HMM(x[:, 0], 2),
        "logit": sgmc.Logit(y, design),
    }


@pytest.mark.extended
@pytest.mark.parametrize(
    "name", ["mixture", "hmm", pytest.param("logit", marks=pytest.mark.extended)]
)
def test_chains_on_workers_have_the_draws_of_threads(client, name):
    model = models(np.random.default_rng(3))[name]
    here, there = (model.fit(seed=5, draws=50, **how) for how in ({}, dict(client=client)))
    assert same(here, there) and here.verdict == there.verdict
    assert there.resume(draws=10).draws.shape[1] == 60


@pytest.mark.extended
def test_what_cannot_be_sent_is_refused(client):
    x = np.random.default_rng(3).normal(size=(300, 2))
    with pytest.raises(ArgumentError, match="client: the model cannot be sent to workers"):
        Held(x, threading.Lock()).fit(seed=1, client=client)
    for name, value in (("checkpoint", "state"), ("time_limit", 5.0)):
        with pytest.raises(NotSupported, match=f"{name} does not go with client="):
            Held(x).fit(seed=1, client=client, **{name: value})


@pytest.mark.extended
@pytest.mark.skipif(not GUIDE.is_file(), reason="the guides are not in the wheel")
def test_the_guide_runs_as_it_stands(capsys):
    code = GUIDE.read_text().split("```python\n")[1].partition("```")[0]
    space = {}
    exec(code, space)
    space["client"].close()
    res, whole = space["res"], sgmc.datasets.load("fair")
    assert res.nobs == len(whole) and res.cluster.partitions == 8
    assert "first look" in capsys.readouterr().out
