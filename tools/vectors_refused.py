"""Texts that are no survey: everything a device must refuse before it looks at a value, one fault each."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator
from typing import Any

import sottovoce as sv
from sottovoce.core.errors import SottovoceError

__all__ = ["bad_survey_vectors"]

Case = tuple[str, str]

CODEBOOK = {"name": "codebook", "size": 64, "candidates": 32, "marked": 11, "rotations": 15, "layers": 6}
TEN = {"start": 0, "step": 1, "size": 10}


def bad_survey_vectors() -> list[dict[str, Any]]:
    """Every case, with the class of the error that it causes."""
    found = []
    for fault, text in (*_shares(), *_workloads(), *_vectors(), *_rounds()):
        try:
            sv.Survey.from_json(text)
        except SottovoceError as error:
            found.append({"fault": fault, "text": text, "error": type(error).__name__})
        else:
            raise ValueError(f"{fault} is accepted")
    return found


def _swap(text: str, **changes: Any) -> str:
    return json.dumps({**json.loads(text), **changes}, separators=(",", ":"))


def _asking(text: str, **changes: Any) -> str:
    return _swap(text, question={**json.loads(text)["question"], **changes})


def _designed(text: str, **changes: Any) -> str:
    return _swap(text, design={**json.loads(text)["design"], **changes})


def _tuned(text: str, **changes: Any) -> str:
    return _designed(text, mechanism={**json.loads(text)["design"]["mechanism"], **changes})


def _shares() -> Iterator[Case]:
    good = sv.Survey(sv.shares(16), epsilon=1.0, mechanism="subset_selection").to_json()
    blocks = sv.Survey(sv.shares(16), epsilon=1.0, mechanism="hadamard_blocks").to_json()
    space = sv.Survey(sv.shares(16), epsilon=1.0, mechanism="projective_geometry").to_json()

    def over(domain: Any) -> str:
        return _asking(good, domain=domain)

    two = {"labels": ["x", "y"]}
    yield from (
        ("empty", ""),
        ("not JSON", "survey"),
        ("no object", "[]"),
        ("truncated", good[:-1]),
        ("trailing comma", good[:-1] + ",}"),
        ("NaN", good.replace('"epsilon":1', '"epsilon":NaN')),
        ("Infinity", good.replace('"epsilon":1', '"epsilon":Infinity')),
        ("a key twice", good.replace('"epsilon":1', '"epsilon":8,"epsilon":1')),
        ("an unknown field", _swap(good, salt=1)),
        ("a missing field", json.dumps({k: v for k, v in json.loads(good).items() if k != "title"})),
        ("an unknown format", _swap(good, format=3)),
        ("the format before this one", _swap(good, format=1)),
        ("a format that is no integer", good.replace('"format":2', '"format":2.0')),
        ("a format that is a truth value", _swap(good, format=True)),
        ("an unknown kind", _asking(good, kind="census")),
        ("a kind that is no text", _asking(good, kind=["shares"])),
        ("a question that is text", _swap(good, question="shares")),
        ("a question without its domain", _swap(good, question={"kind": "shares"})),
        ("a question with more than it should hold", _asking(good, radius=1)),
        ("a title of two lines", _swap(good, title="a\nb")),
        ("a title that is too long", _swap(good, title="x" * 201)),
        ("a title that is no text", _swap(good, title=5)),
        ("epsilon 0", _swap(good, epsilon=0)),
        ("negative epsilon", _swap(good, epsilon=-1)),
        ("epsilon above 16", _swap(good, epsilon=16.5)),
        ("epsilon below 2^-20", _swap(good, epsilon=1e-7)),
        ("epsilon as text", _swap(good, epsilon="1")),
        ("epsilon as a truth value", _swap(good, epsilon=True)),
        ("huge epsilon", _swap(good, epsilon=10**400)),
        ("an unknown mechanism", _tuned(good, name="rappor")),
        ("a mechanism that is text", _designed(good, mechanism="hadamard")),
        ("a mechanism for vectors", _designed(good, mechanism=CODEBOOK)),
        ("a design that is text", _swap(good, design="histogram")),
        ("shares by a strategy for queries", _designed(good, strategy="haar", mechanism={"name": "haar", "tilt": 0})),
        ("shares by the direct strategy", _designed(good, strategy="direct", mechanism=CODEBOOK)),
        ("delta above 0 for shares", _swap(good, delta=1e-6)),
        ("a negative delta", _swap(good, delta=-1e-6)),
        ("delta as a truth value", _swap(good, delta=False)),
        ("an unknown parameter", _tuned(good, threshold=5)),
        ("a missing parameter", _designed(good, mechanism={"name": "subset_selection"})),
        ("subset size 0", _tuned(good, subset_size=0)),
        ("subset size J", _tuned(good, subset_size=16)),
        ("a subset size that is no integer", _tuned(good, subset_size=4.0)),
        ("a subset size that is a truth value", _tuned(good, subset_size=True)),
        ("blocks that are no power of two", _tuned(blocks, blocks=3)),
        ("more blocks than values", _tuned(blocks, blocks=32)),
        ("an order that is no prime power", _tuned(space, order=6, dimension=4)),
        ("an order that is too large a prime power", _tuned(space, order=512, dimension=2)),
        ("a space too small for the domain", _tuned(space, order=2, dimension=2)),
        ("a space over 64 times as large as the domain", _tuned(space, order=11, dimension=4)),
        ("a domain of one value", over({"start": 0, "step": 1, "size": 1})),
        ("a domain above 2^40", over({"start": 0, "step": 1, "size": 2**40 + 1})),
        ("step 0", over({"start": 0, "step": 0, "size": 16})),
        ("a start that is a truth value", over({"start": True, "step": 1, "size": 16})),
        ("a range beyond 2^63 - 1", over({"start": str(2**63 - 15), "step": 1, "size": 16})),
        ("a large integer as a number", over({"start": 2**53, "step": 1, "size": 16})),
        ("a small integer as text", over({"start": str(2**53 - 1), "step": 1, "size": 16})),
        ("a large integer as text with a sign", over({"start": f"+{2**53}", "step": 1, "size": 16})),
        ("an alphabet of one character", over({"alphabet": "a", "length": 15})),
        ("an alphabet with a character twice", over({"alphabet": "aba", "length": 2})),
        ("more than 2^40 texts", over({"alphabet": "ab", "length": 40})),
        ("a label twice", over({"labels": ["a", "b", "a"]})),
        ("a label with a lone surrogate", over({"labels": ["\ud800", "b"]})),
        ("an alphabet with a lone surrogate", over({"alphabet": "a\ud800", "length": 2})),
        ("mixed labels", over({"labels": ["a", 1]})),
        ("labels that are no text", over({"labels": [1.5, 2.5]})),
        ("an attribute twice", over({"attributes": [{"name": "a", "domain": two}, {"name": "a", "domain": two}]})),
        ("an attribute that is no identifier", over({"attributes": [{"name": "a b", "domain": two}]})),
        ("a product in a product", over({"attributes": [{"name": "a", "domain": {"attributes": []}}]})),
        ("a domain with more than it should hold", over({**two, "size": 2})),
    )


def _workloads() -> Iterator[Case]:
    """Of direct surveys, each but for its fault one that may be asked."""
    wide = {"start": str(-(2**60)), "step": 1, "size": 2**53 - 1}
    bits = {"start": 0, "step": 1, "size": 8}
    records = {"attributes": [{"name": "a", "domain": bits}, {"name": "b", "domain": TEN}]}

    def asked(kind: str, domain: Any = TEN, **own: Any) -> str:
        return _stated({"kind": "queries", "workload": {"type": kind, "domain": domain, **own}})

    def dense(*numbers: float, **own: Any) -> str:
        stated = {"shape": [1, 2], "matrix": _doubles(*numbers), **own}
        return asked("dense", {"start": 0, "step": 1, "size": 2}, **stated)

    def stack(*weights: Any) -> str:
        return asked("stack", parts=[{"type": "identity"}], weights=weights)

    yield "an unknown workload", asked("median")
    yield "a workload with more than it should hold", asked("identity", k=1)
    yield "prefixes of labels in no order", asked("prefix", {"labels": [1, 3, 2]})
    yield "edges that do not rise", asked("bins", edges=[0, 5, 5])
    yield "a bin that is empty", asked("bins", edges=[0, 20, 30])
    yield "an edge beyond 2^53 - 1", asked("bins", wide, edges=[-(2**53), 0])
    yield "an edge as text", asked("bins", wide, edges=[str(-(2**53)), 0])
    yield "an edge that is no integer", asked("bins", edges=[0, 5.0])
    yield "tables of more attributes than there are", asked("marginals", records, k=3)
    yield "parities of values that are no bits", asked("parities", order=1)
    yield "a matrix of zeros", dense(0.0, 0.0)
    yield "a radius below 10^-100", dense(0.0, 1e-101)
    yield "a radius above 10^100", dense(0.0, 1e101)
    yield "a negative zero", dense(-0.0, 1.0)
    yield "a matrix with NaN", dense(float("nan"), 1.0)
    yield "a shape of another domain", dense(1.0, 2.0, shape=[2, 1])
    yield "a shape of more than 2^26 numbers", dense(1.0, 2.0, shape=[2**26, 2])
    yield "a matrix in base64 without padding", dense(matrix=_doubles(1.0, 2.0).rstrip("="))
    places = {"rows": _integers(1, 0), "columns": _integers(7, 3), "values": _doubles(2.0, -3.0)}
    yield "entries that are not sorted by column", asked("sparse", queries=2, **places)
    yield "a weight below 10^-100", stack(1e-101)
    yield "a weight above 10^100", stack(1e101)
    yield "a weight that is a truth value", stack(True)
    yield "more weights than parts", stack(1, 1)
    yield "a stack in a stack", asked("stack", parts=[{"type": "stack", "parts": [], "weights": []}], weights=[1])


def _vectors() -> Iterator[Case]:
    """Of means and of mechanisms for vectors."""
    good = _stated({"kind": "vector", "dimension": 3, "radius": 1})
    yield "dimension 0", _asking(good, dimension=0)
    yield "a dimension that is no integer", _asking(good, dimension=3.0)
    yield "radius 0", _asking(good, radius=0)
    yield "a radius as text", _asking(good, radius="1")
    yield "vectors by a histogram", _designed(good, strategy="histogram", mechanism={"name": "hadamard"})
    yield "delta above 0 for a codebook", _swap(good, delta=1e-6)
    yield "delta 1", _swap(good, delta=1)
    yield "a size that is no power of two", _tuned(good, size=96)
    yield "a size that is not above the dimension", _asking(good, dimension=64)
    yield "more candidates than twice the size", _tuned(good, candidates=256)
    yield "more marked than half of the candidates", _tuned(good, marked=17)
    yield "no rotation", _tuned(good, rotations=0)
    yield "too few layers", _tuned(good, layers=5)
    yield "binary for three numbers", _designed(good, mechanism={"name": "binary"})
    noise = {"name": "gaussian", "steps": 369, "noise_variance": 11_000_000}
    yield "Gaussian noise that is too small", _swap(_designed(good, mechanism=noise), delta=1e-6)
    yield "Gaussian noise without delta", _designed(good, mechanism={**noise, "noise_variance": 2**40})
    tilted = {"name": "rejection", "tilt": 2**39, "clip": 2**40 + 1}
    yield "a clip above epsilon", _designed(good, mechanism=tilted)


def _rounds() -> Iterator[Case]:
    """Of panels, and of surveys with a seat in one."""
    panel = sv.Panel(range(10), rounds=4, epsilon=1.0)
    mean, choice = (
        sv.adaptive.round_of(panel, 2, "value < 5").to_json(),
        sv.adaptive.round_of(panel, 2, "value", 10).to_json(),
    )
    stated = json.loads(panel.to_json())

    def seated(text: str, **changes: Any) -> str:
        return _swap(text, seat={**json.loads(text)["seat"], **changes})

    yield "rounds that are no integer", _swap(panel.to_json(), panel={**stated["panel"], "rounds": 4.0})
    yield "a panel with more than it should hold", _swap(panel.to_json(), panel={**stated["panel"], "users": 100})
    yield "a panel with a question", _swap(panel.to_json(), question={"kind": "shares", "domain": TEN})
    yield "a panel of another format", _swap(panel.to_json(), format=1)
    yield "a round beyond the last", seated(mean, round=5)
    yield "a round that is no integer", seated(mean, round=2.0)
    yield "a seat that is a number", _swap(mean, seat=2)
    yield "a seat without its query", _swap(mean, seat={"panel": stated, "round": 2})
    yield "a seat with more than it should hold", seated(mean, size=2)
    yield "a seat in a panel of another format", seated(mean, panel={**stated, "format": 1})
    yield "a seat in a survey that is no panel", seated(mean, panel=json.loads(mean))
    yield "a round with another epsilon", _swap(mean, epsilon=2)
    yield "a round with delta above 0", _swap(mean, delta=1e-6)
    yield "a mean of two numbers", _asking(mean, dimension=2)
    yield "a mean within another radius than the panel's", _asking(mean, radius=2)
    yield "a mean by the codebook", _designed(mean, mechanism=CODEBOOK)
    yield "a choice that is a label", _asking(choice, domain={"labels": ["no", "yes"]})
    yield "choices that do not begin at 0", _asking(choice, domain={"start": 1, "step": 1, "size": 10})
    yield "a single choice", _asking(choice, domain={"start": 0, "step": 1, "size": 1})
    yield "more than 2^20 choices", _asking(choice, domain={"start": 0, "step": 1, "size": 2**20 + 1})
    yield "a choice by a query that gives no integer", seated(choice, query=["*", 0.5, ["attribute", "value"]])
    asked = {"type": "prefix", "domain": TEN}
    yield "queries in a round", _swap(_stated({"kind": "queries", "workload": asked}), seat=json.loads(mean)["seat"])
    yield "a query that is a text", seated(mean, query="value")
    yield "a query that could go wrong", seated(mean, query=["/", 1, ["attribute", "value"]])


def _stated(question: dict[str, Any]) -> str:
    """A survey by the codebook."""
    design = {"strategy": "direct", "mechanism": CODEBOOK}
    common = {"format": 2, "title": "", "epsilon": 1, "delta": 0, "question": question, "design": design}
    return json.dumps(common, separators=(",", ":"))


def _doubles(*numbers: float) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}d", *numbers)).decode()


def _integers(*numbers: int) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}q", *numbers)).decode()
