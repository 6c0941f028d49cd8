"""Models of PyMC, compiled by PyTensor: their density, names, and what is refused."""

import sys

import numpy as np
import pytest

import sgmc
from sgmc.core.expansion import of_rows
from sgmc.errors import ArgumentError, MissingExtra


def test_without_pymc(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymc", None)
    with pytest.raises(MissingExtra, match="PyMCModel needs pymc and numba"):
        sgmc.PyMCModel(None)


@pytest.fixture(scope="module")
def source():
    pm = pytest.importorskip("pymc")
    with pm.Model(coords={"school": ["A", "B", "C"]}) as model:
        mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
        pm.Uniform("p", 1, 3)
        pm.Beta("q", 2, 2)
        pm.Dirichlet("s", np.ones(3))
        pm.Normal("o", shape=2, transform=pm.distributions.transforms.ordered)
        pm.LKJCholeskyCov("L", n=2, eta=1, sd_dist=pm.Exponential.dist(1))
        pm.Uniform("u", 0, tau)  # an end that depends on a parameter
        z = pm.Normal("z", dims="school")
        theta = pm.Deterministic("theta", mu + tau * z, dims="school")
        pm.Normal("y", theta, pm.Data("se", [9.0, 10.0, 11.0]), observed=[28.0, 8.0, -3.0])
        pm.Normal("w", initval=0.5)
    return model


@pytest.fixture(scope="module")
def model(source):
    return sgmc.PyMCModel(source)


def test_names_constraints_and_dims_are_the_model_s(model):
    names = ["mu", "tau", "p", "q", "s", "o"]
    assert list(model.parameters)[:6] == names  # in its order
    assert set(model.parameters) == {
        *("mu", "tau", "p", "q", "s", "o", "z", "w", "L_cholesky-cov-packed__", "u_interval__")
    }
    assert model.constraints == {
        "tau": "positive",
        "p": ("interval", 1.0, 3.0),
        "q": ("interval", 0.0, 1.0),
        "s": "simplex",
        "o": "ordered",
    }
    assert model.dims == {"z": ["school"]}
    assert model.coords == {"school": ["A", "B", "C"]}


def test_the_density_is_pymc_s_and_has_its_gradient(source, model):
    layout, rng = model.layout(), np.random.default_rng(0)
    theta = layout.map(0.3 * rng.normal(size=len(layout.free_names)))
    value, slope = of_rows(model.kernel(), theta)
    parts, point = layout.unpack(theta), {}
    for one in model.variables:
        here, inputs = parts[one.name], one.variable.owner.inputs
        point[one.value.name] = (
            here if one.transform is None else one.transform.forward(here, *inputs).eval()
        )
    raw = [one for one in model.variables if one.transform is None]
    with_jacobian, without = (
        source.compile_logp(jacobian=both, sum=False)(point) for both in (True, False)
    )
    names = [one.name for one in source.basic_RVs]
    kept = {one.variable.name for one in raw}
    expected = sum(
        np.sum(a if name in kept else b) for name, a, b in zip(names, with_jacobian, without)
    )
    assert value == pytest.approx(expected, rel=1e-12)
    # central differences with steps of 1e-6
    steps = 1e-6 * np.eye(len(theta))
    there, back = ([model.log_lik(theta + k * h, None) for h in steps] for k in (1, -1))
    np.testing.assert_allclose(slope, np.subtract(there, back) / 2e-6, rtol=1e-6, atol=1e-6)


def test_data_are_those_at_the_time_of_the_call():
    pm = pytest.importorskip("pymc")
    with pm.Model() as source:
        y = pm.Data("y", [1.0, 2.0, 3.0])
        pm.Normal("mu", 0, 10)
        pm.Normal("seen", source["mu"], 1, observed=y)
    before = sgmc.PyMCModel(source)
    source.set_data("y", [7.0, 8.0, 9.0, 10.0])
    first, second = (one.log_lik(np.array([2.0]), None) for one in (before, sgmc.PyMCModel(source)))
    apart = 0.5 * (25 + 36 + 49 + 64) + 0.5 * np.log(2 * np.pi) - 1.0
    assert first - second == pytest.approx(apart)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_draws_and_deterministics(model):
    results = model.fit(sampler="nuts", draws=200, warmup=200, chains=2, seed=1)
    found = model.deterministics(results)
    mu, tau, z = (results.draws_of(name) for name in ("mu", "tau", "z"))
    np.testing.assert_allclose(found["theta"], mu[..., None] + tau[..., None] * z, rtol=1e-12)
    assert found["u"].shape == (2, 200)
    assert (found["u"] < tau).all()
    # of a uniform distribution on (1, 3) and of a Dirichlet: four Monte Carlo errors at 100 draws
    assert results.mean_of("p") == pytest.approx(2.0, abs=0.25)
    assert results.mean_of("s") == pytest.approx(1 / 3, abs=0.1)


def test_what_is_refused():
    pm = pytest.importorskip("pymc")
    with pytest.raises(ArgumentError, match="must be a pymc.Model, not int"):
        sgmc.PyMCModel(1)
    with pm.Model() as counts:
        pm.Poisson("k", 3)
    with pytest.raises(ArgumentError, match="'k' is discrete"):
        sgmc.PyMCModel(counts)
    with pytest.raises(ArgumentError, match="prior is the PyMC model's own"):
        sgmc.PyMCModel(counts, prior={})
