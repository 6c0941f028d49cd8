"""The folder beside a file that is being prepared: buckets of rows, what was found of the source,
and a journal of how far it is.
"""

import json
import os
import shutil
from contextlib import suppress

from sgmc.arguments.seeds import entropy
from sgmc.core.files import held, read_sealed, replacing, write_sealed
from sgmc.errors import ArgumentError
from sgmc.saved import Trust, plain_tree, restored

KIND = b"sgmc findings 2"
TABLE, FINDINGS, JOURNAL, LOCK = "table", "findings", "journal", "lock"


class Workshop:
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

    def read(self):
        """The journal, or None; a call without a seed takes over that of the journal.

        A journal whose table is complete and gone from the folder is that of a call which was
        killed while it cleaned up.
        """
        name = self.place(JOURNAL)
        if not os.path.exists(name):
            return None
        with open(name, encoding="utf-8") as file:
            journal = json.load(file)
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
            return restored(tree, Trust(self.functions), "")
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
