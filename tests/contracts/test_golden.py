"""The numbers of a seed, pinned: raw streams for good, draws of samplers within a minor version.

Everything hashed here comes from C without fused operations, from numpy's SeedSequence and SFC64
(whose streams numpy promises to keep) and from IEEE arithmetic, so that the bits are those of
every x86-64.  Left out is what is not: fits by the verbs, whose coordinates come from LAPACK (other
bits, even other signs, with another BLAS) and whose order of rows is numpy's permutation; and the
adaptation of mala, which goes through the C library's exp and pow.

To renew the samplers' hashes after a change that CHANGELOG.md notes:
``python -m tests.contracts.test_golden --write`` in the source tree.  Those of the raw streams are
never renewed.
"""

import ctypes
import hashlib
import itertools
import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from _ext.probes import Probe, block

from sgmc.coordinates.transforms.maps import Scaling
from sgmc.core.contract import Anchor
from sgmc.core.designs.design import design
from sgmc.core.engine import Chain
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant
from sgmc.fit.plan import GRADIENT
from sgmc.samplers.bases.piecewise.paths import Path as Travelled

from .cases import (
    CONTINUOUS,
    GRADIENTS,
    HELD,
    REGRESSIONS,
    SCHEMES,
    SPECS,
    STORAGE,
    THINNED,
    event_gradient,
    normal_prior,
    stream,
)

GOLDEN = Path(__file__).with_name("golden.json")
MUST = (
    "the stream of a released version must not change; draws of samplers only with a note in "
    "CHANGELOG.md"
)
N, BATCH, DRAWS = 60, 7, 100


def digest(numbers):
    """The sha256 of the numbers' bits."""
    return hashlib.sha256(np.ascontiguousarray(numbers, "<f8").tobytes()).hexdigest()


@cache
def posterior(d, storage):
    """A logit model of exact binary fractions, and its anchors by need of curvature."""
    i, j = np.ogrid[:N, :d]
    X = ((37 * i * (j + 1) + 11 * j) % 17 - 8) / 16 * ((i + j) % 3 > 0)
    model = REGRESSIONS["logit"](
        design(STORAGE[storage](X)), (np.arange(N) * 7 % 5 > 2).astype(float), None, None
    )
    return model, {
        curvature: Anchor(model, np.full(d, 0.125), curvature) for curvature in (False, True)
    }


def draws(spec, d=3, storage="dense64", estimate=GRADIENT, scheme="block"):
    """100 draws of one chain in steps of one size: a half,
    or a quarter where that would diverge on a Gaussian.
    """
    model, anchors = posterior(d, storage)
    rng, cls, made = stream(0), GRADIENTS[estimate], SPECS[spec]
    step = 0.5 if np.isfinite(made.inflation(made.langevin_time(0.5), 0.0)) else 0.25
    anchor = anchors["curvature" in cls.needs] if "anchor" in cls.needs else None
    white = Scaling(np.full(d, 0.125), np.full(d, 0.75))
    gradient = cls(model, normal_prior(d), SCHEMES[scheme](N, BATCH), rng, map=white, anchor=anchor)
    chain = Chain(np.full(d, 0.5), made.build(d, step), gradient, rng, Constant(step))
    chain.recorder = FullRecorder(DRAWS, d, 1)
    chain.run(DRAWS)
    return np.asarray(chain.recorder.draws)


def bounded(made, step, recorder, most, d=3, **moving):
    """The draws of one chain of a sampler that needs bounds, after so many steps at most."""
    rng = stream(0)
    gradient = event_gradient(
        made,
        posterior(d, "dense64")[0],
        normal_prior(d),
        rng,
        map=Scaling(np.full(d, 0.125), np.full(d, 0.75)),
    )
    chain = Chain(np.full(d, 0.5), made.build(d, step), gradient, rng, Constant(step), **moving)
    chain.recorder = recorder(d)
    chain.run(most)
    return np.asarray(chain.recorder.draws)


def path(spec):
    """100 draws on a grid of times, of one chain in continuous time."""
    return bounded(MOVING[spec], 1.0, lambda d: Travelled(DRAWS, d, 0.25), 10**6, velocity=True)


def thinned(spec):
    """100 draws of a chain whose acceptance ratio is thinned."""
    return bounded(THINNED[spec], 0.25, lambda d: FullRecorder(DRAWS, d, 1), DRAWS)


MOVING = CONTINUOUS | HELD  # predicted bounds go through the C library's exp and log
RAW = {
    f"{purpose} {k} {kind}": (purpose, k, kind)
    for purpose, k in (("chain", 0), ("chain", 1), ("start", 0), ("pilot", 1))
    for kind in ("normals", "uniforms")
}
RUNS = {name: dict(spec=name) for name in [*SPECS, *MOVING, *THINNED]} | {
    f"lmsgld {' '.join(map(str, other))}": dict(
        spec="lmsgld", d=other[0], storage=other[1], estimate=other[2], scheme=other[3]
    )
    for other in [
        *itertools.product([3], ["dense64"], GRADIENTS, SCHEMES),
        *itertools.product([10, 40], STORAGE, GRADIENTS, ["block"]),
    ]
}


def computed(kind, name):
    """The hash of one entry."""
    if kind == "draws":
        made = path if name in MOVING else thinned if name in THINNED else draws
        return digest(made(**RUNS[name]))
    purpose, k, numbers = RAW[name]
    return digest(getattr(stream(0, purpose, k), numbers)(1000))


def recorded():
    """The hashes of the released version."""
    return json.loads(GOLDEN.read_text())


RECORDED = recorded()["draws"] if GOLDEN.exists() else {}


