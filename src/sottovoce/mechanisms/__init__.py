"""Local randomizers, one file each, behind one contract; `registry` lists them."""

from sottovoce.mechanisms.base import Mechanism, Report
from sottovoce.mechanisms.registry import MECHANISMS, candidates, choose, create, restore

__all__ = ["MECHANISMS", "Mechanism", "Report", "candidates", "choose", "create", "restore"]
