"""What samplers with a position-dependent metric have in common: how they come by it, and which
coordinates it is made for.
"""
import numpy as np

from sgmc.coordinates.transforms.fisher import Fisher
from sgmc.core.contract cimport Gradient, Metric


cdef class MetricSource:
    """Makes the metrics of a chain, and makes them again as they were where the chain is restored.

    Parameters
    ----------
    rows : int, optional
        See `Model.metric`.
    anchored : bool
        Whether a metric of some rows keeps a part of the chain's first place, where it has one.
    """

    def __init__(self, rows=None, bint anchored=True):
        self.rows, self.anchored = rows, anchored

    cpdef Metric made(self, Gradient g, x):
        """A metric for a chain that begins at x, an array: the model's, or that of a map that
        brings one; what a restored chain had settled takes its place.
        """
        own = getattr(g.map, "metric", None)
        cdef Metric metric = g.model.metric(g, x, self.rows) if own is None else own()
        if not self.anchored and isinstance(metric, Fisher):
            metric.release()
        if self.saved is not None:
            metric.set_state(self.saved)
        return metric

    def state(self, Metric metric=None):
        """What that metric has settled; None: none was made since the chain was restored."""
        return self.saved if metric is None else metric.state()

    def set_state(self, state):
        """Continue from a `state()`."""
        self.saved = state


def in_units_of(Metric metric, x, covariance):
    """R' C R for the covariance C of gradients at x, R R' = M: that of steps in the metric's units.
    """
    cdef double[::1] place = np.array(x, dtype=float)
    cdef double[:, ::1] once = np.array(covariance, dtype=float), twice = np.zeros_like(covariance)
    cdef Py_ssize_t j
    metric.move(&place[0])
    for j in range(place.shape[0]):
        metric.root_transposed(&once[j, 0], &twice[j, 0])
    once = np.ascontiguousarray(np.transpose(twice))
    for j in range(place.shape[0]):
        metric.root_transposed(&once[j, 0], &twice[j, 0])
    return np.array(twice)


class NaturalCoordinates:
    """Base of specifications whose metric is the model's: it knows of no map."""

    def refusal(self, map):
        """Why the sampler cannot move behind a map, empty where it can."""
        return "" if map is None else (f"{self.name} moves natural coordinates; use "
                                       "precondition=None, and for tables that stay as they are or "
                                       "separated columns another sampler, such as 'mala'")