def parts(name):
    """The leaves that the draws of that name go through: sampler, estimator and scheme."""
    run = RUNS[name]
    return {run["spec"].split("-")[0], run.get("estimate", GRADIENT), run.get("scheme", "block")}


@pytest.mark.parametrize("name", RAW)
def test_raw_streams_are_those_of_every_version(name):
    assert computed("raw", name) == recorded()["raw"][name], MUST


@pytest.mark.parametrize("name", RECORDED)
def test_draws_are_those_of_this_minor_version(name):
    assert computed("draws", name) == RECORDED[name], MUST


def test_nothing_is_recorded_that_is_not_compared_and_no_two_streams_are_one():
    golden = recorded()
    assert set(golden["raw"]) == set(RAW) and set(golden["draws"]) <= set(RUNS)
    assert len(set(golden["raw"].values())) == len(RAW)


def test_nothing_but_a_new_leaf_is_not_recorded():
    """What is missing goes through a leaf without any record: the release records it, by --write.
    A new choice of a sampler that is recorded has to be recorded with it.
    """
    known = set().union(*map(parts, RECORDED))
    missing = {name: parts(name) - known for name in RUNS if name not in RECORDED}
    assert [name for name, new in missing.items() if not new] == []
    if missing:
        pytest.skip(
            f"to be recorded by the release: {', '.join(sorted(set().union(*missing.values())))}"
        )


def test_another_last_bit_is_another_hash():
    x = draws("lmsgld")
    x[50, 1] = np.nextafter(x[50, 1], 9)
    assert digest(x) != computed("draws", "lmsgld")


# ---- the same C for other instruction sets -------------------------------------------------------

NUMERICS = Path(__file__).parents[2] / "sgmc" / "core" / "numerics"
CC = shutil.which("cc")
FLAGS = ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
TARGETS = {
    "default": [],
    "avx2": ["-mavx2"],
    "fma": ["-mavx2", "-mfma"],
    "avx512f": ["-mavx512f", "-mfma"],
}


def supported(target):
    """Whether this processor runs that code, by Linux's word for it."""
    flags = Path("/proc/cpuinfo").read_text().split() if Path("/proc/cpuinfo").exists() else []
    return target == "default" or target in flags


needs_compiler = pytest.mark.skipif(
    CC is None or not (NUMERICS / "normals.c").exists(),
    reason="needs a C compiler and the source tree",
)


def compiled(folder, *flags):
    """normals.c and vecmath.c for one instruction set."""
    built = folder / "one.so"
    subprocess.run(
        [
            CC,
            "-shared",
            "-fPIC",
            "-DSGMC_ONE_TARGET",
            *FLAGS,
            *flags,
            "-o",
            built,
            NUMERICS / "normals.c",
            NUMERICS / "vecmath.c",
            "-lm",
        ],
        check=True,
    )
    return ctypes.CDLL(built)


def filled(make, lanes, n=10_000):
    """n numbers of a library's function from those lanes."""
    out, lanes = np.zeros(n), lanes[:32].copy()
    make(ctypes.c_ssize_t(n), ctypes.c_void_p(lanes.ctypes.data), ctypes.c_void_p(out.ctypes.data))
    return out


@pytest.mark.extended
@needs_compiler
@pytest.mark.parametrize("target", TARGETS)
def test_bits_do_not_depend_on_the_instruction_set(target, tmp_path):
    """Against what the package chose on this machine."""
    if not supported(target):
        pytest.skip(f"this processor has no {target}")
    lib, rng = compiled(tmp_path, *TARGETS[target]), stream(0)
    lanes, z = rng.state(), rng.normals(10_000)
    assert np.array_equal(filled(lib.vm_normals, lanes["normal"]), z)
    assert np.array_equal(filled(lib.vm_uniforms, lanes["uniform"]), rng.uniforms(10_000))
    for d in (3, 10, 40):  # each has kernels of its own
        X, y, theta = z[: 64 * d].reshape(64, d), (z[-64:] > 0) * 1.0, z[:d]
        assert np.array_equal(score(lib, X, y, theta), score_of_the_package(X, y, theta))


@pytest.mark.extended
@needs_compiler
@pytest.mark.skipif(not supported("fma"), reason="this processor has no fma")
def test_fused_operations_are_caught(tmp_path):
    """Planted: what -ffp-contract=off forbids."""
    lib = compiled(tmp_path, *TARGETS["fma"], "-ffp-contract=fast")
    assert not np.array_equal(
        filled(lib.vm_normals, stream(0).state()["normal"]), stream(0).normals(10_000)
    )


def score(lib, X, y, theta):
    """X'(y - p) of a logit model by the library's kernels."""
    eta, r, out = np.zeros(len(y)), np.zeros(len(y)), np.zeros(len(theta))
    X, y, theta, at, r_at, out_at = (
        ctypes.c_void_p(a.ctypes.data) for a in (X, y, theta, eta, r, out)
    )
    m, d, all_rows = ctypes.c_ssize_t(len(eta)), ctypes.c_ssize_t(len(out)), ctypes.c_void_p(None)
    lib.vm_dot_f64(m, d, X, all_rows, theta, at)
    lib.vm_logit_score(m, at, y, r_at)
    lib.vm_tdot_f64(m, d, X, all_rows, r_at, out_at)
    return out


def score_of_the_package(X, y, theta):
    """The same by the installed package, in one tile."""
    probe, rows = Probe(REGRESSIONS["logit"](design(X), y, None, None)), block(0, len(y))
    return probe.add_scores(rows, probe.scores(theta, rows)[0])


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    old = recorded() if GOLDEN.exists() else {"raw": {name: computed("raw", name) for name in RAW}}
    GOLDEN.write_text(
        json.dumps({**old, "draws": {name: computed("draws", name) for name in RUNS}}, indent=1)
        + "\n"
    )
