"""The device: verifies surveys, keeps a ledger, draws one report per survey, and sends it until it has arrived."""

from sottovoce.device.device import REFUSE, Device
from sottovoce.device.effort import Effort
from sottovoce.device.fetch import CollectorClient
from sottovoce.device.http import Http
from sottovoce.device.ledger import Entry, Ledger
from sottovoce.device.patience import Patience
from sottovoce.device.receipt import Receipt
from sottovoce.device.sqlite_store import SqliteDeviceStore
from sottovoce.device.store import DeviceStore, MemoryStore, RecordedAnswer

__all__ = [
    "REFUSE",
    "CollectorClient",
    "Device",
    "DeviceStore",
    "Effort",
    "Entry",
    "Http",
    "Ledger",
    "MemoryStore",
    "Patience",
    "Receipt",
    "RecordedAnswer",
    "SqliteDeviceStore",
]
