"""What piecewise-deterministic samplers share: bounces, bands of rates, recorders of paths."""
