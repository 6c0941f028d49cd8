"""Users' models in numpy, JAX, compiled code and Cython: the same draws; errors that surface;
what `check_model` says.
"""

import ctypes
import os
import pickle
import shutil
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest
from scipy import LowLevelCallable

import sgmc
from sgmc.errors import ArgumentError, DataError, NotSupported

from . import models
from .models import Line, WithoutGradient, table

EXAMPLE = Path(__file__).parents[2] / "examples" / "cython_model"
# of parameters of order one: other orders of summation, through some hundred contracting steps
SAME = 1e-9
SIGNATURE = ctypes.CFUNCTYPE(
    ctypes.c_double,
    ctypes.c_int64,
    ctypes.POINTER(ctypes.c_double),
    ctypes.c_int64,
    ctypes.POINTER(ctypes.c_int64),
    ctypes.POINTER(ctypes.c_double),
    ctypes.c_void_p,
)
COMMON = dict(parameters=Line.parameters, constraints=Line.constraints, prior=Line.prior)
RUNS = {
    "mala": dict(sampler="mala", draws=200, warmup=100),
    "lmsgld": dict(sampler="lmsgld", step_size=0.5, batch_size=50, draws=200, thin=2),
    "sghmc, simple": dict(
        sampler="sghmc", gradient="simple", step_size=0.1, batch_size=50, draws=200, thin=2
    ),
}


def draws(model, run="lmsgld", **more):
    """Draws of a short run."""
    return model.fit(seed=3, chains=2, **{**RUNS[run], **more}).draws


def compiled_line():
    """The function of a compiled model, here one that ctypes makes of Python."""
    own = Line()

    def density(d, theta, m, rows, grad, data):
        at, chosen = np.ctypeslib.as_array(theta, (d,)), np.ctypeslib.as_array(rows, (m,))
        named = {"b": at[:2], "sigma": at[2]}
        slopes = own.grad(named, chosen)
        np.ctypeslib.as_array(grad, (d,))[:] = [*slopes["b"], slopes["sigma"]]
        return own.log_lik(named, chosen)

    return SIGNATURE(density)


@pytest.fixture(scope="module")
def expected():
    return {run: draws(Line(), run) for run in RUNS}


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("run", RUNS)
class TestTheSameDraws:
    @pytest.mark.extended
    def test_without_a_gradient(self, expected, run):
        # of finite differences
        assert np.abs(draws(WithoutGradient(), run) - expected[run]).max() < 1e-5

    @pytest.mark.cover(0)
    def test_from_an_address(self, expected, run):
        function = compiled_line()
        address = ctypes.cast(function, ctypes.c_void_p).value
        for given in (function, address, LowLevelCallable(function)):
            model = sgmc.CompiledModel(given, models.N, **COMMON)
            assert np.abs(draws(model, run, threads=1) - expected[run]).max() < SAME

    @pytest.mark.extended
    def test_in_jax(self, expected, run):
        pytest.importorskip("jax")
        assert np.abs(draws(jax_line(), run) - expected[run]).max() < SAME

    @pytest.mark.extended
    def test_in_numba(self, expected, run):
        pytest.importorskip("numba")
        function, data = numba_line()
        model = sgmc.CompiledModel(function, models.N, data=data, **COMMON)
        assert np.abs(draws(model, run) - expected[run]).max() < SAME

    @pytest.mark.extended
    def test_in_cython_from_elsewhere(self, expected, run, built):
        assert np.abs(draws(built.Line(*table()), run) - expected[run]).max() < SAME

    @pytest.mark.extended("lmsgld", "sghmc, simple")
    def test_in_threads(self, expected, run):
        assert (draws(Line(), run, threads=2) == expected[run]).all()


def jax_line():
    """The model in JAX."""
    import jax.numpy as jnp

    def log_lik(theta, batch):
        X, y = batch
        e = (y - X @ theta["b"]) / theta["sigma"]
        return -0.5 * jnp.sum(e**2) - y.shape[0] * jnp.log(theta["sigma"])

    return sgmc.JaxModel(log_lik, table(), **COMMON)


