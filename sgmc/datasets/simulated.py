"""Simulated tables whose true parameters are known, for examples and tutorials.

Each has the shape of a table that is often used in teaching; no value was taken from it.  They are
part of sgmc, under its licence.
"""

from typing import Any

import numpy as np
import pandas as pd

from sgmc.arguments.numbers import whole
from sgmc.arguments.types import Floats, Frame, Ints

SIMULATED = ("course_ratings", "hospital_stays", "reaction_times", "recoveries")  # functions here


def generator(seed: int, **sizes: int) -> np.random.Generator:
    """A random number generator, after a check that all sizes are positive integers."""
    for name, size in sizes.items():
        whole(name, size, low=1)
    return np.random.default_rng(seed)


def coin(rng: np.random.Generator, eta: Floats) -> Ints:
    """Return 0 or 1 with log odds eta."""
    return (rng.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(np.int64)


def effects(rng: np.random.Generator, levels: int, sds: Any, correlation: float) -> Floats:
    """Intercepts and slopes (levels, 2) of groups, normal with these sds and correlation."""
    z = rng.normal(size=(levels, 2))
    z[:, 1] = correlation * z[:, 0] + np.sqrt(1 - correlation**2) * z[:, 1]
    return z * sds


def reaction_times(subjects: int = 18, days: int = 10, seed: int = 0) -> Frame:
    """Simulate reaction times of people who sleep too little, measured once a day.

    The table has the shape of the sleep study of Belenky et al. (2003, Journal of Sleep Research
    12, 1-12), which is known as ``sleepstudy`` in R's lme4.  Each subject has an intercept and a
    slope::

        reaction = 250 + a[subject] + (10 + b[subject]) * day + N(0, 25^2)

    with sds 25 of a and 6 of b and correlation 0.1.

    Parameters
    ----------
    subjects, days : int, default 18 and 10
        There is a row for each subject and day.
    seed : int, default 0

    Returns
    -------
    table : pandas.DataFrame
        ``reaction`` in milliseconds, ``day`` from 0, ``subject``.
    truth : pandas.Series
        The true parameters, named as in a fit of
        ``sgmc.ols("reaction ~ day + (1 + day | subject)", table)``.

    Examples
    --------
    >>> table, truth = sgmc.datasets.reaction_times()
    >>> table.shape
    (180, 3)
    """
    rng = generator(seed, subjects=subjects, days=days)
    a, b = effects(rng, subjects, (25.0, 6.0), 0.1).T
    subject, day = np.repeat(np.arange(subjects), days), np.tile(np.arange(days), subjects)
    reaction = 250 + a[subject] + (10 + b[subject]) * day + rng.normal(0, 25, len(day))
    table = pd.DataFrame({"reaction": reaction.round(1), "day": day, "subject": subject + 1})
    truth = {"Intercept": 250.0, "day": 10.0, "sd(1|subject)": 25.0, "sd(day|subject)": 6.0}
    return table, pd.Series(truth | {"cor(1,day|subject)": 0.1, "sigma": 25.0})


def recoveries(patients: int = 2_000, clinics: int = 60, seed: int = 0) -> Frame:
    """Simulate whether patients of several clinics recover.

    Clinics have different numbers of patients.  The effect of a severe illness varies between
    clinics::

        log odds = 0.8 - 0.3 * age + a[clinic] + (b[clinic] - 0.9) * severe

    with sds 0.6 of a and 0.5 of b and correlation -0.3.

    Parameters
    ----------
    patients, clinics : int, default 2,000 and 60
    seed : int, default 0

    Returns
    -------
    table : pandas.DataFrame
        ``recovered`` and ``severe``, 0 or 1; ``age`` in decades from 50 years; ``clinic``.
    truth : pandas.Series
        The true parameters, named as in a fit of
        ``sgmc.logit("recovered ~ age + severe + (1 + severe | clinic)", table)``.
    """
    rng = generator(seed, patients=patients, clinics=clinics)
    a, b = effects(rng, clinics, (0.6, 0.5), -0.3).T
    size = rng.gamma(3.0, size=clinics)
    clinic = rng.choice(clinics, patients, p=size / size.sum())
    age, severe = rng.normal(0, 1.5, patients).round(1), rng.integers(0, 2, patients)
    eta = 0.8 - 0.3 * age + a[clinic] + (b[clinic] - 0.9) * severe
    table = pd.DataFrame(
        {"recovered": coin(rng, eta), "age": age, "severe": severe, "clinic": clinic + 1}
    )
    truth = {"Intercept": 0.8, "age": -0.3, "severe": -0.9, "sd(1|clinic)": 0.6}
    return table, pd.Series(truth | {"sd(severe|clinic)": 0.5, "cor(1,severe|clinic)": -0.3})


def course_ratings(
    ratings: int = 20_000,
    students: int = 1_000,
    lecturers: int = 400,
    departments: int = 14,
    seed: int = 0,
) -> Frame:
    """Simulate ratings of lecturers by students, two factors that cross.

    The table has the shape of ``InstEval`` in R's lme4.  Each student rates several lecturers, and
    each lecturer belongs to one department::

        rating = 3.3 - 0.1 * service + u[student] + v[lecturer] + w[department] + N(0, 1.2^2)

    with sds 0.35 of u, 0.5 of v and 0.1 of w.  Some lecturers have many ratings, some very few.

    Parameters
    ----------
    ratings, students, lecturers, departments : int
    seed : int, default 0

    Returns
    -------
    table : pandas.DataFrame
        ``rating``; ``service``, 1 for a course for another department; ``student``, ``lecturer``
        and ``department``.
    truth : pandas.Series
        The true parameters, named as in a fit of ``sgmc.ols("rating ~ service + (1 | student) +
        (1 | lecturer) + (1 | department)", table)``.
    """
    rng = generator(
        seed, ratings=ratings, students=students, lecturers=lecturers, departments=departments
    )
    sizes = {"student": students, "lecturer": lecturers}
    share = {name: rng.gamma(0.8, size=size) + 0.05 for name, size in sizes.items()}
    level = {name: rng.choice(sizes[name], ratings, p=p / p.sum()) for name, p in share.items()}
    level["department"] = rng.integers(0, departments, lecturers)[level["lecturer"]]
    sds = {"student": 0.35, "lecturer": 0.5, "department": 0.1}
    service = rng.integers(0, 2, ratings)
    mean = 3.3 - 0.1 * service
    for (name, sd), size in zip(sds.items(), (students, lecturers, departments)):
        mean = mean + rng.normal(0, sd, size)[level[name]]
    rating = (mean + rng.normal(0, 1.2, ratings)).round(2)
    table = pd.DataFrame({"rating": rating, "service": service}).assign(
        **{name: codes + 1 for name, codes in level.items()}
    )
    truth = {"Intercept": 3.3, "service": -0.1} | {f"sd(1|{g})": sd for g, sd in sds.items()}
    return table, pd.Series(truth | {"sigma": 1.2})


def hospital_stays(stays: int = 110_204, seed: int = 0) -> Frame:
    """Simulate hospital stays with sepsis, most of which are survived.

    The table has the shape and the scales of the cohort of Chicco & Jurman (2020, Scientific
    Reports 10, 17156)::

        log odds = 5.4 - 0.04 * age + 0.3 * female - 0.02 * episode

    Parameters
    ----------
    stays : int, default 110,204
    seed : int, default 0

    Returns
    -------
    table : pandas.DataFrame
        ``alive``, 0 or 1, of which 93 % are 1; ``age`` in years; ``female``, 0 or 1; ``episode``,
        the number of this stay.
    truth : pandas.Series
        The true coefficients, named as in a fit of
        ``sgmc.logit("alive ~ age + female + episode", table)``.
    """
    rng = generator(seed, stays=stays)
    age = np.minimum(100, 100 * rng.beta(2.2, 1.2, stays)).round().astype(np.int64)
    female = rng.integers(0, 2, stays)
    episode = np.minimum(rng.geometric(0.75, stays), 5)
    alive = coin(rng, 5.4 - 0.04 * age + 0.3 * female - 0.02 * episode)
    table = pd.DataFrame({"alive": alive, "age": age, "female": female, "episode": episode})
    return table, pd.Series({"Intercept": 5.4, "age": -0.04, "female": 0.3, "episode": -0.02})
