"""Regressions with predictors of a scale, a dispersion or a precision."""
