"""The fifty most common words of a million people, beside every heavy-hitter protocol of pure-ldp, at equal epsilon.

Words are drawn as often as English uses them. Ours looks for up to sixteen characters of 29 in one round; the peers for
up to six of 26 letters, which is easier, and they are told how many words to return. F1 is that of the list that is
returned, against the fifty words that most of these very people have.
"""

from __future__ import annotations

import json
from time import process_time
from typing import TypedDict

import msgspec
import numpy as np
from numpy.typing import NDArray

import sottovoce as sv
from evidence.benchmarks.peers import ENVIRONMENT, HERE, REQUIREMENTS, PeersUnavailable, prepared_environment, run_step
from sottovoce.lab.populations.real_data import real_data

__all__ = ["Row", "f1", "people_and_top", "run"]

PEOPLE = 10**6
EPSILONS = (1.0, 2.0, 4.0)
TOP = 50
KEPT = 200
"""Prefixes that the peers keep at every step; the best fifty of the words are scored."""
VOCABULARY = 20_000
SEED = 1
PROTOCOLS = ("prefix extending method", "tree histogram", "sequence fragment puzzle")
WORKER = HERE / "words_peers_worker.py"

Row = dict[str, object]


class PeerList(TypedDict):
    """What one protocol of pure-ldp returned, and its processor time."""

    protocol: str
    epsilon: float
    kept: int
    words: list[str]
    collecting_seconds: float
    searching_seconds: float


def people_and_top(people: int = PEOPLE, top: int = TOP) -> tuple[NDArray[np.str_], list[str]]:
    """The word of every person, of letters only, and the words that most of them have."""
    data = real_data("words", VOCABULARY)
    spelt = np.array([word.isascii() and word.isalpha() for word in data.labels])
    words, shares = np.array(data.labels)[spelt], data.shares[spelt]
    held = np.random.default_rng(SEED).choice(len(words), size=people, p=shares / shares.sum())
    order = np.argsort(-np.bincount(held, minlength=len(words)), kind="stable")[:top]
    return words[held], words[order].tolist()


def f1(listed: list[str], true: list[str]) -> float:
    """The harmonic mean of precision and recall.

    Examples
    --------
    >>> f1(["a", "b"], ["a", "c", "d", "e"])
    0.3333333333333333
    """
    return 2 * len(set(listed) & set(true)) / (len(listed) + len(true))


def run(people: int = PEOPLE, epsilons: tuple[float, ...] = EPSILONS) -> list[Row]:
    """A row for every epsilon and protocol: F1 over the protocol's."""
    crowd, true = people_and_top(people)
    ours = {epsilon: _ours(crowd, true, epsilon) for epsilon in epsilons}
    try:
        peers = _peers(crowd, epsilons)
    except PeersUnavailable as unavailable:
        return [{"name": "words beside pure-ldp", "note": str(unavailable)}]
    return [_compared(ours[peer["epsilon"]], peer, true, people) for peer in peers]


def _ours(people: NDArray[np.str_], true: list[str], epsilon: float) -> Row:
    started = process_time()
    survey = sv.Survey(sv.words(16, "latin"), epsilon=epsilon, people=len(people))
    estimate = survey.estimate(survey.simulate(people.tolist(), seed=SEED))
    seconds = process_time() - started
    listed = estimate.labels()
    certain = [word for word, sure in zip(listed, estimate.certain, strict=True) if sure]
    return {"f1": f1(listed[:TOP], true), "f1_of_certain": f1(certain[:TOP], true), "seconds": seconds}


def _peers(people: NDArray[np.str_], epsilons: tuple[float, ...]) -> list[PeerList]:
    python = prepared_environment(ENVIRONMENT, REQUIREMENTS)
    found = []
    # One at a time: together they take longer than a step may.
    for epsilon in epsilons:
        for protocol in PROTOCOLS:
            request = {"people": people.tolist(), "epsilons": [epsilon], "protocols": [protocol]}
            request |= {"kept": KEPT, "top": TOP, "seed": SEED}
            answer = run_step(
                f"pure-ldp's {protocol}",
                [str(python), "-I", str(WORKER)],
                hint="its errors are above",
                text=json.dumps(request),
                live=True,
            )
            found += msgspec.json.decode(answer, type=list[PeerList])
    return found


def _compared(ours: Row, peer: PeerList, true: list[str], people: int) -> Row:
    score, theirs = float(str(ours["f1"])), f1(peer["words"], true)
    return {
        "name": f"F1 of the {TOP} most common words, {people:,} people, epsilon {peer['epsilon']:g}",
        "against": f"pure-ldp, {peer['protocol']}",
        # A list without any of the words is taken for one with a single one.
        "ratio": score / max(theirs, 1 / TOP),
        "target": "> 1",
        "met": score > theirs,
        **ours,
        "peer_f1": theirs,
        "peer_seconds": peer["collecting_seconds"] + peer["searching_seconds"],
    }


if __name__ == "__main__":
    for row in run():
        print(row)
