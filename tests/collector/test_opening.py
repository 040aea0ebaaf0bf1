"""The processes that open sealed messages: killed, and left behind by a service that is killed."""

from __future__ import annotations

import os
import secrets
import signal
from pathlib import Path

from collector.client import DRINKS, honest
from collector.service import Answer, Service, running, until
from sottovoce.core.signing import from_base64url
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, encode_batch
from sottovoce.oblivious.binary_http import HttpRequest
from sottovoce.oblivious.key_configuration import read_signed_keys
from sottovoce.oblivious.messages import SEALED_MEDIA_TYPE, encode_sealed_batch, seal_request


def sealed(service: Service, n: int) -> bytes:
    told = service.ask("GET", "/v1/keys")
    (key,) = read_signed_keys(told.body, from_base64url(told.json["key"]))
    headers = ((b"content-type", BATCH_MEDIA_TYPE.encode()),)
    path = f"/v1/surveys/{DRINKS.id}/reports"
    bodies = [encode_batch(DRINKS.id, [pair]) for pair in honest(DRINKS, "tea", n)]
    secret = secrets.token_bytes(32)
    requests = [HttpRequest("POST", path, headers=headers, content=body) for body in bodies]
    return encode_sealed_batch(512, [seal_request(key, request, secret).message for request in requests])


def pass_on(service: Service, body: bytes) -> Answer:
    return service.ask("POST", "/v1/oblivious/batch", body=body, headers={"Content-Type": SEALED_MEDIA_TYPE})


def test_the_processes_are_replaced_and_leave_with_the_service(tmp_path: Path) -> None:
    with running(tmp_path / "data") as service:
        service.publish(DRINKS)
        assert (tmp_path / "data" / "sealing.keys").stat().st_mode & 0o777 == 0o600
        body = sealed(service, 3)
        assert pass_on(service, body).json == {"accepted": 3, "refused": []}
        first = service.openers()
        assert first
        os.kill(first[0], signal.SIGKILL)
        # Whether or not the service has noticed: nothing is acknowledged, or all of it is.
        answers: list[Answer] = []

        def accepted() -> bool:
            answers.append(pass_on(service, body))
            return answers[-1].status == 200

        until(accepted, "other processes open messages")
        assert {answer.status for answer in answers[:-1]} <= {503}
        assert answers[-1].json == {"accepted": 3, "refused": []}
        second = until(lambda: service.openers(), "the new processes have their name")
        assert not set(first) & set(second)
        os.kill(service.process.pid, signal.SIGKILL)  # the service alone, not its group
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in second), "the processes are gone")


def test_a_service_that_has_opened_messages_stops_cleanly(tmp_path: Path) -> None:
    with running(tmp_path / "data") as service:
        service.publish(DRINKS)
        assert pass_on(service, sealed(service, 1)).status == 200
        opening = service.openers()
        assert service.stop() == 0
        assert not any(Path(f"/proc/{pid}").exists() for pid in opening)
        assert "rror" not in service.log.read_text()
