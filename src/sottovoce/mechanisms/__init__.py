"""Local randomizers, one file each, behind one contract; `registry` lists them."""

from typing import TypeAlias

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
    "AnyMechanism",
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

AnyMechanism: TypeAlias = ChannelMechanism | VectorMechanism | SetMechanism | Tables | HashedPrefixes
"""What a survey can ask with: a mechanism for values of a finite domain, vectors in a ball, sets, records,
or words."""
