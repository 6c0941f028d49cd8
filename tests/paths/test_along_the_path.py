"""Draws on a grid of the skeleton, expectations along it, and what the summary reports."""

import numpy as np
import pytest

from sgmc.errors import ArgumentError, NotSupported

from .cases import NAMES, fit

# ---- the grid of draws, the skeleton and expectations along it -----------------------------------


@pytest.mark.extended("lipsbps", "zzss")
@pytest.mark.parametrize("name", NAMES)
def test_draws_lie_on_a_regular_grid_of_the_skeleton(name):
    results = fit(name)
    spacing = results.chain_diagnostics().spacing
    for k in range(4):
        turns = results.skeleton(k)
        times = spacing[k] * np.arange(1, results.draws.shape[1] + 1)
        times = times[times < turns.times[-1]]
        at = np.searchsorted(turns.times, times, side="right") - 1
        line = (
            turns.positions.to_numpy()[at]
            + (times - turns.times[at])[:, None] * turns.velocities.to_numpy()[at]
        )
        np.testing.assert_allclose(results.draws[k, : len(times)], line, rtol=1e-7, atol=1e-7)
        steps = np.diff(turns.times)[:, None] * turns.velocities.to_numpy()[:-1]
        np.testing.assert_allclose(
            np.diff(turns.positions.to_numpy(), axis=0), steps, rtol=1e-6, atol=1e-9
        )


@pytest.mark.extended("zzcv")
@pytest.mark.parametrize("name", ["zigzag", "bps", "zzcv"])
def test_draws_are_about_an_autocorrelation_time_apart(name):
    results = fit(name, 1000)
    assert 0.3 < results.ess("mean").min() / 4000 <= 1.6


def test_expectations_along_the_path():
    results = fit("zigzag", 500)
    parts = [results.skeleton(k) for k in range(4)]
    spans, starts, ends = (
        np.concatenate(some)
        for some in zip(
            *(
                (np.diff(p.times), p.positions.to_numpy()[:-1], p.positions.to_numpy()[1:])
                for p in parts
            )
        )
    )
    first = spans @ (starts + ends) / 2 / spans.sum()
    second = spans @ (starts**2 + starts * ends + ends**2) / 3 / spans.sum()
    for f, right in (
        (lambda b: b, first),
        (lambda b: b**2, second),
        (lambda b: b[:, 1], first[1:2]),
    ):
        np.testing.assert_allclose(results.expect(f, points=2)["mean"], right, rtol=1e-10)
    summary = results.path_summary()
    # that of the last line is in one of them
    np.testing.assert_allclose(summary["mean"], first, atol=0.1 * summary.sd.min())
    np.testing.assert_allclose(summary.sd, np.sqrt(second - first**2), rtol=1e-9)
    assert list(summary.index) == results.names and (summary.ess > 0.5 * results.ess("mean")).all()
    error = results.expect(lambda b: np.sin(3 * b), points=8)
    assert (
        np.abs(error["mean"].to_numpy() - np.sin(3 * results.flat).mean(axis=0)).max()
        < 6 * error.mcse.max() + 0.05
    )


@pytest.mark.extended
def test_errors_of_expectations_are_right():
    """Over 40 seeds the spread of an expectation is its reported error, within 40 %: its own
    sampling error is 11 % for each.
    """
    found = [
        fit("zigzag", 100, chains=1, seed=k).expect(np.exp).to_numpy()[:, [0, 2]] for k in range(40)
    ]
    means, errors = np.array(found)[:, :, 0], np.array(found)[:, :, 1]
    assert np.abs(means.std(axis=0, ddof=1) / np.sqrt((errors**2).mean(axis=0)) - 1).max() < 0.4


@pytest.mark.parametrize(
    "call", [lambda r: r.expect(np.sin), lambda r: r.path_summary(), lambda r: r.skeleton()]
)
def test_samplers_in_steps_have_no_path(call):
    with pytest.raises(NotSupported, match="mala has no path in continuous time"):
        call(fit("mala"))


def test_what_cannot_be_expected():
    results = fit("zigzag", 100)
    with pytest.raises(ArgumentError, match=r"f gave an array of shape \(\)"):
        results.expect(np.mean)
    with pytest.raises(ArgumentError, match="points=0"):
        results.expect(np.sin, points=0)
    with pytest.raises(ArgumentError, match="chain=4 must be a whole number from 0 to 3"):
        results.skeleton(4)


def test_a_full_skeleton_leaves_means_of_the_whole_path(monkeypatch):
    from sgmc.fit import paths

    whole = fit("zigzag", 500)
    monkeypatch.setattr(paths, "SKELETON", 4 * 50 * 8 * 7)
    part = fit("zigzag", 500)
    assert len(part.skeleton().times) == 50 and np.array_equal(part.draws, whole.draws)
    np.testing.assert_array_equal(part.skeleton().positions, whole.skeleton().positions[:50])
    np.testing.assert_array_equal(part.path_summary()["mean"], whole.path_summary()["mean"])


# ---- what is said --------------------------------------------------------------------------------


@pytest.mark.extended("lipsbps", "zzss")
@pytest.mark.parametrize("name", NAMES)
def test_the_summary_speaks_of_events(name):
    results = fit(name)
    head = dict(results.header[0] + results.header[1])
    assert head["Sampler"] == name and "Step size" not in head and "Acceptance" not in head
    assert head["Minibatch"] == ("all rows" if name in ("zigzag", "bps") else "1 row")
    table = results.chain_diagnostics()
    assert head["Events"] == f"{table.steps.sum():.4g}"
    assert float(head["Draw spacing"].split("-")[0]) > 0
    assert table.acceptance.between(0, 1, inclusive="neither").all()
    assert table.step_size.isna().all()
    assert max(map(len, str(results.summary()).split("\n"))) <= 78
    with pytest.raises(NotSupported, match="gradient_noise"):
        results.gradient_noise()


def test_without_warmup_the_spacing_is_what_the_sampler_expects():
    results = fit("zigzag", warmup=0, init=[0.0, 0.5, 0.0])
    assert (results.chain_diagnostics().spacing == 2.0).all() and np.isnan(results.step_size)
    np.testing.assert_allclose(results.skeleton(1).positions.iloc[0], [0.0, 0.5, 0.0], atol=1e-12)
