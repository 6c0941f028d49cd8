"""Files that are whole or not there: sealed trees of arrays and plain values, written aside and
renamed.

A sealed file is a line that says what it is, the length and the SHA-256 of what follows, then the
tree as JSON and its arrays in numpy's own format.  Nothing in it is executed when it is read.
"""

import hashlib
import io
import json
import math
import os
import stat
import struct
from secrets import token_hex
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np

from sgmc.arguments.types import Array, FilePath
from sgmc.core.system.interrupts import unbroken, unbroken_ends

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

HEAD = struct.Struct("<Q32s")  # length of the body, its SHA-256
COUNT = struct.Struct("<Q")  # length of the JSON
ARRAY = "__array__"
KINDS = "biufcSUmM"  # of numpy's types
DEEPEST_TREE = 100  # values within each other; Python's own functions call themselves 1,000 times
LAST_SIGN = 0x10FFFF  # of Unicode
AT_ONCE = getattr(os, "O_NONBLOCK", 0)  # opening a pipe does not wait for a writer


class Damaged(ValueError):
    """A file is not what its head says: cut short, changed, or of another kind."""


class replacing:
    """A binary file to write in the folder of `path`,
    which takes the place of `path` when all of it is on the disk, in a call that is `handled`.

    Each writer has a file of its own, ``.sgmc-*.part``, so that of several the last one to end
    wins.  A link stays, and what it points to is replaced; a file that is there keeps its mode.
    """

    def __init__(self, path: FilePath) -> None:
        self.path = os.path.realpath(os.fsdecode(path))
        self.aside = os.path.join(os.path.dirname(self.path), f".sgmc-{token_hex(8)}.part")

    @unbroken_ends
    def __enter__(self) -> BinaryIO:
        with unbroken(later=True):
            self.file = open(self.aside, "xb", opener=self.opened)  # x: none that is there, no link
        return self.file

    def opened(self, aside: str, flags: int) -> int:
        """Create the file aside with the mode of the one it replaces; a new one by the umask."""
        try:
            mode = os.stat(self.path).st_mode & 0o777
        except FileNotFoundError:
            return os.open(aside, flags, 0o666)
        number = os.open(aside, flags, mode)
        os.chmod(aside, mode)  # what the umask took away
        return number

    @unbroken_ends
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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


def keep_name(path: FilePath) -> None:
    """A file's new name, too, must be on the disk."""
    if os.name == "posix":
        entry = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
        try:
            os.fsync(entry)
        finally:
            os.close(entry)


