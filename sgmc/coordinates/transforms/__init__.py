"""Maps from free numbers to parameters: base classes, constraints, metrics."""
