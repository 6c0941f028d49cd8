"""Groups of coefficients that share a learned scale, and the prior of that scale."""

from dataclasses import dataclass, replace

import numpy as np

from sgmc.coordinates.priors.prior_table import PriorTable, Scales, resolve
from sgmc.errors import NotSupported
from sgmc.priors import half_t, inverse_gamma

MOST_COEFFICIENTS = 1000  # the search for the centre inverts some thousand matrices of that size
LETTERS = {"ridge": "sd", "horseshoe": "tau", "r2d2": "tau2"}


@dataclass(frozen=True)
class Group:
    """Coefficients that share a global parameter.

    Attributes
    ----------
    name : str
        Of the parameter.
    spec : PriorSpec
    places : array (k,) of int
    """

    name: str
    spec: object
    places: np.ndarray

    @property
    def share(self):
        """Of the log of the global parameter in that of a coefficient's scale: tau2 is a variance's
        factor.
        """
        return 0.5 if self.spec.family == "r2d2" else 1.0

    @property
    def local(self):
        """Kind and shape of the local scales, see `shrinking.LOCAL_KINDS`."""
        if self.spec.family == "ridge":
            return "none", 0.0
        if self.spec.family == "horseshoe":
            return "half_cauchy", 0.0
        return "root_gamma", self.spec.location * self.spec.df / len(self.places)

    @property
    def in_sigma(self):
        """Whether the scale is in units of sigma, where there is one."""
        return self.spec.family != "ridge"

    def hyperprior(self, sds):
        """Prior of the global parameter.

        Parameters
        ----------
        sds : array (k,)
            With which the data tell single coefficients, in the units of their scales.
        """
        if self.spec.family == "ridge":
            return half_t(self.spec.df, self.spec.scale)
        if self.spec.family == "r2d2":
            return inverse_gamma((1 - self.spec.location) * self.spec.df, 1.0)
        scale = self.spec.scale
        if self.spec.nonzero is not None:
            count = len(self.places)
            few = min(self.spec.nonzero, 0.5 * count)
            scale = few / (count - few) * float(np.exp(np.mean(np.log(sds))))
        return half_t(1.0, scale)


def groups_of(priors):
    """The `Group` list of a `PriorTable`; NotSupported for two with the same name.

    Coefficients with the same prior, or with priors of the same kind and the same ``group``, are
    one group.
    """
    found = {}
    for j, one in enumerate(priors.specified):
        if one.learned:
            found.setdefault(one, []).append(j)
    out, names = [], set()
    for one, places in found.items():
        name = f"{LETTERS[one.family]}({one.group or one.family})"
        if name in names:
            raise NotSupported(
                f"prior: {one} is one of two priors whose scale would be called {name!r}; give "
                "each a group=, such as "
                f"sgmc.{one.family}(..., group='{priors.names[places[0]]}')",
                because="limit",
            )
        names.add(name)
        out.append(Group(name, one, np.array(places)))
    return out


def specified(data, family, prior):
    """The `PriorTable` of a prior with learned scales, in no units; NotSupported beside a horseshoe
    of known scale.
    """
    units = Scales(np.ones(data.d), auxiliary=(1.0,) * len(family.auxiliary))
    priors = resolve(prior, data, family, units, learned=True, bounded=True, joint=True)
    refuse_known(priors)
    return priors


def refuse_many(groups, most=MOST_COEFFICIENTS):
    """NotSupported for more coefficients than the search for the centre is made for, or than may be
    drawn in turn.
    """
    count = sum(len(one.places) for one in groups)
    if count > most:
        raise NotSupported(
            f"prior: {count} coefficients with learned scales are more than {most}, the most that "
            "are sampled here; give some a prior with a known scale, e.g. sgmc.horseshoe()",
            because="limit",
        )


def refuse_known(priors):
    """NotSupported for a horseshoe of known scale beside learned ones."""
    other = next((p for p in priors.specified if p.family == "horseshoe" and not p.learned), None)
    if other is not None:
        raise NotSupported(
            f"prior: {other} beside a prior whose scale is learned; give both learned=True",
            because="limit",
        )


def with_globals(priors, groups, hyperpriors, log_params, kind):
    """The table, of such a kind, with a row for each global parameter before those of the family's
    auxiliary ones; global parameters are sampled as logs like these.
    """
    at = len(priors.names) - log_params
    return kind(
        **{
            **vars(priors),
            "names": priors.names[:at] + [one.name for one in groups] + priors.names[at:],
            "specified": priors.specified[:at] + hyperpriors + priors.specified[at:],
            "used": priors.used[:at] + hyperpriors + priors.used[at:],
            "auxiliary": priors.auxiliary + len(groups),
        }
    )


class LearnedPriors(PriorTable):
    """Priors of coefficients, of global parameters, then of auxiliary parameters."""

    @property
    def shrunk(self):
        # none that coordinates of known scales are for
        return np.empty(0, dtype=int)


def as_normal(priors, places):
    """The table with standard normal laws at some places, for the search to replace."""
    used = list(priors.used)
    for j in places:
        used[j] = replace(used[j], family="normal", location=0.0, scale=1.0, learned=False)
    return replace(priors, used=used)


def as_flat(priors, places):
    """The table with flat priors at some places."""
    used = list(priors.used)
    for j in places:
        used[j] = replace(used[j], family="flat", location=0.0, scale=1.0, learned=False)
    return replace(priors, used=used)
