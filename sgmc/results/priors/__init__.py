"""What the prior says alone, and how much of the posterior is its doing."""
