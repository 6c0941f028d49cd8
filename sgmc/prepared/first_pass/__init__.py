"""The first pass over rows: which are used, what is learned of them."""
