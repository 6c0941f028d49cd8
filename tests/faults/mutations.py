"""What a stranger may make of a file or a formula: bytes changed at random, and contents changed
with a checksum that fits again.
"""

import copy
import gzip
import hashlib
import json
import re

from sgmc.core.system.files import HEAD as SEAL
from sgmc.prepared.file import layout

NASTY = [
    *(None, True, False, -1, 0, 1, 2, 7, 22, 63, 255, 1000, 10**6, 2**31, 2**53, 2**63, 10**30),
    *(-(2**31), -(2**63), 0.5, -0.5, 1e-300, 1e300, float("inf"), float("-inf"), float("nan")),
    *("", " ", "x", "y", "|O", "<U100000000", "<f8", ">f4", "<i8", "|S9", "float64", "a" * 5000),
    *("\x00", "ß\u202e", "../../x", "/dev/zero", "os.system", "__import__", "nan", "lambda: 0"),
    *([], {}, [0], [-1], [[[]]], [10**9, 10**9], [None], ["x"], {"x": 1}, {"__array__": 0}),
]
SHARE_OF_MANIFESTS = 0.7  # of changes to prepared files; the others are to rows
DEEP = json.loads("[" * 150 + "]" * 150)
TYPES = ["|O", "<f8", "<f4", ">f8", "<i8", "<i4", "|i1", "|u1", "|b1", "<U3", "<M8[ns]", "<c16"]


def of_bytes(content, rng):
    """Bytes flipped, taken out, put in, moved, or cut off."""
    found = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        if not found:
            return b""
        at, size = int(rng.integers(len(found))), int(rng.integers(1, 64))
        if rng.random() < 0.3:  # heads are read first
            at = int(rng.integers(min(len(found), 200)))
        kind = rng.integers(6)
        if kind < 2:
            found[at] ^= 1 << int(rng.integers(8))
        elif kind == 2:
            del found[at : at + size]
        elif kind == 3:
            found[at:at] = rng.bytes(size)
        elif kind == 4:
            other = int(rng.integers(len(found)))
            found[at : at + size] = found[other : other + size]
        else:
            del found[at:]
    return bytes(found)


def places(tree):
    """(container, key) of all parts of a tree of dicts and lists."""
    keys = tree.keys() if isinstance(tree, dict) else range(len(tree))
    for key in keys:
        yield tree, key
        if isinstance(tree[key], (dict, list)):
            yield from places(tree[key])


def of_tree(tree, rng):
    """A tree with one to three parts replaced, exchanged, taken out or doubled."""
    tree = copy.deepcopy(tree)
    for _ in range(int(rng.integers(1, 4))):
        found = list(places(tree))
        if not found:
            break
        container, key = found[rng.integers(len(found))]
        other, its = found[rng.integers(len(found))]
        kind = rng.integers(10)
        if kind < 5:
            container[key] = copy.deepcopy(NASTY[rng.integers(len(NASTY))])
        elif kind < 7:
            container[key] = changed_value(container[key], rng)
        elif kind == 7:
            container[key] = copy.deepcopy(other[its])
        elif kind == 8:
            del container[key]
        elif isinstance(container, list):
            container.insert(key, copy.deepcopy(container[key]))
        else:
            container[key] = DEEP
    return tree


def changed_value(value, rng):
    """A neighbour of a number, or of a text."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, (int, float)):
        return [value + 1, value - 1, -value, value * 1000, value * 0.5][rng.integers(5)]
    if isinstance(value, str):
        at = int(rng.integers(len(value) + 1))
        return value[:at] + chr(int(rng.integers(32, 127))) + value[at + 1 :]
    return [value]


def of_array(content, rng):
    """An array in numpy's format with another type or shape in its head, or other bytes."""
    place = rng.integers(3)
    if place == 0:
        name = TYPES[rng.integers(len(TYPES))].encode()
        return padded(content, re.sub(rb"'descr': '[^']*'", b"'descr': '" + name + b"'", content))
    if place == 1:
        shape = [b"(10000000000,)", b"(-1,)", b"()", b"(0,)", b"(7, 7)", b"(True,)", b"(1, 1, 1)"]
        shape = shape[rng.integers(len(shape))]
        return padded(content, re.sub(rb"'shape': \([^)]*\)", b"'shape': " + shape, content))
    return of_bytes(content, rng)


def padded(content, changed):
    """With the head's length as it was, as far as its spaces allow."""
    grown = len(changed) - len(content)
    if grown > 0:
        return changed.replace(b" " * grown + b"\n", b"\n", 1)
    return changed.replace(b"\n", b" " * -grown + b"\n", 1)


def of_sealed(content, rng):
    """A saved fit or checkpoint with another tree or arrays under a checksum that fits."""
    first = content.index(b"\n") + 1
    body = content[first + SEAL.size :]
    size = int.from_bytes(body[:8], "little")
    text, arrays = body[8 : 8 + size], body[8 + size :]
    if rng.random() < 0.75:
        text = json.dumps(of_tree(json.loads(text), rng)).encode()
    else:
        pieces = re.split(rb"(?=\x93NUMPY)", arrays)
        at = rng.integers(len(pieces))
        pieces[at] = of_array(pieces[at], rng)
        arrays = b"".join(pieces)
    body = len(text).to_bytes(8, "little") + text + arrays
    return content[:first] + SEAL.pack(len(body), hashlib.sha256(body).digest()) + body


