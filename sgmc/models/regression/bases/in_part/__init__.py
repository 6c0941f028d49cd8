"""Outcomes that are known in part: censored, truncated, or both."""
