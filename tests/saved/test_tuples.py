"""Tuples with names in files have the fields of their class, no fewer and no more."""

import numpy as np
import pytest

from sgmc.saved import classes, reading, writing


def named():
    """The classes of tuples with names that files may hold."""
    found = [classes.class_of(name) for name in classes.places()]
    return [one for one in found if isinstance(one, type) and hasattr(one, "_fields")]


def test_there_are_some():
    assert named()


@pytest.mark.parametrize("more", [-1, 1])
def test_other_lengths_are_refused(more):
    for cls in named():
        tree = {
            "is": "tuple",
            "class": classes.name_of(cls),
            "of": [0.0] * (len(cls._fields) + more),
        }
        with pytest.raises(reading.Unreadable, match="has other fields"):
            reading.restored(tree, reading.LoadPermissions({}, True), "sgmc.load(path")


def test_what_is_written_comes_back():
    value = {"a": (1, 2.5, None), "b": [np.float64(3.0), "x"]}
    tree = writing.plain_tree(value, "it")
    assert reading.restored(tree, reading.LoadPermissions({}, True), "sgmc.load(path") == value
