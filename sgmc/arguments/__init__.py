"""Every check of an argument, once.

A check takes the argument's name and value, returns the value in the one form that the rest of the
package uses, and raises an error that names the argument, its value, what it must be and what to
do.

=========== =======================================================================
numbers     whole, positive, in an interval
choices     one of a few; the nearest name for an unknown one
names       of parameters and columns, and labels in order
seeds       of random numbers
files       paths
data/arrays vectors and matrices of finite numbers
data/tables designs, which may be sparse, large or of bytes; their first bad cell
data/rows   one value for each row: lengths and indices
data/values what numbers in a vector may be: weights, exposures, counts
data/draws  draws, chains, scores and their weights, for diagnostics
declared/   the table of fit keywords, and signatures made of its rows
=========== =======================================================================
"""
