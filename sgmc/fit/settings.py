"""The arguments of a fit, checked once."""

import inspect
import os
from dataclasses import dataclass

import numpy as np

from sgmc import registry
from sgmc.core.contract import Schedule
from sgmc.core.schedules import Function
from sgmc.core.spec import SamplerSpec
from sgmc.errors import DataError, NotSupported
from sgmc.coordinates import sandwich
from sgmc.arguments.arrays import numeric
from sgmc.arguments.choices import nearest, one_of
from sgmc.arguments.files import writable
from sgmc.arguments.messages import must_be
from sgmc.arguments.names import texts
from sgmc.arguments.numbers import positive, whole
from sgmc.arguments.seeds import entropy
from sgmc.fit.run.checkpoint import read
from sgmc.fit.run.progress import reporter

PRECONDITIONERS = ("mode", "dense", "diag", None)


@dataclass(frozen=True)
class Settings:
    """Checked arguments; None where a default is to be derived from the data."""

    sampler: SamplerSpec | None
    gradient: str | None
    subsample: str
    batch_size: int | None
    adaptive: bool
    step_size: float | Schedule | None
    precondition: str | None
    init: np.ndarray | None
    draws: int
    thin: int | None
    warmup: int | str | None
    chains: int
    threads: int
    seed: object
    time_limit: float | None
    max_data_passes: float | None
    progress: object
    dtype: np.dtype
    checkpoint: str | None
    cov_type: str = "nonrobust"
    tuned: bool = False  # step and batch come from a race
    keep: tuple | None = None

    @property
    def robust(self):
        """Whether draws are to have the sandwich's covariance."""
        return self.cov_type == "robust"


def warmup_steps(value):
    """A number of steps, "threshold" or None."""
    if isinstance(value, str):
        return one_of("warmup", value, ("threshold",), ", or a whole number of steps")
    return whole("warmup", value, 0, none=True)


def step(value, name="step_size"):
    """A number, a schedule, or a callable made into one."""
    if isinstance(value, Schedule):
        return value
    return Function(value) if callable(value) else positive(name, value, none=True)


def start(init):
    """Finite numbers as an array, or None."""
    if init is None:
        return None
    try:
        array = np.atleast_1d(numeric("init", init)).astype(float)
    except DataError as error:
        raise must_be("init", init, "an array of numbers, one for each parameter") from error
    if not np.isfinite(array).all():
        raise must_be("init", init, "an array of finite numbers")
    return array


def kept(keep):
    """Names of parameters as a tuple, or None."""
    return None if keep is None else tuple(texts("keep", keep, "names of parameters"))


def check_covariance(cov_type):
    """Refuse what is neither the model's posterior nor its sandwich."""
    if not isinstance(cov_type, str) or cov_type not in ("nonrobust", "robust"):
        raise NotSupported(
            f"cov_type={cov_type!r} must be 'nonrobust' (the model's posterior) or 'robust' (the "
            "sandwich, HC0)"
        )


def unknown_argument(name):
    """The TypeError for an argument that a fit has not, with the nearest one."""
    known = [p for p in inspect.signature(settings).parameters if p != "unknown"]
    known += ["prior", "tune", "weights", "offset", "strata", "subset", "missing"]
    return TypeError(f"fit() got an unexpected keyword argument {name!r}{nearest(name, known)}")


def seed_of_run(seed, checkpoint):
    """The seed given, or that of the run in a checkpoint file, or a fresh one."""
    found = read(checkpoint) if seed is None and checkpoint else None
    return entropy(seed) if found is None else found.mark["seed"]


def settings(
    sampler="auto",
    gradient=None,
    subsample="block",
    batch_size=None,
    step_size=None,
    precondition="mode",
    init=None,
    draws=1000,
    thin=None,
    warmup=None,
    chains=4,
    threads=None,
    seed=None,
    cov_type="nonrobust",
    time_limit=None,
    max_data_passes=None,
    progress=None,
    dtype="float64",
    checkpoint=None,
    keep=None,
    **unknown,
):
    """Check every argument of a fit; see `sgmc.logit` for their meaning.

    Raises
    ------
    ArgumentError
        Naming the argument and what it may be.
    NotSupported
        For what this release does not do.
    TypeError
        For arguments that there are none of.
    """
    if unknown:
        raise unknown_argument(next(iter(unknown)))
    check_covariance(cov_type)
    spec, gradient = registry.sampler_and_gradient(sampler, gradient)
    one_of("precondition", precondition, PRECONDITIONERS)
    dtype = str(dtype) if isinstance(dtype, np.dtype) else dtype
    dtype = np.dtype(one_of("dtype", dtype, ("float64", "float32")))
    if cov_type == "robust":
        sandwich.refuse(spec, precondition)
    adaptive = isinstance(batch_size, str) and batch_size == "adaptive"
    draws, chains = whole("draws", draws, 1), whole("chains", chains, 1)
    checkpoint = writable("checkpoint", checkpoint)
    return Settings(
        spec,
        gradient,
        registry.lookup("subsampling", subsample, "subsample").name,
        None if adaptive else whole("batch_size", batch_size, 1, none=True),
        adaptive,
        step(step_size),
        precondition,
        start(init),
        draws,
        whole("thin", thin, 1, none=True),
        warmup_steps(warmup),
        chains,
        whole("threads", threads, 1, none=True) or min(chains, os.cpu_count() or 1),
        seed_of_run(seed, checkpoint),
        positive("time_limit", time_limit, none=True),
        positive("max_data_passes", max_data_passes, none=True),
        reporter(progress),
        dtype,
        checkpoint,
        cov_type,
        keep=kept(keep),
    )
