"""The results of factorisations: predictions and recommendations by label."""

import numpy as np
import pandas as pd

from sgmc.arguments.numbers import whole
from sgmc.errors import ArgumentError
from sgmc.models.bases.results import GeneralInfo, ModelResults


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

    def heading(self, fit):
        """See `ModelInfo.heading`: the accuracy of the mean predictions of test pairs, too."""
        left, right = super().heading(fit)
        left = [*left, ("Users x items", f"{len(self.users)} x {len(self.items)}")]
        if self.rated:
            name = "Test log lik." if self.form["counts"] else "Test RMSE"
            right = [*right, (name, f"{accuracy(self, summed(fit)[0]):.5g}")]
        return left, right

    def remarks(self, fit):
        """See `ModelInfo.remarks`: hyperparameters, and how far chains agree on what is known
        without rotations and signs.
        """
        given = (
            f"{k} = {v:g}" if isinstance(v, float) else f"{k} = {v}" for k, v in self.hyper.items()
        )
        lines = [f"Given: {', '.join(given)}."]
        lines.append(
            "Components may be exchanged, turned and mirrored, within and between chains: U and V "
            "mean nothing one by one."
        )
        rhat = agreement(fit)
        if rhat is not None:
            middle, most = np.quantile(rhat, [0.5, 0.99])
            lines.append(
                f"R-hat of the test predictions: {middle:.3f} in the middle, 99 % below {most:.3f}."
            )
        return [*lines, *super().remarks(fit)]

    @property
    def rated(self):
        """Whether there are test pairs with ratings."""
        return self.test is not None and self.test.value is not None and len(self.test.value) > 0


class FactorResults(ModelResults):
    """The posterior of a factorisation.

    Predictions of the pairs given as ``test=`` are means over all draws.  Those of other pairs are
    means over evenly spaced draws of all parameters, at most 200 a chain, fewer where they are over
    64 MB: memory does not grow with the draws.  Both clip every draw's prediction to the range of
    ratings.  Of users and items without ratings the factors are their prior mean, mu, draw by draw
    (of `PPMF`, whose prior has no mean, the mean factor of all).
    """

    @classmethod
    def besides(cls, fit):
        """See `Results`."""
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
        """Accuracy on the test pairs as draws come in, a DataFrame by chain and draw.

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
        """Posterior mean predictions of pairs, (n,).

        Parameters
        ----------
        users, items : array_like or label
            Labels, also of users and items without ratings; one label goes with all of the others.
            The test pairs if left out.
        """
        return self.get_prediction(users, items)["mean"].to_numpy()

    def get_prediction(self, users=None, items=None):
        """Posterior mean and sd of expected ratings, a DataFrame indexed by user and item;
        see `predict`.

        For users and items without ratings the sd is that of mu alone: their own taste adds to it.
        """
        if users is None and items is None:
            self._need_pairs()
            return self._framed(
                self.model.test.user, self.model.test.item, self._test_mean, self._test_sd
            )
        if users is None or items is None:
            raise ArgumentError(
                f"{'users' if users is None else 'items'} are missing: give users and items, or "
                "neither for the test pairs"
            )
        users, items = paired(users, items)
        user, item = self.model.users.get_indexer(users), self.model.items.get_indexer(items)
        mean, sd = self._of_whole(user, item)
        if self.model.test is not None:
            at = pd.Index(self.model.test.codes).drop_duplicates()
            first = pd.Series(self.model.test.codes).drop_duplicates().index.to_numpy()
            asked = np.where((user >= 0) & (item >= 0), user * len(self.model.items) + item, -2)
            found = at.get_indexer(asked)
            exact = found >= 0
            mean[exact] = self._test_mean[first[found[exact]]]
            sd[exact] = self._test_sd[first[found[exact]]]
        index = pd.MultiIndex.from_arrays([users, items], names=self.model.columns[:2])
        return pd.DataFrame({"mean": mean, "sd": sd}, index)

    def recommend(self, user, n=10, *, seen=False):
        """The items with the largest mean predictions for a user, a DataFrame by item, best first.

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
        number, items = self.model.users.get_indexer(labels_of(user))[0], len(self.model.items)
        open_to = np.arange(items)
        if number >= 0 and not seen:
            rated = self.model.seen[
                np.searchsorted(self.model.seen, number * items) : np.searchsorted(
                    self.model.seen, (number + 1) * items
                )
            ]
            open_to = np.setdiff1d(open_to, rated - number * items)
        n = min(whole("n", n, 1), len(open_to))
        weights, each = zip(
            *self._draws_of_predictions(np.full(len(open_to), number), open_to, clip=False)
        )
        shares, each = np.array(weights) / sum(weights), np.array(each)
        best = np.zeros(len(open_to))
        for share, p in zip(shares, each) if n else ():
            best[np.argpartition(-p, n - 1)[:n]] += share
        each = np.clip(each, self.model.form["low"], self.model.form["high"])
        mean = shares @ each
        frame = pd.DataFrame(
            {"mean": mean, "sd": np.sqrt(shares @ (each - mean) ** 2), "top": best},
            self.model.items[open_to],
        )
        return (
            frame.sort_values(["mean", "top"], ascending=False, kind="stable")
            .head(n)
            .rename_axis(self.model.columns[1])
        )

    def _of_whole(self, user, item):
        """Mean and sd over the draws of all parameters."""
        mean, square, total = np.zeros(len(user)), np.zeros(len(user)), 0.0
        for weight, p in self._draws_of_predictions(user, item):
            e, total = p - mean, total + weight
            mean += weight / total * e
            square += weight * e * (p - mean)
        return mean, np.sqrt(square / total)

    def _draws_of_predictions(self, user, item, clip=True):
        """(weight, predictions of pairs) for each draw of all parameters."""
        form = self.model.form
        for theta, weight in (
            (theta, weight) for bank in self._banks for theta, weight in zip(*bank)
        ):
            u, v, a, b = parts(theta.astype(float), form, user, item)
            p = form["centre"] + np.einsum("ij,ij->i", u, v) + a + b
            yield weight, np.clip(p, form["low"], form["high"]) if clip else p

    def _framed(self, user, item, mean, sd):
        """Predictions by label, missing where user or item are without ratings."""
        labels = [
            known.take(where, fill_value=np.nan, allow_fill=True)
            if (where < 0).any()
            else known[where]
            for known, where in ((self.model.users, user), (self.model.items, item))
        ]
        return pd.DataFrame(
            {"mean": mean, "sd": sd},
            pd.MultiIndex.from_arrays(labels, names=self.model.columns[:2]),
        )

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
    return mean, np.sqrt(spread / weight.sum())


