"""Other packages for the same task, if installed: pure-ldp and multi-freq-ldpy.

Each is called as its documentation shows, once per person, since neither has a call for many. Not included: their
sketches (CMS, HCMS, PCS, FastAGMS), which are for very large domains and need sizes to be chosen; pure-ldp's RAPPOR,
whose client never clears a bit; and BLH, which is OLH with a worse parameter.
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_BYTES", "MOST_SECONDS", "ON_THE_SIMPLEX", "PEERS", "Peer", "PeerCost", "installed_peers"]

ON_THE_SIMPLEX: Final = "on the simplex"
"""What we project on, and what pure-ldp does."""

MOST_SECONDS: Final = 60.0
"""Time limit for one mechanism of another package, roughly."""

MOST_BYTES: Final = 1e9
"""Memory limit, roughly: multi-freq-ldpy keeps all reports, with eight bytes per bit."""

HASH_FUNCTIONS: Final = 500
"""Of FLH, which draws from so many and no more; a multiple costs the server the same multiple of time."""

SEED_BITS: Final = 63
"""Of a local hash function: both packages draw its seed below the largest signed number of 64 bits."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PeerCost:
    """Rough cost of one estimate on an ordinary machine.

    Attributes
    ----------
    each, each_bytes
        Seconds and memory for each person.
    once, once_bytes
        The same however many people there are.
    """

    each: float
    once: float = 0.0
    each_bytes: float = 0.0
    once_bytes: float = 0.0

    def most_people(self, repeats: int) -> int:
        """Largest number of people for `repeats` repetitions; 0 if the fixed cost is too high already.

        Examples
        --------
        >>> PeerCost(each=0.001).most_people(10), PeerCost(each=0.001, once_bytes=2e9).most_people(10)
        (6000, 0)
        """
        in_time = (MOST_SECONDS / repeats - self.once) / self.each
        in_memory = (MOST_BYTES - self.once_bytes) / self.each_bytes if self.each_bytes else math.inf
        return 0 if self.once_bytes > MOST_BYTES else max(0, math.floor(min(in_time, in_memory)))


class Peer(ABC):
    """One mechanism of another package."""

    package: ClassVar[str]
    module: ClassVar[str]
    projects: ClassVar[str]
    """What the package does to an estimate by itself."""

    def __init__(self, mechanism: str):
        self.mechanism = mechanism

    def estimate(self, values: NDArray[np.int64], size: int, epsilon: float) -> Floats:
        """Randomize all values, count and estimate with the package."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecations in other packages are not ours
            return np.asarray(self._estimate(values.tolist(), size, epsilon), dtype=np.float64)

    @abstractmethod
    def _estimate(self, values: list[int], size: int, epsilon: float) -> Any:
        """The shares of all values."""

    @abstractmethod
    def report_bits(self, size: int, epsilon: float) -> int:
        """Bits that hold whatever the package's client returns; neither package has a format to send."""

    @abstractmethod
    def work(self, size: int, epsilon: float) -> PeerCost:
        """What one estimate takes, roughly."""


