"""The results of factorisations: predictions and recommendations by label."""

import numpy as np
import pandas as pd

from sgmc.arguments.numbers import whole
from sgmc.errors import ArgumentError
from sgmc.models.bases.results import GeneralInfo, ModelResults
from sgmc.models.factorization.data import pair_table

FRESH_DRAWS = 2000  # of newcomers' predictions, at least


class FactorInfo(GeneralInfo):
    """What a result keeps of a factorisation: labels, who rated what,
    and how predictions are made; not the ratings.
    """

    def __init__(self, model):
        super().__init__(model)
        self.users, self.items, self.form = model.known.users, model.known.items, model.form()
        self.columns, self.seen, self.test, self.hyper = (
            model.columns,
            np.sort(model.known.codes),
            model.test,
            model.hyper,
        )
        self.newcomers, self.judged = model.newcomers(), model.judged_pairs

    def heading(self, fit):
        """Return the pairs of a summary's head, with the accuracy of mean predictions of test
        pairs.
        """
        left, right = super().heading(fit)
        left = [*left, ("Users x items", f"{len(self.users)} x {len(self.items)}")]
        if self.rated:
            name = "Test log lik." if self.form["counts"] else "Test RMSE"
            right = [*right, (name, f"{accuracy(self, summed(fit)[0]):.5g}")]
        return left, right

    def remarks(self, fit):
        """Return lines about hyperparameters, and how far chains agree on what is known without
        rotations and signs.
        """
        given = (
            f"{k} = {v:g}" if isinstance(v, float) else f"{k} = {v}" for k, v in self.hyper.items()
        )
        unit = self.form.get("unit", 1.0)  # files of earlier releases have none
        scaled = "" if unit == 1 else f"; the unit of ratings is their sd, {unit:.4g}"
        lines = [f"Given: {', '.join(given)}{scaled}."]
        lines.append(
            "Components may be exchanged, turned and mirrored, within and between chains: U and V "
            "mean nothing one by one."
        )
        if self.test is not None and sum(self.form["fresh"]):
            lines.append(self.about_newcomers())
        rhat = agreement(fit)
        if rhat is not None:
            middle, most = np.quantile(rhat, [0.5, 0.99])
            lines.append(
                f"R-hat of the test predictions: {middle:.3f} in the middle, 99 % below {most:.3f}."
            )
        return [*lines, *super().remarks(fit)]

    def about_newcomers(self):
        """How test pairs of users and items without ratings are predicted."""
        users, items = self.form["fresh"]
        without = int((self.test.moments(self.form) <= 1).sum())
        text = (
            f"Of the test pairs' users {users}, of their items {items} have no ratings: their "
            "factors are drawn from the prior given each draw."
        )
        if without:
            text += (
                f" {without} of {len(self.test.user)} test pairs have no mean rate and are left "
                "out of the accuracy, as the prior of new rates has none with a1 or c1 of at most "
                "1; clip=(low, high) gives them one."
            )
        return text

    @property
    def rated(self):
        """Whether there are test pairs with ratings."""
        return self.test is not None and self.test.value is not None and len(self.test.value) > 0


