"""The arguments of a fit, checked once."""

import difflib
import inspect
import numbers
import os
from dataclasses import dataclass

import numpy as np

from sgmc import registry
from sgmc.core.contract import Schedule
from sgmc.core.schedules import Function
from sgmc.core.spec import SamplerSpec
from sgmc.errors import ArgumentError, DataError, NotSupported
from sgmc.coordinates import sandwich
from sgmc.arguments.arrays import numeric
from sgmc.fit.run.checkpoint import read
from sgmc.fit.run.progress import reporter

PRECONDITIONERS = ("mode", "dense", "diag")
MOST = 10**12  # of anything that is counted: products of two stay within 64 bits


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


def whole(name, value, low, allow_none=True):
    """A whole number at least `low`, or None."""
    if value is None and allow_none:
        return None
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < low:
        raise ArgumentError(f"{name}={value!r} must be a whole number, at least {low}")
    if value > MOST:
        raise ArgumentError(f"{name}={value!r} is too many: at most {MOST:.0e}")
    return int(value)


def warmup_steps(value):
    """A number of steps, "threshold" or None."""
    if isinstance(value, str):
        if value != "threshold":
            raise ArgumentError(f"warmup={value!r} must be a whole number of steps, or 'threshold'")
        return value
    return whole("warmup", value, 0)


def positive(name, value):
    """A positive finite number, or None."""
    if value is None:
        return None
    if (
        isinstance(value, bool)
        or not isinstance(value, numbers.Real)
        or not 0 < value < float("inf")
    ):
        raise ArgumentError(f"{name}={value!r} must be a positive number")
    return float(value)


def step(value):
    """A number, a schedule, or a callable made into one."""
    if isinstance(value, Schedule):
        return value
    return Function(value) if callable(value) else positive("step_size", value)


def start(init):
    """Finite numbers as an array, or None."""
    if init is None:
        return None
    try:
        array = np.atleast_1d(numeric("init", init)).astype(float)
    except DataError as error:
        raise ArgumentError(
            f"init={init!r} must be an array of numbers, one a parameter"
        ) from error
    if not np.isfinite(array).all():
        raise ArgumentError("init has missing or infinite values")
    return array


def writable(path):
    """The absolute path of a file that may be there or not, in a folder that is there; or None."""
    if path is None:
        return None
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"checkpoint={path!r} must be a path")
    full = os.path.abspath(path)
    if os.path.isdir(full) or not os.path.isdir(os.path.dirname(full)):
        raise ArgumentError(
            f"checkpoint={os.fspath(path)!r} must name a file in a folder that exists"
        )
    return full


def kept(keep):
    """Names of parameters as a tuple, or None."""
    names = [keep] if isinstance(keep, str) else keep
    if names is not None and not (
        np.iterable(names) and all(isinstance(name, str) for name in names)
    ):
        raise ArgumentError(f"keep={keep!r} must be names of parameters")
    return None if names is None else tuple(names)


def check_covariance(cov_type):
    """Refuse what is neither the model's posterior nor its sandwich."""
    if not isinstance(cov_type, str) or cov_type not in ("nonrobust", "robust"):
        raise NotSupported(
            f"cov_type={cov_type!r} must be 'nonrobust' (the model's posterior) or 'robust' (the "
            "sandwich, HC0)"
        )


def entropy(seed):
    """The number that a SeedSequence starts from: a seed given, or a fresh one,
    which results report.
    """
    if isinstance(seed, np.random.SeedSequence):
        plain = isinstance(seed.entropy, numbers.Integral) and not seed.spawn_key
        return (
            int(seed.entropy)
            if plain
            else int.from_bytes(seed.generate_state(2, np.uint64).tobytes(), "little")
        )
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**63))
    if seed is None:
        return np.random.SeedSequence().entropy
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral) or seed < 0:
        raise ArgumentError(
            f"seed={seed!r} must be a whole number, at least 0, or a numpy SeedSequence or "
            "Generator"
        )
    return int(seed)


def unknown_argument(name):
    """The TypeError for an argument that a fit has not, with the nearest one."""
    known = [p for p in inspect.signature(settings).parameters if p != "unknown"]
    known += ["prior", "tune", "weights", "offset", "strata", "subset", "missing"]
    near = difflib.get_close_matches(name, known, n=1)
    return TypeError(
        f"fit() got an unexpected keyword argument {name!r}"
        + (f"; did you mean {near[0]!r}?" if near else "")
    )


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
    if precondition is not None and not (
        isinstance(precondition, str) and precondition in PRECONDITIONERS
    ):
        raise ArgumentError(
            f"precondition={precondition!r} is not one of 'mode', 'dense', 'diag', None"
        )
    if str(dtype) not in ("float64", "float32"):
        raise ArgumentError(f"dtype={dtype!r} must be 'float64' or 'float32'")
    if cov_type == "robust":
        sandwich.refuse(spec, precondition)
    adaptive = isinstance(batch_size, str) and batch_size == "adaptive"
    draws, chains = whole("draws", draws, 1, False), whole("chains", chains, 1, False)
    return Settings(
        spec,
        gradient,
        registry.lookup("subsampling", subsample, "subsample").name,
        None if adaptive else whole("batch_size", batch_size, 1),
        adaptive,
        step(step_size),
        precondition,
        start(init),
        draws,
        whole("thin", thin, 1),
        warmup_steps(warmup),
        chains,
        whole("threads", threads, 1) or min(chains, os.cpu_count() or 1),
        seed_of_run(seed, writable(checkpoint)),
        positive("time_limit", time_limit),
        positive("max_data_passes", max_data_passes),
        reporter(progress),
        np.dtype(str(dtype)),
        writable(checkpoint),
        cov_type,
        keep=kept(keep),
    )
