"""Linear regressions of NIST's Statistical Reference Datasets, typed in from their definition, with
the certified estimates (https://www.itl.nist.gov/div898/strd/lls/lls.shtml, public domain).

`exact` computes the same answers with rational numbers, so that a digit of data or certificate that
is typed wrongly is found.
"""

from fractions import Fraction
from math import isqrt
from typing import NamedTuple

import pandas as pd

DIGITS = 25  # of the square roots of `exact`


class Set(NamedTuple):
    """A regression: outcomes and columns as text, so that they are decimals and not binary
    numbers.

    Attributes
    ----------
    y : tuple of str
    columns : tuple of tuple of str
    powers : int
        Of the single column; 0: the columns as they are.
    intercept : bool
    estimates, errors : tuple of float
        As certified: coefficients and their standard errors, the intercept first.
    sigma : float
        The certified residual standard deviation.
    """

    y: tuple
    columns: tuple
    powers: int
    intercept: bool
    estimates: tuple
    errors: tuple
    sigma: float

    def design(self):
        """Rows of rational numbers."""
        columns = [[Fraction(value) for value in column] for column in self.columns]
        if self.powers:
            columns = [[x**k for x in columns[0]] for k in range(1, self.powers + 1)]
        ones = [[Fraction(1)] * len(self.y)] if self.intercept else []
        return [list(row) for row in zip(*ones, *columns)]

    def formula(self):
        """What a user would write."""
        if self.powers:
            terms = ["x1", *(f"I(x1 ** {k})" for k in range(2, self.powers + 1))]
        else:
            terms = [f"x{j + 1}" for j in range(len(self.columns))]
        return f"y ~ {' + '.join(terms)}{'' if self.intercept else ' - 1'}"

    def frame(self):
        """The table of binary numbers."""
        columns = {f"x{j + 1}": map(float, column) for j, column in enumerate(self.columns)}
        return pd.DataFrame({"y": map(float, self.y), **columns})


