"""A source in the order of its outcome and of time: mini-batches of the file see all of it."""

import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.models.regression import problem
from sgmc.models.regression.rows.prepare import DesignTable
from sgmc.prepared.writers import records

N = 20_000
FORMULA = "y ~ x + z + t"
# blocks of neighbours, and a gradient that is a sum over the block alone
HOW = dict(sampler="sgld", gradient="simple", batch_size=64, step_size=0.002, draws=500, thin=20)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"t": np.arange(N) / N, "x": rng.normal(size=N), "z": rng.normal(size=N)})
    frame["x"] += 2 * frame["t"]
    chance = 1 / (1 + np.exp(1 - frame["x"] + 0.5 * frame["z"]))
    frame["y"] = (rng.random(N) < chance).astype(float)
    return frame


def as_in_the_file(data, *_, **__):
    """The table of a fit as the file has it, for fits that would put its rows in order again."""
    found = data.source
    return DesignTable(
        np.array(found.X),
        np.array(found.y),
        *[None] * 4,
        found.shift,
        found.mean,
        found.sd,
        found.order,
    )


def by_neighbours(prepared, monkeypatch):
    """The posterior by mini-batches of neighbours in the file."""
    with warnings.catch_warnings(), monkeypatch.context() as patch:
        warnings.simplefilter("ignore")  # of noise, few draws and a step that was given
        patch.setattr(problem, "prepare", as_in_the_file)
        return sgmc.logit(FORMULA, prepared, seed=1, **HOW)


@pytest.mark.extended
def test_order_of_the_source_does_not_matter(frame, tmp_path, monkeypatch):
    """Of 2,000 draws with autocorrelation and a step of its own, sds are right to a fifth; without
    the shuffle those of the intercept and of time are three times as large.
    """
    exact = sgmc.logit(FORMULA, frame, seed=1, sampler="imh", draws=1500)
    by_outcome = frame.sort_values(["y", "t"]).reset_index(drop=True)
    for source in (frame, by_outcome):
        prepared = sgmc.prepare(FORMULA, source, tmp_path / "a.sgmc", seed=2)
        found = by_neighbours(prepared, monkeypatch)
        assert (found.bse / exact.bse).between(0.75, 1.35).all()
        assert ((found.params - exact.params) / exact.bse).abs().max() < 0.35
    # planted: the shuffle is left out
    encode = records.Encoder.chunk

    def in_order(self, number, frame, first):
        for part in encode(self, number, frame, first):
            part["key"] = part["order"].astype(np.uint64) << np.uint64(40)
            yield part

    with monkeypatch.context() as patch:
        patch.setattr(records.Encoder, "chunk", in_order)
        prepared = sgmc.prepare(FORMULA, by_outcome, tmp_path / "b.sgmc", seed=2)
    assert (np.diff(prepared.order) == 1).all()
    unshuffled = by_neighbours(prepared, monkeypatch)
    assert (unshuffled.bse / exact.bse).max() > 2
