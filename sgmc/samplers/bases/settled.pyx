"""What samplers with a position-dependent metric have in common: how they come by it, and which
coordinates it is made for.
"""
from sgmc.core.contract cimport Gradient, Metric


cdef class Settled:
    """Makes the metrics of a chain, and makes them again as they were where the chain is restored.

    Parameters
    ----------
    rows : int, optional
        See `Model.metric`.
    """

    def __init__(self, rows=None):
        self.rows = rows

    cpdef Metric made(self, Gradient g, x):
        """A metric for a chain that begins at x, an array: the model's, or that of a map that
        brings one; what a restored chain had settled takes its place.
        """
        own = getattr(g.map, "metric", None)
        cdef Metric metric = g.model.metric(g, x, self.rows) if own is None else own()
        if self.saved is not None:
            metric.set_state(self.saved)
        return metric

    def state(self, Metric metric=None):
        """What that metric has settled; None: none was made since the chain was restored."""
        return self.saved if metric is None else metric.state()

    def set_state(self, state):
        """Continue from a `state()`."""
        self.saved = state


class NaturalCoordinates:
    """Base of specifications whose metric is the model's: it knows of no map."""

    def refusal(self, map):
        """See `SamplerSpec.refusal`."""
        return "" if map is None else (f"{self.name} moves natural coordinates; use "
                                       "precondition=None, and for tables that stay as they are or "
                                       "separated columns another sampler, such as 'mala'")
