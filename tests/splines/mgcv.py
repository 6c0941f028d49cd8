"""What mgcv 1.8-41 (R 4.2.2) finds of tables that statsmodels has, by REML.

The numbers are from this, and `t2(YEAR, month, bs="cr", k=5)` with elnino in the place of `te`:

    even <- function(x, k) { h <- diff(range(x)) / (k - 3); seq(min(x) - 3 * h, max(x) + 3 * h,
                                                                length = k + 4) }
    fit <- function(...) gam(..., method = "REML")
    fit(foodexp ~ s(income, bs = "cr"), data = engel)
    fit(volume ~ s(year, bs = "bs", k = 15, m = c(3, 2)), data = nile,
        knots = list(year = even(nile$year, 15)))
    fit(co2 ~ s(year, bs = "cr", k = 20) + s(month, bs = "cc", k = 12), data = co2,
        knots = list(month = seq(.5, 12.5, length = 12)))
    fit(root ~ s(phase, bs = "cc", k = 8), data = sunspots,
        knots = list(phase = seq(0, 11, length = 8)))
    fit(affair ~ s(yrs_married, bs = "cr", k = 7), binomial, fair)
    fit(cbind(NABOVE, NBELOW) ~ s(LOWINC, bs = "cr"), binomial, star98)
    fit(cancer ~ s(size, bs = "bs", m = c(3, 2)), poisson, cancer,
        knots = list(size = even(cancer$size, 10)))

    m$sp[j] / m$smooth[[j]]$S.scale                        # lambda of the integral of f''^2 dx
    m$sig2                                                 # scale
    sum(m$edf[s$first.para:s$last.para])                   # edf, s of m$smooth
    predict(m, at, type = "terms", se.fit = TRUE)          # fit and se
    predict(m, at, type = "terms", se.fit = TRUE, unconditional = TRUE)  # wide
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from statsmodels import datasets

import sgmc


@dataclass(frozen=True)
class Curve:
    """A smooth of mgcv: lambda, effective degrees of freedom, and of some values of the covariate
    the curve, its standard error given lambda, and that with lambda's own uncertainty (Wood, Pya &
    Saefken 2016, doi:10.1080/01621459.2016.1180986).
    """

    penalty: float
    edf: float
    at: tuple
    fit: tuple
    se: tuple
    wide: tuple


@dataclass(frozen=True)
class Fit:
    """A model, the scale that mgcv estimates (normal outcomes), and its smooths by name."""

    model: type
    formula: str
    scale: float
    curves: dict


def table(name):
    """One of statsmodels' tables, with the columns that the models need."""
    data = getattr(datasets, name).load_pandas().data
    if name == "co2":
        data = data.co2.resample("MS").mean().dropna()
        time = data.index
        year = time.year + (time.month - 0.5) / 12
        return pd.DataFrame({"co2": data.to_numpy(), "year": year, "month": time.month})
    if name == "elnino":
        data = data.melt("YEAR")
        months = {one: k + 1 for k, one in enumerate(data.variable.unique())}
        return data.assign(month=data.variable.map(months))
    made = {
        "sunspots": {"phase": lambda t: t.YEAR % 11, "root": lambda t: np.sqrt(t.SUNACTIVITY)},
        "fair": {"affair": lambda t: (t.affairs > 0).astype(int)},
        "cancer": {"size": lambda t: np.log(t.population)},
    }
    return data.assign(**made.get(name, {}))


