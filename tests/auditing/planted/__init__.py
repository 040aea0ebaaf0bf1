"""Faults to plant in devices, in Python and TypeScript, at deployed sizes and in what a device may remember.

Those that no audit finds in its time are here too, with the reason. `tools/make_audit_faults.py` plants all of them.
"""

from auditing.planted.fault import PlantedFault
from auditing.planted.in_python import PYTHON
from auditing.planted.in_typescript import TYPESCRIPT

__all__ = ["FAULTS", "PlantedFault"]

FAULTS = [*PYTHON, *TYPESCRIPT]
