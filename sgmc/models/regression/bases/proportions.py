"""What families of proportions share."""

from sgmc.arguments.data import values
from sgmc.models.regression.bases.family import Family


class Proportions(Family):
    """Base of families of proportions between 0 and 1, both excluded."""

    accepts = "proportions between 0 and 1, both excluded"

    @staticmethod
    def check(y, label):
        """Outcomes lie between 0 and 1, and differ."""
        name = f"the outcome {label!r}"
        values.varying(name, values.proportions(name, y))
