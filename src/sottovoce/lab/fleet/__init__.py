"""Simulated devices that answer a real collector over HTTP, for load tests and demonstrations.

Reports are simulated with compiled kernels; no real device imports this.
"""

from sottovoce.lab.fleet.drive import DEFAULT_BATCH, DEFAULT_SINGLES, run
from sottovoce.lab.fleet.sending import Sent

__all__ = ["DEFAULT_BATCH", "DEFAULT_SINGLES", "Sent", "run"]
