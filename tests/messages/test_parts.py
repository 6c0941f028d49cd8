"""Parts of the package refuse what the parts around them seldom let through."""

import re
import sys
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pandas as pd
import patsy
import pytest
from scipy import sparse

import sgmc
from sgmc import diagnostics
from sgmc.api import verbs
from sgmc.api.cli import main
from sgmc.arguments.data.survival import uncensored
from sgmc.arguments.data.tables import check_sparse
from sgmc.arguments.files import readable
from sgmc.coordinates.approximations.propagation import marginals
from sgmc.coordinates.priors import prior_checks
from sgmc.coordinates.transforms.layout import Layout
from sgmc.coordinates.whitened import sandwich
from sgmc.coordinates.whitened.arrow import inverse_roots
from sgmc.coordinates.whitened.whitening import joint_axes
from sgmc.core.contract import Gradient, Prior
from sgmc.core.schedules import Polynomial
from sgmc.datasets.readers import idx
from sgmc.diagnostics.ica import _matrices
from sgmc.errors import SGMCError
from sgmc.fit import chains, checkpoint, paths, run, stopping
from sgmc.fit import plan as planning
from sgmc.fit.chains import Workers
from sgmc.fit.settings import check_init, check_with_sampler
from sgmc.registry import room
from sgmc.subsampling.uniform import Uniform

from ..contracts.cases import SCHEMES, stream
from .test_guards import identity, toy

NONE = np.zeros(1)
STEP = SimpleNamespace(step_size=0.1, adaptive=True, draws=9, thin=1, warmup=1, batch_size=None)


def damaged():
    """A sparse array whose rows overlap."""
    X = sparse.csr_array(np.eye(3))
    X.indptr = np.array([0, 2, 1, 3], dtype=X.indptr.dtype)
    return X


def updated():
    """A gradient of a model with conditional updates, behind a map."""
    ratings = pd.DataFrame({"user": [*"abab"], "item": [*"aabb"], "rating": [1.0, 2, 3, 1]})
    kernel = sgmc.BPMF(ratings, dim=1).kernel()
    assert kernel.refreshes
    return Gradient(
        kernel, Prior(kernel.dim), SCHEMES["uniform"](4, 2), stream(0), map=identity(kernel.dim)
    )


def adaptive(sampler):
    """Adaptive batches of a sampler without a target."""
    plain = dict(batch_size=None, adaptive=True, scheme=Uniform, step_size=0.1, warmup=None)
    check_with_sampler(sampler, SimpleNamespace(**plain), None, 10)


def without_a_scale(**spec):
    """`accuracy` where warmup is as long as draws whose number is not known."""
    problem = SimpleNamespace(functionals=None, coordinates=SimpleNamespace(scaled=False))
    settings = SimpleNamespace(accuracy=0.1, client=None, warmup=None)
    choice = planning.Choice(
        problem=problem, settings=settings, gradient="", spec=SimpleNamespace(**spec)
    )
    stopping.refuse_choice(choice)


def of_walkers():
    """Chains of two walkers that keep a part of their parameters."""
    problem, spec = SimpleNamespace(partial=True), SimpleNamespace(name="hmc", walkers=2)
    chains.starts(SimpleNamespace(problem=problem, settings=None, spec=spec), 0)


def unscaled(spec):
    """The plan of a sampler where no scale of the posterior is known."""
    problem = SimpleNamespace(model=SimpleNamespace(n=10))
    choice = planning.Choice(problem=problem, settings=STEP, gradient="plain", spec=spec)
    planning.unscaled_plan(choice)


def not_positive():
    """A start at a scale below zero."""
    settings = SimpleNamespace(init=np.array([[0.0, -1.0]]), chains=1, start_given=True)
    check_init(settings, SimpleNamespace(names=["x", "sigma"], auxiliary=1, report=None))


