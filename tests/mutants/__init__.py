"""The power of the tests: faults of `mutants.toml` planted one by one, and which test sees each."""
