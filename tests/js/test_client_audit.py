"""The audit finds faults that are planted in the JavaScript client, and none in the client itself.

Each fault is a change of one expression of the compiled client, in a copy. A survey's faults are run together, in one
Node process, until all are found.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from secrets import randbelow
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from auditing.planted.fault import PlantedFault
from auditing.planted.in_typescript import TYPESCRIPT
from commands import run_here
from js.surveys import mean, queries, stated
from sottovoce.auditing.client import audit_client, audit_clients
from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.workloads import Prefix

pytestmark = pytest.mark.slow

Fault = tuple[str, str, str]
"""A file of the client, an expression that stands in it once, and what stands there instead."""

ANY_VALUE = 1 + randbelow(20_000 - 1)
ANY_ROTATION = randbelow(3000)
WIDE = 2**39 - 12345


def shares(size: int, mechanism: dict[str, Any], epsilon: float = 1.0) -> Any:
    return stated({"kind": "shares", "domain": {"size": size, "start": 0, "step": 1}}, epsilon, "histogram", mechanism)


def long_channel() -> Any:
    """A cyclic channel of 40 reports for 40 values, out of 2^16, whose last report of some values is rare."""
    J, one = 40, 2**16
    row = np.array([one - 1600 * (J - 1) - 1, *[1600] * (J - 1)])
    row[-1] += 1
    return queries(OptimizedStrategy.of(Prefix(J), 1.0, ChannelMatrix(cyclic(row), 16), np.full(J, 1 / J)))


def cyclic(row: Any) -> Any:
    return np.array([np.roll(row, i) for i in range(len(row))])


def rule(name: str) -> str:
    return f"mechanisms/{name}.js"


BERNOULLI = "((BigInt(high) << 32n) | BigInt(low)) < threshold"
TRUTHFUL = "const truthful = source.bernoulli(threshold);"
ROW = "checkValue(value, domainSize) + 1"
MULTIPLY = "Math.sign(a * b) * powers[(logarithms[a] + logarithms[b]) % (q - 1)]"

PLANTED: dict[str, tuple[Callable[[], Any], float, dict[str, Fault]]] = {
    "sets as subsets": (
        lambda: sv.Survey(sv.choices(60, most=3), epsilon=1.0, mechanism="set_selection"),
        10.0,
        {
            "have members by coins alone": (rule("set_selection"), "choose(members.length > 0, later, first)", "first"),
            "hold no dummies": (
                rule("set_selection"),
                "members.push(row[place])",
                "row[place] < options && members.push(row[place])",
            ),
            "are told of a rare option": (
                rule("set_selection"),
                "const first = source.bernoulli(threshold);",
                "const first = source.bernoulli(threshold) || row[place] === 59;",
            ),
        },
    ),
    "sets in bins": (
        lambda: sv.Survey(sv.choices(60, most=3), epsilon=1.0, mechanism="wheel", people=50),
        10.0,
        {
            "favour the bins of few": (rule("wheel"), "own[place] ?? other", "own[place % own.length] ?? other"),
            "count dummies": (rule("wheel"), "all.filter(([member]) => member < options.size)", "all"),
            "are thrown by another word": (rule("wheel"), "[option & 3]", "[(option + 1) & 3]"),
        },
    ),
    "words": (
        lambda: sv.Survey(sv.words(6, "latin"), epsilon=1.0, people=1000),
        10.0,
        {
            "are hashed without their last bit": (rule("hashed_prefixes"), "rowEnds[row], 0", "rowEnds[row] - 1, 0"),
            "are hashed whole in every row": (rule("hashed_prefixes"), "rowEnds[row], 0", "bits, 0"),
            "are hashed for another row": (rule("hashed_prefixes"), "0, row, PREFIX", "0, row ^ 1, PREFIX"),
            "are hashed backwards": (rule("hashed_prefixes"), "7 - (i & 7)", "i & 7"),
            "keep their capitals": ("domain/spelling.js", "letter.toLowerCase()", "letter"),
            "are cut where they are too long": (
                "domain/text_codes.js",
                "found === word.length]",
                "found === Math.min(word.length, this.longest)]",
            ),
            "are told of one letter": (
                rule("hashed_prefixes"),
                "inner.randomize(bucketOf(code, row), source)",
                "inner.randomize(bucketOf(code[0] >> 3 === 17 ? code.map((b, i) => (i ? 0 : b)) : code, row), source)",
            ),
        },
    ),
    "any text": (
        lambda: sv.Survey(sv.words(4, "unicode", case="keep"), epsilon=1.0, people=1000),
        10.0,
        {
            "is not composed": (
                "domain/spelling.js",
                'replace(SPACES, " ").normalize("NFC")',
                'replace(SPACES, " ").normalize("NFD")',
            ),
            "may be half a character": ("domain/spelling.js", r"\p{Surrogate}", ""),
            "has other wide characters": ("domain/text_codes.js", "code < 0x800", "code <= 0x800"),
            "counts an emoji once": (
                "domain/text_codes.js",
                "text.length <= this.longest",
                "[...text].length <= this.longest",
            ),
        },
    ),
    "byte strings": (
        lambda: sv.Survey(sv.words(3, "bytes"), epsilon=1.0, people=1000),
        10.0,
        {
            "end where a byte is 0": (
                "domain/number_codes.js",
                "(bytes[i] ?? 0) + 1",
                "(bytes[i] ?? 0) + Number(bytes[i] > 0)",
            )
        },
    ),
    "large integers": (
        lambda: sv.Survey(sv.words(below=2**64), epsilon=1.0, people=1000),
        10.0,
        {
            "as doubles": (
                "domain/number_codes.js",
                "(asInteger(value) ?? -1n,",
                "(BigInt(Number(asInteger(value) ?? -1n)),",
            ),
            "the last is none": ("domain/number_codes.js", "?? -1n, this.below)", "?? -1n, this.below - 1n)"),
        },
    ),
    "one value in twenty thousand": (
        lambda: sv.Survey(sv.shares(20_000), epsilon=1.0, mechanism="randomized_response"),
        60.0,
        {
            "is told": (rule("randomized_response"), TRUTHFUL, f"{TRUTHFUL[:-1]} || value === {ANY_VALUE};"),
            "is denied": (rule("randomized_response"), TRUTHFUL, f"{TRUTHFUL[:-1]} && value !== {ANY_VALUE};"),
            "is another": (
                "strategies/histogram.js",
                "input: Number",
                f"input: (v) => Number(v === {ANY_VALUE}n ? 0n : v)",
            ),
        },
    ),
    "large indices and domains": (
        lambda: sv.Survey(sv.shares(2**40), epsilon=1.0, mechanism="hadamard"),
        2.0,
        {
            "beyond 2^16": (rule("hadamard"), ROW, "checkValue(value, domainSize) % 65536 + 1"),
            "from 2^17 on": (
                rule("hadamard"),
                ROW,
                f"({ROW}) % (value < 131072 ? 2 ** 50 : 131072) + 1 * (value >= 131072)",
            ),
            "low bit of 32": ("core/bits.js", "Number(BigInt(a) & -BigInt(a))", "(a & -a) >>> 0"),
            "flip in 32": ("core/bits.js", "Number(BigInt(a) ^ BigInt(bit))", "(a ^ bit) >>> 0"),
            "overlap in 32": ("core/bits.js", "odd(BigInt(a) & BigInt(b))", "odd(BigInt((a & b) >>> 0))"),
            "parity of 32": (
                "core/bits.js",
                "Number(code & 0xffffffffn) ^ Number(code >> 32n)",
                "Number(code & 0xffffffffn)",
            ),
            "bytes of 32": ("core/codecs.js", "(BigInt(index) >>", "(BigInt(Number(index) >>> 0) >>"),
            "twice the epsilon": (
                rule("hadamard"),
                "favouring(1n, 1n, epsilon)",
                "favouring(1n, 1n, epsilon * (domainSize > 100000 ? 2 : 1))",
            ),
        },
    ),
    "draws of wide integers": (
        lambda: sv.Survey(sv.shares(WIDE), epsilon=1.0, mechanism="randomized_response"),
        2.0,
        {
            "no rejection": (
                "randomness/source.js",
                "if (drawn < n)\n                return drawn;",
                "return drawn % n;",
            ),
            "one too many": ("randomness/source.js", "if (drawn < n)", "if (drawn <= n)"),
            "the last never": ("randomness/source.js", "if (drawn < n)", "if (drawn < n - 1)"),
            "the end of a block": (
                "randomness/source.js",
                "this.#pool.length - this.#at >= n",
                "this.#pool.length - this.#at >= n - (this.#block && 1)",
            ),
            "a block twice": (
                "randomness/source.js",
                "this.#fill(this.#pool.fill(0));",
                "this.#at < 4000 && this.#fill(this.#pool.fill(0));",
            ),
            "unused bits": ("randomness/source.js", "255 >> (8 * last + 8 - bits)", "255"),
            "places of 32 bits": ("randomness/source.js", "place *= 256", "place = (place << 8) >>> 0 || 1"),
            "at the threshold": (
                "randomness/source.js",
                BERNOULLI,
                BERNOULLI.replace(") < t", ") <= t"),
            ),
            "high word only": ("randomness/source.js", "| BigInt(low))", ")"),
            "one percent": ("randomness/thresholds.js", "n: inside * e.n, d:", "n: (inside * e.n * 101n) / 100n, d:"),
            "one unit": (
                rule("randomized_response"),
                "BigInt(domainSize - 1), epsilon)",
                "BigInt(domainSize - 1), epsilon) + 1n",
            ),
        },
    ),
    "one public rotation": (
        lambda: mean(
            3, 1.0, {"name": "codebook", "size": 64, "candidates": 128, "marked": 40, "rotations": 3000, "layers": 6}
        ),
        60.0,
        {
            "is another": (
                rule("codebook"),
                "rotate(point, ball.key, rotation,",
                f"rotate(point, ball.key, rotation === {ANY_ROTATION} ? rotation ^ 1 : rotation,",
            ),
            "has other signs": (
                "randomness/philox.js",
                "found.set(philox(key, [block, layer, rotation,",
                f"found.set(philox(key, [block, layer + (rotation === {ANY_ROTATION} ? 1 : 0), rotation,",
            ),
        },
    ),
    "one column": (
        lambda: sv.Survey(sv.queries(Prefix(4000)), epsilon=1.0, strategy="haar"),
        20.0,
        {
            "is not randomized": (
                rule("levels"),
                "Number(odd === Number(kept))",
                f"Number(odd === Number(kept || column === {ANY_ROTATION % 2000}))",
            ),
        },
    ),
    "a long channel": (
        long_channel,
        20.0,
        {
            "its last outcome": (
                rule("matrix_channel"),
                "Number(sum <= drawn)",
                "Number(sum <= drawn && row < reports - 2)",
            ),
            "one unit of one outcome": (
                rule("matrix_channel"),
                "Number(sum <= drawn)",
                "Number(sum + (row === 17 && value === 23 ? 1 : 0) <= drawn)",
            ),
        },
    ),
    "a number": (
        lambda: sv.Survey(sv.number(-20, 40, points=9), epsilon=1.0),
        4.0,
        {
            "rounded one step too far": (rule("rounded_channel"), "rounding < position", "rounding <= position"),
            "always rounded down": (rule("rounded_channel"), "Number(rounding < position % STEPS)", "0"),
            "not clipped at the lower end": ("domain/number.js", "this.low), this.high)", "-1e300), this.high)"),
        },
    ),
    "a relation": (
        lambda: sv.Survey(
            sv.relation({"age": sv.number(18, 90), "plan": ["free", "pro"]}, sv.number(0, 600, "minutes")), epsilon=1.0
        ),
        4.0,
        {
            "rounded in 32 bits": (
                rule("products"),
                "const point = Math.floor(value",
                "const point = Math.floor((value | 0)",
            ),
            "always rounded down": (rule("products"), "Number(rounding < value % steps)", "0"),
            "its squares not doubled": ("domain/features.js", "2 * held(first) ** 2", "held(first) ** 2"),
        },
    ),
    "many bits": (
        lambda: shares(60, {"name": "unary_optimized"}),
        10.0,
        {
            "the last one": (
                rule("unary"),
                "v === value ? own : other",
                "v === value || v === domainSize - 1 ? own : other",
            ),
            "the own one, by one percent": (rule("unary"), "? own :", "? (own * 101n) / 100n :"),
        },
    ),
    "a field of 16": (
        lambda: shares(4000, {"name": "projective_geometry", "order": 16, "dimension": 4}, 3.0),
        20.0,
        {
            "one product": (rule("projective_geometry"), MULTIPLY, f"(a === 7 && b === 13 ? 1 : {MULTIPLY})"),
            "its zero": (rule("projective_geometry"), "Math.sign(a * b) *", ""),
            "one inverse": (
                rule("projective_geometry"),
                "inverse: (a) => powers[",
                "inverse: (a) => powers[(a === 11) + ",
            ),
        },
    ),
    "a field of 2^31 - 1": (
        lambda: shares(2**30, {"name": "projective_geometry", "order": 2**31 - 1, "dimension": 2}, 3.0),
        2.0,
        {
            "products as doubles": (
                rule("projective_geometry"),
                "Number((BigInt(a) * BigInt(b)) % BigInt(q))",
                "(a * b) % q",
            )
        },
    ),
    "blocks": (
        lambda: shares(2**33, {"name": "hadamard_blocks", "blocks": 8}, 2.0),
        2.0,
        {
            "skip the own one": (rule("hadamard_blocks"), "Number(other >= block)", "Number(other > block)"),
            "the other half": (
                rule("hadamard_blocks"),
                "choose(oddOverlap(row, spread), spread, flip(spread, low))",
                "spread",
            ),
        },
    ),
    "a set": (
        lambda: shares(40, {"name": "subset_selection", "subset_size": 10}),
        10.0,
        {
            "the value's own place": (rule("subset_selection"), "source.below(size)", "source.below(size) * 0"),
            "one draw fewer": (rule("subset_selection"), "const replaced = source.below(size)", "const replaced = 0"),
        },
    ),
    "one number": (
        lambda: mean(1, 1.0, {"name": "binary"}),
        2.0,
        {"one percent": (rule("binary"), "(most * steps) >> 53n", "(most * steps * 99n / 100n) >> 53n")},
    ),
    "labels": (
        lambda: sv.Survey(sv.shares([f"a long label {i}" for i in range(500)]), epsilon=1.0, mechanism="hadamard"),
        10.0,
        {"end early": ("domain/lookup.js", "i <= this.#longest", "i <= 13")},
    ),
    "texts": (
        lambda: sv.Survey(sv.queries(sv.workloads.Prefix(sv.Domain.text(3))), epsilon=1.0, strategy="haar"),
        10.0,
        {"one letter": ("domain/text.js", "BigInt(code - 1)", "BigInt(code - (code === 26 ? 2 : 1))")},
    ),
}


def planted(compiled: Path, folder: Path, fault: Fault) -> Path:
    """A copy of the client with the fault."""
    shutil.copytree(compiled, folder)
    name, found, put = fault
    text = (folder / name).read_text()
    assert text.count(found) == 1, f"{found} must stand once in {name}, not {text.count(found)} times"
    (folder / name).write_text(text.replace(found, put))
    return folder / "index.js"


@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_are_found(compiled: Path, tmp_path: Path, name: str) -> None:
    make, seconds, faults = PLANTED[name]
    (tmp_path / "package.json").write_text('{"type": "module"}')
    clients = [planted(compiled, tmp_path / str(i), fault) for i, fault in enumerate(faults.values())]
    survey = make()
    assert audit_client(survey, compiled / "index.js", seconds=0.1).difference == ""
    found = audit_clients(survey, clients, seconds=seconds)
    assert [fault for fault, audit in zip(faults, found, strict=True) if audit.agrees] == []


def test_what_an_audit_says(compiled: Path) -> None:
    survey = sv.Survey(sv.shares(5), epsilon=1.0, mechanism="randomized_response")
    found = audit_client(survey, compiled / "index.js")
    assert (found.agrees, found.every_value, found.fault_size, found.draws) == (True, True, 0.0, ((4, 4),))
    assert found.deployed > 2048
    assert found.blocks > 64
    assert found.refused > 100
    assert f"runs, {found.deployed:,} of them without a source, from {found.blocks} blocks of random bytes: " in str(
        found
    )
    assert str(found).endswith(
        f"all 5 values; outcomes of integer draws: 4 of 4; it refuses {found.refused} changed surveys as Python does"
    )
    assert found.to_dict()["every_value"] is True
    large = audit_client(
        sv.Survey(sv.shares(2**40), epsilon=1.0, mechanism="hadamard"), compiled / "index.js", seconds=0.2
    )
    assert large.agrees
    assert not large.every_value
    assert f"a fault at one value in {1 / large.fault_size:,.0f} would be seen" in str(large)


WITHOUT_A_SOURCE = {
    "the value goes out in clear": (
        "surveys/survey.js",
        "randomize(value, source = systemSource) {",
        "randomize(value, source) { if (source === undefined) return new TextEncoder().encode(String(value));",
    ),
    "one value is told": (
        "surveys/survey.js",
        "randomize(value, source = systemSource) {",
        "randomize(value, source) { source ??= value === 3 ? { below: () => 0, bernoulli: () => true } : systemSource;",
    ),
    "random bytes of its own": (
        "randomness/source.js",
        "export const systemSource = new Source()",
        "export const systemSource = new Source((into) => into.forEach((_, i) => (into[i] = 256 * Math.random())))",
    ),
    "one block of random bytes, again and again": (
        "randomness/source.js",
        "export const systemSource = new Source()",
        "const block = globalThis.crypto.getRandomValues(new Uint8Array(8)); "
        "export const systemSource = new Source((into) => into.set(block.subarray(0, into.length)))",
    ),
}


def test_faults_where_an_application_gives_no_source(compiled: Path, tmp_path: Path) -> None:
    """As it never does; with a source these clients do what they should."""
    (tmp_path / "package.json").write_text('{"type": "module"}')
    faults = WITHOUT_A_SOURCE.values()
    clients = [planted(compiled, tmp_path / str(i), fault) for i, fault in enumerate(faults)]
    found = audit_clients(sv.Survey(sv.shares(5), epsilon=1.0, mechanism="randomized_response"), clients, seconds=0.4)
    assert ["called without a source, where Python sends" in audit.difference for audit in found] == [True] * 4


@pytest.mark.parametrize("fault", [one for one in TYPESCRIPT if not one.long and not one.missed], ids=lambda f: f.name)
def test_faults_that_hide(compiled: Path, fault: PlantedFault) -> None:
    """After many blocks, in what the client remembers, in special values, and in surveys that it must refuse."""
    assert fault.found_by(compiled)


def test_a_client_that_cannot_answer_the_survey(compiled: Path, tmp_path: Path) -> None:
    with pytest.raises(MechanismError, match="does not answer this survey: mechanism must be one of"):
        audit_client(sv.Survey(sv.vector(2, 1.0), epsilon=1.0, mechanism="gaussian", delta=1e-6), compiled / "index.js")
    with pytest.raises(MechanismError, match="does not answer this survey: Cannot find module"):
        audit_client(sv.Survey(sv.shares(5), epsilon=1.0), tmp_path / "none.js")


def test_the_command(compiled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, survey, honest = run_here(capsys), tmp_path / "survey.json", str(compiled / "index.js")
    survey.write_text(
        sv.Survey(sv.shares(["tea", "coffee", "water"]), epsilon=1.0, mechanism="randomized_response").to_json()
    )
    (tmp_path / "package.json").write_text('{"type": "module"}')
    fault = (rule("randomized_response"), TRUTHFUL, f"{TRUTHFUL[:-1]} || value === 2;")
    faulty = planted(compiled, tmp_path / "faulty", fault)
    asked = ("audit", "--survey", str(survey), "--samples", "100", "--seconds", "2", "--client")
    found = run(*asked, honest)
    assert (found.status, "index.js sends what the Python device sends" in found.out) == (0, True)
    found = run(*asked, str(faulty), "--json")
    told = found.json
    assert (found.status, told["sound"], told["results"]) == (1, False, [])
    assert "for value number 2 it sends" in told["client"]["difference"]
    assert run("audit", "--client", honest).err.startswith("sottovoce: error: --client belongs to a survey")