def agreement(fit):
    """R-hat of the predictions of the test pairs: sd over all chains over that within one; None
    where that cannot be told.
    """
    chains = counted(fit)
    if len(chains) < 2 or not len(chains[0].average):
        return None
    within = sum(np.asarray(r.spread) for r in chains) / sum(r.total for r in chains)
    moving = within > 0  # a prediction beyond the range of ratings may never move
    return np.append(
        summed(fit)[1][moving] / np.sqrt(within[moving]), np.ones(int((~moving).any()))
    )


def error(info, mean):
    """Root mean square error of predictions of the test pairs."""
    return float(np.sqrt(np.mean((mean - info.test.value) ** 2)))


def accuracy(info, mean):
    """The same, or of counts the sum of log densities."""
    y = info.test.value
    if not info.form["counts"]:
        return error(info, mean)
    from scipy.special import gammaln

    return float(np.sum(y * np.log(mean) - mean - gammaln(y + 1)))


def paired(users, items):
    """Labels of pairs, two of equal length; a single one goes with all of the others."""
    users, items = labels_of(users), labels_of(items)
    if len(users) != len(items) and 1 not in (len(users), len(items)):
        raise ArgumentError(
            f"users and items have lengths {len(users)} and {len(items)}; give one label a pair"
        )
    n = max(len(users), len(items)) if min(len(users), len(items)) else 0
    return (one.repeat(n) if len(one) == 1 else one for one in (users, items))


def labels_of(given):
    """Labels as an Index, of a list, an array or a column; anything else, a tuple too,
    is one label.
    """
    if isinstance(given, (list, range)) or hasattr(given, "dtype") and np.ndim(given) == 1:
        return pd.Index(given, tupleize_cols=False)
    return pd.Index([given], tupleize_cols=False)


def parts(theta, form, user, item):
    """Factors and biases of pairs in a draw; of those without ratings (-1)
    the prior mean or that of all.
    """
    n, m, d = form["sizes"]
    ends = np.cumsum([n * d, m * d, n, m])
    U, V = theta[: ends[0]].reshape(n, d), theta[ends[0] : ends[1]].reshape(m, d)
    found = [chosen(U, user, theta, form["means"][0]), chosen(V, item, theta, form["means"][1])]
    if not form["biases"]:
        return (*found, 0.0, 0.0)
    a, b = theta[ends[1] : ends[2], None], theta[ends[2] : ends[3], None]
    return (
        *found,
        chosen(a, user, theta, form["means"][2])[:, 0],
        chosen(b, item, theta, form["means"][3])[:, 0],
    )


def chosen(table, rows, theta, at):
    """Rows of a table; of -1 what stands in theta at `at`,
    or where that is negative the mean of all rows.
    """
    if (rows >= 0).all():
        return table[rows]
    fresh = theta[at : at + table.shape[1]] if at >= 0 else table.mean(axis=0)
    return np.where((rows >= 0)[:, None], table[np.maximum(rows, 0)], fresh)
