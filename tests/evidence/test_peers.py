"""Other packages beside ours: what their reports need, and which of them would take too long."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from evidence.compare.compare import compare
from evidence.compare.peers import MOST_BYTES, MOST_SECONDS, PEERS, PeerCost, installed_peers

NAMED = {(peer.package, peer.mechanism): peer for peer in PEERS}


@pytest.mark.parametrize(
    ("package", "mechanism", "size", "epsilon", "bits"),
    [
        ("pure-ldp", "DE", 1000, 1.0, 10),
        ("pure-ldp", "SUE", 1000, 1.0, 1000),
        ("pure-ldp", "THE", 1000, 1.0, 64_000),
        ("pure-ldp", "OLH", 1000, 1.0, 63 + 2),  # round(e) + 1 = 4 hashed values
        ("pure-ldp", "FLH", 1000, 3.0, 9 + 5),  # 500 functions, 21 hashed values
        ("pure-ldp", "HR", 1000, 1.0, 10),
        ("pure-ldp", "HR", 1024, 1.0, 11),  # column 0 is nobody's
        ("pure-ldp", "HR", 1000, 3.0, 4 + 6),  # 16 blocks of 64
        ("pure-ldp", "HM", 1000, 1.0, 2 * (10 + 1)),
        ("multi-freq-ldpy", "GRR", 1024, 1.0, 10),
        ("multi-freq-ldpy", "SS", 1000, 1.0, 269 * 10),
        ("multi-freq-ldpy", "ADP", 10, 1.0, 4),  # GRR up to 3e + 2 = 10.15 values
        ("multi-freq-ldpy", "ADP", 11, 1.0, 11),
    ],
)
def test_a_report_has_the_bits_that_hold_it(package, mechanism, size, epsilon, bits):
    assert NAMED[package, mechanism].report_bits(size, epsilon) == bits


def test_every_peer_says_what_it_sends_and_takes():
    for peer in PEERS:
        for size in (2, 3, 1000):
            assert peer.report_bits(size, 0.01) >= 1
            assert peer.work(size, 1.0).most_people(2) > 1000


def test_work_is_bounded_by_time_and_by_memory():
    assert PeerCost(each=1.0).most_people(2) == MOST_SECONDS / 2
    assert PeerCost(each=1.0, once=MOST_SECONDS).most_people(2) == 0
    assert PeerCost(each=1e-9, each_bytes=MOST_BYTES / 10).most_people(2) == 10
    # Hashing a hundred thousand values for each person, and listing all signs of 24 coefficients.
    assert NAMED["pure-ldp", "OLH"].work(100_000, 1.0).most_people(10) < 100
    assert NAMED["pure-ldp", "HM"].work(2, 16.0).most_people(2) == 0


def test_what_would_take_too_long_is_a_row_without_figures(monkeypatch):
    monkeypatch.setattr("evidence.compare.peers.MOST_SECONDS", 0.001)
    olh = NAMED["pure-ldp", "OLH"]
    *_, theirs = compare(np.arange(100) % 9, 9, [1.0], peers=[olh], repeats=2)
    few = olh.work(9, 1.0).most_people(2)
    assert 0 < few < 100
    assert theirs.problem == f"left out above {few} people"
    assert (theirs.l2, theirs.seconds, theirs.report_bytes) == (None, None, 9)
    *_, theirs = compare(np.arange(100) % 2, 2, [16.0], peers=[NAMED["pure-ldp", "HM"]], repeats=2)
    assert theirs.problem == "left out for any number of people"


def test_a_package_that_is_there_takes_part(monkeypatch, tmp_path):
    (tmp_path / "multi_freq_ldpy.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    assert {"multi-freq-ldpy"} <= {peer.package for peer in installed_peers()}


@pytest.mark.parametrize("mechanism", ["GRR", "SUE", "OUE", "SHE", "THE", "SS", "OLH", "ADP"])
def test_a_package_is_called_once_for_each_person(monkeypatch, mechanism):
    """A stand-in with the package's names, whose reports are the truth and whose estimate counts them."""

    def client(value, size, epsilon, *options):
        return value

    def aggregator(reports, *size_and_more):
        return np.bincount(reports, minlength=4) / len(reports)

    families = {
        family: SimpleNamespace(**{f"{family}_Client": client, f"{family}_Aggregator_MI": aggregator})
        for family in ("ADP", "GRR", "HE", "LH", "SS", "UE")
    }
    oracles = ModuleType("multi_freq_ldpy.pure_frequency_oracles")
    oracles.__dict__.update(families)
    monkeypatch.setitem(sys.modules, "multi_freq_ldpy", ModuleType("multi_freq_ldpy"))
    monkeypatch.setitem(sys.modules, "multi_freq_ldpy.pure_frequency_oracles", oracles)
    found = NAMED["multi-freq-ldpy", mechanism].estimate(np.array([0, 1, 1, 3]), 4, 1.0)
    assert found.tolist() == [0.25, 0.5, 0.0, 0.25]


