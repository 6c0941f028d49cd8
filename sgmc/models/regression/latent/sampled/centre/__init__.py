"""Where chains of effects begin."""
