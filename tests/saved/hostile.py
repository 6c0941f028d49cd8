"""Saved files by someone who knows the format: sealed, with a checksum that fits."""

import hashlib
import io
import json
import struct

import numpy as np

from sgmc.core.system.files import HEAD
from sgmc.results.files import KIND


def sealed(body, kind=KIND):
    """A file of any bytes, with the head that they need."""
    return kind + b"\n" + HEAD.pack(len(body), hashlib.sha256(body).digest()) + body


def body(text, arrays=b""):
    """JSON as it stands, and the bytes of arrays."""
    text = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(text)) + text + arrays


def holding(state, arrays=b""):
    """A file whose results are a value in JSON's words."""
    tree = {"format": 9, "version": "0.1.0", "results": state}
    return sealed(body(json.dumps(tree), arrays))


def array(head, content=b""):
    """An array of numpy's format whose head says anything."""
    head = repr(head) if isinstance(head, dict) else head
    padded = head.encode() + b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded + content


def claimed(descr, shape, content=b""):
    """An array that says it is of some type and shape."""
    return array({"descr": descr, "fortran_order": False, "shape": shape}, content)


def bytes_of(values):
    """An array as numpy writes it."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(values))
    return stream.getvalue()


def kind(name, /, **state):
    """A value of another library in JSON's words."""
    return {"is": name, "state": state}


def listed(**state):
    """A dict in JSON's words."""
    return {"is": "dict", "keys": [*state], "values": [*state.values()]}


ARRAY = {"__array__": 0}
FIVE, TRUTHS = bytes_of(np.arange(5)), bytes_of(np.zeros(5, bool))


def spans(start=0, stop=10**8, step=1):
    """A range, which costs nothing until it is walked through."""
    return kind("range", start=start, stop=stop, step=step)


def spline(name, /, **state):
    """A spline whose arrays are named in the order in which they are met."""
    return kind(name, **state)


def csr(shape):
    """Three numbers at columns 0, 1 and 10^6."""
    arrays = bytes_of([1.0, 2.0, 3.0]), bytes_of([0, 1, 10**6]), bytes_of([0, 1, 2, 3])
    state = {"format": "csr", "shape": shape, "data": ARRAY, "indices": ARRAY, "indptr": ARRAY}
    return holding(kind("sparse", **state), b"".join(arrays))


