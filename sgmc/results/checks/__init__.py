"""How far the draws of a fit can be trusted."""
