"""What a long run will take, said where it begins: the steps, and seconds by the first ones made.

The seconds are for people: no draw depends on them.
"""

from dataclasses import dataclass

from sgmc.core import deadline, phases
from sgmc.errors import StepSizeWarning, warn
from sgmc.fit.plan import KEPT_TIME

LONG = 10.0  # seconds of a run that are said before they are spent
MEASURED = 0.3  # seconds of steps by which the others are predicted
MOST_STEPS_A_DRAW = 10**5  # from one independent draw to the next: more is a step that hardly moves


@dataclass
class Forecast:
    """Says once what a run takes, if that is long.

    Attributes
    ----------
    what : str
        The run, in rows and steps.
    said : bool
    """

    what: str
    said: bool = False

    def look(self, done, total, seconds):
        """Say it where so many steps of `total` took so many seconds, and all of them are to take
        long.
        """
        if self.said or seconds < MEASURED or done <= 0:
            return
        expected = seconds * total / done
        if expected <= LONG:
            return
        self.said = True
        ends = deadline.current().left() + seconds < expected
        limit = "; time_limit ends it earlier" if ends else ""
        phases.say(f"{self.what}: about {lasting(expected)}{limit}")


def lasting(seconds):
    """A time as text, in units of which there are not many."""
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.{0 if seconds >= 10 * size else 1}f} {unit}"
    return f"{seconds:.0f} s"


def of_plan(problem, plan, settings, steps):
    """The `Forecast` of the chains of a plan, each of which makes so many steps after warmup."""
    rows, each = problem.model.n, plan.batch if plan.spec.minibatches else problem.model.n
    made = "events" if plan.spec.continuous else "steps"
    return Forecast(
        f"{plan.spec.name} with {rows:,} {problem.unit}s, {settings.chains} chains x "
        f"{plan.warmup + steps:,} {made} of {each:,} {problem.unit}{'s' if each > 1 else ''}"
    )


def warned(problem, plan):
    """A StepSizeWarning, in a list, where steps are so small against the posterior that chains
    hardly move; issued before they start.
    """
    spec, where = plan.spec, problem.coordinates
    # others are adapted while chains run, or in units of their own
    told = plan.step_origin in ("given", "derived") and not spec.own_preconditioner
    if not (told and where.scaled and spec.uses_gradient) or spec.continuous:
        return []
    h = spec.langevin_time(plan.schedule(0)) * (1.0 if spec.own_units else where.max_precision)
    if not KEPT_TIME / h > MOST_STEPS_A_DRAW:
        return []
    given = plan.step_origin == "given"
    found = StepSizeWarning(
        f"the step {'' if given else 'that so noisy gradients allow '}is tiny against the "
        f"posterior: {spec.name} with step_size={plan.schedule(0):.3g} takes about "
        f"{KEPT_TIME / h:,.0f} steps from one independent draw to the next.",
        "Leave step_size=None."
        if given
        else "Leave gradient=None and batch_size=None, or take a larger batch_size.",
    )
    warn(found)
    return [found]
