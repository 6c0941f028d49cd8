"""Where chains start, and their positions in warmup, kept for traces."""

from dataclasses import dataclass

import numpy as np

from sgmc.errors import NotSupported

MOST_POSITIONS = 500  # of a chain, besides its start


@dataclass(frozen=True)
class Warmup:
    """Where chains were before their first kept draw: no draws of the posterior.

    Attributes
    ----------
    draws : array (chain, position, parameter)
        In the units of the draws of the fit, for the same chains; the first positions are the
        starts.  With several walkers per chain, those of the first walker.
    steps : array (position,)
        The number of steps made at each position; evenly spaced, at most 501.
    weights : array (position,) or None
        Step-size weights of the positions, for decreasing steps.
    """

    draws: np.ndarray
    steps: np.ndarray
    weights: np.ndarray | None

    @property
    def every(self):
        """Steps between two positions."""
        return int(self.steps[1] - self.steps[0]) if len(self.steps) > 1 else 1


class Watched:
    """Keeps evenly spaced positions of one chain from its start to the end of warmup.  It only
    looks on: the chain's steps are the same without it.

    Parameters
    ----------
    warmup, dim : int
        Steps of warmup, and coordinates of a draw.
    recorded : callable
        What is kept of a position (dim,), see `Problem.recorded`.
    """

    def __init__(self, warmup, dim, recorded):
        self.every = max(1, -(-warmup // MOST_POSITIONS))
        self.dim, self.recorded, self.positions = dim, recorded, []

    def until_next(self, step):
        """Steps from `step` to the next position that is kept."""
        return self.every - step % self.every

    def look(self, chain):
        """Keep the position of a chain that is at such a step, once."""
        if chain.status == 0 and chain.steps == self.every * len(self.positions):
            self.positions.append(self.recorded(np.array(chain.x[: self.dim])))

    def state(self):
        """The positions so far; None before the first."""
        return np.array(self.positions) if self.positions else None

    def set_state(self, state):
        """Continue from a `state()`."""
        self.positions = [] if state is None else list(state)


def places_of(chains, problem, seed):
    """Where chains are, an array (chain, d) of what is kept of a position; with several walkers
    per chain, the first walker of each.
    """
    places = np.stack([problem.recorded(np.array(chain.x[: problem.dim])) for chain in chains])
    return problem.tidied(places[:, None], seed)[:, 0]


def of_chains(chains, plan, problem, seed):
    """The `Warmup` of chains that have ended theirs, in sampler coordinates; None where it was not
    kept.
    """
    if any(chain.watched is None for chain in chains):
        return None
    positions = np.stack([chain.watched.state() for chain in chains])
    steps = chains[0].watched.every * np.arange(positions.shape[1])
    weights = None
    if plan.weighted:  # the start has the weight of the first step
        made = [plan.schedule(max(int(step) - 1, 0)) for step in steps]
        weights = plan.spec.langevin_time(np.array(made))
    return Warmup(problem.tidied(positions, seed), steps, weights)


def starts(problem, plan, settings, k):
    """Where chain k starts; those of its walkers one behind the other."""
    walkers = plan.spec.walkers
    if walkers > 1 and problem.partial:
        raise NotSupported(
            f"{plan.spec.name} with {walkers} walkers keeps draws of all parameters, which are "
            "too many here; use walkers=1"
        )
    first = problem.begin(settings, k)
    if settings.start_given:
        return np.tile(first, walkers)
    others = (problem.begin(settings, k + settings.chains * w) for w in range(1, walkers))
    return np.concatenate([first, *others])