def of_prepared(content, rng):
    """A prepared table with another manifest, or other bytes in a section, and checksums that
    fit.
    """
    head = len(layout.MAGIC)
    number, start, *_ = layout.HEAD.unpack(content[head : head + layout.HEAD.size])
    body, tree = bytearray(content[:start]), json.loads(content[start:])
    if rng.random() < SHARE_OF_MANIFESTS:
        tree = of_tree(tree, rng)
    else:
        name = list(tree["sections"])[rng.integers(len(tree["sections"]))]
        section = tree["sections"][name]
        size = min(4096, start - section["start"])
        for _ in range(int(rng.integers(1, 9))):
            at = section["start"] + int(rng.integers(size))
            body[at] = [0, 1, 127, 128, 255, body[at] ^ 64][rng.integers(6)]
        end = section["start"] + size
        section["sha256"] = hashlib.sha256(body[section["start"] : end]).hexdigest()
    text = json.dumps(tree).encode()
    seal = layout.HEAD.pack(number, start, len(text), hashlib.sha256(text).digest())
    body[: head + layout.HEAD.size] = layout.MAGIC + seal
    return bytes(body) + text


def of_commas(content, rng):
    """A table with other bytes, quotes that do not end, long fields, gaps, or packed."""
    kind = rng.integers(6)
    lines = content.split(b"\n")
    at = int(rng.integers(len(lines)))
    if kind == 0:
        lines[at] = lines[at].replace(
            b",", [b",,", b";", b"\t", b"", b'"', b"\x00"][rng.integers(6)]
        )
    elif kind == 1:
        cells = lines[at].split(b",")
        nasty = [b"1e400", b"-inf", b"nan", b"9" * 400, b"a" * 10**6, b'"', b"\xff\xfe", b"=1+1"]
        cells[rng.integers(len(cells))] = nasty[rng.integers(len(nasty))]
        lines[at] = b",".join(cells)
    elif kind == 2:
        lines[at : at + 1] = [lines[at]] * int(rng.integers(0, 4))
    elif kind == 3:
        return gzip.compress(of_bytes(content, rng))
    else:
        return of_bytes(content, rng)
    return b"\n".join(lines)


# ---- formulas ------------------------------------------------------------------------------------

NUMBERS = [
    "0",
    "1",
    "2",
    "3",
    "-1",
    "0.5",
    "20",
    "64",
    "99",
    "300",
    "1000",
    "10**6",
    "1e15",
    "1e300",
]
NUMBERS += ["-1e300", "1e-300", "9**9", "True", "None", "'a'", "[1, 2]", "(0, 1)", "x"]
CALLS = [
    *("bs(x, df={})", "bs(x, df={}, degree={})", "cr(x, df={})", "cc(x, df={})", "poly(x, {})"),
    *("te(cr(x, df={}), cr(z, df={}))", "s(x, k={})", "s(x, z, k={})", "np.diff(x, {})"),
    *("pd.cut(x, {})", "np.round(x, {})", "C(g, Treatment({}))", "C(g, Poly)", "np.power(x, {})"),
    *("scipy.special.{0}(x)", "special(x, {}, {})", "np.clip(x, {}, {})", "x ** {}", "I(x * {})"),
    *("np.where(x > {}, {}, {})", "lag(x, {})", "factor(x > {})", "I(x ** {})", "x % {}"),
    *(
        "(1 | g)",
        "(x | g)",
        "(1 + x || h)",
        "offset({} * x)",
        "s(x)",
        "C(x, levels={})",
        "(1 | g/h)",
    ),
]
PLAIN = ["x", "z", "g", "h", "x:g", "x*z", "(x + z)**3", ".", "1", "0", "-1", "np.log(x)", "I(x)"]
SPECIAL = ["erf", "expit", "gammaln", "lpmv", "hyperu", "hyp2f1", "btdtria", "smirnovi", "pbdv"]


def a_formula(rng):
    """A text out of pieces that formulas have, with constants that nobody writes."""
    terms = []
    for _ in range(int(rng.integers(1, 4))):
        if rng.random() < 0.4:
            terms.append(PLAIN[rng.integers(len(PLAIN))])
            continue
        call = CALLS[rng.integers(len(CALLS))]
        if call.startswith("scipy"):
            terms.append(call.format(SPECIAL[rng.integers(len(SPECIAL))]))
            continue
        if call.startswith("special"):
            call = call.replace("special", f"scipy.special.{SPECIAL[rng.integers(len(SPECIAL))]}")
        terms.append(call.format(*(NUMBERS[k] for k in rng.integers(len(NUMBERS), size=3))))
    text = "y ~ " + [" + ", " * ", ":", " - "][rng.choice(4, p=[0.7, 0.1, 0.1, 0.1])].join(terms)
    if rng.random() < 0.25:  # a slip of the keyboard, or ill will
        at = int(rng.integers(len(text)))
        text = (
            text[:at]
            + ["(", ")", "~", "|", "'", "[", "\\", "\x00", "ß", "**"][rng.integers(10)]
            + text[at:]
        )
    return text
