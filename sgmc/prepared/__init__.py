"""Prepared files: a formula read against rows that need not fit in memory, coded, shuffled and
sealed in one file, which fits read where it is.

`layout` is the file, `prepared` what it is to a fit, `outcome` its response as a family takes it.
"""
