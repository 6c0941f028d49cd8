"""Outcomes that are known in part: censored, truncated, and times of delayed entry."""
