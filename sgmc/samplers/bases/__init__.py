"""What several samplers share."""
