"""Local randomizers, one file each, behind one contract; `registry` lists them."""

from sottovoce.mechanisms.base import Mechanism, Report
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.finite import FiniteMechanism
from sottovoce.mechanisms.registry import MECHANISMS, candidates, choose, create, restore
from sottovoce.mechanisms.vector import VectorMechanism

__all__ = [
    "MECHANISMS",
    "ChannelMechanism",
    "FiniteMechanism",
    "Mechanism",
    "Report",
    "VectorMechanism",
    "candidates",
    "choose",
    "create",
    "restore",
]
