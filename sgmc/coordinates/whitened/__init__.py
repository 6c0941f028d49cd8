"""Whitened coordinates of a fit, and how they are reported; the sandwich covariance."""
