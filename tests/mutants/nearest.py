"""Files of tests in the order in which they are likely to see a fault of a file of the package."""

import math
import re
from collections import Counter
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]

# What fails for other reasons than a fault: sources that differ from what was recorded of them.
# Hashes of draws see every change of a number: a fault has to be seen by what the draws should be.
LEFT_OUT = (
    "architecture/",
    "mutants/",
    "sanitizer/",
    "contracts/test_golden.py",
    "input/test_other_systems.py",
    "surface/test_stub.py",
    "surface/test_versions.py",
)


def words(text):
    """Return the words of a text: identifiers, whole and in parts."""
    whole = re.findall(r"[A-Za-z_]\w{2,}", text)
    return {part for one in whole for part in (one, *one.split("_")) if len(part) > 2}


@cache
def files():
    """Return the words of each file of tests, with those of the helpers that it imports."""
    found = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        name = path.relative_to(TESTS).as_posix()
        if not name.startswith(LEFT_OUT):
            text = path.read_text()
            helpers = [path.parent / f"{one}.py" for one in re.findall(r"from \.(\w+) imp", text)]
            found[name] = text, words(text), set().union(*map(words_of, helpers))
    return found


@cache
def words_of(path):
    """Return the words of a helper, none where it is no file."""
    return words(path.read_text()) if path.is_file() else set()


def nearest(source, line, times):
    """Return the names of the files of tests, the nearest first.

    Parameters
    ----------
    source : Path
        The file with the fault, relative to the package's folder.
    line : int
        The line of the fault, from zero.
    times : dict of str to float
        CPU seconds of tests, where they are known: of files that are as near the cheap come first.
    """
    lines = (TESTS.parent / "sgmc" / source).read_text().splitlines()
    module = ".".join(["sgmc", *source.with_suffix("").parts])
    count = Counter(word for _, own, more in files().values() for word in own | more)
    rare = {word: math.log(len(files()) / seen) ** 2 for word, seen in count.items()}
    far, near = words("\n".join(lines)), words("\n".join(lines[max(line - 25, 0) : line + 5]))
    place, cost = set(source.with_suffix("").parts), Counter()
    for test, seconds in times.items():
        cost[test.split("::")[0].removeprefix("tests/")] += seconds

    def score(name):
        text, own, more = files()[name]
        shared = sum(
            rare[word] * (1 if word in own else 0.3) * (3 if word in near else 1)
            for word in far & (own | more)
        )
        folder = 1.5 if place & set(Path(name).with_suffix("").parts) else 1.0
        imported = (
            2.0 if module in text or f"from {module.rpartition('.')[0]} import" in text else 1
        )
        return shared * folder * imported / (len(own) + 100) ** 0.7 / (cost[name] + 2) ** 0.5

    return sorted(files(), key=score, reverse=True)
