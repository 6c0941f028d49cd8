"""Diagnostics of chains: moments, effective sizes, R-hat, tails, visits."""
