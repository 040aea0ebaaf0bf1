"""Runs pure-ldp's heavy-hitter protocols on given words, inside .venv-peers; started by words_peers.py.

Reads one JSON request on standard input, says on standard error what it is doing, and writes one JSON answer on
standard output. It imports nothing of Sottovoce.
"""

from __future__ import annotations

import json
import random  # noqa: TID251 - it is what the package draws from
import string
import sys
import time
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np

LONGEST = 6
FRAGMENT = 2
START = 2
"""Lengths of the package's own experiment on strings (`simulations/paper_experiments.py`, `hh_aol`)."""

PAD = "_"
"""What words are filled up with: a letter like any other. The package's own padding is cut off again before a word is
hashed, so that every continuation of a word that has ended would count as that word."""

HASHES, WIDTH = 32, 1024
"""Rows and width of a sketch, of the same experiment."""

UNBIASED_MEAN = 3
"""The sketch's estimator. That experiment takes the median."""


def _oracle(epsilon: float) -> tuple[Any, Any]:
    """The best of the package's oracles that take any word: n Var is 4 e^epsilon/(e^epsilon - 1)^2, and less than that
    of the two others, Apple's sketches. Those for listed values hold a number for each of 27^6.
    """
    from pure_ldp.frequency_oracles.sketch_response import (
        SketchResponseClient,
        SketchResponseServer,
    )

    server = SketchResponseServer(epsilon, HASHES, WIDTH, sketch_method=UNBIASED_MEAN)
    return SketchResponseClient(epsilon, WIDTH, server.get_hash_funcs()), server


def _protocol(name: str, epsilon: float) -> tuple[Any, Any]:
    from pure_ldp.heavy_hitters import apple_sfp, prefix_extending, treehistogram

    client_oracle, server_oracle = _oracle(epsilon)
    letters = [*string.ascii_lowercase, PAD]
    common = {"fragment_length": FRAGMENT, "max_string_length": LONGEST, "index_mapper": str}
    if name == "prefix extending method":
        common |= {"start_length": START, "alphabet": letters}
        makers = prefix_extending.PEMClient, prefix_extending.PEMServer
    elif name == "tree histogram":
        common["alphabet"] = letters
        makers = treehistogram.TreeHistClient, treehistogram.TreeHistServer
    else:
        common["alphabet"] = set(letters)
        makers = apple_sfp.SFPClient, apple_sfp.SFPServer
    return makers[0](epsilon, **common, fo_client=client_oracle), makers[1](epsilon, **common, fo_server=server_oracle)


def find(name: str, epsilon: float, people: list[str], kept: int, top: int) -> dict[str, object]:
    """The words that a protocol finds, the most common first, and the seconds of its processor time."""
    started = time.process_time()
    client, server = _protocol(name, epsilon)
    for word in people:
        server.aggregate(client.privatise(word))
    collected = time.process_time()
    words, frequencies = server.find_heavy_hitters(k=kept)
    order = np.argsort(-np.asarray(frequencies, dtype=float), kind="stable")[:top]
    return {
        "protocol": name,
        "epsilon": epsilon,
        "kept": kept,
        "words": [list(words)[place].rstrip(PAD) for place in order],
        "collecting_seconds": collected - started,
        "searching_seconds": time.process_time() - collected,
    }


def adjust_peer() -> None:
    """Let the package's sketches start: they ask for `numpy.zeros(None)`, which NumPy refuses by now."""
    from pure_ldp.core import _freq_oracle_server

    _freq_oracle_server.np = SimpleNamespace(
        zeros=lambda shape: np.zeros(() if shape is None else shape), array=np.array, argsort=np.argsort
    )


def measure(request: dict[str, Any]) -> list[dict[str, object]]:
    """Every protocol and epsilon that is asked for."""
    warnings.simplefilter("ignore", RuntimeWarning)  # told once for every estimate
    adjust_peer()
    random.seed(request["seed"])
    np.random.seed(request["seed"])  # noqa: NPY002, TID251 - it is what the package draws from
    people = [word[:LONGEST].ljust(LONGEST, PAD) for word in request["people"]]
    found = []
    for epsilon in request["epsilons"]:
        for name in request["protocols"]:
            found.append(find(name, epsilon, people, request["kept"], request["top"]))
            print(f"    {name}, epsilon {epsilon:g}: {_seconds(found[-1])} s", file=sys.stderr, flush=True)
    return found


def _seconds(row: dict[str, Any]) -> str:
    return f"{row['collecting_seconds']:.0f} + {row['searching_seconds']:.0f}"


if __name__ == "__main__":
    json.dump(measure(json.load(sys.stdin)), sys.stdout)
