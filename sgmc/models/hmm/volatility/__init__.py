"""Stochastic volatility."""
