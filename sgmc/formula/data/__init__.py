"""Tables as formulas see them: columns, chunks of rows, labels, gaps."""
