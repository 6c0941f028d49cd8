"""Tuning by races: arms (sampler, step, minibatch, any declared parameter), what scores them,
and who goes on.
"""
