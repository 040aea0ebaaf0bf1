"""Answers for words: one by one, or very many as columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.extras import import_pandas
from sottovoce.core.words import plural

__all__ = ["OTHER", "WordAnswer", "WordAnswers"]

OTHER = "other"
"""What a value that is no word of the survey is counted as."""


class WordAnswer(NamedTuple):
    """A word with its share: projected, raw, with an interval, and whether it is certain that people have it."""

    label: str
    value: float
    raw: float
    low: float
    high: float
    certain: bool


@final
@dataclass(frozen=True, eq=False)
class WordAnswers(Sequence[WordAnswer]):
    """Answers for many words as columns; a sequence of `WordAnswer`.

    Examples
    --------
    >>> import numpy as np
    >>> numbers = np.array([0.25, 0.0])
    >>> found = WordAnswers(["tea", "coffee"], numbers, numbers, numbers, numbers, numbers > 0)
    >>> len(found), found[0].label, [one.certain for one in found]
    (2, 'tea', [True, False])
    """

    labels: list[str]
    value: NDArray[np.float64]
    raw: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    certain: NDArray[np.bool_]

    def columns(self) -> dict[str, NDArray[Any]]:
        """All columns but the labels."""
        return {name: getattr(self, name) for name in WordAnswer._fields[1:]}

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return WordAnswers(self.labels[place], *(column[place] for column in self.columns().values()))
        value, raw, low, high = (float(column[place]) for column in (self.value, self.raw, self.low, self.high))
        return WordAnswer(self.labels[place], value, raw, low, high, bool(self.certain[place]))

    def __iter__(self) -> Iterator[WordAnswer]:
        rows = zip(self.labels, *(column.tolist() for column in self.columns().values()), strict=True)
        return (WordAnswer(*row) for row in rows)

    def __repr__(self) -> str:
        return f"<answers for {plural(len(self), 'word')}, {int(self.certain.sum()):,} of them certain>"

    def to_pandas(self) -> Any:
        """A DataFrame indexed by label. Needs pandas."""
        pd = import_pandas()
        return pd.DataFrame(self.columns(), index=pd.Index(self.labels, name="label"))
