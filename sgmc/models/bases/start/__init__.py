"""Where chains of models that are no regressions begin, and with what steps."""
