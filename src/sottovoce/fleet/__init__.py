"""Many simulated devices that answer a real collector over the real wire: for load, for tests, for demonstrations.

No device imports this: it simulates with compiled kernels, and its people are invented.
"""

from sottovoce.fleet.drive import DEFAULT_BATCH, DEFAULT_SINGLES, run
from sottovoce.fleet.sent import Sent

__all__ = ["DEFAULT_BATCH", "DEFAULT_SINGLES", "Sent", "run"]
