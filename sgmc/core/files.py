"""Files that are whole or not there: sealed trees of arrays and plain values, written aside and
renamed.

A sealed file is a line that says what it is, the length and the SHA-256 of what follows, then the
tree as JSON and its arrays in numpy's own format.  Nothing in it is executed when it is read.
"""

import hashlib
import io
import json
import os
import struct

import numpy as np

from sgmc.core.interrupts import unbroken, unbroken_ends

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

HEAD = struct.Struct("<Q32s")  # length of the body, its SHA-256
ARRAY = "__array__"


class Damaged(ValueError):
    """A file is not what its head says: cut short, changed, or of another kind."""


class replacing:
    """A binary file to write in the folder of `path`,
    which takes the place of `path` when all of it is on the disk, in a call that is `handled`.
    """

    def __init__(self, path):
        self.path, self.aside = path, f"{os.fspath(path)}.part"

    @unbroken_ends
    def __enter__(self):
        with unbroken(later=True):
            self.file = open(self.aside, "wb")
        return self.file

    @unbroken_ends
    def __exit__(self, kind, error, trace):
        with unbroken():
            try:
                with self.file as file:
                    if kind is None:
                        file.flush()
                        os.fsync(file.fileno())
                if kind is None:
                    os.replace(self.aside, self.path)
            finally:
                if os.path.exists(self.aside):
                    os.unlink(self.aside)
            if kind is None:
                keep_name(self.path)


def keep_name(path):
    """A file's new name, too, must be on the disk."""
    if os.name == "posix":
        entry = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
        try:
            os.fsync(entry)
        finally:
            os.close(entry)


class Sealing:
    """Writes to a file and keeps length and checksum of what it wrote."""

    def __init__(self, file):
        self.file, self.length, self.checksum = file, 0, hashlib.sha256()

    def write(self, data):
        """See `io.BufferedIOBase.write`."""
        self.checksum.update(data)
        self.length += len(data)
        return self.file.write(data)


def write_sealed(path, kind, tree):
    """Write a tree of dicts, lists, plain values and arrays.

    Parameters
    ----------
    path : str or path
    kind : bytes
        First line of the file, without its end.
    tree : dict
        Keys are strings.
    """
    with replacing(path) as file:
        file.write(kind + b"\n" + bytes(HEAD.size))
        body = Sealing(file)
        write_tree(body, tree)
        file.seek(len(kind) + 1)
        file.write(HEAD.pack(body.length, body.checksum.digest()))


def read_sealed(path, kind):
    """The tree of a file written by `write_sealed`.

    Raises
    ------
    Damaged
        Saying what is wrong.
    OSError
    """
    with open(path, "rb") as file:
        if file.read(len(kind) + 1) != kind + b"\n":
            raise Damaged(f"does not begin with {kind.decode()!r}")
        head, body = file.read(HEAD.size), file.read()
    if len(head) < HEAD.size:
        raise Damaged("is cut short")
    length, checksum = HEAD.unpack(head)
    if len(body) != length:
        raise Damaged(f"is cut short or too long: {len(body)} of {length} bytes")
    if hashlib.sha256(body).digest() != checksum:
        raise Damaged("has been changed: its checksum does not fit")
    return read_tree(body)


def write_tree(stream, tree):
    """Write a tree to a binary stream: the length of its JSON, that, and its arrays."""
    arrays = []
    text = json.dumps(planted(tree, arrays)).encode()
    stream.write(struct.pack("<Q", len(text)))
    stream.write(text)
    for array in arrays:
        np.lib.format.write_array(stream, array, allow_pickle=False)


def read_tree(content):
    """The tree that `write_tree` has written, of bytes."""
    stream = io.BytesIO(content)
    text = stream.read(struct.unpack("<Q", stream.read(8))[0])
    return grown(json.loads(text), stream)


def packed(tree):
    """A tree as bytes, see `write_tree`."""
    stream = io.BytesIO()
    write_tree(stream, tree)
    return stream.getvalue()


def planted(tree, arrays):
    """The tree with its arrays, moved to a list, replaced by their numbers."""
    if isinstance(tree, np.ndarray):
        arrays.append(tree)
        return {ARRAY: len(arrays) - 1}
    if isinstance(tree, dict):
        return {key: planted(value, arrays) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [planted(value, arrays) for value in tree]
    return tree.item() if isinstance(tree, np.generic) else tree


def grown(tree, stream):
    """The tree with its arrays back in place; they follow in the order in which they were met."""
    if isinstance(tree, dict):
        if ARRAY in tree:
            return np.lib.format.read_array(stream, allow_pickle=False)
        return {key: grown(value, stream) for key, value in tree.items()}
    return [grown(value, stream) for value in tree] if isinstance(tree, list) else tree


def held(path):
    """An open file that no other call holds until it is closed, or its process ends; None where
    another one has it.  Where the system has no such locks (Windows), nothing is held back.
    """
    file = io.FileIO(path, "a")
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file
