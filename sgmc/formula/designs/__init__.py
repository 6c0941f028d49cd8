"""Design matrices: factors, blocks of columns, groups of rows, offsets, scales."""
