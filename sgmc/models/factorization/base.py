"""The base of factorisations of a table of ratings."""

from functools import cached_property, partial

import numpy as np

from sgmc.arguments.declared.keywords import FirstDraws
from sgmc.arguments.messages import must_be
from sgmc.arguments.numbers import is_number, whole
from sgmc.models.bases.model import Model
from sgmc.samplers.hamiltonian import BAOAB

ORDER = 7  # seed of the order of the ratings, which is no choice of a user's

MAX_DIM = 1000
FEW_RATINGS = 100_000  # up to which all are used at each step, else half of them
FEW_DRAWS = 2000  # of so few ratings: of 1000 the least certain predictions err by 0.1 sd
VARIANCE_ADDED = 0.1  # of the variance, that mini-batches may add
USUAL_THINNING, MOST_THINNING = 100, 1000  # at most; and where noise makes steps small
SHORTEST_WARMUP, WARMUP_KEPT = 1000, 20  # steps; and times the steps of a kept draw
JUDGED_RATINGS = 50
UNLIMITED = (np.inf, np.inf)


class Factorization(Model):
    """Base of `BPMF` and `PPMF`: ratings, pairs to predict, and what is kept of the draws."""

    scaled = False
    shuffled = True
    counts = biases = False
    centre, unit = 0.0, 1.0
    moments = UNLIMITED
    # of `baoab`: step times the root of the largest curvature, below 2; friction times step with
    # mini-batches; friction without; products of a rating and a component that a draw may cost
    leap = damping = friction = work = None

    def __init__(self, ratings, columns, dim, test, clip):
        from sgmc.models.factorization.data import (  # they need pandas
            pair_table,
            rating_table,
        )

        self.columns, self.dim = columns, whole("dim", dim, 1, MAX_DIM)
        table = rating_table(ratings, columns)
        order = np.random.Generator(np.random.PCG64(ORDER)).permutation(len(table.value))
        self.ratings = (table.user[order], table.item[order], table.value[order])
        self.users, self.items, self.known = table.users, table.items, table
        self.test = None if test is None else pair_table(test, columns, table, "test")
        self.low, self.high = self.span(clip)

    @property
    def n(self):
        """Ratings."""
        return len(self.ratings[2])

    def span(self, clip):
        """The least and the largest prediction."""
        if clip is True:
            return float(self.ratings[2].min()), float(self.ratings[2].max())
        if clip is None or clip is False:
            return -np.inf, np.inf
        if not isinstance(clip, (tuple, list)) or len(clip) != 2 or not all(map(is_number, clip)):
            wanted = "True (the range of the ratings), False, or a pair such as (1, 5)"
            raise must_be("clip", clip, wanted)
        low, high = map(float, clip)
        if not low < high:
            raise must_be("clip", clip, "a pair of which the first number is below the second")
        return low, high

    @cached_property
    def places(self):
        """The layout, which takes a while to make."""
        return Model.layout(self)

    def layout(self):
        return self.places

    def at(self, name):
        """Where a parameter begins in theta."""
        return self.places.slices[name].start

    def form(self):
        """How predictions are made of theta; see `Rated`.

        ``moments`` are those that expected ratings of new users and new items have.
        """
        sizes = len(self.users), len(self.items), self.dim
        return {
            "sizes": sizes,
            "fresh": (0, 0) if self.test is None else self.test.fresh(sizes),
            "biases": self.biases,
            "centre": self.centre,
            "unit": self.unit,
            "low": self.low,
            "high": self.high,
            "counts": self.counts,
            "moments": self.moments if np.isinf(self.high) else UNLIMITED,
        }

    def newcomers(self):
        """The law of users and items without ratings given theta, a `Hierarchy`."""
        return self.prior_kernel()

    def recorder_class(self):
        # one that also sums up predictions of the test pairs
        from sgmc.models.factorization.recorder import Rated

        none, form, test = np.empty(0, dtype=np.int32), self.form(), self.test
        pairs = (none, none, np.empty(0), np.empty(0))
        if test is not None:
            value = np.full(len(test.user), np.nan) if test.value is None else test.value
            pairs = (test.user, test.item, value, test.moments(form))
        how = {"judged": self.judged_pairs, "prior": self.newcomers(), "form": form}
        return partial(Rated, pairs=pairs, **how)

    def functionals(self):
        # expected ratings of `judged_pairs`
        from sgmc.fit.parts import Functionals
        from sgmc.models.factorization.results import judged_predictions

        return Functionals(
            f"predictions of {len(self.judged_pairs[0])} pairs",
            judged_predictions,
            "components can be exchanged and turned",
        )

    @cached_property
    def judged_pairs(self):
        """Users and items of the pairs that the verdict is about, by number: test pairs of users
        and items with ratings, or where these are few, pairs that were rated; evenly spaced.
        """
        from sgmc.results.outcomes.data.rows import evenly

        user, item = self.known.user, self.known.item
        if self.test is not None:
            inside = (self.test.user < len(self.users)) & (self.test.item < len(self.items))
            if inside.sum() >= JUDGED_RATINGS:
                user, item = self.test.user[inside], self.test.item[inside]
        some = evenly(len(user), JUDGED_RATINGS)
        return user[some], item[some]

    def derived(self, given):
        # of `baoab`, whose friction damps the noise of mini-batches; with all ratings it is that of
        # the slowest directions, those of the prior
        step, batch, thin = self.pace(given.get("batch_size"))
        noisy = min(1.0, self.n / batch - 1)
        spec = BAOAB(friction=max(self.friction, noisy * self.damping / step))
        if given.get("tune") is not None:
            return {"sampler": spec}
        pace = {"warmup": max(SHORTEST_WARMUP, WARMUP_KEPT * thin), "thin": thin}
        if self.n <= FEW_RATINGS:
            pace["draws"] = FirstDraws(FEW_DRAWS)
        return {"sampler": spec, "step_size": step, "batch_size": batch, **pace}

    def derived_step(self, spec, batch):
        if spec.name not in ("sgld", "sghmc", "baoab"):
            return None
        step, batch, thin = self.pace(batch)
        return 0.5 * step**2 if spec.name == "sgld" else step, batch, thin

    def pace(self, batch=None):
        """(step, mini-batch, thinning) of underdamped dynamics: e sqrt(K) = `leap` for the largest
        curvature K, but less where noise is more: it adds e V / (2 C) to the variance, where for
        rows of the model's own law V = (N/n - 1) K with the K of a typical rating's factors.
        """
        usual = self.n if self.n <= FEW_RATINGS else self.n // 2
        batch = min(batch, self.n) if isinstance(batch, int) and batch > 0 else usual
        most = max(self.largest_curvature(), 1.0)
        typical = most * self.typical / self.most
        longest, noise = self.leap**2 / most, (self.n / batch - 1) * typical
        square = min(longest, 2 * self.damping * VARIANCE_ADDED / max(noise, 1e-300))
        slower = min(longest / square, MOST_THINNING / USUAL_THINNING)
        thin = np.clip(self.work // (batch * self.dim), 5, USUAL_THINNING * slower)
        return float(np.sqrt(square)), batch, int(thin)

    def largest_curvature(self):
        """Of the log posterior, about, in the sampler's coordinates."""
        raise NotImplementedError

    @property
    def most(self):
        """The largest number of ratings of a user, or of an item."""
        return max(counts.max() for counts in self.counts_of_ratings)

    @property
    def typical(self):
        """The mean over ratings of the number that their users have, or their items."""
        return max((counts**2).sum() / counts.sum() for counts in self.counts_of_ratings)

    @property
    def counts_of_ratings(self):
        """Ratings of each user, and of each item."""
        return [np.bincount(one).astype(float) for one in (self.known.user, self.known.item)]

    def result_class(self):
        from sgmc.models.factorization.results import FactorResults

        return FactorResults

    def info(self):
        from sgmc.models.factorization.results import FactorInfo

        return FactorInfo(self)
