"""Diagnostics of draws with scores: Stein discrepancies, control variates."""
