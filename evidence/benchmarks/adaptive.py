"""One round of an adaptive session: ten million people, each evaluating a question and drawing one bit.

Beside it the least that any simulation must do: the same condition and as many random bits in bare NumPy, over the same
people, without a domain, an expression, a mechanism or a session.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from numpy.typing import NDArray

import sottovoce as sv
from sottovoce.domain import ValueNumbers

__all__ = ["run"]

Row = dict[str, object]

PEOPLE = 10_000_000
QUESTION = "age < 30 and country in ('DE', 'FR')"
COUNTRIES = ["AT", "BE", "DE", "ES", "FR", "IT", "NL", "PL"]
TURNS = 5


def run() -> list[Row]:
    """Asking, beside bare NumPy and a limit; and making the session, which places everybody in a round."""
    rng = np.random.default_rng(1)
    people = {"age": rng.integers(100, size=PEOPLE), "country": rng.integers(len(COUNTRIES), size=PEOPLE)}
    domain = sv.Domain.product(age=range(100), country=COUNTRIES)
    panel = sv.Panel(domain, rounds=1, epsilon=1.0)
    numbers = people["age"] * len(COUNTRIES) + people["country"]
    asking, bare, starting = [], [], []
    # Turn by turn, so that both meet the same load of the machine.
    for turn in range(TURNS):
        started = perf_counter()
        session = sv.Session.simulated(panel, ValueNumbers(numbers), seed=turn)
        starting.append(perf_counter() - started)
        started = perf_counter()
        session.ask(QUESTION)
        asking.append(perf_counter() - started)
        started = perf_counter()
        _bare(people, turn)
        bare.append(perf_counter() - started)
    ours, theirs, making = min(asking), min(bare), min(starting)
    name = f"{PEOPLE:.0e} people answering one round"
    return [
        {
            "name": name,
            "ratio": ours / 2,
            "against": "two seconds",
            "target": "<= 1",
            "met": ours <= 2,
            "seconds": ours,
        },
        {"name": name, "ratio": ours / theirs, "against": "bare NumPy", "ours": ours, "theirs": theirs},
        {
            "name": f"{PEOPLE:.0e} people placed in rounds",
            "ratio": making / theirs,
            "against": "bare NumPy answering",
            "ours": making,
            "theirs": theirs,
        },
    ]


def _bare(people: dict[str, NDArray[np.int64]], seed: int) -> float:
    """The mean of the condition by randomized bits, all people at once."""
    debias = 1 / np.tanh(0.5)
    true = (people["age"] < 30) & ((people["country"] == 2) | (people["country"] == 4))
    ones = np.random.default_rng(seed).random(PEOPLE) < 0.5 + true / (2 * debias)
    return float(debias * (2 * ones.mean() - 1))


if __name__ == "__main__":
    for found in run():
        print(found)
