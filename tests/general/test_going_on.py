"""Results from a file go on as those in memory do, bit by bit: every model, every kind of warmup,
with the sampler of the short runs and with the default one.
"""

import numpy as np
import pytest

import sgmc
from sgmc.errors import ArgumentError
from sgmc.fit import run

from .cases import MODELS

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
RUN = dict(draws=20, chains=2, seed=5, thin=2)
WARMUPS = {"derived": {}, "none": dict(warmup=0), "given": dict(warmup=15)}
KINDS = {"minibatches": lambda arguments: arguments, "default": lambda arguments: {}}


def both(name, kind, tmp_path, **warmup):
    """A run gone on from in memory, and from a file."""
    make, arguments = MODELS[name]
    part = make().fit(**{**RUN, **KINDS[kind](arguments), **warmup})
    part.save(tmp_path / "run")
    return part.resume(draws=7), sgmc.load(tmp_path / "run").resume(draws=7, data=make())


@pytest.mark.cover(0)
@pytest.mark.parametrize("warmup", WARMUPS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MODELS)
def test_a_file_goes_on_as_memory_does(name, kind, warmup, tmp_path):
    one, other = both(name, kind, tmp_path, **WARMUPS[warmup])
    assert one.draws.shape[1] == 27
    assert (one.draws == other.draws).all()
    assert np.array_equal(one.moments(), other.moments(), equal_nan=True)


@pytest.mark.extended("Line", "HMM")
@pytest.mark.parametrize("name", ["Line", "HMM", "LinearGaussian"])
def test_so_it_does_after_a_warmup_up_to_a_threshold(name, tmp_path):
    one, other = both(
        name, "minibatches", tmp_path, warmup="threshold", step_size=sgmc.Polynomial(0.02, 1, 0.5)
    )
    assert (one.draws == other.draws).all()


def test_a_race_goes_on_with_what_it_chose(tmp_path):
    model = MODELS["TiedMeans"][0]()
    part = model.fit(tune="mamba", sampler="sgld", **RUN)
    part.save(tmp_path / "run")
    one, other = part.resume(draws=7), sgmc.load(tmp_path / "run").resume(draws=7, data=model)
    assert (one.draws == other.draws).all()


def test_a_checkpoint_takes_more_draws(tmp_path):
    """Also where the warmup is as long as what is kept."""
    make, arguments = MODELS["TiedMeans"]
    path, how = tmp_path / "run", {**RUN, **arguments}
    make().fit(checkpoint=path, **how)
    longer = make().fit(checkpoint=path, **{**how, "draws": 27})
    assert (longer.draws == make().fit(**how).resume(draws=7).draws).all()


@pytest.mark.mistake("going on: the warmup of more draws")
@pytest.mark.parametrize("name", ["TiedMeans", "LDA"])
def test_another_warmup_is_noticed(name, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "continued", lambda plan, saved: plan)
    with pytest.raises(ArgumentError, match="warmup was 40, here it is 54"):
        both(name, "minibatches", tmp_path)
