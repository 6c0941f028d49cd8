"""Numerical kernels: vector functions, matrix products, derivatives, limits of numbers."""
