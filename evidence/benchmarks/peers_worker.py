"""Measures pure-ldp and multi-freq-ldpy; runs inside .venv-peers, started by evidence/benchmarks/peers.py.

Reads one JSON request on standard input, says on standard error what it is doing, and
writes one JSON answer on standard output. It imports nothing of Sottovoce.
"""

from __future__ import annotations

import json
import platform
import statistics
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from importlib.metadata import version
from itertools import cycle, islice
from types import SimpleNamespace
from typing import Any

import numpy as np

PASSES = 5
"""A timing is the fastest of this many passes: what other work does to caches and clocks never helps."""

PASS_SECONDS = 0.5
"""A pass is sized to last about this long, so that a rate rests on about 2.5 s of work."""

PATIENCE_SECONDS = 10.0
"""Passes stop here for work that cannot be sized, such as decoding a million values."""

COLLECTION = 1_000_000
"""Users over whom `people_per_second` spreads the cost of the one final estimate."""

INFORMATION_DOMAIN = 1024
"""Domain size of the mechanisms measured for information only."""

ACCURACY_RUNS = 10

NOTES = [
    f"one thread; fastest of {PASSES} passes of about {PASS_SECONDS} s; values uniform over the domain",
    "seconds are CPU time (user and system) of the process: wall time on an idle machine, and never more"
    " than it, so a busy machine does not make a peer look slow",
    "cpu_share is CPU time over wall time of the whole run; well below 1 the machine was busy",
    "not timed: imports, building the client and server objects, compilation (one warm-up call)",
    "each peer is called once per user, as its own examples do; neither offers a call for many people",
    "aggregate rates are timed on the sample's own reports, repeated until they fill a pass",
    "people_per_second = collection / (collection / randomize_per_second"
    " + collection / aggregate_per_second + estimate_seconds)",
    "pure-ldp: estimate_seconds is the decoding of all values from the randomize sample's reports,"
    " no more of them than aggregate_people",
    "multi-freq-ldpy aggregates and estimates in one call: estimate_seconds is that call on one report,"
    " aggregate_per_second counts what it takes beyond that",
    "an L2 error is the distance to the frequencies of the very sample the peer was given",
]


class Peer(ABC):
    """One mechanism of one package at one domain size, called as its documentation shows.

    Values are 0-based. The order of calls is `start`, `randomize`, `aggregate`, `estimate`.
    """

    package: str
    fused = False
    """Whether `aggregate` already computes the estimate."""

    def __init__(self, mechanism: str, domain_size: int, epsilon: float) -> None:
        self.mechanism = mechanism
        self.domain_size = domain_size
        self.epsilon = epsilon

    @abstractmethod
    def start(self) -> None:
        """Set up one collection; never timed."""

    @abstractmethod
    def randomize(self, values: Sequence[int]) -> list[Any]:
        """One report for each user."""

    @abstractmethod
    def aggregate(self, reports: list[Any]) -> None:
        """Take every report in."""

    @abstractmethod
    def estimate(self) -> Any:
        """Estimated frequency of every value, as the package returns it by default."""


class PureLdp(Peer):
    """HR, OUE or OLH of pure-ldp: a client object and a server object."""

    package = "pure-ldp"

    def start(self) -> None:
        from pure_ldp.frequency_oracles import (  # type: ignore[import-not-found]
            hadamard_response,
            local_hashing,
            unary_encoding,
        )

        def zero_based(value: int) -> int:
            return value

        common = {"epsilon": self.epsilon, "d": self.domain_size, "index_mapper": zero_based}
        self.server: Any
        self.client: Any
        if self.mechanism == "HR":
            self.server = hadamard_response.HadamardResponseServer(**common)
            # Above epsilon 1 both sides must hold the same permutation; below, this is None.
            hash_funcs = self.server.get_hash_funcs()
            self.client = hadamard_response.HadamardResponseClient(**common, hash_funcs=hash_funcs)
        elif self.mechanism == "OUE":
            self.server = unary_encoding.UEServer(**common, use_oue=True)
            self.client = unary_encoding.UEClient(**common, use_oue=True)
        else:
            self.server = local_hashing.LHServer(**common, use_olh=True)
            self.client = local_hashing.LHClient(**common, use_olh=True)

    def randomize(self, values: Sequence[int]) -> list[Any]:
        privatise = self.client.privatise
        return [privatise(value) for value in values]

    def aggregate(self, reports: list[Any]) -> None:
        self.server.aggregate_all(reports)

    def estimate(self) -> Any:
        # Asking for one value decodes them all; `estimate_all` would loop over the domain in
        # Python besides, so this is the quicker of the two public ways.
        self.server.estimate(0, suppress_warnings=True)
        return self.server.get_estimates / self.server.n

    def project(self) -> Any:
        """The estimate projected onto the simplex by the package itself."""
        everything = range(self.domain_size)
        return self.server.estimate_all(everything, suppress_warnings=True, normalization=2) / self.server.n


