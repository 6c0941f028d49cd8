"""The file of a prepared table: a head, page-aligned arrays, and a manifest that describes them.

The head is a line that says what the file is, the number of the format, and where the manifest is,
with its SHA-256.  The arrays begin at multiples of a page, so that they can be mapped.  The
manifest, JSON at the end, has the type, shape, place and SHA-256 of each of them, and plain facts.
"""

import hashlib
import json
import math
import os
import struct
from dataclasses import dataclass

import numpy as np

from sgmc.core.system.files import Damaged, regular
from sgmc.prepared.file import schema

MAGIC, FORMAT = b"sgmc prepared table\n", 2
HEAD = struct.Struct("<IQQ32s")  # format; place, length and SHA-256 of the manifest
PAGE = 4096
READ_BYTES = 1 << 24  # that are read at a time to check them
MOST_MANIFEST = 1 << 26  # bytes: some 100,000 columns by name


@dataclass(frozen=True)
class Section:
    """An array in the file.

    Attributes
    ----------
    dtype : numpy.dtype
    shape : tuple of int
    start : int
        Its first byte.
    """

    dtype: np.dtype
    shape: tuple
    start: int

    @property
    def row_bytes(self):
        """Bytes of a row."""
        return self.dtype.itemsize * math.prod(self.shape[1:])

    @property
    def bytes(self):
        """Bytes of all rows."""
        return self.row_bytes * self.shape[0]

    def described(self, checksum):
        """As the manifest has it."""
        return {
            "dtype": self.dtype.str,
            "shape": list(self.shape),
            "start": self.start,
            "sha256": checksum,
        }


def placed(arrays):
    """Sections for arrays, and where the manifest begins.

    Parameters
    ----------
    arrays : dict
        Name -> (dtype, shape).

    Returns
    -------
    sections : dict of Section
    end : int
    """
    sections, at = {}, PAGE
    for name, (dtype, shape) in arrays.items():
        section = Section(np.dtype(dtype), tuple(int(k) for k in shape), at)
        sections[name] = section
        at += -(-section.bytes // PAGE) * PAGE
    return sections, at


class Writer:
    """Writes the sections of a file row after row, with their checksums, and seals it.

    Parameters
    ----------
    file : binary file
        Open for reading and writing.
    arrays : dict
        Name -> (dtype, shape), see `placed`.
    """

    def __init__(self, file, arrays):
        self.file = file
        self.sections, self.end = placed(arrays)
        self.written = dict.fromkeys(self.sections, 0)  # bytes
        self.checksums = {name: hashlib.sha256() for name in self.sections}

    def append(self, name, rows):
        """Write more rows of a section."""
        section = self.sections[name]
        rows = np.ascontiguousarray(rows, dtype=section.dtype)
        content = memoryview(rows.reshape(-1).view(np.uint8))
        self.file.seek(section.start + self.written[name])
        self.file.write(content)
        self.checksums[name].update(content)
        self.written[name] += len(content)

    def resume(self, rows):
        """Take so many rows of each section, a dict, as written already; Damaged without them."""
        size = self.file.seek(0, os.SEEK_END)
        for name, count in rows.items():
            section = self.sections[name]
            self.written[name] = count * section.row_bytes
            if count and section.start + self.written[name] > size:
                raise Damaged("rows of it are missing")
            self.checksums[name] = checksum(self.file, section.start, self.written[name])

    def sync(self):
        """Put what is written on the disk."""
        self.file.flush()
        os.fsync(self.file.fileno())

    def seal(self, facts):
        """Write manifest and head; `facts` is a dict of plain values."""
        for name, section in self.sections.items():
            if self.written[name] != section.bytes:
                raise ValueError(f"{name} has {self.written[name]} of {section.bytes} bytes")
        described = {
            name: section.described(self.checksums[name].hexdigest())
            for name, section in self.sections.items()
        }
        text = json.dumps({"sections": described, "facts": facts}).encode()
        self.file.truncate(self.end)
        self.file.seek(self.end)
        self.file.write(text)
        self.sync()  # a head that is there speaks of a whole file
        self.file.seek(0)
        digest = hashlib.sha256(text).digest()
        self.file.write(MAGIC + HEAD.pack(FORMAT, self.end, len(text), digest))
        self.sync()


def checksum(file, start, length):
    """The SHA-256, to be continued, of a part of a file; of what there is where it ends early."""
    total = hashlib.sha256()
    file.seek(start)
    while length > 0:
        content = file.read(min(READ_BYTES, length))
        if not content:
            break
        total.update(content)
        length -= len(content)
    return total


def manifest(path):
    """The sections and facts of a file, see `Writer.seal`.

    Sections are where `placed` has them: no place is taken from the file.

    Raises
    ------
    Damaged
        Saying what is wrong.
    OSError
    """
    with regular(path) as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise Damaged("is no file that sgmc.prepare has written")
        head = file.read(HEAD.size)
        if len(head) < HEAD.size:
            raise Damaged("is cut short")
        number, start, length, digest = HEAD.unpack(head)
        if number != FORMAT:
            raise Damaged(f"has format {number}, this release reads {FORMAT}: prepare it again")
        size = file.seek(0, os.SEEK_END)
        if size != start + length:
            raise Damaged(f"is cut short or too long: {size} of {start + length} bytes")
        if length > MOST_MANIFEST:
            raise Damaged(
                f"has a manifest of {length:,} bytes, and at most {MOST_MANIFEST:,} are read"
            )
        file.seek(start)
        text = file.read(length)
    if hashlib.sha256(text).digest() != digest:
        raise Damaged("has been changed: the checksum of its manifest does not fit")
    try:
        tree = json.loads(text)
        described, facts = tree["sections"], tree["facts"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Damaged(f"has no manifest in it ({type(error).__name__})") from error
    schema.check_facts(facts, schema.FACTS)
    sections, end = placed(schema.described_arrays(described, facts))
    for name, section in sections.items():
        if described[name].get("start") != section.start:
            raise Damaged(f"is damaged: its section {name!r} is not at byte {section.start}")
    if end != start:
        raise Damaged(f"is damaged: its sections end at byte {end}, not {start}")
    known = {name: one.get("sha256") for name, one in described.items()}
    return sections, known, facts


def verify(path, sections, known):
    """Damaged where a section is not what its checksum in the manifest says."""
    with open(path, "rb") as file:
        for name, section in sections.items():
            if checksum(file, section.start, section.bytes).hexdigest() != known[name]:
                raise Damaged(f"has been changed: the checksum of its {name!r} does not fit")


def mapped(path, section):
    """An array of the file, read-only, in memory as far as it is used."""
    if not section.bytes:  # nothing to map
        return np.empty(section.shape, section.dtype)
    try:
        return np.memmap(path, section.dtype, "r", section.start, section.shape, "C")
    except ValueError as error:
        raise Damaged("has been cut short while it was opened") from error
