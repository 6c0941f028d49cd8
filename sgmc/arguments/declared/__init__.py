"""Declared keywords: the table of fit keywords, signatures made of its rows."""
