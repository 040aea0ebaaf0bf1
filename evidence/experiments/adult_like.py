"""Invented records that look like those of a census: for examples, where real people's records have no business.

The attributes are those of the well-known "Adult" extract and so is their flavour; every number below is made up.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.limits import check_integer
from sottovoce.domain import Domain
from sottovoce.surveys.simulation import Seed, check_seed

__all__ = ["EDUCATION", "INCOME", "OCCUPATION", "SEX", "adult_like", "adult_like_domain"]

Columns = dict[str, NDArray[np.int64] | NDArray[np.str_]]

AGES: Final = range(17, 91)
HOURS: Final = range(1, 100)
EDUCATION: Final = ("none", "school", "college", "bachelor", "master", "doctorate")
OCCUPATION: Final = ("clerical", "craft", "manager", "professional", "sales", "service", "transport")
SEX: Final = ("F", "M")
INCOME: Final = ("<=50K", ">50K")

_EDUCATED: Final = (0.13, 0.33, 0.29, 0.17, 0.06, 0.02)
_WORKING: Final = (
    # clerical, craft, manager, professional, sales, service, transport
    (0.08, 0.26, 0.04, 0.01, 0.10, 0.30, 0.21),
    (0.17, 0.22, 0.09, 0.03, 0.12, 0.20, 0.17),
    (0.21, 0.15, 0.13, 0.11, 0.15, 0.16, 0.09),
    (0.12, 0.04, 0.27, 0.32, 0.16, 0.06, 0.03),
    (0.05, 0.02, 0.29, 0.54, 0.06, 0.03, 0.01),
    (0.02, 0.01, 0.20, 0.73, 0.02, 0.01, 0.01),
)
_LONGER: Final = (-1.0, 2.0, 6.0, 3.0, 1.0, -5.0, 4.0)
_PAID: Final = (-0.2, 0.0, 0.9, 0.7, 0.2, -0.9, -0.1)


def adult_like_domain() -> Domain:
    """What a record can be: age, education, hours a week, occupation, sex and income."""
    return Domain.product(
        age=AGES,
        education=list(EDUCATION),
        hours=HOURS,
        occupation=list(OCCUPATION),
        sex=list(SEX),
        income=list(INCOME),
    )


def adult_like(people: int, seed: Seed = None) -> Columns:
    """Columns of that many invented people, drawn one attribute after another.

    Degrees take years, work follows degrees, hours follow work and age, and pay follows all of it: the chance of an
    income above 50K is logistic in years of education, in age with its top at fifty, in hours and in the occupation.

    Examples
    --------
    >>> people = adult_like(50_000, seed=7)
    >>> rich = people["income"] == ">50K"
    >>> bool(0.2 < rich.mean() < 0.3), bool(rich[people["education"] == "doctorate"].mean() > 2 * rich.mean())
    (True, True)
    """
    n = check_integer("people", people, 1, 10**9)
    drawn = np.random.SeedSequence().entropy if seed is None else seed
    rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(check_seed(drawn))))
    age = (17 + rng.gamma(3.2, 7.0, size=n)).astype(np.int64).clip(AGES[0], AGES[-1])
    education = rng.choice(len(EDUCATION), size=n, p=_EDUCATED)
    # Nobody of seventeen holds a degree: the youngest have at most as much as their years allow.
    education = np.minimum(education, np.searchsorted((19, 21, 23, 25, 28), age, side="right"))
    occupation = (rng.random(n)[:, None] > np.cumsum(_WORKING, axis=1)[education]).sum(axis=1)
    occupation = np.minimum(occupation, len(OCCUPATION) - 1)
    man = rng.random(n) < np.array((0.32, 0.90, 0.68, 0.52, 0.60, 0.42, 0.88))[occupation]
    usual = 40 + np.array(_LONGER)[occupation] + 3 * man - 14 * (age < 22) - 15 * (age > 66)
    hours = np.where(rng.random(n) < 0.45, usual, rng.normal(usual, 11)).astype(np.int64).clip(HOURS[0], HOURS[-1])
    score = (
        -2.1
        + 0.62 * education
        + np.array(_PAID)[occupation]
        - ((age - 50) / 15.0) ** 2
        + 0.04 * (hours - 40)
        + 0.55 * man
    )
    income = rng.random(n) < 1 / (1 + np.exp(-score))
    return {
        "age": age,
        "education": np.array(EDUCATION)[education],
        "hours": hours,
        "occupation": np.array(OCCUPATION)[occupation],
        "sex": np.array(SEX)[man.astype(np.int64)],
        "income": np.array(INCOME)[income.astype(np.int64)],
    }
