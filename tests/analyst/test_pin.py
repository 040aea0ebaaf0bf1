"""A pin is the key or the beginning of its fingerprint; that surveys are verified is tested with the devices."""

from __future__ import annotations

import pytest

from refusing import refuses
from sottovoce.analyst.connection import check_key, check_pin
from sottovoce.core.errors import SignatureError
from sottovoce.core.signing import SigningKey, fingerprint, to_base64url

KEY, STRANGER = SigningKey(bytes(32)), SigningKey(bytes([1] * 32))


@pytest.mark.parametrize("pin", [to_base64url(KEY.public), fingerprint(KEY.public), fingerprint(KEY.public)[:16]])
def test_a_pin_is_the_key_or_the_beginning_of_its_fingerprint(pin):
    assert check_key(to_base64url(KEY.public), check_pin(pin)) == KEY.public
    with refuses(SignatureError, "key"):
        check_key(to_base64url(STRANGER.public), pin)


@pytest.mark.parametrize("pin", ["", "abc", fingerprint(KEY.public)[:15], "no key at all", 7, to_base64url(bytes(31))])
def test_a_pin_that_pins_nothing_is_refused(pin):
    with refuses(SignatureError, "key"):
        check_pin(pin)