def root(value):
    """The square root of a rational number, to `DIGITS` digits."""
    if value == 0:
        return 0.0
    scale = 10 ** (2 * DIGITS) * 10 ** max(0, 2 * len(str(value.denominator)))
    return float(Fraction(isqrt(value.numerator * scale // value.denominator), isqrt(scale)))


def solved(one):
    """Estimates, diagonal of the inverse of X'X, and residual variance of a set, as rational
    numbers, by elimination.
    """
    X, y = one.design(), [Fraction(value) for value in one.y]
    n, d = len(X), len(X[0])
    rows = [
        [sum(row[i] * row[j] for row in X) for j in range(d)]
        + [sum(row[i] * value for row, value in zip(X, y))]
        + [Fraction(i == j) for j in range(d)]
        for i in range(d)
    ]
    for i in range(d):
        pivot = rows[i][i]  # positive, as X'X is positive definite
        rows[i] = [value / pivot for value in rows[i]]
        for k in range(d):
            if k != i:
                factor = rows[k][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
    beta = [row[d] for row in rows]
    squares = sum((value - at(beta, row)) ** 2 for row, value in zip(X, y))
    return beta, [rows[i][d + 1 + i] for i in range(d)], squares / (n - d)


def at(beta, row):
    """The linear predictor of a row."""
    return sum(b * x for b, x in zip(beta, row))


def exact(one):
    """(estimates, standard errors, residual sd) of a set, computed without rounding."""
    beta, inverse, variance = solved(one)
    return [float(b) for b in beta], [root(variance * v) for v in inverse], root(variance)


def words(text):
    """Numbers of a text, still as text."""
    return tuple(text.split())


NORRIS_Y = words("""
    0.1 338.8 118.1 888.0 9.2 228.1 668.5 998.5 449.1 778.9 559.2 0.3 0.1 778.1 668.8 339.3 448.9
    10.8 557.7 228.3 998.0 888.8 119.6 0.3 0.6 557.6 339.3 888.0 998.5 778.9 10.2 117.6 228.9 668.4
    449.2 0.2
""")
NORRIS_X = words("""
    0.2 337.4 118.2 884.6 10.1 226.5 666.3 996.3 448.6 777.0 558.2 0.4 0.6 775.5 666.9 338.0 447.5
    11.6 556.0 228.1 995.8 887.6 120.2 0.3 0.3 556.8 339.1 887.2 999.0 779.0 11.1 118.3 229.2 669.1
    448.9 0.5
""")
PONTIUS_Y = words("""
    .11019 .21956 .32949 .43899 .54803 .65694 .76562 .87487 .98292 1.09146 1.20001 1.30822 1.41599
    1.52399 1.63194 1.73947 1.84646 1.95392 2.06128 2.16844 .11052 .22018 .32939 .43886 .54798
    .65739 .76596 .87474 .98300 1.09150 1.20004 1.30818 1.41613 1.52408 1.63159 1.73965 1.84696
    1.95445 2.06177 2.16829
""")
PONTIUS_X = tuple(str(150_000 * k) for k in range(1, 21)) * 2
FILIP_Y = words("""
    0.8116 0.9072 0.9052 0.9039 0.8053 0.8377 0.8667 0.8809 0.7975 0.8162 0.8515 0.8766 0.8885
    0.8859 0.8959 0.8913 0.8959 0.8971 0.9021 0.909 0.9139 0.9199 0.8692 0.8872 0.89 0.891 0.8977
    0.9035 0.9078 0.7675 0.7705 0.7713 0.7736 0.7775 0.7841 0.7971 0.8329 0.8641 0.8804 0.7668
    0.7633 0.7678 0.7697 0.77 0.7749 0.7796 0.7897 0.8131 0.8498 0.8741 0.8061 0.846 0.8751 0.8856
    0.8919 0.8934 0.894 0.8957 0.9047 0.9129 0.9209 0.9219 0.7739 0.7681 0.7665 0.7703 0.7702
    0.7761 0.7809 0.7961 0.8253 0.8602 0.8809 0.8301 0.8664 0.8834 0.8898 0.8964 0.8963 0.9074
    0.9119 0.9228
""")
FILIP_X = words("""
    -6.860120914 -4.324130045 -4.358625055 -4.358426747 -6.955852379 -6.661145254 -6.355462942
    -6.118102026 -7.115148017 -6.815308569 -6.519993057 -6.204119983 -5.853871964 -6.109523091
    -5.79832982 -5.482672118 -5.171791386 -4.851705903 -4.517126416 -4.143573228 -3.709075441
    -3.499489089 -6.300769497 -5.953504836 -5.642065153 -5.031376979 -4.680685696 -4.329846955
    -3.928486195 -8.56735134 -8.363211311 -8.107682739 -7.823908741 -7.522878745 -7.218819279
    -6.920818754 -6.628932138 -6.323946875 -5.991399828 -8.781464495 -8.663140179 -8.473531488
    -8.247337057 -7.971428747 -7.676129393 -7.352812702 -7.072065318 -6.774174009 -6.478861916
    -6.159517513 -6.835647144 -6.53165267 -6.224098421 -5.910094889 -5.598599459 -5.290645224
    -4.974284616 -4.64454848 -4.290560426 -3.885055584 -3.408378962 -3.13200249 -8.726767166
    -8.66695597 -8.511026475 -8.165388579 -7.886056648 -7.588043762 -7.283412422 -6.995678626
    -6.691862621 -6.392544977 -6.067374056 -6.684029655 -6.378719832 -6.065855188 -5.752272167
    -5.132414673 -4.811352704 -4.098269308 -3.66174277 -3.2644011
""")
LONGLEY = tuple(
    zip(
        *map(
            words,
            """60323 83 234289 2356 1590 107608 1947
61122 88.5 259426 2325 1456 108632 1948
60171 88.2 258054 3682 1616 109773 1949
61187 89.5 284599 3351 1650 110929 1950
63221 96.2 328975 2099 3099 112075 1951
63639 98.1 346999 1932 3594 113270 1952
64989 99 365385 1870 3547 115094 1953
63761 100 363112 3578 3350 116219 1954
66019 101.2 397469 2904 3048 117388 1955
67857 104.6 419180 2822 2857 118734 1956
68169 108.4 442769 2936 2798 120445 1957
66513 110.8 444546 4681 2637 121950 1958
68655 112.6 482704 3813 2552 123366 1959
69564 114.2 502601 3931 2514 125368 1960
69331 115.7 518173 4806 2572 127852 1961
70551 116.9 554894 4007 2827 130081 1962""".splitlines(),
        )
    )
)
WAMPLER_X = tuple(str(x) for x in range(21))
WAMPLER_1 = [sum(x**k for k in range(6)) for x in range(21)]
WAMPLER_2 = [f"{sum(x**k * 10 ** (5 - k) for k in range(6))}e-5" for x in range(21)]
# what Wampler3 adds to Wampler1; Wampler4 adds 100 times as much, Wampler5 10,000 times
WAMPLER_NOISE = [759, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 1838, -2048, 2048]
WAMPLER_NOISE += WAMPLER_NOISE[-2::-1]
WAMPLER_ERRORS = (
    2152.32624678170,
    2363.55173469681,
    779.343524331583,
    101.475507550350,
    5.64566512170752,
    0.112324854679312,
)
WAMPLER_SIGMA = 2360.14502379268


def wampler(factor):
    """Wampler3, 4 or 5: polynomials of degree five with noise times a factor."""
    y = tuple(str(a + factor * e) for a, e in zip(WAMPLER_1, WAMPLER_NOISE))
    errors = tuple(factor * error for error in WAMPLER_ERRORS)
    return Set(y, (WAMPLER_X,), 5, True, (1.0,) * 6, errors, factor * WAMPLER_SIGMA)


SETS = {
    "Norris": Set(
        NORRIS_Y,
        (NORRIS_X,),
        0,
        True,
        (-0.262323073774029, 1.00211681802045),
        (0.232818234301152, 0.429796848199937e-3),
        0.884796396144373,
    ),
    "Pontius": Set(
        PONTIUS_Y,
        (PONTIUS_X,),
        2,
        True,
        (0.673565789473684e-3, 0.732059160401003e-6, -0.316081871345029e-14),
        (0.107938612033077e-3, 0.157817399981659e-9, 0.486652849992036e-16),
        0.205177424076185e-3,
    ),
    "NoInt1": Set(
        tuple(str(y) for y in range(130, 141)),
        (tuple(str(x) for x in range(60, 71)),),
        0,
        False,
        (2.07438016528926,),
        (0.165289256198347e-1,),
        3.56753034006338,
    ),
    "NoInt2": Set(
        ("3", "4", "4"),
        (("4", "5", "6"),),
        0,
        False,
        (0.727272727272727,),
        (0.420827318078432e-1,),
        0.369274472937998,
    ),
    "Filip": Set(
        FILIP_Y,
        (FILIP_X,),
        10,
        True,
        (
            -1467.48961422980,
            -2772.17959193342,
            -2316.37108160893,
            -1127.97394098372,
            -354.478233703349,
            -75.1242017393757,
            -10.8753180355343,
            -1.06221498588947,
            -0.670191154593408e-1,
            -0.246781078275479e-2,
            -0.402962525080404e-4,
        ),
        (
            298.084530995537,
            559.779865474950,
            466.477572127796,
            227.204274477751,
            71.6478660875927,
            15.2897178747400,
            2.23691159816033,
            0.221624321934227,
            0.142363763154724e-1,
            0.535617408889821e-3,
            0.896632837373868e-5,
        ),
        0.334801051324544e-2,
    ),
    "Longley": Set(
        LONGLEY[0],
        LONGLEY[1:],
        0,
        True,
        (
            -3482258.63459582,
            15.0618722713733,
            -0.358191792925910e-1,
            -2.02022980381683,
            -1.03322686717359,
            -0.511041056535807e-1,
            1829.15146461355,
        ),
        (
            890420.383607373,
            84.9149257747669,
            0.334910077722432e-1,
            0.488399681651699,
            0.214274163161675,
            0.226073200069370,
            455.478499142212,
        ),
        304.854073561965,
    ),
    "Wampler1": Set(tuple(map(str, WAMPLER_1)), (WAMPLER_X,), 5, True, (1.0,) * 6, (0.0,) * 6, 0.0),
    "Wampler2": Set(
        tuple(WAMPLER_2),
        (WAMPLER_X,),
        5,
        True,
        (1.0, 0.1, 0.01, 0.001, 0.0001, 0.00001),
        (0.0,) * 6,
        0.0,
    ),
    "Wampler3": wampler(1),
    "Wampler4": wampler(100),
    "Wampler5": wampler(10_000),
}
