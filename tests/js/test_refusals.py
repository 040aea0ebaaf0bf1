"""JavaScript accepts a mechanism's parameters exactly where Python does: whoever writes a survey chooses them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pytest
import rfc8785

import sottovoce as sv
from js.bridge import Bridge, Refused
from sottovoce.core.errors import SottovoceError
from sottovoce.device.effort import DEVICE
from sottovoce.mechanisms import FiniteMechanism, serving

DRAWN: Final = 600
"""Random cases for each mechanism with parameters, besides the fixed ones."""
BISECTED: Final = 12

SIZES: Final = (2, 3, 4, 5, 7, 16, 17, 100, 1000, 2**16, 2**19, 2**19 + 1, 2**31, 2**40 - 1, 2**40)
EPSILONS: Final = (2.0**-20, 2.0**-20 * (1 + 2.0**-52), 2.0**-10, 0.1, 1.0, 3.0, 8.0, 16.0 * (1 - 2.0**-53), 16.0)
OUTSIDE: Final = (0.0, -1.0, 2.0**-20 * (1 - 2.0**-53), 16.0 * (1 + 2.0**-52), 1e308)
NUMBERS: Final = (-(2**53) + 1, -1, 0, 1, 2, 3, 4, 6, 8, 9, 64, 65, 256, 257, 343, 2**31 - 1, 2**31, 2**32, 2**53 - 1)
NO_INTEGERS: Final = (None, True, False, 1.5, "2", [2], {"of": 2})

Case = tuple[int, float, dict[str, Any]]
"""The number of values, epsilon, and the mechanism's own parameters."""


def cases(kind: type[FiniteMechanism]) -> Iterator[Case]:
    """Parameters that serve, those next to them, and absurd ones; every limit of epsilon."""
    names = kind.parameter_names()
    for epsilon in (*EPSILONS, *OUTSIDE):
        for size in SIZES:
            yield size, epsilon, best(kind, size, min(max(epsilon, 2.0**-20), 16.0))
    for mechanism in kind.miniatures(1.0):
        own = mechanism.parameters()
        yield mechanism.domain_size, 1.0, {**own, "unknown": 1}
        for name in names:
            yield mechanism.domain_size, 1.0, {other: own[other] for other in names if other != name}
            for wrong in NO_INTEGERS:
                yield mechanism.domain_size, 1.0, {**own, name: wrong}
    if names:
        yield from drawn(kind, np.random.default_rng(1))


def drawn(kind: type[FiniteMechanism], rng: np.random.Generator) -> Iterator[Case]:
    """Random parameters; and for some that serve, the numbers of values at which Python changes its verdict."""
    for number in range(DRAWN):
        epsilon = EPSILONS[rng.integers(len(EPSILONS))]
        size = int((SIZES[rng.integers(len(SIZES))], rng.integers(2, 200), 2 ** rng.uniform(1, 40))[rng.integers(3)])
        own = best(kind, size, epsilon)
        if number < BISECTED:
            yield from ((edge, epsilon, own) for edge in edges(kind, epsilon, own))
        for name, chosen in own.items():
            listed = (*NUMBERS, size - 1, size, size + 1, -(-size // 2))
            near, listed_one = chosen + rng.integers(-1, 2), rng.choice(listed)
            choices = (chosen, near, listed_one, rng.integers(1, 65), rng.integers(size))
            own[name] = int(choices[rng.integers(len(choices))])
        yield size, epsilon, own


def edges(kind: type[FiniteMechanism], epsilon: float, own: dict[str, Any]) -> Iterator[int]:
    """Numbers of values next to each other of which Python accepts one and refuses the other."""

    def accepted(size: int) -> bool:
        return python_accepts(statement(kind.name, (size, epsilon, own)))

    grid = [2**k for k in range(1, 41)]
    for low, high in pairwise(grid):
        at_low = accepted(low)
        if at_low == accepted(high):
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if accepted(middle) == at_low else (low, middle)
        yield from (low, high)


def best(kind: type[FiniteMechanism], size: int, epsilon: float) -> dict[str, Any]:
    """The own parameters that Python chooses; ones where it can choose none."""
    try:
        return dict(kind.best(size, epsilon).parameters())
    except SottovoceError:
        return dict.fromkeys(kind.parameter_names(), 1)


def statement(name: str, case: Case) -> str:
    size, epsilon, own = case
    question = {"kind": "shares", "domain": {"size": size, "start": 0, "step": 1}}
    design = {"strategy": "histogram", "mechanism": {"name": name, **own}}
    fields = {"format": 2, "title": "", "epsilon": epsilon, "delta": 0, "question": question, "design": design}
    return rfc8785.dumps(fields).decode()


def python_accepts(text: str) -> bool:
    """Whether a device in Python would answer the survey."""
    try:
        DEVICE.check_survey(sv.Survey.from_json(text))
    except SottovoceError:
        return False
    return True


def javascript_accepts(client: Bridge, text: str) -> bool:
    try:
        client.ask("survey", statement=text)
    except Refused:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("name", serving(FiniteMechanism))
def test_javascript_accepts_exactly_what_python_does(client: Bridge, name: str) -> None:
    kind = serving(FiniteMechanism)[name]
    accepted = {True: 0, False: 0}
    for case in cases(kind):
        text = statement(name, case)
        verdict = python_accepts(text)
        accepted[verdict] += 1
        assert javascript_accepts(client, text) == verdict, f"Python {'accepts' if verdict else 'refuses'} {case}"
    assert min(accepted.values()) > len(SIZES), "both verdicts are tried"
