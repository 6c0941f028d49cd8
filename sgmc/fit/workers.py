"""Chains on the workers of a cluster: each makes one from the model, the seed and its number, as a
thread here would, and returns its state.
"""

import pickle
import time
from dataclasses import dataclass, replace

import numpy as np

from sgmc.core.blas import one_blas_thread
from sgmc.errors import ArgumentError, NotSupported
from sgmc.fit.chains import Run, Watch, build_chain, run_chains
from sgmc.fit.noise import share_design_effect
from sgmc.fit.plan import steps_after_warmup
from sgmc.fit.sampling import prepared
from sgmc.fit.settings import check_settings

LOCAL = ("client", "progress", "checkpoint", "time_limit", "threads")  # of this machine alone


@dataclass(frozen=True)
class Workers:
    """Where chains run, and what they are made of.

    Attributes
    ----------
    client : distributed.Client
    model : Model
        With `problem`.
    prior : object
    arguments : dict
        Of the fit.
    """

    client: object
    model: object
    prior: object
    arguments: dict

    def refuse(self, settings):
        """NotSupported or ArgumentError for what does not go with chains elsewhere."""
        if not (hasattr(self.client, "submit") and hasattr(self.client, "scatter")):
            raise ArgumentError(
                f"client must be a dask.distributed.Client, not {self.client!r:.80}"
            )
        for name in ("checkpoint", "time_limit"):
            if getattr(settings, name) is not None:
                raise NotSupported(
                    f"{name} does not go with client=, whose chains run elsewhere: leave one out"
                )

    def sealed(self):
        """What a worker needs, pickled."""
        rest = {k: v for k, v in self.arguments.items() if k not in LOCAL}
        try:
            import cloudpickle

            return cloudpickle.dumps((self.model, self.prior, rest))
        except Exception as error:  # whatever a user's class raises
            raise ArgumentError(
                f"client: the model cannot be sent to workers ({type(error).__name__}: {error}); "
                "leave files, locks and other open things out of its attributes, or leave client "
                "out"
            ) from error

    def run(self, chains, plan):
        """Run the chains of a plan elsewhere and put their states into those here.

        Parameters
        ----------
        chains : list of Chain
        plan : Plan
            That a worker's must be equal to.
        """
        begun, mine = time.perf_counter(), in_words(plan)
        shared = self.client.scatter(self.sealed(), broadcast=True, hash=False)
        futures = [self.client.submit(one_chain, shared, k, pure=False) for k in range(len(chains))]
        results = self.client.gather(futures)
        for chain, (theirs, state, *_) in zip(chains, results):
            other = [name for name, value in mine.items() if theirs[name] != value]
            if other:
                raise NotSupported(
                    f"client: a worker found another {other[0]} ({theirs[other[0]]}, here "
                    f"{mine[other[0]]}): its linear algebra rounds otherwise; give step_size=, "
                    "batch_size=, thin= and warmup=, or leave client out"
                )
            chain.set_state(state)
        statuses = [status for *_, status, _ in results]
        nans = [one for *_, found in results for one in found]
        undefined = [NaNs(nans[0].text, sum(one.recorded for one in nans))] if nans else []
        return Run(statuses, "", time.perf_counter() - begun, undefined)


@dataclass(frozen=True)
class NaNs:
    """What a function returned that is no number, in words, and at how many steps."""

    text: str
    recorded: int


def on_workers(model, prior, settings, arguments):
    """Settings whose client, if there is one, knows what chains are made of."""
    if settings.client is None:
        return settings
    given = {**arguments, "seed": settings.seed}
    given.pop("prior", None)
    workers = Workers(settings.client, model, prior, given)
    workers.refuse(settings)
    return replace(settings, client=workers)


def one_chain(sealed, k):
    """Chain k of a fit, on a worker: its plan, state and status, and what was NaN in it."""
    model, prior, arguments = pickle.loads(sealed)
    settings = replace(check_settings(**arguments, progress=False), threads=1)
    problem = model.problem(prior, settings)
    problem, plan, _, seen = prepared(problem, settings)
    chain = build_chain(problem, plan, settings, k)
    if plan.spec.noisy and seen is not None:
        share_design_effect(problem, plan, settings, [chain])
    with one_blas_thread():
        run = run_chains(
            [chain],
            plan.warmup,
            steps_after_warmup(plan, settings.draws),
            1,
            Watch(),
            adapt=plan.step_origin != "given",
        )
    nans = [NaNs(one.text, one.recorded) for one in problem.undefined]
    return in_words(plan), chain.state(), run.statuses[0], nans


def in_words(plan):
    """What must be the same on a worker, in words that can be compared."""
    return {
        "sampler": repr(plan.spec),
        "gradient": plan.gradient,
        "step size": float(np.float64(plan.schedule(0))),
        "mini-batch": plan.batch,
        "thinning": plan.thinning,
        "warmup": plan.warmup,
    }
