"""The contracts and what runs them: storage, models' base, gradients' base, random streams,
recorders, engine.
"""
