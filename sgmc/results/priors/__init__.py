"""Priors alone: densities, draws, and the sensitivity of the posterior to them."""
