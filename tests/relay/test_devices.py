"""Real devices, a real relay and a real collector: answers are held until there are enough, and then counted once."""

from __future__ import annotations

from pathlib import Path

from collector.service import running
from relay.service import delivered, relayed, relaying
from sottovoce.device import Device, MemoryStore


def test_what_devices_hand_to_a_relay_is_counted_once(tmp_path: Path) -> None:
    with running(tmp_path / "data") as service, relaying(tmp_path / "relay", service.url, "--wait", "0") as relay:
        survey = relayed(least=3, url=relay.url)
        service.publish(survey)
        stores = [MemoryStore() for _ in range(3)]
        # The first one has no relay of its own: it asks for the statement through the relay that the survey states.
        for store, settings in zip(stores, [{}, *[{"relay": relay.url, "insist_on_relay": True}] * 2], strict=True):
            assert service.status(survey)["n_reports"] == 0, "fewer than three are held back"
            with Device(store, require_log=True, **settings) as device:
                receipt = device.answer(service.url, survey.id, "tea")
                assert (receipt.state, receipt.problem) == ("sent", "")
                again = store.answers()[0]
                device._clients.relay(relay.url).send(again, store.secret())  # a receipt that was lost on its way
        delivered(service, survey, 3)
        found = service.counted(survey, survey.mechanism.report_bytes)
        assert dict(found) == {store.answers()[0].report_id: 1 for store in stores}
