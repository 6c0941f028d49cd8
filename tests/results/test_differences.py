"""Log densities whose gradients, sums over rows or boundaries are wrong are seen at the draws;
right ones pass.
"""

from dataclasses import replace

import numpy as np
import pytest

import sgmc
from sgmc.core import engine
from sgmc.fit.problem import Problem
from sgmc.results.checks import differences
from sgmc.results.checks.breaks import broken
from sgmc.results.checks.differences import MATTERS, disagreement

from ..general import models
from ..general.models import CONJUGATE, Line, WithoutGradient

pytestmark = pytest.mark.filterwarnings("ignore")

SHORT = dict(draws=200, warmup=200, chains=2)
BATCHES = dict(sampler="sgld", batch_size=50, step_size=0.01, thin=1)


def fitted(model, seed=1, **how):
    """What a short fit leaves behind, without the check that it begins with."""
    model.checked = False
    return model.fit(**{"seed": seed, "sampler": "mala", **SHORT, **how})._fit


class Scaled(Line):
    """One component of the gradient is 30 % too large."""

    def grad(self, theta, rows):
        g = Line.grad(self, theta, rows)
        return {**g, "sigma": 1.3 * g["sigma"]}


class Many(sgmc.Model):
    """Correlated numbers of unequal sds, one component of whose gradient is 30 % too large."""

    prior = {"*": sgmc.normal(0, 10)}
    n = 50

    def __init__(self, d, wrong, factor=1.3):
        self.parameters, self.wrong, self.factor = {"t": d}, wrong, factor
        rng = np.random.default_rng(d)
        self.X = rng.normal(size=(50, d, d)) * np.geomspace(0.1, 10, d) / np.sqrt(50)
        self.X += 0.1 * self.X[:, :, :1]

    def log_lik(self, theta, rows):
        return -0.5 * np.sum((self.X[rows] @ theta["t"]) ** 2)

    def grad(self, theta, rows):
        X = self.X[rows]
        g = -np.einsum("nij,ni->j", X, X @ theta["t"])
        g[self.wrong] *= self.factor
        return {"t": g}


class Truncated(sgmc.Model):
    """Normal numbers, the second below a boundary beyond which a log is taken of less than zero."""

    parameters = {"a": (), "b": ()}
    prior = {"*": sgmc.normal(0, 1)}
    start = {"a": 0.0, "b": 0.0}
    n, beyond = 10, np.nan

    def log_lik(self, theta, rows):
        room = 1.5 - theta["b"]
        return 0.0 * np.log(room) if room > 0 else self.beyond

    def grad(self, theta, rows):
        return {"a": 0.0, "b": 0.0}


class Bounded(Truncated):
    """The same with a density of zero there."""

    beyond = -np.inf


class First(Line):
    """As many rows as are asked for, but always the first ones."""

    def log_lik(self, theta, rows):
        return Line.log_lik(self, theta, slice(0, len(self.y[rows])))

    def grad(self, theta, rows):
        return Line.grad(self, theta, slice(0, len(self.y[rows])))


class GradientOfAll(Line):
    """The gradient alone ignores the rows."""

    grad = models.Deaf.grad


RIGHT = {**CONJUGATE, "Line": Line, "WithoutGradient": WithoutGradient}


@pytest.mark.parametrize("name", RIGHT)
def test_right_models_pass(name):
    """Positive, simplex, mirrored, interval, ordered and ascending parameters, at 20 seeds."""
    fit = fitted(RIGHT[name]())
    assert fit.problem.foreign
    assert [disagreement(fit, seed) for seed in range(20)] == [None] * 20


@pytest.mark.extended("0-Line", "1-Line", "2-Line", "3-Line", "4-Line")
@pytest.mark.parametrize("name", ["Line", "Kinds", "Coin", "Ascending"])
@pytest.mark.parametrize("seed", range(5))
def test_right_models_pass_by_mini_batches(name, seed):
    how = dict(sampler="sgld", precondition=None, step_size=1e-4, thin=1)
    assert disagreement(fitted(RIGHT[name](), seed, **how), seed) is None


@pytest.mark.cover(0)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("sampler", ["mala", "lmsgld"])
def test_a_scaled_component_is_seen(seed, sampler):
    found = disagreement(fitted(Scaled(), seed, sampler=sampler), seed)
    assert (found.kind, found.parameter) == ("gradient", "sigma") and found.size > 2 * MATTERS
    assert "'sigma'" in found.text and "check_model" in found.advice


@pytest.mark.cover(0)
@pytest.mark.parametrize("wrong", range(9))
def test_one_wrong_component_of_nine_is_seen(wrong):
    found = disagreement(fitted(Many(9, wrong)), 1)
    assert (found.kind, found.parameter) == ("gradient", f"t[{wrong}]")


@pytest.mark.extended("0-40", "1-40", "2-40", "3-40", "4-40")
@pytest.mark.parametrize("d", [3, 9, 40])
@pytest.mark.parametrize("seed", range(5))
def test_right_gradients_of_unequal_sds_pass(d, seed):
    assert disagreement(fitted(Many(d, 0, 1.0), seed), seed) is None


@pytest.mark.cover(0)
@pytest.mark.parametrize("wrong", [0, 17, 39])
def test_one_wrong_component_of_forty_is_named(wrong):
    found = disagreement(fitted(Many(40, wrong, 3.0)), 1)
    assert (found.kind, found.parameter) == ("gradient", f"t[{wrong}]")