class MultiFreq(Peer):
    """GRR, OUE or SS of multi-freq-ldpy: a compiled client function and an aggregator function."""

    package = "multi-freq-ldpy"
    fused = True

    def start(self) -> None:
        from multi_freq_ldpy.pure_frequency_oracles import GRR, SS, UE  # type: ignore[import-not-found]

        k, epsilon = self.domain_size, self.epsilon
        self._client: Callable[[int, int, float], Any]
        self._aggregator: Callable[[list[Any]], Any]
        if self.mechanism == "GRR":
            self._client = GRR.GRR_Client
            self._aggregator = lambda reports: GRR.GRR_Aggregator_MI(reports, k, epsilon)
        elif self.mechanism == "OUE":
            self._client = UE.UE_Client
            self._aggregator = lambda reports: UE.UE_Aggregator_MI(reports, epsilon)
        else:
            self._client = SS.SS_Client
            self._aggregator = lambda reports: SS.SS_Aggregator_MI(reports, k, epsilon)

    def randomize(self, values: Sequence[int]) -> list[Any]:
        client, k, epsilon = self._client, self.domain_size, self.epsilon
        return [client(value, k, epsilon) for value in values]

    def aggregate(self, reports: list[Any]) -> None:
        self._estimate = self._aggregator(reports)

    def estimate(self) -> Any:
        return self._estimate


def say(message: str) -> None:
    print(f"    {message}", file=sys.stderr, flush=True)


def elapsed(action: Callable[[], object]) -> float:
    """CPU seconds that one call of `action` takes."""
    start = time.process_time()
    action()
    return time.process_time() - start


def fastest(prepare: Callable[[], Callable[[], object]]) -> float:
    """Shortest time of an action that `prepare` makes anew, untimed, before each pass."""
    times = [elapsed(prepare())]
    while len(times) < PASSES and sum(times) < PATIENCE_SECONDS:
        times.append(elapsed(prepare()))
    return min(times)


def sized_rate(prepare: Callable[[int], Callable[[], object]], fixed: float = 0.0) -> tuple[int, float]:
    """Items in a pass, and items a second, for the actions on n items that `prepare` makes.

    `fixed` is the part of an action's time that does not grow with n; it is taken off.
    """
    n_items = 1
    while (spent := elapsed(prepare(n_items)) - fixed) < PASS_SECONDS / 2:
        n_items *= 2
    n_items = max(1, round(n_items * PASS_SECONDS / spent))
    return n_items, n_items / (fastest(lambda: prepare(n_items)) - fixed)


def throughput(peer: Peer) -> dict[str, object]:
    """Rates of the client, the server and the final estimate of one peer."""
    rng = np.random.default_rng(0)

    def values(n_people: int) -> list[int]:
        drawn: list[int] = rng.integers(peer.domain_size, size=n_people).tolist()
        return drawn

    def client_pass(n_people: int) -> Callable[[], object]:
        batch = values(n_people)
        return lambda: peer.randomize(batch)

    def server_pass(n_reports: int) -> Callable[[], object]:
        peer.start()
        batch = list(islice(cycle(sample), n_reports))
        return lambda: peer.aggregate(batch)

    def estimate_pass() -> Callable[[], object]:
        peer.start()
        peer.aggregate(sample)
        return peer.estimate

    peer.start()
    peer.randomize(values(1))
    randomize_people, randomize_rate = sized_rate(client_pass)
    sample = peer.randomize(values(randomize_people))
    if peer.fused:
        estimate_seconds = fastest(lambda: server_pass(1))
        aggregate_people, aggregate_rate = sized_rate(server_pass, fixed=estimate_seconds)
    else:
        aggregate_people, aggregate_rate = sized_rate(server_pass)
        # A slow server (OLH takes a millisecond a report) gets no more than it can take in a pass.
        sample = sample[:aggregate_people]
        estimate_seconds = fastest(estimate_pass)
    overall = COLLECTION / (COLLECTION / randomize_rate + COLLECTION / aggregate_rate + estimate_seconds)
    say(f"{peer.package} {peer.mechanism}, {peer.domain_size:,} values: {overall:,.0f} people a second")
    return {
        "package": peer.package,
        "mechanism": peer.mechanism,
        "domain_size": peer.domain_size,
        "epsilon": peer.epsilon,
        "randomize_people": randomize_people,
        "randomize_per_second": randomize_rate,
        "aggregate_people": aggregate_people,
        "aggregate_per_second": aggregate_rate,
        "estimate_seconds": estimate_seconds,
        "people_per_second": overall,
    }


