"""Independent draws of coefficients, effects and their covariance."""
