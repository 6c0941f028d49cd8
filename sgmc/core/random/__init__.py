"""Random streams, and variates drawn from them."""