def accuracy(peer: Peer, values: list[int]) -> list[dict[str, object]]:
    """L2 errors of one peer on `values`, one entry for each post-processing that it offers."""
    truth = np.bincount(values, minlength=peer.domain_size) / len(values)
    errors: dict[str, list[float]] = {}
    for _ in range(ACCURACY_RUNS):
        peer.start()
        peer.aggregate(peer.randomize(values))
        if isinstance(peer, PureLdp):
            estimates = {"none": peer.estimate(), "simplex projection": peer.project()}
        else:
            estimates = {"clipped and rescaled": peer.estimate()}
        for name, estimated in estimates.items():
            errors.setdefault(name, []).append(float(np.linalg.norm(estimated - truth)))
    say(f"{peer.package} {peer.mechanism}: L2 error on {len(values):,} people measured")
    return [
        {
            "package": peer.package,
            "mechanism": peer.mechanism,
            "domain_size": peer.domain_size,
            "epsilon": peer.epsilon,
            "n_people": len(values),
            "post_processing": name,
            "runs": ACCURACY_RUNS,
            "l2_error_mean": statistics.mean(found),
            "l2_error_deviation": statistics.stdev(found),
        }
        for name, found in errors.items()
    ]


def adjust_peers() -> list[str]:
    """Let pure-ldp's HR run on every Python, as fast as it can; returns what was done, in words."""
    from pure_ldp.frequency_oracles.hadamard_response.internal import (  # type: ignore[import-not-found]
        k2k_hadamard,
    )

    # Its bound for random.randint is a float: a TypeError since Python 3.12, and a hidden
    # DeprecationWarning per user before that, some 30 % of the client's time at 1024 values.
    original = k2k_hadamard.random
    k2k_hadamard.random = SimpleNamespace(
        random=original.random, randint=lambda low, high: original.randint(low, int(high))
    )
    return [
        "pure-ldp HR hands random.randint a float bound; it is made an int here, because Python 3.12 and"
        " later refuse it and 3.11 spends some 30 % of the client's time on a hidden deprecation warning"
    ]


def measure(request: dict[str, Any]) -> dict[str, object]:
    """Everything asked for, as one JSON-ready dictionary."""
    epsilon: float = request["epsilon"]
    sample: list[int] = request["accuracy_values"]
    sample_domain: int = request["accuracy_domain_size"]
    adjustments = adjust_peers()
    peers: list[Peer] = []
    for domain_size in request["domain_sizes"]:
        peers += [PureLdp("HR", domain_size, epsilon), MultiFreq("GRR", domain_size, epsilon)]
    peers += [PureLdp(name, INFORMATION_DOMAIN, epsilon) for name in ("OUE", "OLH")]
    peers += [MultiFreq(name, INFORMATION_DOMAIN, epsilon) for name in ("OUE", "SS")]
    wall, cpu = time.perf_counter(), time.process_time()
    rates = [throughput(peer) for peer in peers]
    errors = accuracy(PureLdp("HR", sample_domain, epsilon), sample)
    errors += accuracy(MultiFreq("GRR", sample_domain, epsilon), sample)
    return {
        "python": platform.python_version(),
        "packages": {name: version(name) for name in ("pure-ldp", "multi-freq-ldpy", "numpy", "numba")},
        "adjustments": adjustments,
        "notes": NOTES,
        "cpu_share": (time.process_time() - cpu) / (time.perf_counter() - wall),
        "collection": COLLECTION,
        "throughput": rates,
        "accuracy": errors,
    }


if __name__ == "__main__":
    json.dump(measure(json.load(sys.stdin)), sys.stdout)
