"""Pairs of features: every public method of results against `tests.reference`."""
