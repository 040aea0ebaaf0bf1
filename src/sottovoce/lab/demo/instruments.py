"""The demonstration's question, its 300 possible answers, and an invented truth about them."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["INSTRUMENTS", "QUESTION", "STYLES", "answer_text", "true_frequencies"]

QUESTION: Final = "Which instrument would you love to play, and in which style?"

_INSTRUMENT_WEIGHTS: Final = {
    "guitar": 20.0,
    "piano": 18.0,
    "drums": 9.0,
    "violin": 8.0,
    "saxophone": 6.0,
    "bass": 5.0,
    "cello": 4.5,
    "ukulele": 4.0,
    "synthesizer": 4.0,
    "trumpet": 3.5,
    "flute": 3.0,
    "harp": 2.5,
    "clarinet": 2.2,
    "accordion": 2.0,
    "harmonica": 1.8,
    "banjo": 1.6,
    "organ": 1.4,
    "trombone": 1.2,
    "mandolin": 1.0,
    "oboe": 0.8,
}

_STYLE_WEIGHTS: Final = {
    "classical": 16.0,
    "rock": 14.0,
    "pop": 13.0,
    "jazz": 11.0,
    "folk": 8.0,
    "blues": 7.0,
    "film": 5.0,
    "metal": 4.5,
    "electronic": 4.0,
    "soul": 4.0,
    "hip-hop": 3.5,
    "latin": 3.0,
    "country": 3.0,
    "reggae": 2.5,
    "flamenco": 1.5,
}

_BELONG_TOGETHER: Final = {
    ("guitar", "rock"): 2.0,
    ("guitar", "metal"): 2.5,
    ("guitar", "blues"): 2.0,
    ("guitar", "flamenco"): 9.0,
    ("guitar", "electronic"): 0.2,
    ("piano", "classical"): 1.8,
    ("piano", "film"): 3.0,
    ("piano", "metal"): 0.2,
    ("drums", "rock"): 2.5,
    ("drums", "metal"): 3.5,
    ("drums", "classical"): 0.2,
    ("violin", "classical"): 3.2,
    ("violin", "folk"): 2.0,
    ("violin", "hip-hop"): 0.2,
    ("saxophone", "jazz"): 5.0,
    ("saxophone", "soul"): 2.5,
    ("saxophone", "classical"): 0.3,
    ("bass", "rock"): 2.2,
    ("bass", "reggae"): 4.0,
    ("bass", "classical"): 0.3,
    ("cello", "classical"): 4.0,
    ("cello", "film"): 3.0,
    ("ukulele", "pop"): 3.0,
    ("ukulele", "folk"): 2.5,
    ("synthesizer", "electronic"): 12.0,
    ("synthesizer", "hip-hop"): 4.0,
    ("synthesizer", "classical"): 0.1,
    ("trumpet", "jazz"): 4.5,
    ("flute", "classical"): 3.0,
    ("harp", "classical"): 2.5,
    ("harp", "folk"): 2.5,
    ("clarinet", "jazz"): 2.5,
    ("accordion", "folk"): 5.0,
    ("harmonica", "blues"): 9.0,
    ("banjo", "country"): 14.0,
    ("organ", "soul"): 5.0,
    ("trombone", "jazz"): 3.0,
    ("mandolin", "folk"): 5.0,
    ("oboe", "classical"): 4.0,
}
"""How many times more, or less, people want the pair than its two parts alone would say."""

INSTRUMENTS: Final = tuple(_INSTRUMENT_WEIGHTS)
STYLES: Final = tuple(_STYLE_WEIGHTS)


def answer_text(index: int) -> str:
    """An answer as one says it.

    Examples
    --------
    >>> answer_text(0)
    'classical guitar'
    """
    instrument, style = divmod(index, len(STYLES))
    return f"{STYLES[style]} {INSTRUMENTS[instrument]}"


def true_frequencies() -> NDArray[np.float64]:
    """The invented truth: instruments by styles, times what belongs together; sums to one.

    A power above one makes the popular more popular still, as tastes do.

    Examples
    --------
    >>> truth = true_frequencies()
    >>> truth.shape, answer_text(int(truth.argmax())), round(float(truth.max()), 3)
    ((300,), 'rock guitar', 0.059)
    """
    table = np.outer(list(_INSTRUMENT_WEIGHTS.values()), list(_STYLE_WEIGHTS.values()))
    for (instrument, style), factor in _BELONG_TOGETHER.items():
        table[INSTRUMENTS.index(instrument), STYLES.index(style)] *= factor
    skewed = table.reshape(-1) ** 1.2
    return np.asarray(skewed / skewed.sum())
