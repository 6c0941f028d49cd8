"""Checks of arrays, tables, rows, draws and outcomes."""
