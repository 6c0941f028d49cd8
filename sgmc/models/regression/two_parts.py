"""The base of regressions with two designs, ``y ~ x | z``: counts and zeros of their own."""

import numpy as np

from sgmc.arguments.choices import one_of
from sgmc.core.storage import spans
from sgmc.errors import NotSupported
from sgmc.models.regression.bases.zero_family import COUNT_DISTRIBUTIONS
from sgmc.models.regression.model import Regression
from sgmc.priors import learns


class TwoParts(Regression):
    """Base of `ZeroInflated` and `Hurdle`."""

    options = {"dist": "poisson"}

    @classmethod
    def chosen_family(cls, dist):
        """See `Regression.chosen_family`."""
        return type(cls.family)(one_of("dist", dist, COUNT_DISTRIBUTIONS))

    @classmethod
    def coded(cls, endog):
        """Refuse arrays."""
        raise NotSupported(
            f"{cls.__name__} has two designs, which arrays do not tell apart: use "
            f"{cls.__name__}.from_formula('y ~ x | z', data)"
        )

    @classmethod
    def table_of(cls, formula, data, scope, inputs):
        """See `Regression.table_of`."""
        from sgmc.formula import read
        from sgmc.formula.frames import as_frame
        from sgmc.formula.parts import joined, split
        from sgmc.prepared.opening import opened
        from sgmc.prepared.prepared import SealedTable

        first, second = split(formula)
        both = f"{first} + {second.partition('~')[2]}"
        data = opened(both, data, scope, inputs)
        if isinstance(data, SealedTable):
            raise NotSupported(
                f"{cls.family.name} reads its two designs into memory, not from prepared tables: "
                "give the rows themselves, or a sample where they are too many"
            )
        frame = as_frame(data)

        def one(text, **more):
            table = read(text, frame, outcome="numeric", scope=scope, **{**inputs, **more})
            if table.bars or table.smooths:
                raise NotSupported(
                    f"{cls.family.name} has two linear predictors, and neither group terms nor "
                    f"smooths: leave {table.grouping().labels[0]} out"
                )
            return table

        return joined(formula, one, frame), None, ""

    def check_outcomes(self):
        """See `Regression`; the family takes the parts of the design."""
        data = self.data
        super().check_outcomes()
        zeros = total = 0.0
        for span in spans(data.n):
            weight = np.ones(span.stop - span.start) if data.weight is None else data.weight[span]
            zeros, total = zeros + weight @ (data.y[span] == 0), total + weight.sum()
        has = [data.intercept is not None, data.second_intercept is not None]
        constants = tuple(k for k in (0, 1) if has[k])
        self.family = type(self.family)(
            self.family.dist, data.parts[0].stop, constants, zeros / total
        )

    def result_class(self):
        """See `Regression`."""
        from sgmc.models.regression.zero_results import ZeroResults

        return ZeroResults

    def suited(self, prior, checked):
        """See `Regression`."""
        if learns(prior):
            raise NotSupported(
                f"prior={prior!r} has scales that are learned, which {self.family.name} does not "
                "take: use sgmc.normal(0, 2.5), or another prior with known scales"
            )
        return self
