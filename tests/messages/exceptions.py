"""Messages that no test makes, with the reason."""

REASONS = {}  # by the beginning of the key of a place, such as "sgmc/file.py | function"


def reason(place):
    """Return why no test makes the message of a place; "" where one must."""
    return next((why for key, why in REASONS.items() if place.key.startswith(key)), "")
