"""From a model and its data to draws: mode, coordinates, pilot, plan, chains."""
