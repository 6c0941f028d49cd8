"""Effects on the scale of the outcome: predictions, comparisons and slopes, in the words of the R
package marginaleffects.

`kept` and `places` say where rows come from, `variables` what is varied, `averages` goes through
rows and draws in blocks of bounded memory, `table` summarises draws, `margeff` has statsmodels'
marginal effects of columns of the design.
"""
