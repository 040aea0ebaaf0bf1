"""The JSON of reports on their way in, of the keys that they are sealed to, and of what the service replies."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from sottovoce.protocol.base import BASE64URL, HEX_32, Count, RequestStruct, ResponseStruct
from sottovoce.protocol.errors import ErrorDetail, RefusedReport

__all__ = [
    *("Acknowledgement", "HandedIn", "MessageReceipt", "OneReport", "RefusedUpload", "ReportsBody", "SentReport"),
    *("SentReports", "SignedKeys"),
]


class OneReport(RequestStruct):
    """One report: its id in hexadecimal and its bytes in base64url."""

    id: Annotated[str, Meta(pattern=HEX_32)]
    report: Annotated[str, Meta(pattern=BASE64URL)]


class ReportsBody(RequestStruct):
    """Several reports."""

    reports: Annotated[list[OneReport], Meta(min_length=1)]


class SentReport(RequestStruct):
    """A report as it arrives: its fields are checked one by one, so that a bad report leaves the others of its body."""

    id: str
    report: str


class SentReports(RequestStruct):
    """A body as it arrives: the fields of one report, or a list of reports."""

    id: str | msgspec.UnsetType = msgspec.UNSET
    report: str | msgspec.UnsetType = msgspec.UNSET
    reports: list[SentReport] | msgspec.UnsetType = msgspec.UNSET


class SignedKeys(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Key configurations as they are published, in base64url."""

    configurations: str
    signature: str
    key: str
    """The public key that signed them. A device trusts the one that it has pinned, not this one."""


class Acknowledgement(ResponseStruct):
    """Accepted reports are durable; refused ones are listed."""

    accepted: Count
    refused: list[RefusedReport]


class RefusedUpload(ResponseStruct):
    """No report of a body was accepted; without a list where the body was refused as a whole."""

    error: ErrorDetail
    accepted: Count = 0
    refused: list[RefusedReport] = msgspec.field(default_factory=list)


class HandedIn(ResponseStruct):
    """The counts are durable, and estimates are made from them."""

    n_reports: Count


class MessageReceipt(msgspec.Struct, frozen=True):
    """The message is durable here."""

    accepted: Annotated[int, msgspec.Meta(ge=1, le=1)]
