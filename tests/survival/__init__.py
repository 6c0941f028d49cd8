"""Parametric survival regression."""
