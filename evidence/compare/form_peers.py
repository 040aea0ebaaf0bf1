"""multi-freq-ldpy's solutions for forms of several attributes, if it is installed: SMP and RS+FD.

SMP draws one attribute at random and reports it with a frequency oracle. RS+FD hides which one, with fake data for the
others, and claims less than it randomizes at (`evidence.published.fake_data`). Each is called as the package's
documentation shows, once per person. Not included: SPL, which splits epsilon; and RS+FD with random unary vectors,
which has more error than with zero vectors.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["FORM_PEERS", "FormPeer", "installed_form_peers"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FormPeer:
    """One solution of multi-freq-ldpy with one of its frequency oracles.

    Attributes
    ----------
    solution
        SMP or RS+FD.
    mechanism
        The oracle, as the package's papers name it.
    """

    solution: Literal["SMP", "RS+FD"]
    mechanism: str

    package = "multi-freq-ldpy"
    module = "multi_freq_ldpy"
    projects = "clipped and rescaled"

    @property
    def name(self) -> str:
        """The solution with its oracle."""
        return f"{self.solution}[{self.mechanism}]"

    @property
    def functions(self) -> tuple[str, str, list[bool]]:
        """Where the package has it: the module's and the functions' beginnings, and the variant to ask for."""
        family, *variant = _FUNCTIONS[self.solution, self.mechanism]
        return "SMP" if self.solution == "SMP" else "RSpFD", family, variant

    def estimate(self, records: NDArray[np.int64], sizes: tuple[int, ...], epsilon: float) -> list[Floats]:
        """Randomize all records, count and estimate with the package: the shares of every attribute's values.

        `epsilon` is what the package is given; RS+FD claims it.
        """
        attributes = [int(size) for size in sizes]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecations in other packages are not ours
            shares = self._estimate(records.tolist(), attributes, float(epsilon))
        return [np.asarray(one, dtype=np.float64) for one in shares]

    def _estimate(self, records: list[list[int]], sizes: list[int], epsilon: float) -> Any:
        module, family, variant = self.functions
        solution = import_module(f"multi_freq_ldpy.mdim_freq_est.{module}_solution")
        client = getattr(solution, f"{family}_Client")
        aggregator = getattr(solution, f"{family}_Aggregator_MI")
        reports = [client(record, sizes, len(sizes), epsilon, *variant) for record in records]
        if family == "SMP_UE":  # the only aggregator that takes no sizes
            return aggregator(reports, len(sizes), epsilon, *variant)
        return aggregator(reports, sizes, len(sizes), epsilon, *variant)


_FUNCTIONS: Final[dict[tuple[str, str], tuple[Any, ...]]] = {
    ("SMP", "GRR"): ("SMP_GRR",),
    ("SMP", "SUE"): ("SMP_UE", False),
    ("SMP", "OUE"): ("SMP_UE", True),
    ("SMP", "OLH"): ("SMP_LH", True),
    ("SMP", "SS"): ("SMP_SS",),
    ("SMP", "ADP"): ("SMP_ADP", True),
    ("RS+FD", "GRR"): ("RSpFD_GRR",),
    ("RS+FD", "OUE-z"): ("RSpFD_UE_zero", True),
    ("RS+FD", "ADP"): ("RSpFD_ADP", True),
}
"""The package's names for each: the functions' common beginning, and the variant that they are asked for."""

FORM_PEERS: Final = tuple(FormPeer(solution, mechanism) for solution, mechanism in _FUNCTIONS)  # type: ignore[arg-type]


def installed_form_peers() -> tuple[FormPeer, ...]:
    """All, or none where the package is missing."""
    return FORM_PEERS if find_spec(FormPeer.module) is not None else ()
