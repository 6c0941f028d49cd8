"""Compiled densities of groups and of effects."""
