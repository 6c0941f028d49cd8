"""The design of coefficients and effects together, and precisions made of it."""
