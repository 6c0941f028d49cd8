"""Checks of draws by the scores of the posterior, its mode, its coordinates."""
