"""Regressions with grouped effects, which are integrated out."""
