"""What a race leaves behind."""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TuneResult:
    """The outcome of `sgmc.tune`; ``model.fit(tune=result)`` or ``model.fit(**result.best)`` uses it.

    Attributes
    ----------
    best : dict
        Arguments of a fit: sampler (a specification), gradient, subsample, batch_size, step_size, precondition.
    history : DataFrame
        A row for each arm in each rung that it ran: arm, rung, and of its whole run so far steps, seconds, draws and metric
        (infinite: diverged, or without value).
    arms : DataFrame
        The value of every axis, and whether the chain diverged; the index is the arm's number.
    winner : int
        Number of the arm that is `best`.
    method, metric : str
    budget : str
        What ended the race, as it was asked for.
    reproducible : bool
        True for a budget of steps: the seed then fixes all but the seconds.  False for one of seconds.
    seed : int
    seconds : float
        In all.
    """

    best: dict
    history: object = field(repr=False)
    arms: object = field(repr=False)
    winner: int
    method: str
    metric: str
    budget: str
    reproducible: bool
    seed: int
    seconds: float

    def plot(self, x="step_size", ax=None):
        """The metric of each arm at its last rung against an axis of the grid, the winner marked; returns the axes.

        Parameters
        ----------
        x : str
            A column of `arms`.
        ax : Axes, optional
            Default a new figure.
        """
        from sgmc.plots.tuning import tuning

        return tuning(self.history, self.arms, self.winner, self.metric, x, ax)
