"""The device: it verifies, keeps its ledger, draws once, and sends the same bytes until they have arrived."""

from sottovoce.client.device import REFUSE, Device
from sottovoce.client.effort import Effort
from sottovoce.client.fetch import Collector
from sottovoce.client.http import Http
from sottovoce.client.ledger import Entry, Ledger
from sottovoce.client.patience import Patience
from sottovoce.client.receipt import Receipt
from sottovoce.client.sqlite_store import SqliteStore
from sottovoce.client.store import Answer, DeviceStore, MemoryStore

__all__ = [
    "REFUSE",
    "Answer",
    "Collector",
    "Device",
    "DeviceStore",
    "Effort",
    "Entry",
    "Http",
    "Ledger",
    "MemoryStore",
    "Patience",
    "Receipt",
    "SqliteStore",
]
