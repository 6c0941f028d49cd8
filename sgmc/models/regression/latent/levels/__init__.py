"""Regressions with a factor of very many levels, whose coefficients are integrated out."""
