"""Compiled parts refuse what does not fit together, before they read beyond its memory."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from _ext.toys import GaussianLocation, Positive

import sgmc
from sgmc.coordinates.priors.densities import FAMILIES, Pulled, Separable
from sgmc.coordinates.transforms.composed import Composed
from sgmc.coordinates.transforms.dilation import Dilation
from sgmc.coordinates.transforms.maps import Scaling
from sgmc.coordinates.transforms.warped import Warped
from sgmc.core.contract import Anchor, Gradient, Prior
from sgmc.core.designs.design import design
from sgmc.core.engine import Chain
from sgmc.core.expansion import row_noise
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant
from sgmc.core.targets.bounds import Bounds
from sgmc.core.targets.remainders import Remainders
from sgmc.errors import NotSupported
from sgmc.gradients import saga
from sgmc.models.mixed.loading import Loading
from sgmc.models.regression.bases.known import Known
from sgmc.models.regression.bases.predictors.cumulative import Cumulative
from sgmc.models.regression.coordinates import preconditioner
from sgmc.models.regression.latent.densities.group_level import GroupLevel
from sgmc.models.regression.latent.densities.marginal import Marginal
from sgmc.models.regression.latent.densities.nested import Nested
from sgmc.models.regression.latent.densities.quadrature import Quadrature
from sgmc.models.regression.latent.shrunk.shrinking import ShrunkPrior
from sgmc.registry import room
from sgmc.samplers.bases.piecewise.paths import Path

from ..contracts.cases import SAMPLERS, SCHEMES, estimator, stream
from ..scales.test_density import shrunk

MANY = 2049  # one more than fit on the stack
Y, ONES = np.array([0.0, 1, 0, 1, 0, 1]), np.ones((6, 1))


def words():
    """A topic model whose gradients need random numbers."""
    return sgmc.LDA(np.array([[2, 1, 0], [0, 1, 3], [1, 1, 1]]), 2, sweeps=1).kernel()


def ring():
    """A model of communities whose gradients need random numbers."""
    return sgmc.MMSB(np.stack([np.arange(6), np.arange(1, 7) % 6], 1), 2, nonlinks=1).kernel()


def identity(dim):
    """The map of equal coordinates."""
    return Scaling(np.zeros(dim), np.ones(dim))


def toy():
    """A model of six rows without scores."""
    return GaussianLocation(np.ones((6, 2)), 1.0)


def gradient(model=None, rows=6, **more):
    """A mini-batch gradient of six rows in two dimensions."""
    model = model or toy()
    return Gradient(model, Prior(model.dim), SCHEMES["uniform"](rows, 3), stream(0), **more)


def chain(sampler="sgld"):
    """A chain without a recorder."""
    return Chain(
        np.zeros(2), SAMPLERS[sampler]().build(2, 0.1), gradient(), stream(0), Constant(0.1)
    )


def binary():
    """The likelihood of six rows."""
    return room("families")["logit"].family.kernel(design(np.eye(6, 2)), Y, None, None)


def nested(inner):
    """Effects of groups and of subgroups, of which the density inside has `inner` effects."""
    outer, starts = Loading([(1, False)]), np.array([0, 2, 4, 6])
    return Nested(
        binary(),
        starts,
        np.ones((6, 2)),
        Loading([(1, False), (1, False)]),
        lambda apart, nodes: Quadrature(
            binary(), starts, np.ones((6, inner)), Loading([(inner, False)]), None, nodes
        ),
        outer,
        np.arange(4),
    )


def group_level(place):
    """A model of three groups whose coefficients are at `place`."""
    inner = Marginal(binary(), np.array([0, 2, 4, 6]), ONES, Loading([(1, False)]))
    return GroupLevel(inner, design(np.eye(3)), place, np.ones(5), 1.0)


GUARDS = {
    "maps of 3 and 2 coordinates": lambda: Composed(identity(3), identity(2)),
    "maps of 3 and 2 coordinates: equally many": lambda: Warped(identity(3), identity(2)),
    "prior and map differ in length": lambda: Pulled(Prior(3), identity(2)),
    "at most 2048 parameters": lambda: Pulled(Prior(MANY), identity(MANY)),
    "at most 2048 coefficients": lambda: Dilation(
        np.zeros(MANY), np.zeros((MANY, 1)), np.ones(MANY), np.eye(1), 0.5
    ),
    "priors of different lengths": lambda: ShrunkPrior(
        shrunk(), Separable([0], [0.0], [1.0], [1.0])
    ),
    "the subsampler is made for 5 rows, the model has 6": lambda: gradient(rows=5),
    "a chain that records needs a recorder": lambda: chain().run(1),
    "2 draws for a recorder of 1": lambda: FullRecorder(1, 2, 1).set_state(
        {"draws": np.zeros((2, 2))}
    ),
    "3 draws for a recorder of 1": lambda: Path(1, 2, 0.1, 0, 0).set_state(
        {"draws": np.zeros((3, 2))}
    ),
    "mhss needs Remainders as the gradient's bounds": lambda: chain("mhss").run(1, False),
    "at most 16 effects": lambda: Loading([(17, False)]),
    "a group without rows": lambda: Marginal(
        binary(), np.array([0, 3, 3, 6]), ONES, Loading([(1, False)])
    ),
    "effects of two levels are those": lambda: nested(2),
    "designs of groups and of rows": lambda: group_level(np.zeros((3, 4))),
    "at most 3 auxiliary parameters": lambda: Known(
        Cumulative(design(np.eye(6, 2)), Y, levels=6), np.ones(4)
    ),
    "outcomes must be 0, .., levels - 1 = 2": lambda: Cumulative(
        design(np.eye(6, 2)), Y + 2, levels=3
    ),
}


REFUSALS = {
    "bounds for rates of events in 2049 coordinates": lambda: Bounds(
        binary(), Prior(MANY), None, np.zeros(MANY)
    ),
    "bounds of remainders in 2049 coordinates": lambda: Remainders(
        binary(), None, np.zeros(MANY), 1
    ),
    "bounds for rates along straight lines behind a map": lambda: Bounds(
        binary(), Prior(2), Positive(2), np.zeros(2)
    ),
    "bounds of remainders behind a map that bends": lambda: Remainders(
        binary(), Positive(2), np.zeros(2), 1
    ),
    "bounds of remainders that overflow: rescale": lambda: Remainders(
        room("families")["logit"].family.kernel(design(1e200 * np.eye(6, 2)), Y, None, None),
        None,
        np.zeros(2),
        2,
    ),
    "a prior seen through a map that bends straight lines": lambda: Pulled(
        Prior(2), Positive(2)
    ).ridges(),
    "cov_type='robust' with 3000 parameters": lambda: preconditioner(
        3000, SimpleNamespace(robust=True, cov_type="robust")
    ),
    "precondition='dense' with 3000 parameters": lambda: preconditioner(
        3000, SimpleNamespace(robust=False, sampler=None, precondition="dense")
    ),
    "known for rows with one linear predictor each": lambda: Remainders(
        toy(), None, np.zeros(2), 1
    ),
    "no bounded slope or curvature": lambda: Separable(
        [FAMILIES["horseshoe"]], [0.0], [1.0], [1.0]
    ).ridges(),
    "Sampled has no position-dependent metric": lambda: words().metric(None, None),
    "weighted or stratified rows of a model without scores": lambda: row_noise(
        gradient(words(), 3), np.ones(6), weight=np.ones(3)
    ),
    "gradients by Gibbs sweeps need a chain's random stream": lambda: Anchor(words(), np.ones(6)),
    "pairs without a link are drawn by a chain's random stream": lambda: Anchor(
        ring(), np.ones(16)
    ),
}


@pytest.mark.parametrize("message", GUARDS)
def test_parts_that_do_not_fit_are_refused(message):
    with pytest.raises(ValueError, match=re.escape(message)):
        GUARDS[message]()


@pytest.mark.parametrize("message", REFUSALS)
def test_what_a_part_cannot_do_is_refused(message):
    with pytest.raises(NotSupported, match=re.escape(message)):
        REFUSALS[message]()


def test_a_table_of_too_many_rows_is_refused(monkeypatch):
    monkeypatch.setattr(saga, "TABLE_LIMIT", 90)
    with pytest.raises(NotSupported, match="gradient='saga' keeps 2 numbers for each of 6 rows"):
        estimator(saga.Saga, toy(), SCHEMES["uniform"](6, 3), stream(0))
