"""Randomizing at the edge: a server that already holds people's values turns them into reports before they go on."""

from sottovoce.edge.person_ledger import PersonLedger
from sottovoce.edge.randomizer import Randomizer
from sottovoce.edge.rows import EdgeReport, InputRow, RowFault

__all__ = ["EdgeReport", "InputRow", "PersonLedger", "Randomizer", "RowFault"]
