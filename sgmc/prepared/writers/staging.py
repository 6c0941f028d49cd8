"""The folder beside a file that is being prepared: buckets of rows, what was found of the source,
and a journal of how far it is.
"""

import json
import os
import re
import shutil
from contextlib import contextmanager, suppress

from sgmc.arguments.seeds import entropy
from sgmc.core.system.files import Damaged, held, read_sealed, replacing, write_sealed
from sgmc.errors import ArgumentError, DataError
from sgmc.prepared.file.layout import MOST_MANIFEST
from sgmc.prepared.file.schema import Rule, check_facts, is_count, is_seed
from sgmc.saved import LoadPermissions, plain_tree, restored

KIND = b"sgmc findings 2"
TABLE, FINDINGS, JOURNAL, LOCK = "table", "findings", "journal", "lock"
OURS = re.compile(r"table|findings|journal|lock|bucket \d+|\..*|.*\.part")  # or the system's


def are_counts(values):
    """Whether it is a list of numbers of bytes."""
    return isinstance(values, list) and all(map(is_count, values))


COUNT = Rule("a number", is_count, needed=False)
FLAG = Rule("true or false", lambda value: type(value) is bool, needed=False)
STATE = {
    "made_of": Rule(
        "a dict with a seed", lambda value: isinstance(value, dict) and is_seed(value.get("seed"))
    ),
    **dict.fromkeys(("buckets", "chunk", "row", "done", "written"), COUNT),
    "sizes": Rule("numbers of bytes", are_counts, needed=False),
    "moments": Rule("a dict", lambda value: isinstance(value, dict), needed=False),
    **dict.fromkeys(("spread", "complete"), FLAG),
}


class StagingDirectory:
    """The folder ``path.part``.

    Parameters
    ----------
    path : str
        Of the file to be.
    made_of : dict
        What the file is made of: plain values, which have to be the same to go on.

    functions : dict, optional
        That the formula calls, by name.

    Raises
    ------
    ArgumentError
        If there is the folder of another file; it says what differs.  If another call is writing
        this one.
    OSError
    """

    def __init__(self, path, made_of, functions=None):
        self.path, self.folder, self.made_of = path, f"{path}.part", made_of
        self.functions = functions or {}
        os.makedirs(self.folder, exist_ok=True)
        self.refuse_others()
        self.lock = held(self.place(LOCK))
        if self.lock is None:
            raise ArgumentError(
                f"path={path!r}: another call is writing this file now; wait for it, or give "
                "another path"
            )
        try:
            self.journal = self.read()
        except ArgumentError:
            self.leave()
            raise
        if self.journal is None:
            self.empty()
            self.made_of["seed"] = entropy(self.made_of["seed"])
            self.write({})

    def refuse_others(self):
        """ArgumentError where something in the folder is not of `sgmc.prepare`, which writes to
        what it finds there and removes it: a link, a pipe, or files of someone's.
        """
        with os.scandir(self.folder) as entries:
            for one in entries:
                if not one.is_file(follow_symlinks=False) or not OURS.fullmatch(one.name):
                    raise ArgumentError(
                        f"path={self.path!r}: {self.folder} has {one.name!r} in it, which is not "
                        "of sgmc.prepare: move it, or give another path"
                    )
        if os.path.islink(self.folder):
            raise ArgumentError(f"path={self.path!r}: {self.folder} is a link: give another path")

    def read(self):
        """The journal, or None; a call without a seed takes over that of the journal.

        A journal whose table is complete and gone from the folder is that of a call which was
        killed while it cleaned up; one that is damaged is none.
        """
        name = self.place(JOURNAL)
        if not os.path.exists(name) or os.path.getsize(name) > MOST_MANIFEST:
            return None
        try:
            with open(name, encoding="utf-8") as file:
                journal = json.load(file)
            check_facts(journal, STATE)
        except (ValueError, RecursionError):  # Damaged among them
            return None
        buckets = journal.get("buckets", 0)
        if len(journal.get("sizes", ())) != buckets or journal.get("done", 0) > buckets:
            return None
        if journal.get("spread") and not (buckets and "moments" in journal):
            return None
        if journal.get("complete") and not os.path.exists(self.place(TABLE)):
            return None
        theirs = journal["made_of"]
        if self.made_of["seed"] is None:
            self.made_of["seed"] = theirs["seed"]
        for what, value in self.made_of.items():
            if theirs.get(what) != value:
                raise ArgumentError(
                    f"{self.folder} holds the beginning of another table: its {what} is not this "
                    "one's; delete it, or give another path"
                )
        return journal

    def write(self, state):
        """Put down how far it is: plain values beside what the file is made of."""
        self.journal = {"made_of": self.made_of, **state}
        with replacing(self.place(JOURNAL)) as file:
            file.write(json.dumps(self.journal).encode())

    def place(self, name):
        """The path of a file in the folder."""
        return os.path.join(self.folder, name)

    def keep(self, findings):
        """Write down what the passes over the source have found."""
        tree = plain_tree(findings, "what is known of the table")
        write_sealed(self.place(FINDINGS), KIND, {"findings": tree})

    def kept(self):
        """What was found before, or None: then it is found again."""
        try:
            tree = read_sealed(self.place(FINDINGS), KIND)["findings"]
            return restored(tree, LoadPermissions(self.functions), "")
        except Exception:  # damaged, or of another release
            return None

    def finish(self):
        """Give the table its name, and remove the folder."""
        self.write({**self.journal, "complete": True})
        os.replace(self.place(TABLE), self.path)
        self.discard()

    def discard(self):
        """Remove the folder."""
        self.empty()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.leave()

    def empty(self):
        """Remove all but the lock; the journal first, as it speaks of the rest."""
        names = [name for name in os.listdir(self.folder) if name not in (LOCK, JOURNAL)]
        for name in (JOURNAL, *names):
            with suppress(FileNotFoundError):
                os.unlink(self.place(name))

    def leave(self):
        """Let other calls have the folder."""
        self.lock.close()


def damaged(folder, what):
    """The DataError of a folder with which no call can go on."""
    return DataError(f"{folder} is damaged: {what}; delete it and call again")


@contextmanager
def whole(shop):
    """Damaged as that DataError."""
    try:
        yield
    except Damaged as error:
        raise damaged(shop.folder, str(error)) from error
