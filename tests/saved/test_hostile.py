"""Files of someone who knows the format: each is refused by its name, soon and in little memory."""

import os
import re
import resource
import time

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.core.system.files import Damaged, read_sealed, write_sealed
from sgmc.errors import ArgumentError
from sgmc.results.files import KIND
from sgmc.saved.types import annotations, wrong
from tests.faults.children import Child, forking

from .hostile import FILES, nodes

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"x": RNG.normal(size=80), "y": RNG.random(80) < 0.5})
SECONDS, BYTES = 5.0, 2**28


@pytest.mark.parametrize("name", FILES)
def test_what_a_file_holds_is_refused(name, tmp_path):
    content, says = FILES[name]
    path, begun = tmp_path / "from outside", time.process_time()
    path.write_bytes(content)
    with pytest.raises(ArgumentError, match="from outside.*" + re.escape(says)):
        sgmc.load(path)
    assert time.process_time() - begun < SECONDS


@forking
def test_no_file_takes_more_memory_than_it_is_long(tmp_path):
    (tmp_path / "a").write_bytes(b"")

    def peak():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for content, _ in FILES.values():
            (tmp_path / "a").write_bytes(content)
            with pytest.raises(ArgumentError):
                sgmc.load(tmp_path / "a")
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    assert Child(peak).done() * 1024 < BYTES


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_pipes_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", tmp_path):
        with pytest.raises(ArgumentError, match="it is no regular file"):
            sgmc.load(path)
        with pytest.raises(Damaged, match="is no regular file"):
            read_sealed(path, b"kind")


@pytest.fixture(scope="module")
def fit():
    return sgmc.logit("y ~ bs(x, df=5)", FRAME, seed=1, draws=20, chains=1)


@pytest.fixture
def tree(fit, tmp_path):
    fit.save(tmp_path / "fit")
    return read_sealed(tmp_path / "fit", KIND)


def objects(tree, name):
    """States of the objects of a class."""
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    own = [tree["state"]] if isinstance(tree, dict) and tree.get("class") == name else []
    return own + [one for part in parts for one in objects(part, name)]


LEN = {"is": "function", "name": "python.len"}
CHANGES = {
    "a method": ("Factor", "refuse_code", LEN, "an attribute 'refuse_code' in the place of a"),
    "a property": ("RegressionResults", "params", LEN, "an attribute 'params' in the place"),
    "a class": ("Factor", "__class__", LEN, "an attribute '__class__' in the place"),
    "code": ("Factor", "code", 1, "a int as its 'code'"),
    "a truth": ("Factor", "is_column", "yes", "a str as its 'is_column'"),
    "labels": ("Factor", "inputs", "x", "a str as its 'inputs'"),
    "a number": ("PriorSpec", "scale", "wide", "a str as its 'scale'"),
    "a count": ("RegressionResults", "_asked", -1, "a int as its '_asked'"),
    "names": ("RegressionResults", "names", ["a", 1], "a list as its 'names'"),
    "a slice": ("DesignSpec", "term_slices", 3, "a int as its 'term_slices'"),
    "fewer names": (
        "RegressionResults",
        "names",
        ["a"],
        "draws that are not those of its parameters",
    ),
    "a design": ("ModelInfo", "spec", "y ~ x", "a str as its 'spec'"),
    "chains": ("Saved", "chains", [1], "a list as its 'chains'"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_attributes_have_the_types_that_their_class_has(name, tree, tmp_path):
    owner, attribute, value, says = CHANGES[name]
    for state in objects(tree["results"], owner):
        state[attribute] = value
    write_sealed(tmp_path / "bad", KIND, tree)
    with pytest.raises(ArgumentError, match="bad.*" + re.escape(says)):
        sgmc.load(tmp_path / "bad")


def test_a_method_in_the_place_of_another_would_let_code_through(tree, tmp_path):
    """The check of formulas in a file is a method of what is in the file."""
    for state in objects(tree["results"], "Factor"):
        state |= {"code": "open('made', 'w')", "refuse_code": LEN}
    write_sealed(tmp_path / "bad", KIND, tree)
    with pytest.raises(ArgumentError, match="in the place of a method"):
        sgmc.load(tmp_path / "bad")


def test_types_of_attributes_hold_for_what_is_written(fit, tmp_path):
    state = fit.__getstate__()
    assert not wrong(type(fit), state)
    assert "no 'cov_type'" in wrong(type(fit), {k: v for k, v in state.items() if k != "cov_type"})
    assert {"draws", "names", "_chains"} <= annotations(type(fit)).keys()


def test_parts_of_a_design_belong_together(fit, tmp_path):
    """Fewer names than columns, under a seal that fits."""
    fit.save(tmp_path / "fit")
    tree = read_sealed(tmp_path / "fit", KIND)
    spec = next(one for one in nodes(tree) if one.get("class") == "DesignSpec")
    spec["state"]["exog_names"].pop()
    write_sealed(tmp_path / "bad", KIND, tree)
    with pytest.raises(ArgumentError, match="damaged: columns of its design overlap, or lack"):
        sgmc.load(tmp_path / "bad")


@pytest.mark.parametrize("places", [np.array([0.5]), np.array([9]), np.array([True])])
def test_numbers_of_parameters_are_those_of_parameters(places, fit, tmp_path):
    fit.save(tmp_path / "fit")
    tree = read_sealed(tmp_path / "fit", KIND)
    tree["results"]["state"]["_untold"]["of"][0] = places
    write_sealed(tmp_path / "bad", KIND, tree)
    with pytest.raises(ArgumentError, match="draws that are not those of its parameters"):
        sgmc.load(tmp_path / "bad")


def test_factors_of_groups_have_terms(tmp_path):
    grouped = FRAME.assign(g=np.arange(80) % 5)
    sgmc.logit("y ~ x + (1 | g)", grouped, seed=1, draws=20, chains=1).save(tmp_path / "fit")
    tree = read_sealed(tmp_path / "fit", KIND)
    term = next(one for one in nodes(tree) if one.get("class") == "TermSpec")
    term["state"]["factor"] = "h"
    write_sealed(tmp_path / "bad", KIND, tree)
    with pytest.raises(ArgumentError, match="group terms are not those of its factors"):
        sgmc.load(tmp_path / "bad")
