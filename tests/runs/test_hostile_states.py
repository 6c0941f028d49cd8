"""States of chains in a checkpoint by someone who knows the format: an error before anything runs,
as compiled code takes their lengths and places as they are.
"""

import copy
import re

import numpy as np
import pytest

import sgmc
from sgmc.core.system.files import read_sealed, write_sealed
from sgmc.errors import ArgumentError
from sgmc.fit.checkpoint import KIND
from sgmc.results.files import KIND as RESULTS

from .cases import FRAME, fit

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
HOW = {
    "mala": dict(sampler="mala"),
    "sgld": dict(sampler="sgld", batch_size=32, subsample="uniform"),
    "sweeps": dict(sampler="sghmc", batch_size=32, subsample="symmetric"),
    "svrg": dict(sampler="sgld", gradient="svrg", batch_size=32),
    "zigzag": dict(sampler="zigzag"),
}


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    """What a checkpoint holds, for each way to run."""
    found = {}
    for name, how in HOW.items():
        path = tmp_path_factory.mktemp(name) / "run"
        fit(20, chains=1, checkpoint=path, **how)
        found[name] = read_sealed(path, KIND)
    return found


def words(place):
    """Change the place within a random stream."""

    def change(state):
        stream = state["rng"]["uniform"].copy()
        stream[-1] = np.int64(place).astype(np.uint64)
        state["rng"]["uniform"] = stream

    return change


def put(*keys_and_value):
    """Change one part of a state."""
    *keys, last, value = keys_and_value

    def change(state):
        for key in keys:
            state = state[key]
        state[last] = value(state[last]) if callable(value) else value

    return change


def beyond(order):
    return np.where(order == 0, 10**9, order)


CHANGES = {
    "a place behind the stream": ("mala", words(10**6), "of no stream"),
    "a place before the stream": ("mala", words(-5), "of no stream"),
    "fewer words of a stream": ("mala", put("rng", "normal", lambda s: s[:9]), "normal is an arr"),
    "another status": ("mala", put("status", 77), "no status 77"),
    "a text": ("mala", put("t", "soon"), "t is 'soon'"),
    "more coordinates": ("mala", put("x", lambda x: np.append(x, 0.0)), "x is an array"),
    "other numbers": ("mala", put("x", lambda x: x.astype(np.float32)), "of float32"),
    "no generator": ("mala", lambda state: state.pop("rng"), "state has other parts"),
    "wide draws": ("mala", put("recorder", "draws", lambda x: np.hstack([x, x])), "draws is an"),
    "no recorder": ("mala", put("recorder", None), "not subscriptable"),
    "rows that are not there": ("sgld", put("gradient", "rows", "order", beyond), "other rows"),
    "rows twice": ("sgld", put("gradient", "rows", "order", lambda o: o * 0), "other rows"),
    "rows of a sweep": ("sweeps", put("gradient", "rows", "order", beyond), "other rows"),
    "a step of a sweep": ("sweeps", put("gradient", "rows", "at", 10**6), "step 1000000 of"),
    "a step before a sweep": ("sweeps", put("gradient", "rows", "at", -1), "step -1 of"),
    "a step of an epoch": ("svrg", put("gradient", "left", -9), "-9 steps of an epoch"),
    "an integral": (
        "zigzag", put("recorder", "integrals", "place", [0, 1, 10**6]), "no such place"),
    "turning points": (
        "zigzag", put("recorder", "skeleton", "times", lambda t: t[:1]), "are not as many"),
    "half a line": ("zigzag", put("recorder", "line", lambda one: one[:2]), "line has 2 values"),
    "a narrow line": ("zigzag", put("recorder", "line", lambda one: [one[0][:1], *one[1:]]),
                      "line is an array"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_states_that_are_not_of_this_fit_are_refused(name, trees, tmp_path):
    how, change, says = CHANGES[name]
    tree, path = copy.deepcopy(trees[how]), tmp_path / "run"
    change(tree["chains"][0])
    write_sealed(path, KIND, tree)
    with pytest.raises(ArgumentError, match="run' holds states that are not.*" + re.escape(says)):
        fit(40, chains=1, checkpoint=path, **HOW[how])


VALUES = {
    "no chains": (lambda tree: tree.pop("chains"), "holds other values than those of a run"),
    "chains that are none": (lambda tree: tree.update(chains=[1]), "holds other values"),
    "a mark that is none": (lambda tree: tree.update(mark=3), "holds other values"),
    "no version": (lambda tree: tree.pop("version"), "written by sgmc of another version"),
    "a warmup that is none": (lambda tree: tree["mark"].update(warmup="x"), "has warmup='x'"),
    "a warmup before its start": (lambda tree: tree["mark"].update(warmup=-1), "has warmup=-1"),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_that_are_not_of_a_run_are_refused(name, trees, tmp_path):
    change, says = VALUES[name]
    tree, path = copy.deepcopy(trees["mala"]), tmp_path / "run"
    change(tree)
    write_sealed(path, KIND, tree)
    with pytest.raises(ArgumentError, match=re.escape(says)):
        fit(40, chains=1, checkpoint=path, **HOW["mala"])


def test_states_of_saved_results_are_looked_at_where_they_go_on(tmp_path):
    fit(20, chains=1, **HOW["sgld"]).save(tmp_path / "fit")
    tree = read_sealed(tmp_path / "fit", RESULTS)
    parts = [tree]
    while parts:
        part = parts.pop()
        names = part.get("keys", ()) if isinstance(part, dict) else ()
        if "order" in names:
            k = names.index("order")
            part["values"][k] = beyond(part["values"][k])
        inner = part.values() if isinstance(part, dict) else part
        parts += [one for one in inner if isinstance(one, (dict, list))]
    write_sealed(tmp_path / "fit", RESULTS, tree)
    with pytest.raises(ArgumentError, match="the run to resume holds states.*other rows"):
        sgmc.load(tmp_path / "fit").resume(data=FRAME, draws=20)


def test_a_mark_with_an_array_is_that_of_another_fit(trees, tmp_path):
    tree = copy.deepcopy(trees["mala"])
    tree["mark"]["rows"] = np.arange(3)
    write_sealed(tmp_path / "run", KIND, tree)
    with pytest.raises(ArgumentError, match="belongs to another fit: rows was"):
        fit(20, chains=1, checkpoint=tmp_path / "run", **HOW["mala"])
