"""Regressions carried on when new rows arrive."""
