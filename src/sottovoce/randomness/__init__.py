"""Randomness: exact integers from OS entropy for devices, and the integer thresholds they compare with."""

from sottovoce.randomness.source import ByteSource, Source, os_source, tape_source
from sottovoce.randomness.thresholds import ONE, epsilon_of, within_epsilon

__all__ = ["ONE", "ByteSource", "Source", "epsilon_of", "os_source", "tape_source", "within_epsilon"]
