"""Settings with which `fit` runs the algorithms of five papers as they are published."""

from typing import Any

from sgmc.arguments.choices import nearest
from sgmc.errors import ArgumentError
from sgmc.registry import lookup

PLAIN = {"gradient": "simple", "subsample": "uniform"}  # of rows without replacement
MINI, ALL = True, False  # whether an algorithm draws rows

# name -> sampler, its options where the published form is not the default, whether it draws rows
ALGORITHMS: dict[str, tuple[str, dict[str, Any], bool]] = {
    # Welling & Teh 2011, eq. 4; Nemeth & Fearnhead 2021, Algorithm 1
    "sgld": ("sgld", {}, MINI),
    "ula": ("ula", {}, ALL),
    "mala": ("mala", {"integrator": "euler"}, ALL),
    # Mauri & Zanella 2024, Algorithms 1 to 7
    "barker": ("barker", {}, ALL),
    "vsgbd": ("vsgbd", {}, MINI),
    "csgbd": ("csgbd", {}, MINI),
    "esgbd": ("esgbd", {"noise": "batch"}, MINI),
    "csgld": ("csgld", {}, MINI),
    "msgld": ("msgld", {"covariance": "full"}, MINI),
    "sgd": ("sgd", {}, MINI),
    # Pakman et al. 2017
    "bps": ("bps", {}, ALL),
    "sbps": ("sbps", {"band": "published", "refresh": 0.0}, MINI),
    "psbps": ("psbps", {"band": "published", "refresh": 0.0, "scale": "published"}, MINI),
    "lipsbps": ("lipsbps", {}, ALL),
    "zzss": ("zzss", {}, ALL),
    "msgnht": ("msgnht", {}, MINI),
    "rwm": ("rwm", {}, ALL),
    # Nemeth & Fearnhead 2021, table 1
    "sghmc": ("sghmc", {"integrator": "published", "resample": True}, MINI),
    "sgnht": ("sgnht", {}, MINI),
    "sgrld": ("sgrld", {"anchored": False}, MINI),
    "sgrhmc": ("sgrhmc", {"anchored": False, "diffusion": "metric"}, MINI),
    # software of Coullon, South & Nemeth 2023
    "sghmc-euler": (
        "sghmc",
        {"integrator": "euler", "resample": True, "friction": 0.01, "per": "step"},
        MINI,
    ),
}
CONTROLLED = {f"{name}-cv": name for name, (*_, drawn) in ALGORITHMS.items() if drawn}


def published(name: str, **options: Any) -> dict[str, Any]:
    r"""Return the settings with which `fit` runs an algorithm as its paper has it.

    A name such as ``sampler="sgld"`` stands for the package's defaults: coordinates whitened at the
    mode, and control variates where rows are drawn.  Papers have neither.  These settings leave
    both out, and take the published form where a sampler has several.  Step size and mini-batch are
    given beside them; where they are not, they are derived as for every fit.

    Parameters
    ----------
    name : str
        ``"sgld"`` (Welling & Teh 2011, eq. 4), ``"barker"``, ``"vsgbd"``, ``"csgbd"``, ``"esgbd"``,
        ``"csgld"``, ``"msgld"``, ``"sgd"`` (Mauri & Zanella 2024, Algorithms 1 to 7), ``"bps"``,
        ``"sbps"``, ``"psbps"``, ``"lipsbps"``, ``"zzss"``, ``"msgnht"``, ``"rwm"`` (Pakman et al.
        2017, arXiv:1609.00770), ``"ula"``, ``"mala"``, ``"sghmc"``, ``"sgnht"``, ``"sgrld"``,
        ``"sgrhmc"`` (Nemeth & Fearnhead 2021, arXiv:1907.06986, table 1), ``"sghmc-euler"``
        (explicit Euler with the constants of the software of Coullon, South & Nemeth 2023,
        arXiv:2105.13059).  With ``-cv`` at the end, control variates at the mode (Nemeth &
        Fearnhead, section 2.3).
    **options
        Options of the sampler, in the place of those above: ``friction=``, ``leapfrog=``.

    Returns
    -------
    dict
        Keyword arguments of `fit`: ``sampler``, ``precondition``, and for mini-batches
        ``gradient`` and ``subsample``.

    Raises
    ------
    ArgumentError
        For a name that is not in the list, and for options that the sampler does not have.

    Notes
    -----
    The differences that are left are in the table of the page on the papers, row by row.  Steps are
    in the samplers' own units: h of :math:`\theta + \frac{h}{2} \nabla \log \pi + N(0, h)` for
    Langevin dynamics, sigma for Barker's, the leapfrog step for those with momentum.

    Examples
    --------
    >>> sgmc.logit("y ~ x", df, **sgmc.published("sgld"), step_size=1e-4, batch_size=100)
    >>> sgmc.logit("y ~ x", df, **sgmc.published("sghmc-cv", leapfrog=5, friction=10.0))
    """
    key = str(name).lower()
    plain = CONTROLLED.get(key, key)
    if plain not in ALGORITHMS:
        hint = nearest(key, [*ALGORITHMS, *CONTROLLED], "they are")
        raise ArgumentError(f"published({name!r}): no algorithm of that name{hint}")
    sampler, form, drawn = ALGORITHMS[plain]
    spec = lookup("samplers", sampler, "sampler")(**{**form, **options})
    controlled = {"gradient": "cv"} if key in CONTROLLED else {}
    rows = PLAIN if drawn else {}
    return {"sampler": spec, "precondition": None, **rows, **controlled}
