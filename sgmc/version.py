"""The version, and the part of it within which the draws of a seed are the same."""

__version__ = "0.1.0"
SERIES = ".".join(__version__.split(".")[:2])
