"""Spatial effects of regions, ``car(region, graph)`` and ``bym2(region, graph)``: those of
neighbours are near each other.
"""

from dataclasses import dataclass
from typing import Any

from sgmc.arguments.types import Floats
from sgmc.splines.graphs import Graph, GraphBasis
from sgmc.splines.level_bases import refuse_levels
from sgmc.splines.penalised import TermOfLevels


@dataclass(frozen=True)
class Autoregression(TermOfLevels):
    """An intrinsic conditional autoregression over a graph, scaled; see `splines.graphs`.

    Attributes
    ----------
    graph : Graph
        Of an object in any of the forms of `Graph.of`.
    """

    graph: Any = None
    name, written, basis, of_scope = "car", "car(region, graph)", GraphBasis, "graph"

    def __post_init__(self) -> None:
        if self.graph is not None:
            object.__setattr__(self, "graph", Graph.of(self.graph))

    @property
    def labels(self) -> tuple[Any, ...]:
        """See `TermOfLevels`."""
        return self.graph.labels

    def bases(self, x: Floats, text: str) -> list[GraphBasis]:
        """See `PenalisedTerm`."""
        refuse_levels(self.labels, x, text, "join regions")
        return [self.graph.basis(self.independent)]


@dataclass(frozen=True)
class BesagYorkMollie(Autoregression):
    """The sum sd (sqrt(rho) u + sqrt(1 - rho) v) of such an autoregression u and of independent
    effects v ~ N(0, 1) (Riebler et al. 2016, doi:10.1177/0962280216660421).

    In the modes of the graph, which are orthonormal, effects are independent with the variances
    sd^2 (rho v_k + 1 - rho), v_k being those of u.

    Attributes
    ----------
    graph : Graph
        See `Autoregression`.
    """

    name, written, independent = "bym2", "bym2(region, graph)", True
