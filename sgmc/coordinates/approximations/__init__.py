"""Searches for modes, and Gaussian approximations of posteriors."""
