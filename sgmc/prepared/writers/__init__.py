"""What writes the sealed file: records, buckets in random order, columns."""
