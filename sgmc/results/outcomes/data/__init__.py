"""Rows of the fit and new ones: what stands beside them, labels, pieces, files."""
