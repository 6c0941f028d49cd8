"""The search for the posterior mode of a regression."""
