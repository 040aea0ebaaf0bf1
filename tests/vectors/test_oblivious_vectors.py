"""vectors/oblivious.json as a device reads it: every request is sealed to the bytes given, bad answers are refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from sottovoce.core.errors import ObliviousError, SignatureError
from sottovoce.oblivious.binary_http import HttpRequest
from sottovoce.oblivious.key_configuration import KeyConfiguration, read_signed_keys
from sottovoce.oblivious.messages import SealedRequest, seal_request

VECTORS: Any = json.loads((Path(__file__).resolve().parents[2] / "vectors" / "oblivious.json").read_text("utf-8"))


def sealed(case: Any) -> SealedRequest:
    stated = case["request"]
    headers = tuple((name.encode(), value.encode()) for name, value in stated["headers"])
    content = bytes.fromhex(stated["content"]) * stated["times"]
    where = stated["scheme"], stated["authority"]
    request = HttpRequest(stated["method"], stated["path"], *where, headers, content)
    configuration = KeyConfiguration.decode(bytes.fromhex(case["configuration"]))
    assert configuration is not None
    return seal_request(configuration, request, bytes.fromhex(VECTORS["device_secret"]))


def test_requests_are_sealed_to_the_same_bytes() -> None:
    for case in VECTORS["sealed"]:
        message = sealed(case).message
        assert (len(message), hashlib.sha256(message).hexdigest()) == (case["size"], case["sha256"])
    assert sealed(VECTORS["sealed"][0]).message.hex() == VECTORS["sealed"][0]["message"]
    assert {case["size"] for case in VECTORS["sealed"]} == set(VECTORS["sizes"])


def test_responses() -> None:
    case = VECTORS["responses"]
    request = sealed(case)
    response = request.open(bytes.fromhex(case["good"]["sealed"]))
    assert (response.status, response.content.hex()) == (case["good"]["status"], case["good"]["content"])
    for bad in case["bad"]:
        with pytest.raises(ObliviousError):
            request.open(bytes.fromhex(bad["sealed"]))


def test_signed_keys() -> None:
    pinned = bytes.fromhex(VECTORS["keys"]["pinned"])
    for good in VECTORS["keys"]["good"]:
        found = read_signed_keys(good["body"].encode(), pinned)
        assert [one.encode().hex() for one in found] == good["configurations"]
    for bad in VECTORS["keys"]["bad"]:
        with pytest.raises((ObliviousError, SignatureError)):
            read_signed_keys(bad["body"].encode(), pinned)
