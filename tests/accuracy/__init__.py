"""Fits to an accuracy, and their plans."""
