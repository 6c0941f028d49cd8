"""Predictions of outcomes, simulated outcomes, residuals, survival functions."""
