"""Local randomizers, one file each, behind one contract; `registry` lists them."""

from typing import TypeAlias

from sottovoce.mechanisms.base import Mechanism, Report
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.finite import FiniteMechanism
from sottovoce.mechanisms.registry import MECHANISMS, candidates, create, find, register, serving
from sottovoce.mechanisms.vector import VectorMechanism

__all__ = [
    "MECHANISMS",
    "AnyMechanism",
    "ChannelMechanism",
    "FiniteMechanism",
    "Mechanism",
    "Report",
    "VectorMechanism",
    "candidates",
    "create",
    "find",
    "register",
    "serving",
]

AnyMechanism: TypeAlias = ChannelMechanism | VectorMechanism
"""What a survey can ask with: a mechanism for values of a finite domain, or one for vectors in a ball."""
