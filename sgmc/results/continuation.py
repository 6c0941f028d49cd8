"""Results that go on: from chains in memory, or from saved states and the data given again."""

import time
from dataclasses import dataclass, replace

from sgmc.arguments.declared.keywords import AUTO, FirstDraws
from sgmc.arguments.numbers import whole
from sgmc.core.system.interrupts import handled
from sgmc.core.system.phases import watched
from sgmc.errors import ArgumentError
from sgmc.saved import storable

HARMLESS = ("time_limit", "threads", "progress", "checkpoint")  # arguments that change no draw


@dataclass(frozen=True)
class Continuation:
    """What a result needs to go on, besides its fit.

    Attributes
    ----------
    arguments : dict
        Of the fit, as the user gave them.
    saved : Saved or None
        States of the chains, where the fit itself was left behind with the data.
    refusal : str
        Why a saved result cannot go on; empty where it can.
    """

    arguments: dict
    saved: object = None
    refusal: str = ""

    def without_data(self, fit):
        """The same for a file: states of the chains and the mark of their posterior."""
        from sgmc.fit.checkpoint import Saved, mark

        here = *HARMLESS, "client"
        arguments = {k: v for k, v in self.arguments.items() if k not in here}
        for name, value in arguments.items():
            reason = storable({name: value})  # not of a function as step_size, say
            if reason:
                return Continuation({}, None, f"an argument of the fit cannot be saved ({reason})")
        return Continuation(arguments, Saved(mark(fit.plan), fit.states, fit.seconds))


def resume(results, draws, data, how):
    """Continue a fit from its last step; see `Results.resume`."""
    from sgmc.core.system.deadline import limited
    from sgmc.fit.checkpoint import Saved
    from sgmc.fit.run import sample
    from sgmc.fit.settings import check_settings
    from sgmc.fit.stopping import first_look

    unknown = sorted(set(how) - set(HARMLESS))
    if unknown:
        raise ArgumentError(
            f"resume has no argument {unknown[0]!r}: a run goes on as it began; it has: draws, "
            f"data, {', '.join(HARMLESS)}"
        )
    if results.stand_in:
        raise ArgumentError(
            f"resume: {results.stand_in}, not of a run that could go on; fit again with more time"
        )
    origin, fit, begun = results._continuation, results._fit, time.perf_counter()
    left = *HARMLESS, "max_data_passes", "client"  # what goes on goes on here
    arguments = {k: v for k, v in origin.arguments.items() if k not in left}
    if draws is not None or results._stopping is None or results._stopping.reached:
        arguments.pop("accuracy", None)  # so many draws are asked for
    arguments |= {"seed": results.seed, **how}
    # a run that was interrupted, and whose number of draws is open, goes on until it would end
    if draws is not None or not (results.interrupted and open_draws(arguments)):
        arguments["draws"] = total(results, draws)
    if fit is not None and data is None:
        checked = replace(
            check_settings(**{k: v for k, v in arguments.items() if k != "prior"}),
            tuned=fit.settings.tuned,
        )
        with handled(), limited(checked.time_limit), watched(arguments.get("progress")):
            plan = replace(fit.plan, settings=first_look(checked, fit.states))
            done = sample(plan, begun, Saved({}, fit.states, fit.seconds))
            return type(results).of_fit(results.model, done, arguments)
    saved = origin.saved if fit is None else origin.without_data(fit).saved
    if saved is None:
        raise ArgumentError(f"these results cannot be resumed from a file: {origin.refusal}")
    return model_again(results.model, data).continue_from(
        saved, arguments, tuned=results.tuning is not None
    )


def open_draws(arguments):
    """Whether the arguments of a fit leave the number of draws open."""
    return isinstance(arguments.get("draws", AUTO), str | FirstDraws)


def total(results, draws):
    """Kept draws a chain, in all."""
    have, asked = results.draws.shape[1], results._asked
    if draws is not None:
        return have + whole("draws", draws, 1)
    return asked if have < asked else have + asked


def model_again(model, data):
    """The model of a result, from the data given again."""
    if hasattr(data, "continue_from"):
        return data
    if not hasattr(model, "family"):
        raise ArgumentError(
            "these results were loaded from a file, without the data: call resume(data=<the "
            f"{model.title} model of the fit>)"
        )
    again = f"resume(data=sgmc.{model.kind.__name__}"
    if data is None:
        wanted = (
            "data=<the table of the fit>)"
            if model.formula
            else f"data=sgmc.{model.kind.__name__}(y, X))"
        )
        raise ArgumentError(
            f"these results were loaded from a file, without the data: call resume({wanted}"
        )
    if model.formula is None:
        raise ArgumentError(
            f"these results are of arrays: call {again}(y, X, ...)) with what the fit had"
        )
    if any(value is True for value in model.inputs.values()):
        raise ArgumentError(
            "the fit had weights, an offset, strata or a subset that were no column names: call "
            f"{again}.from_formula(formula, data, ...)) with what the fit had"
        )
    return model.kind.from_formula(model.formula, data, **model.inputs, **model.options)
