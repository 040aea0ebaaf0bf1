"""Local randomizers, one file each, behind one contract; `registry` lists them."""

from sottovoce.mechanisms.base import Mechanism, Report
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.finite import FiniteMechanism
from sottovoce.mechanisms.hashed_prefixes import HashedPrefixes
from sottovoce.mechanisms.registry import MECHANISMS, candidates, create, find, register, serving
from sottovoce.mechanisms.sets import SetMechanism
from sottovoce.mechanisms.tables import Tables
from sottovoce.mechanisms.vector import VectorMechanism

__all__ = [
    "MECHANISMS",
    "ChannelMechanism",
    "FiniteMechanism",
    "HashedPrefixes",
    "Mechanism",
    "Report",
    "SetMechanism",
    "Tables",
    "VectorMechanism",
    "candidates",
    "create",
    "find",
    "register",
    "serving",
]