FITS = {
    "engel": Fit(
        sgmc.OLS,
        "foodexp ~ s(income)",
        10355.7158,
        {
            "s(income)": Curve(
                296296968,
                3.30839874,
                (500, 1000, 1500, 2500, 4500),
                (-272.8187201, 23.9753331, 299.5741996, 749.8434003, 1228.2764853),
                (10.7283841, 7.2900402, 10.7620215, 25.9876304, 77.2543819),
                (11.0364708, 7.5432618, 11.0733737, 27.5480404, 79.0507896),
            )
        },
    ),
    "nile": Fit(
        sgmc.OLS,
        "volume ~ s(year, bs='bs', k=15)",
        18989.1528,
        {
            "s(year)": Curve(
                11872.2152,
                3.36453067,
                (1871, 1890, 1900, 1920, 1970),
                (225.3136965, 110.0131338, 31.3643046, -77.963622, -53.0316278),
                (47.0654569, 21.8344127, 21.6703623, 21.3587228, 47.0654569),
                (49.5842794, 29.2518299, 23.70194, 28.4343478, 50.4200017),
            )
        },
    ),
    "co2": Fit(
        sgmc.OLS,
        "co2 ~ s(year, k=20) + s(month, bs='cc', k=12, knots=(0.5, 12.5))",
        0.151541807,
        {
            "s(year)": Curve(
                1.09089723,
                17.8817525,
                (1960, 1968, 1976, 1988, 2000),
                (-23.3702036, -17.1263987, -8.0986873, 10.3005192, 29.0820697),
                (0.0705399, 0.074408, 0.0652081, 0.0744831, 0.0755319),
                (0.0705658, 0.0744347, 0.0658089, 0.0746838, 0.0765743),
            ),
            "s(month)": Curve(
                0.170084547,
                9.40749959,
                (1, 4, 5, 8, 10),
                (-0.0134114, 2.5094288, 2.9162823, -1.300758, -3.1508695),
                (0.0482491, 0.054153, 0.0542613, 0.0542454, 0.0525031),
                (0.0482706, 0.0542599, 0.0542757, 0.054312, 0.052578),
            ),
        },
    ),
    "sunspots": Fit(
        sgmc.OLS,
        "root ~ s(phase, bs='cc', k=8, knots=(0, 11))",
        5.939502,
        {
            "s(phase)": Curve(
                6.7390262,
                3.92908532,
                (0, 2, 4, 6, 9),
                (2.2489814, 1.5683299, -0.4623015, -2.2010369, -0.1022447),
                (0.2892441, 0.2731939, 0.261288, 0.2781568, 0.2731832),
                (0.3037771, 0.2784198, 0.2642194, 0.2843131, 0.2744797),
            )
        },
    ),
    "fair": Fit(
        sgmc.Logit,
        "affair ~ s(yrs_married, k=7)",
        1.0,
        {
            "s(yrs_married)": Curve(
                21.3118262,
                5.70836911,
                (0.5, 2.5, 6, 13, 23),
                (-2.0475427, -0.4792942, 0.1766855, 0.4807038, 0.5290596),
                (0.2030064, 0.0425677, 0.0573674, 0.079573, 0.0680768),
                (0.2375768, 0.0457577, 0.057527, 0.0795869, 0.0682431),
            )
        },
    ),
    "star98": Fit(
        sgmc.Logit,
        "NABOVE + NBELOW ~ s(LOWINC)",
        1.0,
        {
            "s(LOWINC)": Curve(
                5351.67289,
                8.68754981,
                (5, 20, 40, 60, 80),
                (1.7242499, 0.6635001, -0.1571305, -0.4739466, -1.3633258),
                (0.0229818, 0.011029, 0.0107067, 0.0107439, 0.0243563),
                (0.0229919, 0.0110329, 0.0107222, 0.0107963, 0.0244872),
            )
        },
    ),
    "cancer": Fit(
        sgmc.Poisson,
        "cancer ~ s(size, bs='bs')",
        1.0,
        {
            "s(size)": Curve(
                29.1537572,
                4.22743277,
                (6.5, 7.5, 8.5, 9.5, 11),
                (-2.1690801, -1.2123581, -0.2853204, 0.67193, 2.2036738),
                (0.13002, 0.0331214, 0.0192907, 0.0178933, 0.0216677),
                (0.1351032, 0.0355854, 0.0211935, 0.0193743, 0.0220967),
            )
        },
    ),
}
# t2 of mgcv has three penalties, too; its lines are not standardised, so that they mean others
SURFACE = Curve(
    np.nan,
    11.7665845,
    ((1955, 2), (1980, 2), (2005, 2), (1955, 6), (1980, 6), (2005, 6), (1955, 11), (1980, 11),
     (2005, 11)),
    (2.0368946, 2.4371405, 2.7559959, -0.5632152, -0.1775835, -0.0473836, -1.8761864, -1.320966,
     -1.2387335),
    (0.1443174, 0.1050313, 0.1443086, 0.1479807, 0.0908517, 0.1478654, 0.1440466, 0.1042948,
     0.1440377),
    (),
)  # fmt: skip
