"""What the collector answers to a part: only an answer that tells the fate of every message is believed."""

from __future__ import annotations

from typing import Any

import pytest

from sottovoce.core.errors import ServiceError
from sottovoce.relay.upstream import refused_of


def refused(*positions: Any) -> list[dict[str, Any]]:
    return [{"position": one, "code": "cannot_open", "message": ""} for one in positions]


def test_the_refused_ones_are_told() -> None:
    assert [one.position for one in refused_of({"accepted": 2, "refused": refused(0, 3)}, 4)] == [0, 3]
    assert refused_of({"accepted": 4, "refused": []}, 4) == []


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        "accepted",
        {"accepted": 4},
        {"accepted": 3, "refused": []},
        {"accepted": 5, "refused": []},
        {"accepted": "4", "refused": []},
        {"accepted": 2, "refused": refused(1, 1)},
        {"accepted": 3, "refused": refused(4)},
        {"accepted": 3, "refused": refused(-1)},
        {"accepted": -1, "refused": refused(0, 1, 2, 3, 4)},
    ],
)
def test_any_other_answer_acknowledges_nothing(answer: object) -> None:
    with pytest.raises(ServiceError) as caught:
        refused_of(answer, 4)
    assert caught.value.status == 200
