"""Nodes of fits: as many as differences of log densities need, for every family; a warning and a
verdict where there are too few.
"""

import numpy as np
import pytest

from sgmc import registry
from sgmc.core.expansion import of_rows
from sgmc.errors import ModeWarning, QuadratureWarning, SGMCWarning
from sgmc.fit.settings import check_settings
from sgmc.models.regression.latent.integrated import search

from ..verdict import grouped
from .groups import mixed
from .test_integrals import FAMILIES
from .test_posteriors import problem_of

POINTS = 30  # of the Laplace approximation; a fit compares six of its own
WITHIN = 0.03  # sd of the errors of log densities, which no mean moves by more of its sds


def spread(kernel, mode):
    """Sd of what log densities by the nodes of a kernel, Q, lack to those by 2 Q + 1: a mean moves
    by its covariance with that.
    """
    random = np.random.default_rng(7)
    root = np.linalg.cholesky(np.linalg.inv(mode.precision))
    points = mode.theta + random.normal(size=(POINTS, len(root))) @ root.T
    values = [
        np.array([of_rows(one, at, slope=False)[0] for at in points])
        for one in (kernel, kernel.with_nodes(2 * kernel.nodes + 1))
    ]
    return np.std(values[1] - values[0])


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("effects", ["", pytest.param(" with slopes", marks=pytest.mark.extended)])
def test_twice_as_many_nodes_tell_the_same(name, effects):
    """Or a warning tells that they do not: twelve groups of binary outcomes tell little of sds of
    slopes, and where these are large, 15 nodes are too few.
    """
    problem = problem_of(name + effects)
    assert problem.own.rule.nodes == problem.model.nodes
    told = any(isinstance(one, QuadratureWarning) for one in problem.warnings)
    assert told == (problem.own.rule.error > 0.1) and not (told and effects == "")
    assert told or spread(problem.model, problem.mode) < WITHIN


def coarse(nodes):
    """Three outcomes a group, effects of sd 3: of which one node tells little."""
    frame, rng = grouped.table(8, 60, 3, 3.0)
    frame = frame.assign(y=grouped.logit(frame, rng))
    model = registry.room("families")["logit"]
    return mixed(model, "y ~ x", frame, "g", nodes=nodes)


def test_the_mode_is_that_of_the_last_nodes():
    """The nodes of the first search are too few for it to end."""
    problem = coarse(None).problem(None, check_settings(seed=1))
    assert problem.own.rule.nodes > 9 and problem.own.rule.error < 0.01
    assert not any(isinstance(one, ModeWarning) for one in problem.warnings)


def test_groups_of_many_rows_take_fewer_nodes(monkeypatch):
    """Five where 9 tell the same; that they do not is in the rule's error."""
    frame, rng = grouped.table(8, 40, 60, 1.0)
    frame = frame.assign(y=grouped.logit(frame, rng))
    rich = mixed(registry.room("families")["logit"], "y ~ x", frame, "g")
    problem = rich.problem(None, check_settings(seed=1))
    assert problem.own.rule.nodes == 5 and problem.own.rule.error < 0.002
    assert spread(problem.model, problem.mode) < 0.002
    # planted: fewer nodes whatever they miss
    monkeypatch.setattr(search, "SAVED", np.inf)
    frame, rng = grouped.table(8, 60, 8, 2.0)
    frame = frame.assign(y=grouped.logit(frame, rng))
    poor = mixed(registry.room("families")["logit"], "y ~ x", frame, "g")
    problem = poor.problem(None, check_settings(seed=1))
    assert problem.own.rule.error > 0.01


@pytest.mark.mistake("nodes: {mistake}")
@pytest.mark.parametrize("name, mistake", [("logit", "Laplace's approximation")])
def test_too_few_nodes_are_told(name, mistake):
    """By a warning and by the verdict."""
    with pytest.warns(SGMCWarning) as told:
        results = coarse(1).fit(seed=1, draws=100)
    assert any("1 quadrature nodes" in str(one.message) for one in told)
    assert not results.verdict.trustworthy and "too coarse" in str(results.verdict)