# what a file holds: (the file, what its error says)
TREES = {
    "a set of a range": (holding(kind("set", of=spans())), "its value of is range"),
    "a frozenset of a range": (holding(kind("frozenset", of=spans())), "its value of is range"),
    "objects of a range": (holding(kind("objects", shape=[5], values=spans())), "values is range"),
    "a long text type": (holding(kind("scalar", type="<U100000000", value="a")), "type is '<U1"),
    "a type of objects": (holding(kind("type", type="|O")), "its value type is '|O'"),
    "a long type": (holding(kind("type", type="|V100000000")), "its value type is '|V"),
    "bytes of another type": (holding(kind("bytes", bytes=ARRAY), FIVE), "Cannot cast"),
    "another dtype of gaps": (
        holding(kind("column", kind="masked", type="category", values=ARRAY, missing=ARRAY),
                FIVE + TRUTHS), "its value type is 'category'"),
    "fewer gaps": (
        holding(kind("column", kind="masked", type="Int64", values=ARRAY, missing=ARRAY),
                FIVE + bytes_of([True])), "have the lengths"),
    "a time zone that is a file": (
        holding(kind("column", kind="times", unit="ns", zone="dateutil//dev/zero", values=ARRAY),
                FIVE), "its value zone is 'dateutil//dev/zero'"),
    "a time zone with dots": (
        holding(kind("column", kind="times", unit="ns", zone="../../dev/zero", values=ARRAY),
                FIVE), "its value zone is"),
    "codes beyond the categories": (
        holding(kind("column", kind="category", codes=ARRAY, ordered=False,
                     categories=kind("index", array=listed(kind="numpy", values=ARRAY),
                                     name=None)), bytes_of([9]) + FIVE), "codes need to be"),
    "another kind of column": (
        holding(kind("column", kind="spell", values=1)), "its value kind is 'spell'"),
    "text of numbers": (
        holding(kind("column", kind="text", storage="python", nan=False, values=[1])), "values is"),
    "another value": (holding(kind("date", text="2020-01-01", more=1)), "values text, more, not"),
    "a wide range": (holding(spans(stop=10**30)), "its value stop is 1000000"),
    "indices beyond the columns": (csr([3, 2]), "indices"),
    "fewer rows than ends": (csr([2, 2]), "index pointer"),
    "a spline of no pieces": (
        holding(spline("cubic", c=ARRAY, x=ARRAY, extrapolate=True, axis=0),
                bytes_of(np.ones((4, 9))) + bytes_of([0.0, 1.0])), "number of coefficients"),
    "a spline of degree 25": (
        holding(spline("spline", t=ARRAY, c=ARRAY, k=25, extrapolate=True, axis=0),
                bytes_of(np.arange(60.0)) + bytes_of(np.ones(34))), "its value k is 25"),
    "a list within itself": (holding([{"is": "same", "as": 0}]), "refers to what is not there"),
    "a text": (holding("text"), "holds a str, and no results"),
    "a dict": (holding({"is": "dict", "keys": [], "values": []}), "holds a dict, and no results"),
    "an array": (holding(ARRAY, FIVE), "holds a ndarray, and no results"),
    "a compiled object": (
        holding({"is": "object", "class": "regression BernoulliLogit", "state": {}}),
        "files hold no 'regression BernoulliLogit'"),
    "arguments of a class that has a state": (
        holding({"is": "object", "class": "DesignSpec", "arguments": ["y ~ x"]}), "damaged"),
    "a prior beyond its draws": (
        holding({"is": "object", "class": "NormalGamma", "arguments": [
            4, [[0, 2, 2, 10**9, 10**9, 1]], [0.0, 1.0, 1.0, 1.0]]}), "of a draw of 4"),
    "rates beyond their draws": (
        holding({"is": "object", "class": "GammaGamma", "arguments": [
            4, [[0, 2, 2, 10**9, 1.0, 1.0, 1.0]]]}), "of a draw of 4"),
    "one value that is five": (
        holding(kind("scalar", type="<f8", value=ARRAY), FIVE), "its value is several"),
    "a step before its start": (
        holding({"is": "object", "class": "Constant", "arguments": [-1.0]}),
        "Constant of other arguments"),
    "a group of other numbers": (
        holding({"is": "object", "class": "GammaGamma", "arguments": [4, [[0, 1, 1, 1, 1.0]]]}),
        "a group has three numbers"),
    "fewer scales than effects": (
        holding({"is": "object", "class": "Loading", "arguments": [
            [{"is": "tuple", "of": [3, True]}], [1.0]]}), "1 scales of 3 effects"),
}  # fmt: skip
ARRAYS = {
    "more values than bytes": (claimed("<f8", (10**15,)), "an array of 1000000000000000 values"),
    "long texts": (claimed("<U100000000", (1,), b"a" * 8), "values of 400000000 bytes in"),
    "no bytes a value": (claimed("|S0", (10**12,)), "an array of 1000000000000 values of 0 bytes"),
    "a negative length": (claimed("<f8", (-1,), b"a" * 8), "and shape (-1,)"),
    "objects": (claimed("|O", (1,), b"a" * 8), "an array of type object"),
    "fields": (claimed([("a", "<f8")], (1,), b"a" * 8), "an array of type [('a'"),
    "a head that is no dict": (array("[" * 3000), "an array that is none"),
    "a type that is none": (claimed("spell", (1,)), "an array that is none"),
    "truths that are 7": (claimed("|b1", (1,), b"\7"), "truth values that are neither"),
    "signs beyond Unicode": (claimed("<U1", (1,), b"\xff" * 4), "characters that do not exist"),
    "another version": (FIVE.replace(b"NUMPY\x01", b"NUMPY\x02"), "an array of another format"),
    "more than its arrays": (FIVE + b"more", "has more after its arrays"),
    "no array": (b"", "an array that is none"),
}
DEEP = 100_000
TEXTS = {
    "no JSON": (body("{"), "a tree that is no JSON"),
    "a list": (body("[1]"), "no names at the root"),
    "a key twice": (body('{"a": 1, "a": 2}'), "has a key twice"),
    "a long number": (body('{"a": ' + "9" * 10_000 + "}"), "a tree that is no JSON"),
    "a deep list": (body('{"a": ' + "[" * DEEP + "]" * DEEP + "}"), "within more than 100 others"),
    "a list of 150": (body('{"a": ' + "[" * 150 + "]" * 150 + "}"), "within more than 100 others"),
    "a deep dict": (body('{"a": ' * DEEP + "1" + "}" * DEEP), "within more than 100 others"),
    "a long text": (struct.pack("<Q", 2**63) + b"{}", "is cut short"),
    "no text": (b"", "is cut short"),
}
FILES = {
    **TREES,
    **{f"array: {name}": (holding(ARRAY, one), says) for name, (one, says) in ARRAYS.items()},
    **{f"text: {name}": (sealed(one), says) for name, (one, says) in TEXTS.items()},
}


def nodes(tree):
    """All dicts of a tree."""
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    found = [tree] if isinstance(tree, dict) else []
    return found + [one for part in parts for one in nodes(part)]
