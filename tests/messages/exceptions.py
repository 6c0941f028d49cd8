"""Messages that no test makes."""

# How many rows of the list say "no test": a new message needs one, and who adds a test for one of
# these lowers the number.
UNTESTED = 70

REASONS = {}  # by the beginning of the key of a place, such as "sgmc/file.py | function"


def reason(place):
    """Return why no test can make the message of a place; "" where one could."""
    return next((why for key, why in REASONS.items() if place.key.startswith(key)), "")
