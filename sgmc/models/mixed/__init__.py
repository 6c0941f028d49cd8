"""The covariance of effects, at the path by which users' compiled modules have it."""
