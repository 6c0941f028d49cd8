"""Refusals of sources, files, samplers and tuning that no other test makes."""

import importlib
import re
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.core.system.files import packed
from sgmc.errors import SGMCError
from sgmc.fit.parts import Signs
from sgmc.prepared.file import layout
from sgmc.prepared.file.layout import Damaged
from sgmc.prepared.file.sealed import recipe_in
from sgmc.prepared.first_pass import columns as counted
from sgmc.prepared.first_pass.scan import Scan
from sgmc.prepared.prepare import replaceable
from sgmc.prepared.writers import write_columns
from sgmc.prepared.writers.shuffle import sorted_bucket
from sgmc.priors.names import as_spec
from sgmc.registry import sampler_and_gradient
from sgmc.results.checks import half_step, visited
from sgmc.results.checks.weights import proposals
from sgmc.results.outcomes.data.writing import ParquetOutput
from sgmc.results.report.accuracy import quantiles_of
from sgmc.results.report.draws import disagreement
from sgmc.saved.reading import LoadPermissions, check_functions
from sgmc.sources.partitions import Partitioned
from sgmc.subsampling.block import CircularBlock
from sgmc.subsampling.uniform import Uniform
from sgmc.tuning import predicted, race, tuner

from .test_rare import fitted, frame

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


def scan():
    """What `Scan` methods read of theirs."""
    said = SimpleNamespace(
        response="cbind(a, b)", names=SimpleNamespace(inputs=lambda _: {"a": "a"})
    )
    return SimpleNamespace(parsed=said, counted=["a"])


def empty_source():
    """A scan of no chunks."""
    source = SimpleNamespace(columns=["x"], chunks=lambda columns: iter(()))
    return SimpleNamespace(source=source, watch=lambda chunks: chunks)


def column(levels=()):
    """Facts of a column."""
    found = counted.ColumnFacts("g")
    found.kind, found.held = "text", "text"
    found.levels = dict.fromkeys(levels, True)
    return found


OF_FILES = {
    "must be a new file, or one that sgmc.prepare has written": lambda folder: replaceable(
        str(folder / "x.csv")
    ),
    "was prepared by sgmc 0.1, and this is sgmc": lambda folder: recipe_in(
        "a.sgmc", packed({"version": "0.1", "content": {"no": "tree"}}), LoadPermissions()
    ),
    "a.sgmc has no recipe of a design in it (": lambda folder: recipe_in(
        "a.sgmc", b"", LoadPermissions()
    ),
    "the data are empty: 0 rows, 1 columns": lambda folder: Scan.learn(
        empty_source(), SimpleNamespace(names=lambda *_: ["x"]), []
    ),
    "column 'a' of the response 'cbind(a, b)' must hold counts, it holds text": lambda folder: (
        Scan.examples(scan(), SimpleNamespace(columns={"a": column()}))
    ),
    "the response 'g' holds dates: it must be numbers": lambda folder: Scan.response_levels(
        scan(),
        SimpleNamespace(response=SimpleNamespace(name="g", kind="date", held="dates")),
    ),
    "is damaged: rows of it are missing; delete it and call again": lambda folder: sorted_bucket(
        SimpleNamespace(folder=folder, place=lambda name: str(folder / name)), 0, float, 8
    ),
    "load needs the path of a file, not 3": lambda folder: sgmc.load(3),
    "functions must be a dict of names and functions": lambda folder: check_functions([len]),
    "functions['mine'] must be a function or None, not 3": lambda folder: check_functions(
        {"mine": 3}
    ),
    "names of columns must be text, each once, not 3": lambda folder: Partitioned(
        pd.DataFrame({3: [1.0]}), "frame"
    ),
}
OF_RUNS = {
    "is for coefficients of a regression without group terms; give each parameter": lambda: as_spec(
        sgmc.mvnormal([0.0], [[1.0]])
    ),
    "sampler='sgld-cv' names the gradient 'cv', but gradient='simple'": lambda: (
        sampler_and_gradient("sgld-cv", "simple")
    ),
    "hmc with rotations needs coordinates that are whitened": lambda: fitted(
        sampler=sgmc.HMC(rotations=2), precondition=None, step_size=0.1
    ),
    "PSGLD: gamma=True applies to coordinates whitened at the mode": lambda: fitted(
        sampler=sgmc.PSGLD(gamma=True), precondition=None, step_size=0.1
    ),
    "plan: data in partitions are gathered in fit() alone": lambda: predicted.refuse(
        SimpleNamespace(gathered=None), {}
    ),
}


@pytest.mark.parametrize("message", OF_FILES)
def test_refusals_of_files(message, tmp_path):
    (tmp_path / "x.csv").write_text("y,x\n1,2\n")
    with pytest.raises(SGMCError, match=re.escape(message)):
        OF_FILES[message](tmp_path)


@pytest.mark.parametrize("message", OF_RUNS)
def test_refusals_of_runs(message):
    with pytest.raises(SGMCError, match=re.escape(message)):
        OF_RUNS[message]()


@pytest.mark.parametrize("scheme", [CircularBlock, Uniform])
def test_batches_have_no_more_rows_than_there_are(scheme):
    with pytest.raises(ValueError, match="a batch of 6 of 5 rows"):
        scheme(5, 6)


def test_columns_with_too_many_values_are_refused(monkeypatch):
    monkeypatch.setattr(counted, "MOST_VALUES", 3)
    with pytest.raises(SGMCError, match="column 'g' has more than 3 different values"):
        column("ab").merge(column("cd"))


def test_files_without_a_whole_head_are_cut_short(tmp_path):
    (tmp_path / "a.sgmc").write_bytes(layout.MAGIC + b"1")
    with pytest.raises(Damaged, match="is cut short"):
        layout.manifest(tmp_path / "a.sgmc")