class PureLdp(Peer):
    """Frequency oracles of pure-ldp (Cormode, Maddock, Maple 2021), with its own projection on the simplex."""

    package = "pure-ldp"
    module = "pure_ldp"
    projects = ON_THE_SIMPLEX

    def _estimate(self, values: list[int], size: int, epsilon: float) -> Any:
        server, client = self._sides(size, epsilon)
        server.aggregate_all(client.privatise(value) for value in values)
        return server.estimate_all(range(size), suppress_warnings=True, normalization=2) / server.n

    def _sides(self, size: int, epsilon: float) -> tuple[Any, Any]:
        """Its server and its client."""
        from pure_ldp import frequency_oracles as oracles

        common = {"epsilon": epsilon, "d": size, "index_mapper": int}
        if self.mechanism == "HR":
            _let_integers_be_drawn()
            server = oracles.HadamardResponseServer(**common)
            return server, oracles.HadamardResponseClient(**common, hash_funcs=server.get_hash_funcs())
        if self.mechanism == "HM":
            # Its transform needs a power of two; the values added nobody has.
            common = {**common, "d": 1 << (size - 1).bit_length(), "t": 1, "use_optimal_t": True}
            return oracles.HadamardMechServer(**common), oracles.HadamardMechClient(**common)
        if self.mechanism in ("SUE", "OUE"):
            common = {**common, "use_oue": self.mechanism == "OUE"}
            return oracles.UEServer(**common), oracles.UEClient(**common)
        if self.mechanism in ("SHE", "THE"):
            return oracles.HEServer(**common, use_the=self.mechanism == "THE"), oracles.HEClient(**common)
        if self.mechanism == "OLH":
            return oracles.LHServer(**common, use_olh=True), oracles.LHClient(**common, use_olh=True)
        if self.mechanism == "FLH":
            common = {**common, "k": HASH_FUNCTIONS, "use_olh": True}
            return oracles.FastLHServer(**common), oracles.FastLHClient(**common)
        return oracles.DEServer(**common), oracles.DEClient(**common)

    def report_bits(self, size: int, epsilon: float) -> int:
        """Bits that hold whatever the package's client returns."""
        if self.mechanism == "HR":
            return _hadamard_response_bits(size, epsilon)
        if self.mechanism == "HM":
            return _hadamard_coefficients(epsilon) * (1 + (size - 1).bit_length())
        if self.mechanism == "FLH":
            return (HASH_FUNCTIONS - 1).bit_length() + (_hashed_values(epsilon) - 1).bit_length()
        return _usual_bits(self.mechanism, size, epsilon)

    def work(self, size: int, epsilon: float) -> PeerCost:
        """What one estimate takes, roughly; reports are counted as they come."""
        asked = 1e-6 * size  # each value's estimate is asked for by itself
        if self.mechanism == "HM":
            signs = 2.0 ** _hadamard_coefficients(epsilon)  # all of them are listed, and the list copied for a person
            return PeerCost(1e-5 + 1e-8 * signs + 7e-6 * math.log2(signs), 5e-6 * size + asked, once_bytes=200 * signs)
        if self.mechanism == "FLH":
            cells = HASH_FUNCTIONS * (size + _hashed_values(epsilon))
            return PeerCost(1e-5, 3.4e-6 * HASH_FUNCTIONS * size + asked, once_bytes=8 * cells)
        each, for_a_value = {
            "DE": (2e-6, 0.0),
            "HR": (1.5e-5, 0.0),
            "SUE": (3e-5, 2.2e-8),
            "OUE": (3e-5, 2.2e-8),
            "SHE": (5e-6, 3e-8),
            "THE": (1e-5, 2.9e-7),
            "OLH": (8e-6, 1.1e-6),
        }[self.mechanism]
        return PeerCost(each + for_a_value * size, asked)


