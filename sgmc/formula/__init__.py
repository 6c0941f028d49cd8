"""Return a formula whose text comes from outside: see `sgmc.formula.outside.formula`.

This package is the formula front end: an R-style formula and a table to outcomes, weights and a
design.  It can be called, as ``sgmc.formula(text, safe=True)``: Python binds the name of a package
in the one above it, so that no function can have it.

`reader` decides what is used, `syntax` speaks the formula's text, `data` knows tables and kinds of
columns, `designs` holds the recipe of the design, made of blocks of factors, and fills it, also
with factors that stay codes.  `evaluation` has the functions that a formula may call besides the
user's; `outside` has formulas from elsewhere, whose code is looked through there.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from sgmc.formula.designs.design import DesignSpec
from sgmc.formula.outside import check_subset_of, formula
from sgmc.formula.reader import caller_scope, read
from sgmc.formula.table import Table
from sgmc.formula.timed_reading import read_with_deadline

if TYPE_CHECKING:
    from sgmc.formula.evaluation.safe import SafeFormula


__all__ = ["DesignSpec", "Table", "caller_scope", "check_subset_of", "read"]
__all__ += ["read_with_deadline"]


class Front(ModuleType):
    """The package as something that can be called."""

    def __call__(self, text: str, *, safe: bool = False) -> "str | SafeFormula":
        return formula(text, safe=safe)


sys.modules[__name__].__class__ = Front
Front.__call__.__doc__ = sys.modules[__name__].__doc__ = formula.__doc__
