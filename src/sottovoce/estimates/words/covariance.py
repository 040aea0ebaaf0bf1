"""The covariance of the raw shares of words, from the reports that support two of them at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import NoReportsError
from sottovoce.domain.words.codes import WordCode
from sottovoce.estimates.words.intervals import first_levels, word_numbers
from sottovoce.estimates.words.known_words import NOBODY
from sottovoce.estimates.words.search import WordSearch
from sottovoce.kernels.projective import orthogonal_points
from sottovoce.mechanisms.hashed_prefixes import HashedPrefixes

__all__ = ["word_covariance"]

Floats = NDArray[np.float64]


def word_covariance(mechanism: HashedPrefixes, code: WordCode, search: WordSearch, rows: NDArray[np.uint8]) -> Floats:
    """The covariance of the raw shares of codes that are all different, as `chosen_words` gives them.

    A raw share is a mean over the reports of the rows where no known word has the word's bucket: of 1 if a report
    supports the word and 0 if not, less chance, over P1 - P0. The covariance is the mean product of two such numbers
    less their means, over all reports that are behind both shares. It includes the sampling of people. People with
    unknown words in shared buckets add to the variances by the design effect of the word's level, and to no covariance:
    the bucket of a word in a row is drawn for itself.
    """
    tallies, owners = search.known.tallies, search.known.owners
    places, numbers = tallies.places(rows), word_numbers(search, rows)
    levels = first_levels(code, mechanism, rows)
    starts = np.array(mechanism.starts)[levels]
    everywhere = np.arange(len(tallies.trials))
    held = owners[everywhere[None], places]
    free = (everywhere[None] >= starts[:, None]) & ((held == NOBODY) | (held == numbers[:, None]))
    trials = free @ tallies.trials
    if not trials.all():
        message = "no report is about one of the words alone, so that its share is not known; wait for more"
        raise NoReportsError(message).at("n_reports")
    hits = np.where(free, tallies.supporting[everywhere[None], places], 0).sum(axis=1)
    chances = hits / trials
    sums = np.zeros((len(rows), len(rows)))
    for row in np.flatnonzero(free.any(axis=0) & (tallies.trials > 0)).tolist():
        points = np.flatnonzero(tallies.counts[row])
        supported = orthogonal_points(points, places[:, row], mechanism.order, mechanism.dimension)
        away = np.where(free[:, row], supported - chances, 0.0)
        sums += (away * tallies.counts[row][points][:, None]).T @ away
    spread = sums / np.outer(trials, trials) / float(mechanism.support.signal) ** 2
    effects = np.array([search.levels[level].shared.design_effect for level in levels.tolist()])
    spread[np.diag_indices(len(rows))] *= effects
    return np.asarray(spread)
