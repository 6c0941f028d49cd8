"""Figures of posteriors by Matplotlib, which is imported when the first one is drawn.

Every function returns its axes.
"""
