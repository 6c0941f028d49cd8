"""What a fit gives back: posterior summaries with statsmodels' names and a posterior's meaning."""
