"""Regressions whose grouping factors cross: effects are sampled together with everything else."""
