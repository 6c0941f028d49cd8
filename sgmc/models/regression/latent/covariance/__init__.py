"""What effects are called, and their standard deviations and correlations."""
