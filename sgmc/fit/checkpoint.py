"""Where a run was: the states of its chains, and a mark of the posterior and plan that they belong
to.

States are taken at fixed step numbers and written now and then; chains that continue from them make
the draws of a run that never stopped.
"""

import hashlib
import os
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields

import numpy as np

from sgmc.core.system.files import Damaged, read_sealed, write_sealed
from sgmc.core.system.types import fits
from sgmc.errors import ArgumentError, CheckpointWarning
from sgmc.version import SERIES

KIND = b"sgmc checkpoint 1"
RESUMED = "the run to resume"  # the source of states that are no file's
GRID = 100  # states taken in a run
WRITING_SHARE = 0.05  # of the time, at most, that writing may take
MOMENTS = (0, 1, 10, 100, 1000, 10**4, 10**5, 10**6)  # steps at which schedules are compared


@dataclass(frozen=True)
class Saved:
    """What a run continues from.

    Attributes
    ----------
    mark : dict
        See `mark`; empty where the run is known to be the same.
    chains : list of dict
        States.
    seconds : float
        Spent before.
    """

    mark: dict[str, object]
    chains: list[dict]
    seconds: float


def mark(plan):
    """What makes the draws of a run: what the user chose, a checksum of the posterior,
    and what was derived from it.
    """
    problem, settings = plan.problem, plan.settings
    return {
        "rows": problem.model.n,
        "parameters": list(problem.priors.names),
        "prior": [str(p) for p in problem.priors.specified],
        "sampler": repr(plan.spec),
        "gradient": plan.gradient,
        "subsample": settings.subsample,
        "chains": settings.chains,
        "cov_type": settings.cov_type,
        "precondition": settings.precondition,
        "seed": settings.seed,
        "dtype": str(settings.dtype),
        "init": settings.init.tolist() if settings.start_given else settings.init,
        "posterior": checksum(problem),
        "batch_size": (["adaptive"] if settings.adaptive else []) + [plan.batch],
        "step_size": [plan.schedule(t) for t in MOMENTS],
        "thin": plan.thinning,
        "warmup": plan.warmup,
        **({} if settings.keep is None else {"keep": list(settings.keep)}),
        **({} if settings.modes == "one" else {"modes": settings.modes}),
        **({"prior_only": True} if settings.prior_only else {}),
        **({"keep_warmup": True} if settings.keep_warmup else {}),
    }


def checksum(problem):
    """SHA-256 of what tells a posterior from others."""
    total = hashlib.sha256()
    for part in problem.fingerprint:
        if part is not None:
            total.update(np.ascontiguousarray(part).view(np.uint8).data)
    return total.hexdigest()


def compare(theirs, ours, source):
    """ArgumentError where `source` belongs to another run than ours; it names what differs.

    Parameters
    ----------
    theirs, ours : dict
        See `mark`.
    source : str
        A checkpoint, or `RESUMED`, whose arguments are those of the fit, so that the data differ.
    """
    resumed = source == RESUMED
    cure = "or another path"
    if resumed:
        cure = "give the table of the fit, with its rows in their order; new rows are for update()"
    for name, value in ours.items():
        with suppress(ValueError):  # an array where plain values are
            if theirs.get(name) == value:
                continue
        if name == "posterior":
            raise ArgumentError(
                f"{source} was made from other data{'' if resumed else ', or with another family'} "
                "(or by another linear algebra library, whose rounding is not this one's); "
                + (cure if resumed else f"give the same data, {cure}")
            )
        # priors in units of the data are others where these are
        what = "prior, and the same data" if name == "prior" else "arguments"
        raise ArgumentError(
            f"{source} belongs to another fit: {name} was {theirs.get(name)!r}, here it is "
            f"{value!r}; " + (cure if resumed else f"give the same {what}, {cure}")
        )


