"""Objects as arrays and plain values, for files that execute nothing when they are opened.

An object is written as the name of its class and its state.  `classes` is the list of these names:
a file can make no object of any other class, and call no function but those of
`sgmc.formula.evaluation.allowlist` or those that the user gives when it is opened.
"""

from sgmc.saved.reading import LoadPermissions, Unreadable, restored
from sgmc.saved.writing import plain_tree, storable

__all__ = ["LoadPermissions", "Unreadable", "plain_tree", "restored", "storable"]
