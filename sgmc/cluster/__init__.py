"""Regressions of rows that are in partitions on other machines: sums travel, rows do not."""
