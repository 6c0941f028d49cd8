"""Regressions with crossed factors or smooths: effects are sampled with all else."""