class MultiFreq(Peer):
    """Frequency oracles of multi-freq-ldpy (Arcolezi et al. 2022), which clips and rescales."""

    package = "multi-freq-ldpy"
    module = "multi_freq_ldpy"
    projects = "clipped and rescaled"

    def _estimate(self, values: list[int], size: int, epsilon: float) -> Any:
        from multi_freq_ldpy.pure_frequency_oracles import ADP, GRR, HE, LH, SS, UE

        if self.mechanism in ("SUE", "OUE"):
            best = self.mechanism == "OUE"
            return UE.UE_Aggregator_MI([UE.UE_Client(value, size, epsilon, best) for value in values], epsilon, best)
        if self.mechanism in ("SHE", "THE"):
            reports = [HE.HE_Client(value, size, epsilon) for value in values]
            return HE.HE_Aggregator_MI(reports, size, epsilon, self.mechanism == "THE")
        client, aggregator = {
            "GRR": (GRR.GRR_Client, GRR.GRR_Aggregator_MI),
            "OLH": (LH.LH_Client, LH.LH_Aggregator_MI),
            "SS": (SS.SS_Client, SS.SS_Aggregator_MI),
            "ADP": (ADP.ADP_Client, ADP.ADP_Aggregator_MI),
        }[self.mechanism]
        return aggregator([client(value, size, epsilon) for value in values], size, epsilon)

    def report_bits(self, size: int, epsilon: float) -> int:
        """Bits that hold whatever the package's client returns."""
        return _usual_bits(_adapted(self.mechanism, size, epsilon), size, epsilon)

    def work(self, size: int, epsilon: float) -> PeerCost:
        """What one estimate takes, roughly; everybody's report is kept until all are counted."""
        hashed = _hashed_values(epsilon) if self.mechanism == "OLH" else 0
        each, for_a_value, numbers = {
            "GRR": (1e-6, 1e-8, 4),
            "SUE": (3e-6, 3.3e-8, size),
            "OUE": (3e-6, 3.3e-8, size),
            "SHE": (3e-6, 5e-8, size),
            "THE": (7e-6, 5.5e-8, size),
            "SS": (4e-6, 1.5e-7, _subset_size(size, epsilon)),
            "OLH": (1e-5 + 2.5e-8 * hashed, 1.15e-6, 20),
        }[_adapted(self.mechanism, size, epsilon)]
        return PeerCost(each + for_a_value * size, each_bytes=8 * numbers + 100, once_bytes=16 * hashed)


def _usual_bits(mechanism: str, size: int, epsilon: float) -> int:
    one_value = (size - 1).bit_length()
    return {
        "DE": one_value,
        "GRR": one_value,
        "SUE": size,
        "OUE": size,
        "SHE": 64 * size,
        "THE": 64 * size,
        "SS": _subset_size(size, epsilon) * one_value,
        "OLH": SEED_BITS + (_hashed_values(epsilon) - 1).bit_length(),
    }[mechanism]


def _hashed_values(epsilon: float) -> int:
    """How many values local hashing hashes to, in both packages."""
    return round(math.exp(epsilon)) + 1


def _subset_size(size: int, epsilon: float) -> int:
    return max(1, round(size / (math.exp(epsilon) + 1)))


def _adapted(mechanism: str, size: int, epsilon: float) -> str:
    """ADP is GRR or OUE, whichever has the lesser variance; every other mechanism is itself."""
    if mechanism != "ADP":
        return mechanism
    return "GRR" if size - 2 <= 3 * math.exp(epsilon) else "OUE"


def _hadamard_coefficients(epsilon: float) -> int:
    """How many HM sends, each with its index."""
    return math.ceil(math.log2(math.exp(epsilon) + 1))


def _hadamard_response_bits(size: int, epsilon: float) -> int:
    if epsilon <= 1:
        return size.bit_length()
    block_bits = math.floor(math.log2(min(2 * size, math.exp(epsilon))))
    return block_bits + math.ceil(math.log2(size / 2**block_bits + 1))


def _let_integers_be_drawn() -> None:
    """pure-ldp's HR asks for an integer below a float, which Python refuses since 3.12."""
    from pure_ldp.frequency_oracles.hadamard_response.internal import k2k_hadamard

    drawing = k2k_hadamard.random
    if not isinstance(drawing, SimpleNamespace):
        k2k_hadamard.random = SimpleNamespace(
            random=drawing.random, randint=lambda low, high: drawing.randint(low, int(high))
        )


PEERS: Final[tuple[Peer, ...]] = (
    *(PureLdp(name) for name in ("HR", "HM", "DE", "SUE", "OUE", "SHE", "THE", "OLH", "FLH")),
    *(MultiFreq(name) for name in ("GRR", "SUE", "OUE", "SHE", "THE", "SS", "OLH", "ADP")),
)


def installed_peers() -> tuple[Peer, ...]:
    """Those whose package is here."""
    return tuple(peer for peer in PEERS if find_spec(peer.module) is not None)
