"""Messages that no test makes, with the reason."""

REASONS = {}


def reason(place):
    """Return why no test makes the message of a place; "" where one must."""
    return REASONS.get((place.file, place.function), "")