def test_parquet_needs_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(SGMCError, match="to= a Parquet file needs pyarrow"):
        ParquetOutput("a.parquet")


def test_columns_of_arrow_are_there_once():
    pyarrow = pytest.importorskip("pyarrow")
    from sgmc.sources.arrow_types import check_once

    twice = pyarrow.schema([("x", pyarrow.int64()), ("x", pyarrow.int64())])
    with pytest.raises(SGMCError, match="has more than one column 'x'; rename or drop one"):
        check_once(twice, "table")


def test_full_disks_below_polars_are_reported():
    pytest.importorskip("polars")
    from sgmc.sources.lazy import evaluating

    full = pytest.raises(SGMCError, match="cannot be evaluated: no space.*is the disk full")
    with full, evaluating("frame"):
        raise OSError("no space")


def test_scikit_learn_that_is_too_old_is_named(monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.setitem(sys.modules, "sklearn.utils.validation", None)
    monkeypatch.delitem(sys.modules, "sgmc.sklearn", raising=False)
    with pytest.raises(ImportError, match="sgmc.sklearn needs scikit-learn 1.6 or newer"):
        importlib.import_module("sgmc.sklearn")


# ---- what is found while a run goes on -----------------------------------------------------------


def test_a_half_step_that_diverges_is_reported(monkeypatch):
    diverged = SimpleNamespace(run=SimpleNamespace(statuses=["diverged"]))
    monkeypatch.setattr(half_step, "sample", lambda *_: diverged)
    results = fitted("logit", "hit ~ x", sampler="sgld")
    with pytest.raises(SGMCError, match="half_step: diverged at step_size=.*much smaller"):
        results.half_step()


def test_modes_without_draws_are_reported():
    two = SimpleNamespace(
        found=2,
        shares=[0.5, 0.5],
        gaussians=[(np.zeros(1), np.eye(1)), (np.array([9.0]), np.eye(1))],
    )
    x = np.random.default_rng(1).normal(size=(2, 200, 1))
    problem = SimpleNamespace(searched=two, coordinates=SimpleNamespace(theta=lambda x: x))
    (found,) = visited.unvisited(SimpleNamespace(problem=problem, x=x, weights=None))
    assert "0 % of the draws are at a mode that holds about 50 % of the posterior" in str(found)


def test_proposals_with_lighter_tails_are_reported():
    where = SimpleNamespace(light=True)
    own = SimpleNamespace(own_sampler="")
    problem = SimpleNamespace(signs=Signs(), transport=None, coordinates=where, defaults=own)
    plan = SimpleNamespace(spec=SimpleNamespace(independent=True, name="imh"))
    for named, cure in ((None, "mala"), (plan.spec, "auto")):
        open_ = dict.fromkeys(("step_size", "gradient", "batch_size"))
        settings = SimpleNamespace(sampler=named, robust=False, **open_)
        (found,) = proposals(SimpleNamespace(plan=plan, problem=problem, settings=settings))
        assert "no outcome bounds the tails of a prior" in str(found)
        assert found.advice == f"Use sampler='{cure}'."


def test_chains_that_visit_a_place_at_other_rates_are_reported():
    draws = np.random.default_rng(1).normal(size=(4, 2000, 1))
    draws[0, ::25] += 6.0
    quantiles = quantiles_of(draws, None)
    seen = SimpleNamespace(
        rhat=np.ones(1), draws=draws, weights=None, names=["x"], quantiles=quantiles
    )
    (found,) = disagreement(seen)
    assert "chains visit some values of 'x' more often than others do" in str(found)


def test_plans_need_an_autocorrelation(monkeypatch):
    nothing = SimpleNamespace(x=np.zeros((1, 8, 1)))
    monkeypatch.setattr(predicted, "sample", lambda *_: nothing)
    monkeypatch.setattr(predicted, "replace", lambda one, **_: one)
    monkeypatch.setattr(predicted, "ess", lambda *_, **__: np.array([np.nan]))
    problem = SimpleNamespace(kept=lambda x: (x,))
    spec = SimpleNamespace(name="sgld")
    found = SimpleNamespace(problem=problem, settings=None, spec=spec)
    with pytest.raises(SGMCError, match="too few to estimate the autocorrelation of sgld"):
        predicted.told_by_draws(found)


def test_races_that_no_arm_wins_are_refused(monkeypatch):
    monkeypatch.setattr(race, "stands", lambda *_: False)
    with pytest.raises(SGMCError, match="no arm has a finite|every arm diverged"):
        sgmc.tune(
            sgmc.Logit.from_formula("hit ~ x", frame()), "sgld", budget_steps=200, progress=False
        )


def test_races_that_time_ended_are_reported(monkeypatch):
    def late(*_, **__):
        raise tuner.OutOfTime

    monkeypatch.setattr(tuner, "tune", late)
    with pytest.warns(sgmc.errors.InterruptedWarning, match="time_limit ended the race of tune="):
        assert tuner.chosen(None, None, {"tune": "mamba"})[1] is None


def test_prepared_sources_that_change_are_noticed():
    source = SimpleNamespace(columns=["x"], chunks=lambda *_: iter(()))
    shop = SimpleNamespace(journal={})
    writer = SimpleNamespace(resume=lambda done: None)
    study = SimpleNamespace(kept=[], rows=3, used=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_columns, "Selection", lambda *_: SimpleNamespace(names=lambda _: ["x"]))
        patch.setattr(write_columns, "needed", lambda _: [])
        with pytest.raises(SGMCError, match="the source has changed .*: 0 rows now, 3 before"):
            write_columns.written(
                writer, shop, SimpleNamespace(source=source, subset=None), study, None
            )
