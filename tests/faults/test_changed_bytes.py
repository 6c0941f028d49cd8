"""Files with one changed byte: saved fits, prepared tables and checkpoints are refused, or have the
same content.
"""

import hashlib
import json

import numpy as np
import pytest

import sgmc
from sgmc.core.system.files import HEAD
from sgmc.errors import SGMCError
from sgmc.fit.checkpoint import read

from .children import fit, frame

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
FEW, MANY = 100, 3400  # changes of each kind of file; MANY of three kinds are 10,000


def saved(path):
    """The draws of a saved fit."""
    return sgmc.load(path).draws


def prepared(path):
    """The rows of a prepared table, with its checksums."""
    return np.array(sgmc.open(path, check=True).X)


def begun(path):
    """The draws in a checkpoint."""
    return np.stack([chain["recorder"]["draws"] for chain in read(str(path)).chains])


KINDS = {"saved": saved, "prepared": prepared, "begun": begun}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A file of each kind, as bytes."""
    place = tmp_path_factory.mktemp("written")
    fit(20, checkpoint=place / "begun").save(place / "saved")
    sgmc.prepare("y ~ x + g", frame(), place / "prepared", seed=1)
    return {name: (place / name).read_bytes() for name in KINDS}


def refusals(kind, content, changes, path):
    """How many changed contents are refused; the others are as the one that was written.

    Anything but an error of the package is a fault.
    """
    path.write_bytes(content)
    whole, refused = KINDS[kind](path), 0
    for changed in changes:
        path.write_bytes(changed)
        try:
            found = KINDS[kind](path)
        except SGMCError as error:
            assert str(error)
            refused += 1
        else:
            np.testing.assert_array_equal(found, whole)
    return refused


def one_byte(content, times, rng):
    """The content with another byte at a random place, again and again; often in the head."""
    for k in range(times):
        changed = bytearray(content)
        at = int(rng.integers(100 if k % 4 == 0 else len(content)))
        changed[at] ^= int(rng.integers(1, 256))
        yield bytes(changed)


@pytest.mark.parametrize("times", [FEW, pytest.param(MANY, marks=pytest.mark.extended)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_byte_is_refused_or_harmless(kind, times, written, tmp_path):
    changes = one_byte(written[kind], times, np.random.default_rng(times))
    refused = refusals(kind, written[kind], changes, tmp_path / "file")
    assert refused == times or kind == "prepared" and refused > 0.2 * times  # gaps between pages


def sealed_again(content, rng):
    """A saved fit with another byte in its JSON, and a checksum that fits: by someone's hand."""
    first = content.index(b"\n") + 1
    body = bytearray(content[first + HEAD.size :])
    length = int.from_bytes(body[:8], "little")
    json.loads(body[8 : 8 + length])
    body[8 + rng.integers(length)] = rng.integers(32, 127)
    return content[:first] + HEAD.pack(len(body), hashlib.sha256(body).digest()) + bytes(body)


@pytest.mark.parametrize("times", [FEW, pytest.param(MANY, marks=pytest.mark.extended)])
def test_a_changed_byte_under_a_seal_that_fits_is_an_error_of_the_package_at_most(
    times, written, tmp_path
):
    """It may be another file then, also one that lacks a part, but opening it raises no other
    errors than ours.
    """
    path, rng, refused = tmp_path / "file", np.random.default_rng(times), 0
    for _ in range(times):
        path.write_bytes(sealed_again(written["saved"], rng))
        try:
            sgmc.load(path)
        except SGMCError as error:
            assert str(error)
            refused += 1
    assert refused > 0.2 * times