@pytest.mark.cover(0)
@pytest.mark.parametrize("kind", [models.Deaf, models.Mean, First])
def test_rows_that_are_ignored_are_seen(kind):
    found = disagreement(fitted(kind(), **BATCHES), 1)
    assert found.kind == "rows" and found.size > 0.01 and "log_lik of two halves" in found.text


def test_a_gradient_that_ignores_rows_is_seen():
    found = disagreement(fitted(GradientOfAll(), **BATCHES), 1)
    assert found.kind == "rows" and found.text.startswith("grad of two halves")


def test_rows_do_not_matter_where_all_are_asked_for_at_once():
    assert disagreement(fitted(models.Deaf()), 1) is None


@pytest.mark.parametrize("seed", range(5))
def test_what_is_undefined_beyond_a_boundary_is_seen(seed):
    found = disagreement(fitted(Truncated(), seed), seed)
    assert (found.kind, found.parameter) == ("nan", "b") and np.isnan(found.size)


def test_an_error_beyond_a_boundary_is_seen(monkeypatch):
    """Of a place that the chains did not come to."""
    fit, whole = fitted(Bounded()), Bounded.log_lik

    def raising(self, theta, rows):
        if theta["b"] > 1.5:
            raise ValueError("math domain error")
        return whole(self, theta, rows)

    kernel = Bounded()
    monkeypatch.setattr(Bounded, "log_lik", raising)
    fit.plan = replace(fit.plan, problem=replace(fit.problem, model=kernel.kernel()))
    assert disagreement(fit, 1).kind == "nan"


@pytest.mark.parametrize("seed", range(5))
def test_a_density_that_ends_is_no_mistake_and_is_said(seed):
    found = disagreement(fitted(Bounded(), seed), seed)
    assert (found.kind, found.parameter) == ("end", "b") and "-inf" in found.text


@pytest.mark.parametrize("sampler, trusted", [("mala", True), ("hmc", True), ("sgld", False)])
def test_scores_are_not_asked_of_a_density_that_ends(sampler, trusted):
    """sgld goes by gradients, which do not know of the boundary; proposals beyond it are no
    divergences.
    """
    how = {"step_size": 0.1} if sampler == "sgld" else {}
    results = Bounded().fit(sampler=sampler, seed=1, **how)
    kinds = [type(w).__name__ for w in results.warnings]
    assert "BoundaryWarning" in kinds and "DivergentTransitionsWarning" not in kinds
    assert results.verdict.trustworthy == trusted
    assert np.isnan(results.accuracy().mean_error).all()


def test_rounding_is_no_disagreement():
    """A constant of 1e9 rounds differences of small steps to 1e-7 / 2e-2."""

    class Large(Line):
        def log_lik(self, theta, rows):
            return Line.log_lik(self, theta, rows) + 1e9 / self.n * len(self.y[rows])

    assert disagreement(fitted(Large()), 1) is None


def test_kinks_are_no_disagreement():
    """Slopes of a Laplace prior jump by two posterior sds."""

    class Laplace(Line):
        prior = {"b": sgmc.laplace(0, 0.02), "sigma": sgmc.exponential(1)}

    fit = fitted(Laplace())
    assert [disagreement(fit, seed) for seed in range(20)] == [None] * 20


@pytest.mark.cover(0)
@pytest.mark.parametrize("model", [Line(), Many(9, 0, 1.0), Many(40, 0, 1.0)])
def test_it_costs_at_most_sixty_evaluations(model, monkeypatch):
    """And at most 24 on each segment on which breaks are looked for."""
    rows, before, segments = {"log_lik": 0.0, "grad": 0.0}, {}, []

    def looked(gradient, ends):
        before.update(rows)
        segments.extend(ends)
        return broken(gradient, ends)

    def counted(name):
        whole = getattr(model, name)

        def function(theta, chosen):
            rows[name] += len(np.arange(model.n)[chosen])
            return whole(theta, chosen)

        return function

    for name in rows:
        setattr(model, name, counted(name))
    fit = fitted(model, **BATCHES)
    rows.update(log_lik=0.0, grad=0.0)
    monkeypatch.setattr(differences, "broken", looked)
    assert disagreement(fit, 1) is None
    assert 20 * model.n < before["log_lik"] <= 60 * model.n and before["grad"] <= 20 * model.n
    more = [rows[name] - before[name] for name in rows]
    assert len(segments) <= differences.MOST_DIRECTIONS
    assert max(more) <= 24 * model.n * len(segments)


def test_fewer_places_where_evaluations_are_long(monkeypatch):
    fit, calls = fitted(Line()), []

    def counted(gradient, x):
        calls.append(1)
        return engine.density(gradient, x)

    monkeypatch.setattr(differences, "density", counted)
    monkeypatch.setattr(differences, "WORK", 1.0)
    assert disagreement(fit, 1) is None and len(calls) == 12


def test_densities_of_the_package_are_not_looked_at(monkeypatch):
    fit = sgmc.Logit(np.arange(20) % 2, np.ones((20, 1))).fit(seed=1, **SHORT)._fit
    assert not fit.problem.foreign and disagreement(fit, 1) is None
    assert isinstance(fit.problem, Problem) and not fit.problem.differenced
