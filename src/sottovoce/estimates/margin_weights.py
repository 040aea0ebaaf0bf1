"""Means over a form's records, weighed to known shares of its private fields, with errors by linearisation.

Indicators x of the values of all margins have known means t. An answer y is weighed by w(x), so that the weighed mean
of x is t; then the answer is the mean of w y.

* greg (generalised regression, Deville and Sarndal 1992): w = l'x with E[x x'] l = t, so the answer is t'B, B the
  regression of y on x. It takes the tables of y and each margin, and of each two margins.
* rake: w is a product of factors, one for the value of each margin. It takes the table of y and all margins together.

All means are of raw tables, which are unbiased, so the error of an answer is, to first order, that of the mean of
w (y - x'B), with B the regression weighed by w (for greg, not weighed). Its variance is the design's exact one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, final

import numpy as np

from sottovoce.core.errors import SurveyError
from sottovoce.estimates.population import MarginClass, rake
from sottovoce.estimates.record_functions import Functions, RecordMeans, product
from sottovoce.estimates.weighted import Method
from sottovoce.mechanisms.base import Floats

__all__ = ["Margin", "Stratum", "WeighedMeans", "weigh_means"]

_LEAST: Final = 3.0
"""Standard errors that a share must have for it to be divided by."""

_MERGE: Final = "merge it with another value, as in '{label} or ...', leave {variable} out, or wait for more reports"


@final
@dataclass(frozen=True)
class Margin:
    """A variable whose shares are known: a private field of the form, or a public one."""

    name: str
    classes: list[MarginClass]
    is_public: bool

    @property
    def shares(self) -> Floats:
        return np.array([one.share for one in self.classes])


@final
@dataclass(frozen=True)
class Stratum:
    """People of one public group, or all: their share of the reports, and the tables of their records."""

    share: float
    means: RecordMeans
    public: dict[str, str]

    def indicators(self, margin: Margin) -> Functions:
        """Whether a person is in each class of a margin."""
        if margin.is_public:
            mine = np.array([float(self.public[margin.name] in one.values) for one in margin.classes])
            return Functions(len(mine), {(): mine})
        labels = self.means.axis(margin.name).labels()
        members = np.array([[float(label in one.values) for label in labels] for one in margin.classes])
        return Functions(len(members), {(margin.name,): members})


class WeighedMeans(NamedTuple):
    """Weighed means of functions, their variances, and what to know of them."""

    raw: Floats
    variances: Floats
    remarks: tuple[str, ...] = ()


def weigh_means(
    method: Method, strata: Sequence[Stratum], margins: Sequence[Margin], asked: Functions
) -> tuple[WeighedMeans, list[Floats]]:
    """Weigh the means of functions to the margins; also the shares that the respondents have of each."""
    held = [_shares(strata, margin) for margin in margins]
    for margin, (shares, errors) in zip(margins, held, strict=True):
        for one, share, error in zip(margin.classes, shares, errors, strict=True):
            if share < _LEAST * error or share <= 0:
                raise _too_rare(f"{margin.name} {one.label}", share, error, one.label, margin.name)
    way = _greg if method == "greg" else _rake
    return way(strata, margins, asked), [shares for shares, _ in held]


def _too_rare(what: str, share: float, error: float, label: str, variable: str) -> SurveyError:
    return SurveyError(
        f"{what} is {100 * share:.2g} % of the respondents with a standard error of {100 * error:.2g} points, too "
        f"little to divide by (at least {_LEAST:g} standard errors): " + _MERGE.format(label=label, variable=variable)
    ).at("population")


def _shares(strata: Sequence[Stratum], margin: Margin) -> tuple[Floats, Floats]:
    """Shares of the respondents in each class of a margin, and their standard errors."""
    shares, variances = _mean(strata, lambda stratum: stratum.indicators(margin))
    return shares, np.sqrt(variances)


def _mean(strata: Sequence[Stratum], functions: Callable[[Stratum], Functions]) -> tuple[Floats, Floats]:
    """Means of functions over all people, and their variances, the numbers of reports given."""
    parts = [(stratum, functions(stratum)) for stratum in strata]
    means = sum(stratum.share * stratum.means.means(part) for stratum, part in parts)
    variances = sum(stratum.share**2 * stratum.means.variances(part) for stratum, part in parts)
    return np.asarray(means), np.asarray(variances)


def _basis(stratum: Stratum, margins: Sequence[Margin]) -> Functions:
    """Indicators of all classes of the first margin and all but the last of the others: these are independent."""
    parts: dict[tuple[str, ...], Floats] = {}
    pieces = [(stratum.indicators(margin), len(margin.classes) - (place > 0)) for place, margin in enumerate(margins)]
    count, start = sum(kept for _, kept in pieces), 0
    for indicators, kept in pieces:
        for names, part in indicators.parts.items():
            placed = np.zeros((count, *part.shape[1:]))
            placed[start : start + kept] = part[:kept]
            parts[names] = parts[names] + placed if names in parts else placed
        start += kept
    return Functions(count, parts)


def _targets(margins: Sequence[Margin]) -> Floats:
    return np.concatenate([margin.shares[: len(margin.shares) - (place > 0)] for place, margin in enumerate(margins)])


def _greg(strata: Sequence[Stratum], margins: Sequence[Margin], asked: Functions) -> WeighedMeans:
    bases = [_basis(stratum, margins) for stratum in strata]
    targets = _targets(margins)
    inner, outer = _moments(strata, bases, bases, asked)
    if len(margins) > 1:
        _check_independent(strata, bases, inner, margins)
    weights, slopes = (np.asarray(np.linalg.solve(inner, given), dtype=np.float64) for given in (targets, outer))
    variances = np.zeros(asked.count)
    for stratum, basis in zip(strata, bases, strict=True):
        residual = asked - basis.combined(slopes.T)
        variances += stratum.share**2 * stratum.means.variances(product(basis.combined(weights[None]), residual))
    return WeighedMeans(targets @ slopes, variances, _negative_weights(margins, weights))


def _moments(
    strata: Sequence[Stratum], weighed: Sequence[Functions], bases: Sequence[Functions], asked: Functions
) -> tuple[Floats, Floats]:
    """Means of products of indicators, and of indicators with what is asked, the first factor weighed."""
    parts = list(zip(strata, weighed, bases, strict=True))
    inner = sum(stratum.share * stratum.means.moments(first, basis) for stratum, first, basis in parts)
    outer = sum(stratum.share * stratum.means.moments(first, asked) for stratum, first, _ in parts)
    return np.asarray(inner), np.asarray(outer)


def _check_independent(
    strata: Sequence[Stratum], bases: Sequence[Functions], inner: Floats, margins: Sequence[Margin]
) -> None:
    """Refuse margins whose tables are too noisy to tell them apart: some contrast has no variance to speak of."""
    scale = 1 / np.sqrt(np.diag(inner))
    sizes, directions = np.linalg.eigh(inner * np.outer(scale, scale))
    along = (scale * directions[:, 0])[None]
    error = 0.0
    for stratum, basis in zip(strata, bases, strict=True):
        contrast = basis.combined(along)
        error += stratum.share**2 * float(stratum.means.variances(product(contrast, contrast))[0])
    if sizes[0] < _LEAST * np.sqrt(error):
        names = " and ".join(margin.name for margin in margins)
        raise SurveyError(
            f"the tables of {names} are too noisy to weigh by them together: merge values, leave a variable out, or "
            "wait for more reports"
        ).at("population")


def _negative_weights(margins: Sequence[Margin], weights: Floats) -> tuple[str, ...]:
    """A remark where some people count less than nothing; the last class of a further margin adds 0."""
    least, start = 0.0, 0
    for place, margin in enumerate(margins):
        kept = len(margin.classes) - (place > 0)
        own = weights[start : start + kept]
        least += float(min(own.min(), 0.0) if place else own.min())
        start += kept
    if least >= 0:
        return ()
    return ("some combinations of values count less than nothing, which regression allows and raking does not",)


def _rake(strata: Sequence[Stratum], margins: Sequence[Margin], asked: Functions) -> WeighedMeans:
    private = sorted((margin for margin in margins if not margin.is_public), key=lambda margin: margin.name)
    crossed = [_crossed(stratum, private) for stratum in strata]
    start = np.stack(
        [
            stratum.share * _checked_cells(stratum, private, cells)
            for stratum, cells in zip(strata, crossed, strict=True)
        ]
    )
    raked = rake(start.reshape(-1), [_members(strata, private, margin) for margin in margins]).reshape(start.shape)
    weighed = [cells.combined((mine / own)[None]) for cells, mine, own in zip(crossed, raked, start, strict=True)]
    bases = [_basis(stratum, margins) for stratum in strata]
    products = [product(weight, basis) for weight, basis in zip(weighed, bases, strict=True)]
    inner, outer = _moments(strata, products, bases, asked)
    # Singular where a class has no share of the population: its people count nothing.
    slopes = np.linalg.pinv(inner, hermitian=True) @ outer
    raw, variances = np.zeros(asked.count), np.zeros(asked.count)
    for stratum, weight, basis in zip(strata, weighed, bases, strict=True):
        raw += stratum.share * stratum.means.means(product(weight, asked))
        errors = product(weight, asked - basis.combined(slopes.T))
        variances += stratum.share**2 * stratum.means.variances(errors)
    return WeighedMeans(raw, variances)


def _crossed(stratum: Stratum, private: Sequence[Margin]) -> Functions:
    """Whether a person is in each combination of classes of the private margins, the last one's fastest."""
    weights = np.ones(1)
    for margin in private:
        members = stratum.indicators(margin).parts[margin.name,]
        crossed = np.einsum("i...,jk->ij...k", weights, members)
        weights = crossed.reshape(-1, *crossed.shape[2:])
    return Functions(len(weights), {tuple(margin.name for margin in private): weights})


