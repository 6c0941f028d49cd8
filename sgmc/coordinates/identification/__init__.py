"""What data leave open: separated outcomes, directions to infinity, collinear columns."""