class Sealing:
    """Writes to a file and keeps length and checksum of what it wrote."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.length, self.checksum = file, 0, hashlib.sha256()

    def write(self, data: bytes | memoryview) -> int:
        """Write bytes, and count them in the checksum."""
        self.checksum.update(data)
        self.length += len(data)
        return self.file.write(data)


def write_sealed(path: FilePath, kind: bytes, tree: dict[str, Any]) -> None:
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


def read_sealed(path: FilePath, kind: bytes) -> dict[str, Any]:
    """The tree of a file written by `write_sealed`.

    Raises
    ------
    Damaged
        Saying what is wrong.
    OSError
    """
    with regular(path) as file:
        if file.read(len(kind) + 1) != kind + b"\n":
            raise Damaged(f"does not begin with {kind.decode()!r}")
        head = file.read(HEAD.size)
        if len(head) < HEAD.size:
            raise Damaged("is cut short")
        length, checksum = HEAD.unpack(head)
        found = os.fstat(file.fileno()).st_size - file.tell()
        if found != length:
            raise Damaged(f"is cut short or too long: {found} of {length} bytes")
        body = file.read(length)
    if hashlib.sha256(body).digest() != checksum:
        raise Damaged("has been changed: its checksum does not fit")
    return read_tree(body)


def regular(path: FilePath) -> BinaryIO:
    """A file to read; Damaged where it is a device or a pipe, which may never end."""

    def opened(name: str, flags: int) -> int:
        number = os.open(name, flags | AT_ONCE)
        if stat.S_ISREG(os.fstat(number).st_mode):
            return number
        os.close(number)
        raise Damaged("is no regular file")

    return open(path, "rb", opener=opened)


def write_tree(stream: BinaryIO | Sealing, tree: Any) -> None:
    """Write a tree to a binary stream: the length of its JSON, that, and its arrays."""
    arrays: list[Array] = []
    text = json.dumps(planted(tree, arrays)).encode()
    stream.write(COUNT.pack(len(text)))
    stream.write(text)
    for array in arrays:
        np.lib.format.write_array(stream, array, allow_pickle=False)


def read_tree(content: bytes) -> dict[str, Any]:
    """The tree that `write_tree` has written, of bytes; Damaged for other bytes.

    Whatever the bytes are, the tree is not larger than they are, and can be walked by functions
    that call themselves.
    """
    stream = io.BytesIO(content)
    if len(content) < COUNT.size:
        raise Damaged("is cut short")
    (length,) = COUNT.unpack(stream.read(COUNT.size))
    if length > len(content) - COUNT.size:
        raise Damaged("is cut short")
    try:
        tree = json.loads(stream.read(length), object_pairs_hook=distinct)
    except RecursionError as error:
        raise Damaged(f"has values within more than {DEEPEST_TREE} others") from error
    except Damaged:
        raise
    except ValueError as error:
        raise Damaged(f"has a tree that is no JSON: {error}") from error
    if not isinstance(tree, dict) or ARRAY in tree:
        raise Damaged("has no names at the root of its tree")
    found = grown(tree, stream, 0)
    if stream.read(1):
        raise Damaged("has more after its arrays")
    return found


def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A dict of pairs of JSON; Damaged where a key comes twice."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise Damaged("has a key twice")
    return made


def packed(tree: dict[str, Any]) -> bytes:
    """A tree as bytes, see `write_tree`."""
    stream = io.BytesIO()
    write_tree(stream, tree)
    return stream.getvalue()


def planted(tree: Any, arrays: list[Array]) -> Any:
    """The tree with its arrays, moved to a list, replaced by their numbers."""
    if isinstance(tree, np.ndarray):
        arrays.append(tree)
        return {ARRAY: len(arrays) - 1}
    if isinstance(tree, dict):
        return {key: planted(value, arrays) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [planted(value, arrays) for value in tree]
    return tree.item() if isinstance(tree, np.generic) else tree


def grown(tree: Any, stream: io.BytesIO, depth: int) -> Any:
    """The tree with its arrays back in place; they follow in the order in which they were met."""
    if depth > DEEPEST_TREE:
        raise Damaged(f"has values within more than {DEEPEST_TREE} others")
    if isinstance(tree, dict):
        if ARRAY in tree:
            return read_array(stream)
        return {key: grown(value, stream, depth + 1) for key, value in tree.items()}
    return [grown(one, stream, depth + 1) for one in tree] if isinstance(tree, list) else tree


def read_array(stream: io.BytesIO) -> Array:
    """The next array of a stream of bytes.

    Raises
    ------
    Damaged
        Where it is none, has another type than numbers, texts and times, or values that its type
        does not have; before any memory is taken where it is larger than what follows.
    """
    try:
        shape, dtype = declared(stream)
        count = math.prod(shape)
        left = len(stream.getbuffer()) - stream.tell()
        if dtype.kind not in KINDS or min(shape, default=0) < 0 or dtype.subdtype:
            raise Damaged(f"has an array of type {dtype} and shape {shape}")
        if count * max(dtype.itemsize, 1) > left:
            raise Damaged(f"has an array of {count} values of {dtype.itemsize} bytes in {left}")
        array = np.lib.format.read_array(stream, allow_pickle=False)
    except Damaged:
        raise
    except Exception as error:
        raise Damaged(f"has an array that is none: {error}") from error
    whole = array.reshape(-1)
    if dtype.kind == "b" and (whole.view(np.uint8) > 1).any():
        raise Damaged("has truth values that are neither")
    native = array.astype(dtype.newbyteorder("="), copy=False)  # compiled code takes no others
    if (
        dtype.kind == "U"
        and native.nbytes
        and (native.reshape(-1).view(np.uint32) > LAST_SIGN).any()
    ):
        raise Damaged("has text with characters that do not exist")
    return native


def declared(stream: BinaryIO) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of the next array; the stream stays where it is."""
    at = stream.tell()
    if np.lib.format.read_magic(stream) != (1, 0):
        raise Damaged("has an array of another format")
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    stream.seek(at)
    return shape, dtype


def held(path: FilePath) -> io.FileIO | None:
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
