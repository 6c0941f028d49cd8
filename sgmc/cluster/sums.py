"""Sums of partitions, in an order that does not depend on who computed what, and when."""


def merged(parts, merge):
    """Values of partitions merged in pairs of neighbours, in a tree of one shape.

    Floating-point sums depend on their order.  This one follows from the number of partitions
    alone, so that more workers, a retry or a late result change no bit.

    Parameters
    ----------
    parts : list
        In the order of the partitions.
    merge : callable
        ``merge(left, right)``.
    """
    parts = list(parts)
    while len(parts) > 1:
        pairs = [merge(one, other) for one, other in zip(parts[::2], parts[1::2])]
        parts = pairs + ([parts[-1]] if len(parts) % 2 else [])
    return parts[0]
