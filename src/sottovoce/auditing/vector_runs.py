"""What runs of a vector mechanism's device end with."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["OTHER_VECTORS", "VectorRuns"]

OTHER_VECTORS = "vectors that were not run do as those that were"


@dataclass
class VectorRuns:
    """How a device was run, and what went wrong, in words."""

    epsilon: float
    """What the integers that decide amount to."""
    method: str = ""
    wrong: str = ""
    """The first run that went otherwise than stated."""
    wrong_draw: str = ""
    """What is wrong with the integers and coins that the device makes of the system's bytes."""
    wrong_law: str = ""
    """What is wrong with the stated integers; their epsilon is known all the same."""
    independent: int = 0
    """Runs with random values and draws."""
    proved: bool = False
    assumptions: tuple[str, ...] = (OTHER_VECTORS,)
