"""Priors of parameters: densities, draws, tails, what does not suit."""
