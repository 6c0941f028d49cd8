"""The formula front end: an R-style formula and a table to outcomes, weights and a design.

`reader` decides what is used, `dot` speaks the formula's text, `columns` knows kinds of columns,
`design` holds the recipe of the design, made of `blocks` of `factors`, and fills it; `coding` leads
to designs whose factors stay codes, `coded`.  `transforms` are the functions a formula may call
besides the user's.
"""

from sgmc.formula.design import DesignSpec
from sgmc.formula.in_time import read_in_time
from sgmc.formula.reader import caller_scope, left_out_warning, read
from sgmc.formula.table import Table

__all__ = ["DesignSpec", "Table", "caller_scope", "left_out_warning", "read", "read_in_time"]
