"""Coordinates for posteriors of a known shape: horseshoes, lopsided columns, scales."""
