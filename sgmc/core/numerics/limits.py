"""Limits of floating-point numbers and of memory that several rooms share, each with its reason."""

import math

MAX_LOG = 700.0  # exp overflows at 709.8; the rest is room for factors beside it
MAX_LOG_CUBED = 200.0  # the same where exp is squared or cubed: 3 x 200 stays below MAX_LOG
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)  # minus the log density of N(0, 1) at its mode

# 1 / theta, the gradient of a log, is finite: it overflows below 5.6e-309
SMALLEST_POSITIVE = 1e-300
# of probabilities: sums of 1 / theta over categories, times counts up to 1e10, are finite too
SMALLEST_PROBABILITY = 1e-290

# Half a central difference, relative where a number is above one: rounding over the step and the
# third derivative times its square are of one size at the cube root of 2.2e-16.
CENTRAL_DIFFERENCE = 6e-6

BLOCK_ROWS = 4096  # rows that a prediction's matrix product takes at a time: 32 kB a column
