"""Other packages for the same task, where they are installed: pure-ldp and multi-freq-ldpy.

Each is called as its own documentation shows, once for each person: neither offers a call for many.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from importlib.util import find_spec
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["PEERS", "Peer", "installed_peers"]

Floats = NDArray[np.float64]


class Peer(ABC):
    """One mechanism of another package."""

    package: ClassVar[str]
    module: ClassVar[str]
    projects: ClassVar[str]
    """What the package does to an estimate by itself."""

    def __init__(self, mechanism: str):
        self.mechanism = mechanism

    def estimate(self, values: NDArray[np.int64], size: int, epsilon: float) -> Floats:
        """Everybody randomizes, the server counts, the package estimates."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a peer does that Python deprecates is the peer's affair
            return np.asarray(self._estimate(values.tolist(), size, epsilon), dtype=np.float64)

    @abstractmethod
    def _estimate(self, values: list[int], size: int, epsilon: float) -> Any:
        """The shares of all values."""


class PureLdp(Peer):
    """HR or OUE of pure-ldp (Cormode, Maddock, Maple 2021), with its own projection on the simplex."""

    package = "pure-ldp"
    module = "pure_ldp"
    projects = "on the simplex"

    def _estimate(self, values: list[int], size: int, epsilon: float) -> Any:
        from pure_ldp.frequency_oracles import hadamard_response, unary_encoding

        common = {"epsilon": epsilon, "d": size, "index_mapper": int}
        if self.mechanism == "HR":
            server = hadamard_response.HadamardResponseServer(**common)
            client = hadamard_response.HadamardResponseClient(**common, hash_funcs=server.get_hash_funcs())
        else:
            server = unary_encoding.UEServer(**common, use_oue=True)
            client = unary_encoding.UEClient(**common, use_oue=True)
        server.aggregate_all([client.privatise(value) for value in values])
        return server.estimate_all(range(size), suppress_warnings=True, normalization=2) / server.n


class MultiFreq(Peer):
    """GRR, OUE or SS of multi-freq-ldpy (Arcolezi et al. 2022), which clips and rescales."""

    package = "multi-freq-ldpy"
    module = "multi_freq_ldpy"
    projects = "clips and rescales"

    def _estimate(self, values: list[int], size: int, epsilon: float) -> Any:
        from multi_freq_ldpy.pure_frequency_oracles import GRR, SS, UE

        if self.mechanism == "GRR":
            reports = [GRR.GRR_Client(value, size, epsilon) for value in values]
            return GRR.GRR_Aggregator_MI(reports, size, epsilon)
        if self.mechanism == "OUE":
            return UE.UE_Aggregator_MI([UE.UE_Client(value, size, epsilon) for value in values], epsilon)
        return SS.SS_Aggregator_MI([SS.SS_Client(value, size, epsilon) for value in values], size, epsilon)


PEERS: Final[tuple[Peer, ...]] = (
    *(PureLdp(name) for name in ("HR", "OUE")),
    *(MultiFreq(name) for name in ("GRR", "OUE", "SS")),
)


def installed_peers() -> tuple[Peer, ...]:
    """Those whose package is here."""
    return tuple(peer for peer in PEERS if find_spec(peer.module) is not None)
