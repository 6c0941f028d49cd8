"""What is sampled: its base classes, and what is computed once of it at a centre."""
