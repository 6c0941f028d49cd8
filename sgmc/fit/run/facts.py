"""What each chain has to say about itself when it ends."""

from dataclasses import dataclass

NONE = float("nan")  # where a figure does not apply


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


def facts_of(chain, plan, n):
    """The facts of a chain that has run.

    Parameters
    ----------
    chain : Chain
    plan : Plan
    n : int
        Rows of the data.
    """
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
        chain.gradient.touched / n,
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
