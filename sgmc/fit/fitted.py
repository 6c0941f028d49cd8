"""What a fit leaves behind: draws, figures of each chain, positions in warmup."""

import math
from dataclasses import dataclass, field

import numpy as np

from sgmc.errors import NotSupported
from sgmc.fit.noise import cancels
from sgmc.fit.plan import Plan, alpha_at_draws

NONE = float("nan")  # where a figure does not apply
# what draws are in the place of a sampler's, for which there was no time
LAPLACE = "draws of the Gaussian approximation at the mode (Laplace)"
# which are no approximation of the posterior: no mean and no sd is known
PLACES = "draws around the last place of that search, which is no mode"
POSITIONS = "the positions of the chains in it"


@dataclass
class Fit:
    """What a fit leaves behind.

    Attributes
    ----------
    plan : Plan
        With problem, settings and pilot.
    x : array (chain, draw, d)
        Kept draws in sampler coordinates.
    times : array (draw,) or None
        Langevin times of the steps at which draws were kept, where steps vary.
    weights : array (draw,) or None
        Of the draws, where steps vary: these times, or for draws kept by distance those between
        them.
    run : Run
    chains : list of ChainFacts
        Of all chains that ran, also of one whose draws were left out.
    noise : GradientNoise
    seconds : float
        In all sessions.
    states : list of dict
        Of the chains, to continue from.
    warnings : list of SGMCWarning
    recorders : list of Recorder
        Of the chains.
    paths : list of Travelled or None
        Of the chains of samplers in continuous time.
    stand_in : StandIn or None
        What the draws are in the place of the sampler's where there was no time for these.
    stopping : Stopping or None
        How a fit with `accuracy` ended.
    warmup : Warmup or None
        Positions in warmup, where they were kept; in the coordinates of `x`.
    starts : array (chain, d) or None
        Where the chains of `x` began, in its coordinates; None where `stand_in` is not empty.
    computed : dict
        What several checks need of the draws, by name.
    """

    plan: Plan
    x: np.ndarray
    times: np.ndarray | None
    weights: np.ndarray | None
    run: object
    chains: list
    noise: object
    seconds: float
    states: list
    warnings: list
    recorders: list
    paths: list | None = None
    stand_in: object = None
    stopping: object = None
    warmup: object = None
    starts: np.ndarray | None = None
    computed: dict = field(init=False, default_factory=dict)

    @property
    def problem(self):
        """The posterior in the coordinates of the draws."""
        return self.plan.problem

    @property
    def settings(self):
        """What the user asked for."""
        return self.plan.settings

    @property
    def pilot(self):
        """What was seen before sampling, a `Pilot`; None where nobody looked."""
        return self.plan.pilot

    @property
    def searched(self):
        """How many modes were looked for and found, a `ModeSearch`."""
        return self.problem.searched

    @property
    def langevin_time(self):
        """h of the steps at which draws were kept, in whitened coordinates; where they vary, the
        mean that the weights give.
        """
        if self.weights is None:
            return self.plan.langevin_time
        return self.plan.max_precision * float(np.average(self.times, weights=self.weights))

    @property
    def first_time(self):
        """h of the step at which the first draw was kept, in whitened coordinates."""
        if self.times is None:
            return self.plan.langevin_time
        return self.plan.max_precision * float(self.times[0])

    @property
    def felt_noise(self):
        """V of independent mini-batches that would widen the draws as much as these do."""
        plan, worst = self.plan, self.noise.worst
        if not (plan.spec.noisy and cancels(plan)):
            return worst
        parts = math.ceil(self.problem.model.n / self.chains[0].batch_size)
        return worst * plan.spec.noise_left(self.langevin_time, parts)

    @property
    def sd_change(self):
        """Relative change of sds by step and gradient noise, on a Gaussian, by the sampler's law
        or formula; 0 where there is none, NaN where it is not known.
        """
        spec = self.plan.spec
        if spec.exact or not spec.uses_gradient:
            return 0.0
        if not self.problem.coordinates.scaled:
            return math.nan
        return math.sqrt(variance_of(spec, self.langevin_time, self.felt_noise)) - 1

    @property
    def threshold(self):
        """alpha of Welling & Teh (2011, eq. 10) at the first draw that was kept."""
        if self.plan.spec.noisy and not self.problem.coordinates.scaled:
            return alpha_at_draws(self)
        return self.plan.spec.noise_ratio(self.first_time, self.noise.widest)

    @property
    def kept_step(self):
        """The step at which draws were kept, in the sampler's own units; where they vary,
        that of the mean time.
        """
        return self.plan.spec.from_langevin(self.langevin_time / self.plan.max_precision)

    @property
    def passes(self):
        """Rows touched by all chains, over N."""
        return sum(c.data_passes for c in self.chains)

    @property
    def acceptance(self):
        """Share of all counted proposals that were accepted;
        NaN for samplers without accept-reject.
        """
        proposed = sum(c.proposed for c in self.chains)
        return sum(c.accepted for c in self.chains) / proposed if proposed else float("nan")

    @property
    def step_size(self):
        """The first step, or where steps were adapted the mean of the chains'; NaN for samplers in
        continuous time that hold nothing.
        """
        if self.plan.spec.continuous and not self.plan.spec.holds:
            return float("nan")
        adapted = self.plan.step_origin == "adapted"
        return (
            float(np.mean([c.step_size for c in self.chains])) if adapted else self.plan.schedule(0)
        )


