"""What every model promises, whatever it is: see `cases`, where a new one adds a line."""

import inspect
import pickle

import numpy as np
import pytest

import sgmc
from sgmc.core.expansion import of_rows

from .cases import BASES, MODELS, SHORT

pytestmark = [
    pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning"),
    pytest.mark.parametrize("name", MODELS),
]


def run(name, **more):
    """A short run."""
    make, arguments = MODELS[name]
    return make().fit(**{**SHORT, **arguments, **more})


def test_every_public_model_has_a_case(name):
    public = {
        n
        for n in sgmc.__all__
        if inspect.isclass(getattr(sgmc, n)) and issubclass(getattr(sgmc, n), sgmc.Model)
    }
    assert public - BASES <= set(MODELS)


def test_check_model_finds_nothing(name):
    report = sgmc.check_model(MODELS[name][0]())
    assert report.ok, report


def test_rows_add_up_with_repetition(name):
    model = MODELS[name][0]()
    kernel, theta = model.kernel(), model.starts(np.random.default_rng(1))
    rows = np.random.default_rng(2).integers(0, kernel.n, 9)
    value, g = of_rows(kernel, theta, rows)
    each = [of_rows(kernel, theta, [row]) for row in rows]
    assert value == pytest.approx(sum(v for v, _ in each), rel=1e-10)
    assert g == pytest.approx(sum(one for _, one in each), rel=1e-9, abs=1e-9)


@pytest.mark.extended("Line", "StochasticVolatility", "StochasticVolatility by particles")
def test_draws_are_the_same_for_any_number_of_threads(name):
    assert (run(name, threads=1).draws == run(name, threads=2).draws).all()


@pytest.mark.extended
def test_going_on_is_as_if_it_had_never_stopped(name, tmp_path):
    whole = run(name, draws=80)
    part = run(name)
    assert (part.resume(draws=20).draws == whole.draws).all()
    part.save(tmp_path / "file")
    assert (
        sgmc.load(tmp_path / "file").resume(draws=20, data=MODELS[name][0]()).draws == whole.draws
    ).all()


@pytest.mark.extended
def test_a_checkpoint_is_gone_on_from(name, tmp_path):
    path = tmp_path / "run"
    run(name, checkpoint=path, draws=30)
    assert (run(name, checkpoint=path).draws == run(name).draws).all()


@pytest.mark.extended("Line", "StochasticVolatility", "StochasticVolatility by particles")
def test_the_summary_is_printed(name):
    results = run(name)
    text = str(results.summary())
    assert max(map(len, text.splitlines())) <= 78 and text.count("Model:") == 1
    assert set(results.model.shapes) == set(MODELS[name][0]().parameters)
    for parameter in results.model.shapes:
        assert results.draws_of(parameter).shape[:2] == (2, 60) and repr(results).startswith("<")


@pytest.mark.extended("Line", "StochasticVolatility", "StochasticVolatility by particles")
def test_models_can_be_pickled(name):
    model = pickle.loads(pickle.dumps(MODELS[name][0]()))
    assert (model.fit(**{**SHORT, **MODELS[name][1]}).draws == run(name).draws).all()


@pytest.mark.parametrize("argument", ["weights", "offset", "cov_type", "formula"])
def test_arguments_of_regressions_are_refused(name, argument):
    with pytest.raises(sgmc.errors.ArgumentError, match=f"{argument} does not apply"):
        run(name, **{argument: 1})
