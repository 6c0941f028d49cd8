"""Files, pickles and copies."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, LowESSWarning

from .votes import frame


@pytest.mark.extended("equal weights")
def test_save_and_load(either, data, tmp_path):
    path = tmp_path / "fit.sgmc"
    either.save(path)
    other = sgmc.load(path)
    np.testing.assert_array_equal(other.draws, either.draws)
    assert str(other.summary()) == str(either.summary()) and repr(other) == repr(either)
    new = frame(20, seed=9)
    pd.testing.assert_series_equal(other.predict(new), either.predict(new))
    pd.testing.assert_series_equal(other.hypothesis("x1 > x10"), either.hypothesis("x1 > x10"))
    pd.testing.assert_frame_equal(other.prior_summary(), either.prior_summary())
    assert other.ksd() == either.ksd() and other.warnings == [] and other.sampler == either.sampler
    with pytest.raises(ArgumentError, match="new data"):
        other.predict()
    pd.testing.assert_series_equal(
        pickle.loads(pickle.dumps(other)).predict(new), either.predict(new)
    )


def test_a_file_holds_no_data(tmp_path):
    n = 20_000
    df = frame(n).assign(x1=lambda t: np.round(t.x1, 3) + 1e-7)
    fit, path = sgmc.logit("y ~ x1 + g", df, seed=1, draws=1000), tmp_path / "fit.sgmc"
    fit.save(path)
    content = path.read_bytes()
    # also in sampler coordinates; and the states of four chains
    assert len(content) < 2 * fit.draws.nbytes + 80_000
    for value in df.x1[:50]:
        assert np.float64(value).tobytes() not in content
    larger = sgmc.logit("y ~ x1 + g", pd.concat([df, df]), seed=1, draws=1000)
    larger.save(path)
    assert abs(len(path.read_bytes()) - len(content)) < 10_000


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"garbage",
        b"\x80\x04K\x01.",
        b"x1,x2\n1,2\n",
        pickle.dumps([1, 2]),
        pickle.dumps({"a": 1}),
        pickle.dumps({"sgmc": 1}),
        pickle.dumps({"sgmc": 99, "state": {}}),
        b"c__nowhere__\nf\n.",
    ],
    ids=range(9),
)
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(
        ArgumentError, match="other (is not a file written by Results.save|has format)"
    ):
        sgmc.load(path)


def test_a_file_cut_short_is_refused(results, tmp_path):
    path = tmp_path / "cut"
    results.save(path)
    whole = path.read_bytes()
    for part in (0.01, 0.3, 0.999):
        path.write_bytes(whole[: int(part * len(whole))])
        with pytest.raises(ArgumentError, match="damaged"):
            sgmc.load(path)
    with pytest.raises(FileNotFoundError):
        sgmc.load(tmp_path / "nothing")


def test_pickles_and_copies(results, data):
    for other in (pickle.loads(pickle.dumps(results)), copy.deepcopy(results), copy.copy(results)):
        pd.testing.assert_series_equal(other.params, results.params)
        pd.testing.assert_series_equal(other.predict(data), results.predict(data))
    warning = LowESSWarning("few", "take more")
    again = pickle.loads(pickle.dumps(warning))
    assert (again.message, again.advice, str(again), again.code) == (
        "few",
        "take more",
        "few take more",
        "LowESSWarning",
    )


def test_results_do_not_change_with_use(results, data):
    before = results.draws.copy()
    for use in (
        results.summary,
        results.predict,
        results.cov_params,
        results.to_frame,
        results.get_prediction,
    ):
        use()
    table = results.to_frame()
    table.iloc[:] = 0
    np.testing.assert_array_equal(results.draws, before)
    np.testing.assert_array_equal(results.predict(), results.predict())


def test_diagnostics_gathers_what_single_methods_give(results):
    frame = results.diagnostics()
    assert list(frame.columns) == ["ess_bulk", "ess_tail", "r_hat", "mcse_mean", "mcse_sd"]
    np.testing.assert_array_equal(frame["ess_tail"], results.ess("tail"))
    np.testing.assert_array_equal(frame["mcse_sd"], results.mcse("sd"))