def _checked_cells(stratum: Stratum, private: Sequence[Margin], crossed: Functions) -> Floats:
    """The raw share of every combination of classes; refused where one is too rare."""
    shares, errors = stratum.means.means(crossed), np.sqrt(stratum.means.variances(crossed))
    combinations = itertools.product(*(margin.classes for margin in private))
    for combination, share, error in zip(combinations, shares, errors, strict=True):
        if share < _LEAST * error or share <= 0:
            named = [f"{margin.name} {one.label}" for margin, one in zip(private, combination, strict=True)]
            what = ", ".join([*named, *(f"{name} {value}" for name, value in stratum.public.items())])
            raise _too_rare(what, share, error, combination[0].label, private[0].name)
    return shares


def _members(strata: Sequence[Stratum], private: Sequence[Margin], margin: Margin) -> tuple[list[list[int]], Floats]:
    """The combinations of strata and private classes in each class of a margin, and its shares."""
    sizes = [len(strata), *(len(one.classes) for one in private)]
    numbers = np.arange(math.prod(sizes)).reshape(sizes)
    if margin.is_public:
        kept: list[Any] = [[stratum.public[margin.name] in one.values for stratum in strata] for one in margin.classes]
        return [numbers[mine].reshape(-1).tolist() for mine in kept], margin.shares
    axis = 1 + private.index(margin)
    return [numbers.take(at, axis).reshape(-1).tolist() for at in range(len(margin.classes))], margin.shares
