"""How well a model fits outcomes: leave-one-out, predictive checks, calibration."""