def numba_line():
    """The model as a numba cfunc, and its data as one array."""
    from numba import carray, cfunc, types

    data = np.column_stack(table())

    @cfunc(
        types.double(
            types.int64,
            types.CPointer(types.double),
            types.int64,
            types.CPointer(types.int64),
            types.CPointer(types.double),
            types.CPointer(types.double),
        )
    )
    def density(d, theta, m, rows, grad, table):
        at, slope = carray(theta, d), carray(grad, d)
        chosen, xy = carray(rows, m), carray(table, (models.N, 3))
        total = 0.0
        for i in chosen:
            e = (xy[i, 2] - xy[i, 0] * at[0] - xy[i, 1] * at[1]) / at[2]
            total -= 0.5 * e * e + np.log(at[2])
            slope[0] += e * xy[i, 0] / at[2]
            slope[1] += e * xy[i, 1] / at[2]
            slope[2] += (e * e - 1) / at[2]
        return total

    return density, data


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_one_program_of_jax_for_value_and_gradient():
    pytest.importorskip("jax")
    model, traced = jax_line(), []
    plainly = model.log_lik_of_batch

    def log_lik(theta, batch):
        traced.append(batch[1].shape[0])
        return plainly(theta, batch)

    model.log_lik_of_batch = log_lik
    arguments = dict(seed=1, draws=20, chains=1, sampler="mala")
    first = model.fit(**arguments).draws
    assert set(traced) == {models.N}  # all rows, as they are
    programs = len(traced)
    assert (model.fit(**arguments).draws == first).all()
    assert len(traced) == programs  # which later fits use again
    model.data = (model.data[0], model.data[1] + 1.0)
    assert np.abs(model.fit(**arguments).draws - first).max() > 0.1


def test_rows_whose_expansions_are_taken_at_once():
    """Of one call, and of each row by itself: as by a call for each of the three gradients."""
    jnp = pytest.importorskip("jax.numpy")
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    model = sgmc.JaxModel(
        lambda theta, data: jnp.sum(jnp.sin(data[0] @ theta["b"]) * data[1]),
        (X, y),
        parameters={"b": 3},
    )
    kernel, share = model.kernel(), 0.1
    theta, centre = rng.normal(size=(2, 3))
    places = np.array([theta, centre + share * (theta - centre), centre])

    def slope(place, rows):
        return np.cos(X[rows] @ place) * y[rows] @ X[rows]

    def wanted(rows):
        here, near, there = (slope(one, rows) for one in places)
        return here - there - (near - there) / share

    some = np.array([3, 17, 4])
    for rows in (some, slice(5, 9)):
        np.testing.assert_allclose(kernel.expanded(places, share, rows), wanted(rows), rtol=1e-10)
    each = kernel.each(places, share, some)
    np.testing.assert_allclose(each, [wanted(some[[k]]) for k in range(3)], rtol=1e-10)