class FactorResults(ModelResults):
    """The posterior of a factorisation.

    Predictions of the pairs given as ``test=`` are means over all draws.  Those of other pairs are
    means over evenly spaced draws of all parameters, at most 200 a chain, fewer where they are over
    64 MB: memory does not grow with the draws.  Both clip every draw's prediction to the range of
    ratings.

    Users and items without ratings get factors from their prior given each draw, w ~ N(mu, 1 /
    lambda) of `BPMF`, w ~ Gamma(a, rate e), e ~ Gamma(a1, rate a1/b1) of `PPMF`, so that means and
    sds are those of the posterior of somebody new.  Rates of `PPMF` without `clip` have then no
    mean where a1 (of new items c1) is at most 1, and no sd where it is at most 2; both are given as
    inf.
    """

    @classmethod
    def besides(cls, fit):
        mean, sd = summed(fit)
        chains = counted(fit)
        return {
            **super().besides(fit),
            "_test_mean": mean,
            "_test_sd": sd,
            "_path": [np.array(r.path[: r.kept]) for r in chains],
            "_banks": [r.bank for r in chains],
        }

    @property
    def test_log_lik(self):
        """Sum of Poisson log densities of the test ratings at their mean predictions."""
        self._need_ratings("test_log_lik")
        if not self.model.form["counts"]:
            raise ArgumentError(f"test_log_lik is of counts; of {self.model.title} there is rmse")
        return accuracy(self.model, self._test_mean)

    @property
    def rmse(self):
        """Root mean square error of the mean predictions of the test pairs."""
        self._need_ratings("rmse")
        return error(self.model, self._test_mean)

    def accuracy_path(self):
        """Return the accuracy on the test pairs as draws come in, a DataFrame by chain and draw.

        Columns are ``draw``, of the predictions of each draw alone, and ``average``, of the mean of
        the chain's predictions so far: root mean square errors, or of counts sums of log densities.
        """
        self._need_ratings("accuracy_path")
        keys = range(len(self._path))
        return pd.concat(
            [pd.DataFrame(one, columns=["draw", "average"]) for one in self._path],
            keys=keys,
            names=["chain", "draw"],
        )

    def predict(self, users=None, items=None):
        """Return posterior mean predictions of pairs, (n,).

        Parameters
        ----------
        users, items : array_like or label
            Labels, also of users and items without ratings; one label goes with all of the others.
            The test pairs if left out.
        """
        return self.get_prediction(users, items)["mean"].to_numpy()

    def get_prediction(self, users=None, items=None):
        """Return the posterior mean and sd of expected ratings, a DataFrame indexed by user and
        item; see `predict`.
        """
        test = self.model.test
        if users is None and items is None:
            self._need_pairs()
            labels = [test.users[test.user], test.items[test.item]]
            return self._framed(labels, self._test_mean, self._test_sd)
        if users is None or items is None:
            raise ArgumentError(
                f"{'users' if users is None else 'items'} are missing: give users and items, or "
                "neither for the test pairs"
            )
        labels = paired(users, items)
        mean, sd = self._of_whole(
            pair_table(labels, self.model.columns, self.model, "users, items")
        )
        if test is not None:
            codes = pd.Series(test.codes).drop_duplicates()
            user, item = test.users.get_indexer(labels[0]), test.items.get_indexer(labels[1])
            asked = np.where((user >= 0) & (item >= 0), user * len(test.items) + item, -1)
            found = pd.Index(codes).get_indexer(asked)
            exact = found >= 0
            first = codes.index.to_numpy()[found[exact]]
            mean[exact], sd[exact] = self._test_mean[first], self._test_sd[first]
        return self._framed(labels, mean, sd)

    def recommend(self, user, n=10, *, seen=False):
        """Return the items with the largest mean predictions for a user, a DataFrame by item, best
        first.

        Parameters
        ----------
        user : label
            Also of a user without ratings.
        n : int
            How many; fewer where there are no more.
        seen : bool
            Whether items that the user has rated are among them.

        Returns
        -------
        DataFrame
            ``mean`` and ``sd`` of the expected rating, and ``top``, the posterior probability that
            the item is among the user's n best.
        """
        label, items = labels_of(user), len(self.model.items)
        number, open_to = self.model.users.get_indexer(label)[0], np.arange(items)
        if number >= 0 and not seen:
            rated = self.model.seen[
                np.searchsorted(self.model.seen, number * items) : np.searchsorted(
                    self.model.seen, (number + 1) * items
                )
            ]
            open_to = np.setdiff1d(open_to, rated - number * items)
        n = min(whole("n", n, 1), len(open_to))
        pairs = pair_table(
            (label.repeat(len(open_to)), self.model.items[open_to]),
            self.model.columns,
            self.model,
            "user",
        )
        weights, each = zip(*self._draws_of_predictions(pairs, clip=False))
        shares, each = np.array(weights) / sum(weights), np.array(each)
        best = np.zeros(len(open_to))
        for share, p in zip(shares, each) if n else ():
            best[np.argpartition(-p, n - 1)[:n]] += share
        each = np.clip(each, self.model.form["low"], self.model.form["high"])
        mean = shares @ each
        mean, sd = where_finite(
            mean, np.sqrt(shares @ (each - mean) ** 2), pairs.moments(self.model.form)
        )
        frame = pd.DataFrame({"mean": mean, "sd": sd, "top": best}, self.model.items[open_to])
        return (
            frame.sort_values(["mean", "top"], ascending=False, kind="stable")
            .head(n)
            .rename_axis(self.model.columns[1])
        )

    def _of_whole(self, pairs):
        """Mean and sd over the draws of all parameters."""
        mean, square, total = np.zeros(len(pairs.user)), np.zeros(len(pairs.user)), 0.0
        for weight, p in self._draws_of_predictions(pairs):
            e, total = p - mean, total + weight
            mean += weight / total * e
            square += weight * e * (p - mean)
        return where_finite(mean, np.sqrt(square / total), pairs.moments(self.model.form))

    def _draws_of_predictions(self, pairs, clip=True):
        """(weight, predictions of pairs) for each draw of all parameters, newcomers drawn several
        times where these are few.
        """
        from sgmc.models.factorization.hierarchy import Everyone

        form = self.model.form
        unit = form.get("unit", 1.0)
        new = pairs.fresh(form["sizes"])
        draws = [one for bank in self._banks for one in zip(*bank)]
        repeats = -(-FRESH_DRAWS // len(draws)) if any(new) else 1
        everyone = Everyone(self.model.newcomers, form["sizes"], form["biases"], new)
        for theta, weight in draws:
            for number in range(repeats):
                U, V, a, b = everyone.of(theta.astype(float), number)
                p = np.einsum("ij,ij->i", U[pairs.user], V[pairs.item])
                p = form["centre"] + unit * (p + a[pairs.user] + b[pairs.item])
                yield weight / repeats, np.clip(p, form["low"], form["high"]) if clip else p

    def _framed(self, labels, mean, sd):
        """Predictions by label."""
        index = pd.MultiIndex.from_arrays(labels, names=self.model.columns[:2])
        return pd.DataFrame({"mean": mean, "sd": sd}, index)

    def _need_pairs(self):
        """ArgumentError where the fit had no test pairs."""
        if self.model.test is None:
            raise ArgumentError(
                "there are no test pairs: give users and items, or test= to the model"
            )

    def _need_ratings(self, what):
        """ArgumentError where there is nothing to compare predictions with."""
        if not self.model.rated:
            raise ArgumentError(f"{what} needs test pairs with ratings: give test= to the model")


def judged_predictions(results):
    """Names and draws (chain, draw, k) of what the verdict is about."""
    (user, item), info, fit = results.model.judged, results.model, results._fit
    names = [f"{one}, {other}" for one, other in zip(info.users[user], info.items[item])]
    draws = fit.x.shape[1]
    return names, np.stack([np.asarray(r.judged[:draws]) for r in counted(fit)])


def counted(fit):
    """Recorders of the chains whose draws count: not of those that were lost early."""
    return [r for r in fit.recorders if r.kept >= fit.x.shape[1]]


def summed(fit):
    """Mean and sd of the predictions of the test pairs over the draws of all chains."""
    chains = counted(fit)
    weight = np.array([r.total for r in chains])
    mean = np.average([np.asarray(r.average) for r in chains], axis=0, weights=weight)
    spread = sum(
        np.asarray(r.spread) + w * (np.asarray(r.average) - mean) ** 2
        for w, r in zip(weight, chains)
    )
    return where_finite(mean, np.sqrt(spread / weight.sum()), chains[0].moments)


def where_finite(mean, sd, moments):
    """Means and sds, infinite where the law has none; see `RatingTable.moments`."""
    return np.where(moments > 1, mean, np.inf), np.where(moments > 2, sd, np.inf)


def agreement(fit):
    """R-hat of the predictions of the test pairs: sd over all chains over that within one; None
    where that cannot be told.
    """
    chains = counted(fit)
    if len(chains) < 2 or not len(chains[0].average):
        return None
    within = sum(np.asarray(r.spread) for r in chains) / sum(r.total for r in chains)
    # a prediction beyond the range of ratings may never move
    moving = (within > 0) & (chains[0].moments > 2)
    return np.append(
        summed(fit)[1][moving] / np.sqrt(within[moving]), np.ones(int((~moving).any()))
    )


def error(info, mean):
    """Root mean square error of predictions of the test pairs, of those that have a mean."""
    known = np.isfinite(mean)
    return float(np.sqrt(np.mean((mean - info.test.value)[known] ** 2)))


def accuracy(info, mean):
    """The same, or of counts the sum of log densities."""
    if not info.form["counts"]:
        return error(info, mean)
    from scipy.special import gammaln

    known = np.isfinite(mean)
    y, mean = info.test.value[known], mean[known]
    return float(np.sum(y * np.log(mean) - mean - gammaln(y + 1)))


def paired(users, items):
    """Labels of pairs, two of equal length; a single one goes with all of the others."""
    users, items = labels_of(users), labels_of(items)
    if len(users) != len(items) and 1 not in (len(users), len(items)):
        raise ArgumentError(
            f"users and items have lengths {len(users)} and {len(items)}; give one label a pair"
        )
    n = max(len(users), len(items)) if min(len(users), len(items)) else 0
    return tuple(one.repeat(n) if len(one) == 1 else one for one in (users, items))


def labels_of(given):
    """Labels as an Index, of a list, an array or a column; anything else, a tuple too,
    is one label.
    """
    if isinstance(given, (list, range)) or hasattr(given, "dtype") and np.ndim(given) == 1:
        return pd.Index(given, tupleize_cols=False)
    return pd.Index([given], tupleize_cols=False)
