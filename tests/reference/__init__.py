"""What a regression means here: the definition of designs, families, predictions and effects.

Plain numpy, nothing of the package and none of patsy; slow, and short enough to read in one go:

1. `designs`: a formula and a table are columns, of any other rows the same columns.
2. `families`: mean, variance and log density of an outcome given its linear predictors.
3. `regression`: eta = offsets + log(exposure) + X b + Z u + f(z); priors, modes, predictions,
   average effects, leaving rows out.

The tests in `tests/pairs` compare every public method of results with it.
"""
