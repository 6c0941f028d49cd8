"""Outcomes and design of a regression, as rows of one table."""
