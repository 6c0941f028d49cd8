"""Contestants: a module each, which is imported in a process of its own.

A module has ``PACKAGES`` (whose versions are recorded), ``KIND`` ("posterior", "approximation" or
"floor"), ``LABEL``, ``LENGTHS`` (draws, in the order of trial) and ``prepare(problem)``, which
returns ``run(length, seed)`` -> `problem.Answer`.  `prepare` is timed as start-up; it raises
`NotExpressible` where the contestant has no such model.
"""


class NotExpressible(Exception):
    """The contestant has no such model."""
