"""From a posterior to sampler coordinates, a room per subject."""