OF_INPUT = {
    "path=3 must be a path": lambda: readable("path", 3),
    "endog has shape (2, 2); it must be one outcome a row": lambda: uncensored(
        "endog", np.ones((2, 2), complex)
    ),
    "endog has missing values; drop those rows first": lambda: uncensored(
        "endog", np.array([1, np.nan], complex)
    ),
    "its indptr does not ascend from 0": lambda: check_sparse("exog", damaged()),
    "it does not begin as an IDX file of bytes": lambda: idx(b"\x00\x00\x09\x01" + bytes(8)),
    "mixing must be finite": lambda: _matrices("mixing", np.full((2, 2), np.nan)),
    "init: 'sigma' is -1; it must be positive": not_positive,
    "client must be a dask.distributed.Client, not 'here'": lambda: Workers(
        "here", None, None, {}
    ).refuse(None),
}
OF_COORDINATES = {
    "collinear": lambda: inverse_roots(-np.ones((2, 1, 1))),
    "the normal approximation of the posterior is singular": lambda: marginals(
        np.array([[1.0, 2], [2, 1]]), np.zeros(2), np.array([0]), NONE, NONE
    ),
    "has no two rows that could be ascending": lambda: Layout({"a": (3,)}, {"a": "ascending"}),
    "parameters: the name 3 must be text": lambda: Layout({3: ()}, {}),
    "is for parameters on a simplex, 'x' is not": lambda: prior_checks.check(
        [sgmc.dirichlet(1.0)], ["x"], (0,), SimpleNamespace(auxiliary=())
    ),
    "cov_type='robust' with precondition='diagonal'": lambda: sandwich.refuse(None, "diagonal"),
    "its metric is the model's own information": lambda: sandwich.refuse(
        room("samplers")["sgrld"](), "mode"
    ),
}
OF_RUNS = {
    "a model with conditional updates takes no map": updated,
    "Polynomial.between: end=2.0 must be less than start=1.0": lambda: Polynomial.between(
        1.0, 2.0, 10
    ),
    "gamma=1e-09 cannot lead from 1.0 to 0.5 in 10 steps": lambda: Polynomial.between(
        1.0, 0.5, 10, gamma=1e-9
    ),
    "GaussianLocation has no bounds for the rates of events": lambda: toy().row_bounds(),
    "GaussianLocation has no bounds of its remainders": lambda: toy().remainder_bounds(1, NONE),
    "needs a Gaussian approximation of the posterior": lambda: unscaled(
        room("samplers")["csgbd"](adaptive="published")
    ),
    "batch_size='adaptive' needs a Gaussian": lambda: unscaled(sgmc.SGLD()),
    "batch_size='adaptive': sghmc has no target": lambda: adaptive(sgmc.SGHMC(per="step")),
    "hmc with 2 walkers keeps draws of all parameters": of_walkers,
    "accuracy: warmup is as long as the draws": lambda: without_a_scale(
        exact=False, uses_gradient=True, continuous=False, distortion=0.0
    ),
}
CASES = OF_INPUT | OF_COORDINATES | OF_RUNS


@pytest.mark.parametrize("message", CASES)
def test_refusals(message):
    with pytest.raises((SGMCError, ValueError), match=re.escape(message)):
        CASES[message]()


def test_a_source_tree_that_is_not_built(monkeypatch):
    monkeypatch.setitem(sys.modules, "sgmc.core.contract", None)
    spec = sgmc.__spec__
    with pytest.raises(ImportError, match="sgmc is not built here"):
        spec.loader.exec_module(type(sgmc)("sgmc"))


def test_models_that_the_command_line_has_not(capsys):
    assert main(["fit", "y ~ x", "none.csv", "--model", "logti"]) == 2
    assert "--model 'logti' is not known; did you mean 'logit'" in capsys.readouterr().err


def test_checkpoints_that_are_folders(tmp_path):
    with pytest.raises(SGMCError, match="the file is no regular file; delete"):
        checkpoint.read(str(tmp_path))