class Client:
    """Reports the truth."""

    def __init__(self, epsilon, d, index_mapper, **options):
        self.index = index_mapper
        self.domain, self.options = d, options

    def privatise(self, value):
        return self.index(value)


class Server(Client):
    """Counts as pure-ldp's servers do: people, not shares."""

    made = ()

    def __init__(self, **settings):
        super().__init__(**settings)
        self.counts = np.zeros(self.domain)
        self.n = 0
        Server.made = (*Server.made, self)

    def get_hash_funcs(self):
        return "its own"

    def aggregate_all(self, reports):
        for report in reports:
            self.counts[report] += 1
            self.n += 1

    def estimate_all(self, values, suppress_warnings, normalization):
        assert (suppress_warnings, normalization) == (True, 2)
        return self.counts[list(values)]


@pytest.fixture
def pure_ldp(monkeypatch):
    """A stand-in with the package's names; its module that draws integers refuses floats, as Python 3.12 does."""
    monkeypatch.setattr(Server, "made", ())
    oracles = ModuleType("pure_ldp.frequency_oracles")
    for family in ("HadamardResponse", "HadamardMech", "UE", "HE", "LH", "FastLH", "DE"):
        setattr(oracles, f"{family}Server", Server)
        setattr(oracles, f"{family}Client", Client)
    whole = ModuleType("pure_ldp")
    whole.frequency_oracles = oracles
    drawing = ModuleType("drawing")
    drawing.random = lambda: 0.5
    drawing.randint = lambda low, high: range(low, high)[0]
    internal = ModuleType("pure_ldp.frequency_oracles.hadamard_response.internal")
    internal.k2k_hadamard = SimpleNamespace(random=drawing)
    for module in (whole, oracles, ModuleType("pure_ldp.frequency_oracles.hadamard_response"), internal):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return internal.k2k_hadamard


@pytest.mark.parametrize("mechanism", [peer.mechanism for peer in PEERS if peer.package == "pure-ldp"])
def test_a_server_hears_each_person_and_estimates_each_value(pure_ldp, mechanism):
    found = NAMED["pure-ldp", mechanism].estimate(np.array([0, 1, 1, 4]), 5, 1.0)
    assert found.tolist() == [0.25, 0.5, 0.0, 0.0, 0.25]
    (server,) = Server.made
    assert server.domain == (8 if mechanism == "HM" else 5)


def test_variants_are_asked_for_by_name(pure_ldp):
    for mechanism in ("SUE", "OUE", "SHE", "THE", "OLH", "FLH", "HM"):
        NAMED["pure-ldp", mechanism].estimate(np.arange(2), 2, 1.0)
    assert [server.options for server in Server.made] == [
        {"use_oue": False},
        {"use_oue": True},
        {"use_the": False},
        {"use_the": True},
        {"use_olh": True},
        {"k": 500, "use_olh": True},
        {"t": 1, "use_optimal_t": True},
    ]


def test_an_integer_below_a_float_is_drawn(pure_ldp):
    for _ in range(2):
        NAMED["pure-ldp", "HR"].estimate(np.arange(2), 2, 1.0)
        assert pure_ldp.random.randint(0, 7.0) == 0
    assert pure_ldp.random.random() == 0.5