def variance_of(spec, h, noise):
    """Variance of draws of a standard normal, by the sampler's law, or by its formula where it has
    none.
    """
    try:
        return spec.law(h, noise).variance
    except NotSupported:
        return 1 + spec.inflation(h, noise)


@dataclass(frozen=True)
class FallbackDraws:
    """What the draws are where there was no time for the sampler's.

    Attributes
    ----------
    during : str
        What the limit ended.
    draws : str
    """

    during: str
    draws: str

    @property
    def unknown(self):
        """Whether means and sds of these draws are none of the posterior."""
        return self.draws != LAPLACE

    def __str__(self):
        return f"time_limit ended {self.during}; these are {self.draws}"


# ---- chains --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChainFacts:
    """A chain in figures, over its whole life: a run that was resumed counts from its first step.

    Attributes
    ----------
    steps : int
        Warmup included.
    data_passes : float
        Rows touched, over N.
    proposed, accepted, divergences, impossible : float
        Counts of proposals once nothing was adapted any more; NaN for samplers without
        accept-reject.  Those where the density is zero are divergent, too.
    step_size : float
        In use at the last step, in the sampler's own units; NaN where there are no steps.
    e_bfmi : float
        Estimated Bayesian fraction of missing information; NaN for samplers without momenta.
    beyond : float
        Share of moves whose gradient noise was past the breaking point; NaN for samplers without
        one.
    batch_size : int
        Rows of its last minibatches.
    diverged_index : int
        The sampler's coordinate that was not finite first, or -1.
    spacing : float
        Time between draws of a sampler in continuous time, whose steps are events; else NaN.
    violations, missed : float
        Shares of proposed events whose rate exceeded its bound, and of all events which were lost
        by that, where bounds are guesses; else NaN.
    leapfrogs, tree_depth, saturated : float
        Of trees once nothing was adapted any more: gradients, mean number of doublings, and trees
        that the limit of doublings ended; NaN for samplers without trees.
    """

    steps: int
    data_passes: float
    proposed: float
    accepted: float
    divergences: float
    impossible: float
    step_size: float
    e_bfmi: float
    beyond: float = NONE
    batch_size: int = 0
    diverged_index: int = -1
    spacing: float = NONE
    violations: float = NONE
    missed: float = NONE
    leapfrogs: float = NONE
    tree_depth: float = NONE
    saturated: float = NONE

    @property
    def acceptance(self):
        """Share of those proposals that were accepted; NaN where there were none."""
        return self.accepted / self.proposed if self.proposed else NONE


def facts_of(chain, plan):
    """The facts of a chain that has run."""
    transition = chain.sampler
    counts = [
        float(getattr(transition, name, NONE))
        for name in ("proposed", "accepted", "divergent", "impossible")
    ]
    steps = (
        not plan.spec.independent
        and plan.spec.uses_gradient
        and (plan.spec.holds or not plan.spec.continuous)
    )
    violated = (
        getattr(transition, "violated", NONE) / transition.proposed if counts[0] > 0 else NONE
    )
    step = (
        getattr(transition, "adapted_step", plan.schedule(max(chain.steps - 1, 0)))
        if steps
        else NONE
    )
    corrected = getattr(transition, "corrected", 0)
    beyond = transition.beyond / corrected if corrected else NONE
    return ChainFacts(
        chain.steps,
        chain.gradient.touched / plan.problem.model.n,
        *counts,
        step,
        getattr(transition, "e_bfmi", NONE),
        beyond,
        chain.gradient.rows.m,
        chain.diverged_index % chain.gradient.dim if chain.diverged_index >= 0 else -1,
        getattr(chain.recorder, "spacing", NONE),
        violated,
        getattr(transition, "missed", NONE),
        *(
            float(getattr(transition, name, NONE))
            for name in ("leapfrogs", "tree_depth", "saturated")
        ),
    )


# ---- warmup --------------------------------------------------------------------------------------


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


def warmup_of(chains, plan):
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
    folded = plan.problem.signs.folded(positions, plan.settings.seed)
    return Warmup(folded, steps, weights)


def places_of(chains, plan):
    """Where chains are, an array (chain, d) of what is kept of a position; with several walkers
    per chain, the first walker of each.
    """
    problem = plan.problem
    places = np.stack(
        [problem.record.recorded(problem, np.array(chain.x[: problem.dim])) for chain in chains]
    )
    return problem.signs.folded(places[:, None], plan.settings.seed)[:, 0]