def read(path):
    """The `Saved` of a checkpoint file, or None where there is no file.

    Raises
    ------
    ArgumentError
        If the file is damaged, not one of ours, or of another version; it says which.
    """
    if not os.path.exists(path):
        return None
    try:
        tree = read_sealed(path, KIND)
    except OSError as error:
        raise ArgumentError(f"checkpoint={path!r} cannot be read: {error.strerror}") from error
    except Damaged as error:
        raise ArgumentError(
            f"checkpoint={path!r} cannot be used: the file {error}; delete it to start afresh, or "
            "give another path"
        ) from error
    version = tree.pop("version", "of another version")
    if version != SERIES:
        raise ArgumentError(
            f"checkpoint={path!r} was written by sgmc {version}, this is {SERIES}: draws "
            "continue bit by bit within a minor version only; delete it to start afresh"
        )
    kinds = {one.name: one.type for one in fields(Saved)}
    if tree.keys() != kinds.keys() or not all(fits(tree[name], kinds[name]) for name in kinds):
        raise ArgumentError(
            f"checkpoint={path!r} cannot be used: the file holds other values than those of a run; "
            "delete it to start afresh, or give another path"
        )
    return Saved(**tree)


@contextmanager
def of_this_fit(source):
    """ArgumentError where states of `source` are not those of the chains that get them."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ArgumentError(
            f"{source} holds states that are not those of this fit's chains ({error}): delete it, "
            "and fit again"
        ) from error


def check_like(theirs, ours, place="state"):
    """ValueError where a saved state has other parts, types or shapes than that of a new chain, of
    which lists and axes of arrays that are empty grow.
    """
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if theirs.keys() != ours.keys():
            raise ValueError(f"{place} has other parts")
        for name, value in ours.items():
            check_like(theirs[name], value, name)
    elif isinstance(ours, np.ndarray) and isinstance(theirs, np.ndarray):
        same = theirs.ndim == ours.ndim and all(
            own in (0, length) for own, length in zip(ours.shape, theirs.shape)
        )
        if not same or theirs.dtype != ours.dtype:
            raise ValueError(f"{place} is an array {theirs.shape} of {theirs.dtype}")
    elif isinstance(ours, (list, tuple)) and isinstance(theirs, (list, tuple)):
        if ours and len(theirs) != len(ours):
            raise ValueError(f"{place} has {len(theirs)} values")
        for one, value in zip(theirs, ours):
            check_like(one, value, place)
    elif ours is not None and not fits(theirs, float | bool | type(ours)):
        raise ValueError(f"{place} is {theirs!r:.40}")


class Checkpoint:
    """Takes states of chains as they run and writes them to a file.

    Parameters
    ----------
    path : str
    mark : dict
    chains : list of Chain
    steps : int
        Of a chain, in all.
    seconds : float
        Spent in earlier sessions.

    Raises
    ------
    ArgumentError
        If the file cannot be written.
    """

    def __init__(self, path, mark, chains, steps, seconds):
        self.path, self.mark, self.seconds = path, mark, seconds
        self.every = max(1, steps // GRID)
        self.states = [chain.state() for chain in chains]
        self.begun, self.due, self.new, self.failure = time.perf_counter(), 0.0, False, ""
        self.write()
        if self.failure:
            raise ArgumentError(f"checkpoint={path!r} cannot be written: {self.failure}")

    def until_next(self, step):
        """Steps from `step` to the next one whose state is taken."""
        return self.every - step % self.every

    def store(self, k, chain):
        """Take the state of chain k if it is at such a step; called by its worker."""
        if chain.steps % self.every == 0:
            self.states[k], self.new = chain.state(), True

    def write_if_due(self):
        """Write new states unless writing would take more than its share of the time;
        called by the waiting thread.
        """
        if self.new and time.perf_counter() >= self.due:
            self.write()

    def write(self):
        """Write; a failure does not end a run, and is a warning."""
        self.new, begun = False, time.perf_counter()
        try:
            write_sealed(
                self.path,
                KIND,
                {
                    "version": SERIES,
                    "mark": self.mark,
                    "chains": self.states,
                    "seconds": self.seconds + begun - self.begun,
                },
            )
            self.failure = ""
        except OSError as error:
            self.failure = error.strerror or str(error)
        now = time.perf_counter()
        self.due = now + (now - begun) / WRITING_SHARE

    def finish(self, chains):
        """Write the last states; returns them."""
        self.states = [chain.state() for chain in chains]
        self.write()
        return self.states

    def warnings(self):
        """A CheckpointWarning, in a list, where the last states could not be written."""
        if not self.failure:
            return []
        return [
            CheckpointWarning(
                f"checkpoint={self.path!r} could not be written: {self.failure}.",
                "The file holds an earlier state of this run; make room and call "
                "resume(checkpoint=...).",
            )
        ]
