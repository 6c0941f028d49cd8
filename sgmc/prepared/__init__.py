"""Prepared files: a formula read against rows that need not fit in memory, coded, shuffled and
sealed in one file, which fits read where it is.

`first_pass` reads the rows, `writers` write them, `file` is what they write, and what that is to a
fit.
"""
