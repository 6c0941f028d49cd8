"""Independent draws of posteriors that are normal given few numbers."""
