"""The device: verifies surveys, keeps a ledger, draws one report per survey, and sends it until it has arrived."""

from sottovoce.device.device import Device
from sottovoce.device.drawing import REFUSE
from sottovoce.device.effort import Effort
from sottovoce.device.fetch import CollectorClient
from sottovoce.device.http import Http, Patience
from sottovoce.device.ledger import Entry, Ledger, Renewal
from sottovoce.device.preparing import Due
from sottovoce.device.sending import Receipt
from sottovoce.device.sqlite_store import SqliteDeviceStore
from sottovoce.device.store import DeviceStore, JoinedSurvey, LogConflict, MemoryStore, RecordedAnswer

__all__ = [
    "REFUSE",
    "CollectorClient",
    "Device",
    "DeviceStore",
    "Due",
    "Effort",
    "Entry",
    "Http",
    "JoinedSurvey",
    "Ledger",
    "LogConflict",
    "MemoryStore",
    "Patience",
    "Receipt",
    "RecordedAnswer",
    "Renewal",
    "SqliteDeviceStore",
]
