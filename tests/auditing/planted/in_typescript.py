"""Faults of the TypeScript client, as changes of one expression of its compiled modules."""

from __future__ import annotations

from auditing.planted.fault import PlantedFault
from auditing.planted.surveys import number, sets, values, wheel

__all__ = ["TYPESCRIPT"]

SOURCE, SURVEY = "randomness/source.js", "surveys/survey.js"
FILL = "this.#fill(this.#pool.fill(0));"
RANDOMIZE = "randomize(value, source = systemSource) {"
TOLD = "source = { below: () => 0, bernoulli: () => true };"
COUNTED = "globalThis.n = (globalThis.n ?? 0) + 1;"
TYPESCRIPT = [
    PlantedFault(
        "every 30th block of random bytes is the one before",
        lambda: values(6),
        (
            SOURCE,
            FILL,
            f"const kept = this.#pool.slice(); {FILL} {COUNTED} if (globalThis.n % 30 === 0) this.#pool.set(kept);",
        ),
        seconds=8,
    ),
    PlantedFault(
        "a block that ends with a draw loses a byte",
        lambda: values(6),
        (
            SOURCE,
            f"{FILL}\n        this.#at = 0;",
            f"{FILL}\n        this.#at = this.#block && this.#at === this.#block ? 1 : 0;",
        ),
        seconds=8,
    ),
    PlantedFault(
        "the 10,000th report is told",
        lambda: values(6),
        (
            SURVEY,
            RANDOMIZE,
            f"{RANDOMIZE} {COUNTED} if (globalThis.n === 10_000) {TOLD}",
        ),
        seconds=8,
    ),
    PlantedFault(
        "the same value twice at once sends one report",
        lambda: values(64),
        (
            SURVEY,
            RANDOMIZE,
            "randomize(value, source = systemSource) { if (this.last === value) return this.kept; "
            "this.last = value; return (this.kept = this.drawn(value, source)); }\n    drawn(value, source) {",
        ),
    ),
    PlantedFault(
        "from the second report on Math.random decides",
        lambda: values(64),
        (
            SURVEY,
            RANDOMIZE,
            f"{RANDOMIZE} {COUNTED} if (source === systemSource && globalThis.n > 1) "
            "source = { below: (n) => Math.floor(n * Math.random()), bernoulli: () => Math.random() < 0.5 };",
        ),
    ),
    PlantedFault(
        "a negative epsilon is read", values, ("core/limits.js", '"epsilon", found', '"epsilon", Math.abs(found)')
    ),
    PlantedFault(
        "unknown fields are read",
        values,
        ("surveys/read.js", 'checkFields(json, "a survey",', '((...known) => known)(json, "a survey",'),
    ),
    PlantedFault(
        "the number -0 is told",
        number,
        (
            SURVEY,
            RANDOMIZE,
            f"{RANDOMIZE} if (Object.is(value, -0)) {TOLD}",
        ),
    ),
    PlantedFault(
        "a huge number is told",
        number,
        (SURVEY, RANDOMIZE, f"{RANDOMIZE} if (value > 1e300) {TOLD}"),
    ),
    PlantedFault(
        "one set in 36,051 is told",
        sets,
        (
            SURVEY,
            RANDOMIZE,
            f"{RANDOMIZE} if (String([...value].sort((a, b) => a - b)) === '7,33,41') {TOLD}",
        ),
        seconds=90,
        long=True,
    ),
    PlantedFault(
        "one seed in 2,048 throws other bins",
        lambda: wheel(2048),
        ("mechanisms/wheel.js", "[option & 3]", "[(option + (seed === 1234)) & 3]"),
        seconds=20,
    ),
    PlantedFault(
        "one value in 50,000 is told",
        values,
        (
            "mechanisms/randomized_response.js",
            "const truthful = source.bernoulli(threshold);",
            "const truthful = source.bernoulli(threshold) || value === 31337;",
        ),
        seconds=60,
        long=True,
    ),
    PlantedFault(
        "a report is told from the 10,000,000th on",
        lambda: values(6),
        (
            SURVEY,
            RANDOMIZE,
            f"{RANDOMIZE} {COUNTED} if (globalThis.n > 1e7) {TOLD}",
        ),
        seconds=1,
        missed="an audit makes fewer reports than that in its time",
    ),
]
