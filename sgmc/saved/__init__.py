"""Objects as arrays and plain values, for files that execute nothing when they are opened.

An object is written as the name of its class and its state.  `classes` is the list of these names:
a file can make no object of any other class, and call no function but those of
`sgmc.formula.listed` or those that the user gives when it is opened.
"""

from sgmc.saved.reading import Trust, Unreadable, restored
from sgmc.saved.writing import plain_tree, storable

__all__ = ["Trust", "Unreadable", "plain_tree", "restored", "storable"]
