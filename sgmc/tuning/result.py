"""What a race leaves behind."""

from dataclasses import dataclass, field
from typing import Any

from sgmc.arguments.choices import one_of
from sgmc.arguments.types import Frame
from sgmc.errors import ArgumentError


@dataclass(frozen=True)
class TuneResult:
    """The outcome of `sgmc.tune`; ``model.fit(tune=result)`` or ``model.fit(**result.best)`` uses
    it.

    Attributes
    ----------
    best : dict
        Arguments of a fit: sampler (a specification), gradient, subsample, batch_size, step_size,
        precondition.
    history : DataFrame
        A row for each arm in each rung that it ran: arm, rung, and of its whole run so far steps,
        seconds, draws and metric (infinite: diverged, or without value).
    arms : DataFrame
        The value of every axis, and whether the chain diverged, in the race or in the winner's
        trial; the index is the arm's number.
    winner : int
        Number of the arm that is `best`.
    method, metric : str
    budget : str
        What ended the race, as it was asked for.
    reproducible : bool
        True for a budget of steps: the seed then fixes all but the seconds.  False for one of
        seconds.
    seed : int
    seconds : float
        In all.
    """

    best: dict[str, Any]
    history: Frame = field(repr=False)
    arms: Frame = field(repr=False)
    winner: int
    method: str
    metric: str
    budget: str
    reproducible: bool
    seed: int
    seconds: float

    def __str__(self):
        took = (
            f"{self.method} chose arm {self.winner} of {len(self.arms)} by {self.metric} "
            f"({self.budget}): "
        )
        values = {"sampler": self.best["sampler"], **self.arms.loc[self.winner].drop("diverged")}
        return took + ", ".join(
            f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in values.items()
        )

    def plot(self, x: str | None = None, ax: Any = None, *, kind: str = "metric") -> Any:
        """Plot the metric against an axis of the grid, or the race rung by rung; the winner is
        marked.

        ``kind="metric"``: each arm at its last rung, a line for each choice of the other axes, such
        as KSD against step size with a line a minibatch.  ``kind="race"``: each arm's metric by its
        steps, from rung to rung; where it leaves, its line ends.  Arms that diverged, or have no
        value, are crosses at the top.

        Parameters
        ----------
        x : str, optional
            A column of `arms`, for ``kind="metric"``; default ``"step_size"``.
        ax : Axes, optional
            Default a new figure.
        kind : {"metric", "race"}

        Returns
        -------
        Axes
        """
        from sgmc.plots.tuning import against, race

        if one_of("kind", kind, ("metric", "race")) == "metric":
            return against(
                self.history,
                self.arms,
                self.winner,
                self.metric,
                "step_size" if x is None else x,
                ax,
            )
        if x is not None:
            raise ArgumentError("x does not apply to kind='race': it shows steps of the arms")
        return race(self.history, self.arms, self.winner, self.metric, ax)
