"""Families of several linear predictors."""
