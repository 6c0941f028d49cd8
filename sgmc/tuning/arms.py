"""Arms of a race: a grid over step, minibatch and declared parameters, each with the plan that its
chain is built from.
"""

import itertools
from dataclasses import dataclass, replace

import numpy as np

from sgmc.arguments.choices import nearest
from sgmc.arguments.messages import must_be
from sgmc.arguments.numbers import whole
from sgmc.core.schedules import Constant
from sgmc.errors import ArgumentError
from sgmc.fit import check_step, make_plan

# of the Langevin time of the derived step: nine half decades
STEP_FACTORS = 10.0 ** np.arange(-2.0, 2.1, 0.5)
BATCH_FACTORS = (1 / 3, 1, 3)  # of the derived minibatch
MAX_ARMS = 1000
# axes that are arguments of a fit, no parameters of a specification
OWN = ("step_size", "batch_size")


@dataclass(frozen=True)
class Arm:
    """One competitor.

    Attributes
    ----------
    number : int
        Its place in the grid.
    spec : SamplerSpec
    values : dict
        What it takes of each axis.
    plan : Plan
    """

    number: int
    spec: object
    values: dict
    plan: object


def arms_of(grid, choice):
    """All arms of a grid, the last axis changing fastest.

    Axes that the grid has not, and that are not given as arguments, are the default ones:
    STEP_FACTORS times the Langevin time of the derived step, and BATCH_FACTORS times the derived
    minibatch, within 1 and N.

    Parameters
    ----------
    grid : dict or None
        Name of an axis -> its values; None: default axes alone.
    choice : Choice
        Whose estimator and its noise are the same for all arms.
    """
    axes = checked(grid, choice.spec, choice.settings)
    if len(OWN) > len(axes.keys() & set(OWN)):
        axes = with_defaults(axes, choice)
    count = int(np.prod([len(values) for values in axes.values()]))
    if count > MAX_ARMS:
        raise ArgumentError(f"grid has {count} arms; at most {MAX_ARMS}")
    return [
        made(k, dict(zip(axes, values)), choice)
        for k, values in enumerate(itertools.product(*axes.values()))
    ]


def checked(grid, spec, settings):
    """The axes that are given, each a list of checked values."""
    if grid is not None and (not isinstance(grid, dict) or not grid):
        raise must_be("grid", grid, "a dict of lists, such as {'step_size': [0.1, 1.0]}")
    known, axes = {p.name: p for p in spec.parameters}, {}
    for name, values in (grid or {}).items():
        if name not in known and name not in OWN:
            raise ArgumentError(
                f"grid[{name!r}]: {spec.name} has no such parameter"
                + nearest(name, [*OWN, *known], "axes are")
            )
        if isinstance(values, str) or not np.iterable(values) or not len(list(values)):
            raise must_be(f"grid[{name!r}]", values, "a list of values")
        if name in OWN and getattr(settings, name) is not None:
            raise ArgumentError(f"{name} is given, and an axis of the grid: leave one of them out")
        label = f"grid[{name!r}]"
        check = {
            "step_size": lambda v: step(label, v),
            "batch_size": lambda v: whole(label, v, 1),
        }.get(name, lambda v: known[name].check(v, label))
        axes[name] = [
            check(value.item() if isinstance(value, np.generic) else value) for value in values
        ]
    if "batch_size" in axes and not spec.minibatches:
        raise ArgumentError(
            f"grid['batch_size'] does not apply to {spec.name}: it uses all rows at each step"
        )
    return axes


def step(label, value):
    """A positive number, a schedule or a callable made into one;
    of a constant schedule its number.
    """
    return value.h if isinstance(value, Constant) else check_step(value, label)


def with_defaults(axes, choice):
    """The axes with default ones for step and minibatch where these are left open."""
    spec, settings = choice.spec, choice.settings
    step = "step_size" not in axes and settings.step_size is None
    batch = "batch_size" not in axes and settings.batch_size is None and spec.minibatches
    if not step and not batch:
        return axes
    # then there is no derived step
    unknown = "step_size" in axes and spec.needs_step
    given = replace(settings, step_size=axes["step_size"][0]) if unknown else settings
    plan = make_plan(replace(choice, settings=given))
    default = {}
    if step:
        own = spec.langevin_time(plan.schedule(0))
        default["step_size"] = [float(spec.from_langevin(own * factor)) for factor in STEP_FACTORS]
    if batch:
        sizes = np.clip(np.round(plan.batch * np.array(BATCH_FACTORS)), 1, choice.size[0])
        default["batch_size"] = [int(m) for m in np.unique(sizes.astype(int))]
    return default | axes


def made(number, values, choice):
    """One arm."""
    named = {name: value for name, value in values.items() if name not in OWN}
    given = {name: value for name, value in values.items() if name in OWN}
    spec = type(choice.spec)(**{**choice.spec.values(), **named})
    settings = replace(choice.settings, sampler=spec, **given)
    plan = make_plan(replace(choice, spec=spec, settings=settings))
    own = {"step_size": plan.schedule if plan.weighted else plan.schedule(0)}
    values = own | ({"batch_size": plan.batch} if spec.minibatches else {}) | values
    return Arm(number, spec, values, plan)


def refuse(settings):
    """ArgumentError for what no race can have."""
    if settings.adaptive:
        raise ArgumentError(
            "batch_size='adaptive' learns the size in warmup, of which arms that race have none; "
            "give a number"
        )
