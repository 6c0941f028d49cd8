"""Posteriors from several imputed data sets."""