def test_checkpoints_that_the_system_does_not_open(tmp_path, monkeypatch):
    def refused(path, kind):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(checkpoint, "read_sealed", refused)
    with pytest.raises(SGMCError, match="cannot be read: Permission denied"):
        checkpoint.read(str(tmp_path))


@pytest.mark.parametrize("module", [verbs, diagnostics])
def test_names_that_a_module_has_not(module):
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'nil'"):
        module.nil


def test_axes_of_a_singular_precision():
    with pytest.raises(SGMCError, match="the posterior's precision is singular to rounding"):
        joint_axes(np.eye(2), np.ones((2, 2)), np.ones(2))


def test_terms_whose_design_cannot_be_made(monkeypatch):
    def broken(*given):
        raise RuntimeError("no room")

    monkeypatch.setattr(patsy, "design_matrix_builders", broken)
    with pytest.raises(SGMCError, match="RuntimeError: no room"):
        sgmc.logit("y ~ x", {"y": [0, 1, 1], "x": [1.0, 2.0, 4.0]})


def test_expressions_that_become_text():
    model = sgmc.Logit.from_formula("y ~ np.exp(x)", {"y": [0, 1, 1], "x": [1.0, 2.0, 4.0]})
    (factor,) = model.spec.factors
    object.__setattr__(factor, "evaluate", lambda columns: np.array(["a", "b"]))
    with pytest.raises(
        SGMCError, match=r"must be a number in each row, it has shape \(2,\) of <U1"
    ):
        factor.values(SimpleNamespace(n_rows=2))


def test_workers_with_another_plan(monkeypatch):
    theirs = [({"warmup": 3}, None, "done", [])]
    client = SimpleNamespace(
        scatter=lambda sealed, **how: sealed,
        submit=lambda *given, **how: None,
        gather=lambda futures: theirs,
    )
    monkeypatch.setattr(chains, "in_words", vars)
    with pytest.raises(SGMCError, match=r"found another warmup \(3, here 4\)"):
        Workers(client, None, None, {}).run([None], SimpleNamespace(warmup=4))


@dataclass
class Steps:
    """What a plan has of its steps."""

    problem: object
    settings: object = None
    thin: int = 9
    warmup: int = 9


def test_chains_that_all_diverge_before_a_draw(monkeypatch):
    monkeypatch.setattr(run, "recorder", lambda *given: SimpleNamespace(kept=0))
    chain = SimpleNamespace(run=lambda steps: None, sampler=SimpleNamespace())
    problem = SimpleNamespace(coordinates=SimpleNamespace(scaled=False))
    with pytest.raises(SGMCError, match="every chain diverged before its first draw"):
        run.without_draws(Steps(problem), 0.0, [chain])


def test_draws_too_far_apart(monkeypatch):
    monkeypatch.setattr(planning, "MAX_SPACED_STEPS", 100)
    spec = SimpleNamespace(langevin_time=float, walkers=1)
    steps = Polynomial(1.0, 1.0, 0.9)
    choice = planning.Choice(problem=None, settings=None, gradient="simple", spec=spec)
    how = dict(langevin_time=1.0, batch=1, thin=1, warmup=0, step_origin="given", spaced=True)
    plan = choice.with_steps(schedule=steps, **how)
    with pytest.raises(SGMCError, match="thin='distance': 99 draws need more than 1e"):
        plan.steps(99)


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_slabs_that_leave_zero_no_probability():
    slab = sgmc.normal(0, 1)
    object.__setattr__(slab, "scale", 1e-300)
    priors = SimpleNamespace(names=["x"], used=[slab], slopes=[0])
    spec = SimpleNamespace(name="zigzag", inclusion=1 - 1e-16)
    with pytest.raises(SGMCError, match="leaves no probability for zero"):
        paths.release_rates(spec, priors, SimpleNamespace(map=None))
