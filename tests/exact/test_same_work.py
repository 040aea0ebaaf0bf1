"""A mechanism runs the same lines, and asks for the same draws, for every value and for both outcomes of its coin."""

from __future__ import annotations

from typing import Any

import pytest

from sottovoce.mechanisms import FiniteMechanism, create, serving
from sottovoce.mechanisms.haar import Haar
from sottovoce.mechanisms.hierarchical import Hierarchical
from tracing import lines_run

MECHANISMS: dict[str, Any] = {
    **{name: kind.typical(60, 2.0) for name, kind in serving(FiniteMechanism).items()},
    "hadamard, wide": create("hadamard", 2**40, 1.0),
    "hadamard_blocks, wide": create("hadamard_blocks", 2**39, 2.0),
    "projective_geometry, prime": create("projective_geometry", 20_000, 3.0),
    "haar": Haar.typical(60, 1.0),
    "hierarchical": Hierarchical.typical(60, 1.0),
}


class Alike:
    """Answers every draw alike, whoever asks: a share of the way to n, and coins as told."""

    def __init__(self, share: float, coin: bool) -> None:
        self.share, self.coin, self.asked = share, coin, []

    def below(self, n: int) -> int:
        self.asked.append(n)
        return int(self.share * n)

    def bernoulli(self, threshold: int) -> bool:
        self.asked.append("coin")
        return self.coin


@pytest.mark.parametrize("share", [0.0, 0.37, 0.999])
@pytest.mark.parametrize("name", MECHANISMS)
def test_the_same_lines_and_draws(name: str, share: float) -> None:
    mechanism = MECHANISMS[name]
    last = mechanism.domain_size - 1
    values = {0, 1, 2, last, last - 1, last // 2, last // 3, *(min(2**k, last) for k in (16, 17, 32))}
    mechanism.randomize(0, Alike(share, True))  # what is made once is made
    runs: dict[Any, set[Any]] = {}
    asked = set()
    for value in values:
        for coin in (True, False):
            source = Alike(share, coin)
            # The bits of a unary report are its coins: whoever sees it knows how they fell.
            known = coin if name.startswith("unary") else None
            run = lines_run(lambda value=value, source=source: mechanism.randomize(value, source))
            runs.setdefault(known, set()).add(tuple(run))
            asked.add(tuple(source.asked))
    assert len(asked) == 1
    assert {len(alike) for alike in runs.values()} == {1}
