"""Regressions whose coefficients have priors with scales that are learned."""
