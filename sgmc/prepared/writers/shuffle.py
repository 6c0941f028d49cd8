"""Rows to buckets by random keys, and buckets to the file in the order of the keys: a random order
of all rows, in memory for one bucket.
"""

import os

import numpy as np

from sgmc.errors import DataError
from sgmc.prepared.file.layout import Writer
from sgmc.prepared.writers.staging import TABLE, damaged, whole

JOURNAL_BYTES = 1 << 29  # written to buckets between two lines of the journal
BUCKET_COPIES = 5  # of a bucket, at most, while it is put in order


def bucket_count(rows, row_bytes, memory_limit):
    """Buckets, so that what one takes is within the limit but by a chance below 1e-9."""
    wanted = max(1.0, BUCKET_COPIES * rows * row_bytes / memory_limit)
    size = rows / wanted
    return int(np.ceil(wanted * (1 + 6 / np.sqrt(max(size, 1))))) if wanted > 1 else 1


def scatter(shop, source, encoder, facts, buckets, watch):
    """Write all rows to buckets, from where the journal is.

    Parameters
    ----------
    shop : StagingDirectory
    source : Source
    encoder : Encoder
    facts : Facts
        Of the source.
    buckets : int
    watch : function of (int, int)
        Called with rows done and all rows.
    """
    state = shop.journal
    start, first, sizes = state.get("chunk", 0), state.get("row", 0), state.get("sizes")
    sizes = np.zeros(buckets, np.int64) if sizes is None else np.array(sizes)
    if start:
        resumed(shop, encoder)
    for bucket, size in enumerate(sizes):  # what came after the journal is made again
        if os.path.exists(name := shop.place(f"bucket {bucket}")):
            os.truncate(name, size)
    number, unwritten = start, 0
    names = encoder.found.selection.names(source.columns)
    for number, frame in enumerate(source.chunks(start, names), start + 1):
        for records in encoder.chunk(number - 1, frame, first):
            sizes += shared_out(shop, records, buckets)
            unwritten += records.nbytes
        first += len(frame)
        watch(first, facts.rows)
        if unwritten >= JOURNAL_BYTES:
            put_down(shop, encoder, number, first, sizes)
            unwritten = 0
    if first != facts.rows or sizes.sum() != facts.complete * encoder.type.itemsize:
        raise DataError(
            f"the source has changed while it was read: {first} rows now, {facts.rows} before"
        )
    put_down(shop, encoder, number, first, sizes, spread=True)


def resumed(shop, encoder):
    """What `Encoder.result` has of the rows up to where the journal is, from which it goes on."""
    try:
        encoder.take(shop.journal["moments"])
        return encoder.result()
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise damaged(shop.folder, "its moments are not those of these columns") from error


def shared_out(shop, records, buckets):
    """Append records to their buckets; bytes for each."""
    bucket = bucket_of(records["key"], buckets)
    counts = np.bincount(bucket, minlength=buckets)
    if buckets > 1:
        small = bucket.astype(np.min_scalar_type(buckets))  # sorted by radix
        records = taken(records, np.argsort(small, kind="stable"))
    content, at = memoryview(records.view(np.uint8)), 0
    sizes = counts * records.itemsize
    for one in np.flatnonzero(counts):
        with open(shop.place(f"bucket {one}"), "ab", buffering=0) as file:
            written(file, content[at : at + sizes[one]])
        at += sizes[one]
    return sizes


def written(file, content):
    """Write all of it: a raw file may take less at a time."""
    while len(content):
        content = content[file.write(content) :]


def bucket_of(keys, buckets):
    """The bucket of each key: equal shares of the numbers below 2^64."""
    return ((keys >> np.uint64(32)) * np.uint64(buckets) >> np.uint64(32)).astype(np.int64)


def put_down(shop, encoder, chunk, row, sizes, **beside):
    """A line of the journal, after what it speaks of is on the disk."""
    for bucket in np.flatnonzero(sizes):
        with open(shop.place(f"bucket {bucket}"), "rb+") as file:
            os.fsync(file.fileno())
    shop.write(
        {
            "buckets": len(sizes),
            "chunk": chunk,
            "row": row,
            "sizes": sizes.tolist(),
            "moments": encoder.state(),
            **beside,
        }
    )


def gather(shop, encoder, arrays, small, facts, watch):
    """Write the file from the buckets, from where the journal is.

    Parameters
    ----------
    shop : StagingDirectory
    encoder : Encoder
    arrays : dict
        Of all sections, see `layout.placed`.
    small : dict
        Name -> the content of sections that are no rows.
    facts : dict
        For the manifest.
    watch : function of (int, int)
    """
    state = shop.journal
    buckets, done, rows = state["buckets"], state.get("done", 0), state.get("written", 0)
    name = shop.place(TABLE)
    with open(name, "rb+" if os.path.exists(name) else "wb+") as file:
        writer = Writer(file, arrays)
        with whole(shop):
            writer.resume(dict.fromkeys(set(arrays) - set(small), rows))
        for section, content in small.items():
            writer.append(section, content)
        for bucket in range(done, buckets):
            records = sorted_bucket(shop, bucket, encoder.type, state["sizes"][bucket])
            for section in set(arrays) - set(small):
                writer.append(section, final(encoder, records, section, small["shift"]))
            rows += len(records)
            writer.sync()
            shop.write({**state, "done": bucket + 1, "written": rows})
            if os.path.exists(shop.place(f"bucket {bucket}")):
                os.unlink(shop.place(f"bucket {bucket}"))
            watch(bucket + 1, buckets)
        if rows != facts["n"]:
            raise damaged(shop.folder, f"it has {rows} of {facts['n']} rows")
        writer.seal(facts)


def sorted_bucket(shop, bucket, dtype, size):
    """The records of a bucket, of so many bytes in all, in the order of their keys."""
    name = shop.place(f"bucket {bucket}")
    records = np.fromfile(name, dtype) if os.path.exists(name) else np.empty(0, dtype)
    if records.nbytes != size:
        raise damaged(shop.folder, "rows of it are missing")
    return taken(records, np.argsort(records["key"], kind="stable"))


def taken(records, order):
    """The records in an order; as plain bytes, since numpy copies fields one by one."""
    plain = np.dtype((np.void, records.itemsize))
    return records.view(plain)[order].view(records.dtype)


def final(encoder, records, section, shift):
    """What a section has of some records: numbers less what is to be taken off them."""
    if section not in ("X", "numbers"):
        return records[section]
    return records[section] - (shift[encoder.places] - encoder.moments.origin)
