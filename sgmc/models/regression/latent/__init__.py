"""Effects of levels, curves and scales: coefficients whose prior has parameters of its own."""