def test_arrays_that_jax_returns_are_refused():
    jnp = pytest.importorskip("jax.numpy")
    model = sgmc.JaxModel(lambda theta, y: jnp.square(y), np.ones(3), parameters={"a": ()})
    with pytest.raises(
        ArgumentError, match=r"returned an array of shape \(3,\); it must return one"
    ):
        model.fit()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The example package, built outside of the tree where there is a compiler."""
    pytest.importorskip("Cython")
    if not EXAMPLE.exists() or shutil.which("cc") is None and shutil.which("gcc") is None:
        pytest.skip("no compiler, or no examples")
    place = tmp_path_factory.mktemp("outside") / "model"
    shutil.copytree(EXAMPLE, place)
    home = str(Path(sgmc.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([home, os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=place,
        env=env,
        text=True,
        capture_output=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    sys.path.insert(0, str(place))
    try:
        import line_model
    finally:
        sys.path.remove(str(place))
    return line_model


def test_a_module_built_for_other_contracts_says_so(built):
    code = "import sgmc.core.contract as c\nc.abi = lambda: 999\nimport line_model"
    place = str(Path(built.__file__).parent)
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([place, str(Path(sgmc.__file__).parents[1])]),
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, text=True, capture_output=True, timeout=60
    )
    assert done.returncode == 1 and "build it again" in done.stderr


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
class TestErrors:
    def test_of_users_surface_as_they_are(self):
        with pytest.raises(ZeroDivisionError, match="of the user's own") as error:
            models.Crashing().fit(
                seed=1,
                prior="flat",
                sampler="sgld",
                precondition=None,
                step_size=0.01,
                init=[1.0, -0.5, 0.8],
                draws=500,
            )
        frames = traceback.extract_tb(error.value.__traceback__)
        assert any(
            frame.name == "grad" and frame.filename.endswith("models.py") for frame in frames
        )

    def test_many_parameters_need_a_gradient(self):
        class Wide(WithoutGradient):
            parameters = {"b": (5, 10), "sigma": ()}

        with pytest.raises(
            NotSupported,
            match=(
                "no grad, and 51 parameters are too many to do without .at most 50.; "
                "write grad, .*NumbaModel.*JaxModel"
            ),
        ):
            Wide().fit(seed=1)

    def test_a_model_without_a_density(self):
        class Empty(sgmc.Model):
            parameters, n = {"a": ()}, 3

        with pytest.raises(ArgumentError, match="Empty needs log_lik"):
            sgmc.sample(Empty(), seed=1)

    @pytest.mark.parametrize("n", [None, 0, 2.5, True])
    def test_numbers_of_rows(self, n):
        one = Line()
        one.n = n
        with pytest.raises(
            ArgumentError, match="n=.* must be a whole number, at least 1; it is the number of rows"
        ):
            one.fit(seed=1)

    def test_a_start_outside(self):
        with (
            pytest.raises(ArgumentError, match="Infinite: log_lik is nan at the start .b.0.="),
            np.errstate(invalid="ignore"),
        ):
            models.Infinite().fit(seed=1)

    def test_functions_without_an_address(self):
        with pytest.raises(ArgumentError, match="has no address"):
            sgmc.CompiledModel(len, 3, parameters={"a": ()}).fit(seed=1)

    def test_data_of_different_lengths(self):
        pytest.importorskip("jax")
        with pytest.raises(DataError, match="all must have as many"):
            sgmc.JaxModel(lambda theta, batch: 0.0, (np.ones(3), np.ones(4)), parameters={"a": ()})

    @pytest.mark.parametrize("data", [(), None, {}], ids=str)
    def test_no_data(self, data):
        pytest.importorskip("jax")
        with pytest.raises(DataError, match=r"no array: .* np.zeros\(1\) for a density without"):
            sgmc.JaxModel(lambda theta, batch: 0.0, data, parameters={"a": ()})

    def test_a_fit_without_densities_of_rows_is_not_compared(self):
        fits = [models.Line().fit(seed=1, sampler="laplace", draws=50)] * 2
        with pytest.raises(ArgumentError, match="model0 is a fit of Line, of which only sums"):
            sgmc.compare(*fits)

    def test_what_is_no_model(self):
        with pytest.raises(ArgumentError, match="not float"):
            sgmc.sample(1.0)
        with pytest.raises(ArgumentError, match="not float"):
            sgmc.check_model(1.0)


BROKEN = {
    "WrongGradient": (
        r"grad is wrong for 1 of 3 numbers, most for 'sigma': it is -[\d.]+, but differences of "
        r"log_lik give [\d.]+ \(a factor of -1\)"
    ),
    "Mean": "log_lik does not add up over rows: 200 rows give .*return the sum .*, not their mean",
    "Deaf": "log_lik ignores rows: half of them give what all of them give",
    "Noisy": "two calls with the same arguments differ, by .*random numbers",
    "Infinite": r"log_lik is nan at the start \(b\[0\]=.*\)",
    "Shapeless": r"Shapeless.grad returned an array of shape \(2,\) where .*must return \(3,\)",
    "Rowwise": r"log_lik returned an array of shape \(400,\) where b.*it must return one number",
    "Single": "log_lik returns float32",
    "Misnamed": "prior: 'beta' is not a parameter; they are: b, sigma",
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
class TestCheckModel:
    @pytest.mark.parametrize("name", BROKEN)
    def test_what_is_wrong_is_said(self, name):
        import re

        report = sgmc.check_model(getattr(models, name)())
        assert not report.ok
        assert re.search(BROKEN[name], str(report))
        assert str(report).startswith(f"{name}: ")

    @pytest.mark.parametrize(
        "make",
        [Line, WithoutGradient, lambda: sgmc.TiedMeans(np.random.default_rng(0).normal(size=30))],
    )
    def test_nothing_is_found_where_nothing_is_wrong(self, make):
        report = sgmc.check_model(make())
        assert report.ok and "nothing wrong was found" in str(report), report

    def test_flat_priors_are_a_note(self):
        report = sgmc.check_model(Line(), prior="flat")
        assert report.ok and "the prior of b[0], b[1], sigma is flat" in str(report)

    def test_priors_by_hand_are_looked_at(self):
        class Wrong(Line):
            prior = None

            def log_prior(self, theta):
                return -theta["sigma"]

            def grad_log_prior(self, theta):
                return {"b": np.zeros(2), "sigma": 1.0}

        assert "grad_log_prior is wrong for 1 of 3 numbers, most for 'sigma'" in str(
            sgmc.check_model(Wrong())
        )

    @pytest.mark.extended
    def test_compiled_models_too(self, built):
        assert sgmc.check_model(built.Line(*table())).ok


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_matrix_products_of_users_have_one_blas_thread():
    from threadpoolctl import threadpool_info

    seen = set()

    class Looking(Line):
        """Looks at how many threads BLAS has, while it is asked for gradients."""

        def grad(self, theta, rows):
            if not seen:
                seen.add(
                    max(
                        pool["num_threads"]
                        for pool in threadpool_info()
                        if pool["user_api"] == "blas"
                    )
                )
            return Line.grad(self, theta, rows)

    model = Looking()
    model.scaled = False  # the chains' gradients are the first
    model.fit(seed=1, sampler="sgld", step_size=1e-4, draws=10, chains=1)
    assert seen == {1}


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_results_of_a_local_class_can_be_saved(tmp_path):
    class Local(Line):
        """Not to be imported from anywhere."""

    done = Local().fit(seed=1, sampler="laplace", draws=100)
    done.save(tmp_path / "a")
    assert (sgmc.load(tmp_path / "a").draws_of("b") == done.draws_of("b")).all()


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_models_can_be_pickled():
    again = pickle.loads(pickle.dumps(Line()))
    assert (draws(again) == draws(Line())).all()
