"""What a fit leaves behind."""

import math
from dataclasses import dataclass, field

import numpy as np

from sgmc.errors import NotSupported
from sgmc.fit.noise import cancels
from sgmc.fit.threshold import at_draws


@dataclass
class Fit:
    """What a fit leaves behind.

    Attributes
    ----------
    problem : Problem
    plan : Plan
    pilot : Pilot
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
    settings : Settings
    states : list of dict
        Of the chains, to continue from.
    concerns : list of SGMCWarning
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

    problem: object
    plan: object
    pilot: object
    x: np.ndarray
    times: np.ndarray | None
    weights: np.ndarray | None
    run: object
    chains: list
    noise: object
    seconds: float
    settings: object
    states: list
    concerns: list
    recorders: list
    paths: list | None = None
    stand_in: object = None
    stopping: object = None
    warmup: object = None
    starts: np.ndarray | None = None
    computed: dict = field(init=False, default_factory=dict)

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
        if not (plan.spec.noisy and cancels(plan.gradient, self.settings)):
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
            return at_draws(self)
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
