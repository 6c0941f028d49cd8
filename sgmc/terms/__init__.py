"""Penalised terms of formulas, a file a kind."""
