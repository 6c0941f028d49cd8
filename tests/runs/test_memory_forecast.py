"""Memory is forecast before anything large is built, and what is too much is refused by name."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.core.system import memory
from sgmc.errors import OutOfMemoryError, SGMCError
from sgmc.models.regression import memory as of_regression
from sgmc.models.regression import problem
from sgmc.results.effects import kept as of_effects

MB = 1 << 20


def frame(n=1000, levels=60):
    random = np.random.default_rng(0)
    df = pd.DataFrame({"y": random.integers(0, 2, n), "x": random.normal(size=n)})
    return df.assign(g=pd.Categorical.from_codes(np.arange(n) % levels, [*map(str, range(levels))]))


def write(root, path, text):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


# ---- what is available ---------------------------------------------------------------------------


def test_what_the_machine_has_left(tmp_path):
    write(tmp_path, "proc/meminfo", "MemTotal: 999 kB\nMemAvailable:    400 kB\n")
    assert memory.available(tmp_path) == 400 * 1024


def test_without_meminfo_it_is_all_that_the_machine_has(tmp_path, monkeypatch):
    pages = {"SC_PHYS_PAGES": 7, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(memory.os, "sysconf", pages.__getitem__)
    assert memory.available(tmp_path) == 7 * 4096
    monkeypatch.delattr(memory.os, "sysconf")
    assert memory.available(tmp_path) == np.inf


@pytest.mark.parametrize(
    "where, most, left",
    [
        ("box/inner", "1000000", 1000000 - 300000 + 50000),
        ("box", "700000", 450000),  # a group around the own one
        ("box/inner", "max", np.inf),
        ("box/inner", "200000", 0),  # over its limit but for files: nothing is left
    ],
)
def test_control_groups_of_version_2(tmp_path, where, most, left):
    write(tmp_path, "proc/self/cgroup", "0::/box/inner\n")
    files = 0 if left == 0 else 50000
    for name, text in (
        ("max", most),
        ("current", "300000"),
        ("stat", f"anon 1\ninactive_file {files}\n"),
    ):
        write(tmp_path, f"sys/fs/cgroup/{where}/memory.{name}", text)
    assert min(memory.groups(tmp_path)) == left


def test_control_groups_of_version_1(tmp_path):
    write(tmp_path, "proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a\n")
    folder = "sys/fs/cgroup/memory/a/memory."
    write(tmp_path, folder + "usage_in_bytes", "10")
    write(tmp_path, folder + "stat", "inactive_file 1\ntotal_inactive_file 4\n")
    for most, left in (("100", 94), (str(2**63 - 4096), np.inf)):
        write(tmp_path, folder + "limit_in_bytes", most)
        assert min(memory.groups(tmp_path)) == left


def test_a_gauge_tells_a_peak_from_a_bound(tmp_path, monkeypatch):
    readings = iter([(10 * MB, 50 * MB), (20 * MB, 50 * MB), (10 * MB, 50 * MB), (0, 70 * MB)])
    monkeypatch.setattr(memory, "resident", lambda: next(readings))
    assert str(memory.Gauge().used(39 * MB)) == (
        "Peak memory: at most 40 MB above the start of the fit (forecast: 39 MB)."
    )
    assert "Peak memory: 60 MB above" in str(memory.Gauge().used(39 * MB))


def test_a_system_that_does_not_tell(tmp_path):
    assert np.isnan(memory.resident(tmp_path / "none")).all()
    used = memory.Used(np.nan, False, 5.0 * MB)
    assert str(used) == "Peak memory: forecast 5 MB; this system does not tell it."


# ---- forecasts -----------------------------------------------------------------------------------


def test_copies_for_effects_are_counted():
    """A design of 76 MB is there twice after the fit, one of more than the limit once."""
    data = of_data(np.broadcast_to(np.zeros(10), (10**6, 10)))
    assert forecast(data).parts["columns for effects"] == 8e7
    assert (
        "columns for effects"
        not in forecast(of_data(np.broadcast_to(np.zeros(10), (2 * 10**6, 10)))).parts
    )


def test_a_forecast_counts_cells_and_draws(monkeypatch):
    """A million rows of ten columns: the design is 76 MB; in float32 half of it."""
    X = np.broadcast_to(np.zeros(10), (10**6, 10))
    monkeypatch.setattr(of_effects, "MOST_COPIED", 0)  # the peak without copies for effects
    data = of_data(X)
    wide = forecast(data)
    narrow = forecast(data, dtype="float32")
    assert wide.parts["design"] == 8e7 and wide.total - narrow.total == 4e7
    assert wide.parts["leverage of the rows"] == 2 * 8e6
    # two copies and a half of all draws, four of the thousand that have scores
    many = 8 * (2.5 * 4 * 10**5 + 4 * 1000) * 10
    assert forecast(data, draws=10**5).parts["draws"] == pytest.approx(many)
    more = forecast(data, draws=10**5, chains=8).total - forecast(data, draws=10**5).total
    assert more == pytest.approx(8 * 2.5 * 4 * 10**5 * 10)


def of_data(X):
    from sgmc.models.regression.rows.data import RegressionData

    names = [f"x{j}" for j in range(X.shape[1])]
    terms = {name: slice(j, j + 1) for j, name in enumerate(names)}
    return RegressionData(np.zeros(len(X)), names, terms, None, "y", X)


def forecast(data, **how):
    from sgmc.fit.settings import check_settings

    return of_regression.forecast(data, sgmc.Logit.family, check_settings(**how), "dense")


def test_it_is_printed_on_request():
    model = sgmc.Logit.from_formula("y ~ x + g", frame())
    found = model.memory(draws=500, prior="flat")
    lines = str(found).splitlines()
    assert lines[0].split()[0] == "design" and lines[-2].startswith("peak")
    assert found.total == sum(found.parts.values()) < found.available
    with pytest.raises(TypeError, match="Logit.memory\\(\\) .* 'drawz'"):
        model.memory(drawz=1)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_the_summary_has_peak_and_forecast_beside_each_other():
    model = sgmc.Logit.from_formula("y ~ x", frame())
    results = model.fit(seed=1)
    assert results.memory.forecast == model.memory().total
    assert "Peak memory:" in str(results.summary(details=True))
    assert "Peak memory" not in str(results.summary())


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "formula, how, said",
    [
        ("y ~ x + g", {}, r"'g' has 59 of the 61 columns of the design; join its rare levels"),
        ("y ~ x", {}, r"the table has 1000 rows and 2 columns; use dtype='float32'"),
        ("y ~ x", dict(draws=50_000), r"draws=50000 in 4 chains are the largest part; keep fewer"),
    ],
)
def test_what_is_too_much_is_refused_before_it_is_built(formula, how, said, monkeypatch):
    def never(*arguments, **how):
        raise AssertionError("a design was built")

    monkeypatch.setattr(problem, "prepare", never)
    monkeypatch.setattr(of_regression, "available", lambda: 5.0 * MB)
    match = rf"the fit would need about \d+ MB, and 5 MB are available: {said}"
    with pytest.raises(OutOfMemoryError, match=match) as caught:
        sgmc.logit(formula, frame(), **how)
    assert isinstance(caught.value, MemoryError) and isinstance(caught.value, SGMCError)


def test_memory_that_ends_in_a_fit_is_named(monkeypatch):
    def no_room(*arguments, **how):
        raise MemoryError("Unable to allocate 3.00 GiB")

    monkeypatch.setattr(problem, "prepare", no_room)
    match = r"memory is exhausted \(Unable to allocate 3.00 GiB\): 'g' has 59 of the 61 columns"
    with pytest.raises(OutOfMemoryError, match=match):
        sgmc.logit("y ~ x + g", frame(), seed=1)


def test_memory_that_ends_in_a_model_of_a_user_is_named():
    class Large(sgmc.Model):
        parameters, n = {"mu": ()}, 5

        def log_lik(self, theta, rows):
            raise MemoryError

    match = "memory is exhausted: 1 parameters, draws=1000 in 4 chains, 5 rows; keep fewer draws"
    with pytest.raises(OutOfMemoryError, match=match):
        Large().fit(seed=1)


def test_memory_that_ends_in_a_formula_is_named(monkeypatch):
    def no_room(*arguments):
        raise MemoryError

    monkeypatch.setattr("patsy.design_matrix_builders", no_room)
    with pytest.raises(OutOfMemoryError, match="column 'g' has 60 levels; join rare ones"):
        sgmc.logit("y ~ x + g", frame())


def test_draws_of_chains_are_joined_without_a_copy():
    fit = sgmc.logit("y ~ x", frame(), draws=500, chains=3, seed=1)._fit
    for k, recorder in enumerate(fit.recorders):
        assert np.shares_memory(fit.x[k], np.asarray(recorder.draws))
        np.testing.assert_array_equal(fit.x[k], fit.states[k]["recorder"]["draws"])


def test_curvatures_of_groups_are_forecast():
    """3,000 groups of about ten rows, in which up to 24 of 99 levels occur: 576 numbers a group."""
    random = np.random.default_rng(0)
    n, names = 30_000, [*map(str, range(3000))]
    df = pd.DataFrame({"y": random.integers(0, 2, n), "x": random.normal(size=n)})
    df["g"] = pd.Categorical.from_codes(random.integers(0, 3000, n), names)
    df["h"] = pd.Categorical.from_codes(random.integers(0, 100, n), names[:100])
    found = sgmc.Logit.from_formula("y ~ x + g + h", df).memory(prior=sgmc.normal(0, 1))
    largest = df["g"].value_counts().max()
    width = 2 + largest  # ones, x, and levels
    assert found.parts["scores and curvatures of groups"] == 8 * 3000 * (3 * width + width**2)
